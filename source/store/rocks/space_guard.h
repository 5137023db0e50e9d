#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace forebay::rocks {

struct Space {
  uint64_t store_bytes = 0;  // of all files in the directory
  uint64_t free_bytes = 0;   // of the disk it is on
};

absl::StatusOr<Space> measureSpace(const std::string& directory);

// Decides whether there is room for new events. Once it said no, it wants 5 % of a limit more
// before it says yes again: an answer that changes with every file helps nobody. Pure.
class SpaceGuard {
public:
  SpaceGuard(uint64_t size_max_bytes, uint64_t free_disk_min_bytes)
      : size_max_bytes_(size_max_bytes), free_disk_min_bytes_(free_disk_min_bytes) {}

  // Why new events are refused; empty while they are not.
  const std::string& look(const Space& space);
  const std::string& reason() const { return reason_; }

private:
  const uint64_t size_max_bytes_;
  const uint64_t free_disk_min_bytes_;
  std::string reason_;
};

}  // namespace forebay::rocks
