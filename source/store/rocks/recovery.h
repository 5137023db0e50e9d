#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "source/base/log.h"
#include "source/store/rocks/database.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/lane_book.h"

namespace forebay::rocks {

// A database that was opened and found to be whole.
struct Recovered {
  std::unique_ptr<Database> database;
  Position position;
  std::map<std::string, LaneSums> lanes;
};

// Opens the store at `path`, or creates it with mode 0700. INVARIANT: never opens with fewer
// events than the high-water mark says were acknowledged, and writes nothing into a store that
// another version wrote or that another process holds. The message names the path and the reason.
absl::StatusOr<Recovered> recover(const std::string& path, rocksdb::Env* env, Log& log);

// The steps that other tools share.
absl::Status makeDirectory(const std::string& path);
absl::Status checkNotLocked(const std::string& path, rocksdb::Env* env);
absl::Status checkFormat(Database& database, const std::string& path);
// Without touching it. Ok when it can't be read: whoever opens it will say why.
absl::Status checkFormatIfReadable(const std::string& path, rocksdb::Env* env);
absl::StatusOr<Position> readPosition(Database& database);
absl::StatusOr<std::map<std::string, LaneSums>> readSums(Database& database);

}  // namespace forebay::rocks
