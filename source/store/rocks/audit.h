#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace forebay {

struct StoreAudit {
  uint64_t events = 0;
  uint64_t sequence = 0;  // of the newest event
  uint64_t waiting = 0;
  uint64_t problems = 0;
  std::vector<std::string> messages;  // of the first problems, one sentence each

  bool clean() const { return problems == 0; }
};

// Holds everything in the store at `path` against everything else: records, states, sequence
// numbers without holes, the due index, the order index, the index of what is set aside, the sums;
// and that nobody is parked whose turn will not come. Reads all of
// it and writes nothing. The store must be closed.
absl::StatusOr<StoreAudit> auditStore(const std::string& path);

}  // namespace forebay
