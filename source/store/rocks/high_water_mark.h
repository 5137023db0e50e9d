#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace forebay::rocks {

// A small file beside the database that says how many events were acknowledged. RocksDB opens
// without a complaint when its log was deleted or cut; held against this number, it can't.
//
// The file is text: a title, `sequence N`, `crc C`.
class HighWaterMark {
public:
  explicit HighWaterMark(const std::string& directory);

  // The number written last; none when there is no file; DataLoss when it is damaged.
  absl::StatusOr<std::optional<uint64_t>> read() const;
  // Replaces the file; on disk when it returns. `sequence` must be durable already.
  absl::Status write(uint64_t sequence) const;

private:
  const std::string directory_;
  const std::string path_;
};

}  // namespace forebay::rocks
