#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "source/store/rocks/options.h"

namespace forebay::rocks {

inline rocksdb::Slice toSlice(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view toView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
// RocksDB's status in our terms; `what` says what was being done to what.
absl::Status toStatus(const rocksdb::Status& status, const std::string& what);

enum class OpenMode {
  Existing,  // fails if there is none
  Create,    // makes one; there must be none
  ReadOnly,  // writes nothing at all
  Look,      // so too, and opens only the default family: for a format not known yet
  Salvage,   // takes what it can get from a damaged log: for an operator who accepted the loss
};

// An open RocksDB and its column families. Closes with it. As safe from any thread as RocksDB.
class Database {
public:
  static absl::StatusOr<std::unique_ptr<Database>> open(const std::string& path, rocksdb::Env* env,
                                                        OpenMode mode);
  ~Database();

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* family(Family family) {
    return handles_[static_cast<size_t>(family)];
  }
  rocksdb::Status get(Family from, std::string_view key, std::string* value);
  // Keys in [from, to); the bounds are kept by the iterator's owner for as long as it lives.
  std::unique_ptr<rocksdb::Iterator> iterate(Family family, const rocksdb::Slice* from,
                                             const rocksdb::Slice* to, bool fill_cache);

private:
  Database() = default;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

// Moves an iterator that a damaged block has stopped to the nearest key that can be read, beyond
// `key` in the direction of travel, in steps that double: it may pass over some that could be
// read, at most as many again as it must. Check Valid() as usual; false when even that failed.
bool stepOver(rocksdb::Iterator& iterator, std::string key, bool forward);

}  // namespace forebay::rocks
