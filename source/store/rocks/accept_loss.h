#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "source/base/log.h"

namespace forebay {

struct AcceptedLoss {
  uint64_t kept = 0;     // events that are whole
  uint64_t missing = 0;  // acknowledged, and not found
  uint64_t revived = 0;  // their state was lost: they will be delivered (again)
};

// For an operator who has read why a store refuses to open, and wants what is left of it. Takes
// what can be read from a damaged log, rebuilds the indexes and sums from the events' states,
// and lowers the high-water mark. May be run again when it was interrupted: the store refuses to
// open until it has finished. The store must be closed.
absl::StatusOr<AcceptedLoss> acceptLoss(const std::string& path, Log& log);

}  // namespace forebay
