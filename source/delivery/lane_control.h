#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "source/policy/circuit_breaker.h"

namespace forebay {

struct LaneStatus {
  std::string name;
  std::string cluster;
  BreakerState breaker = BreakerState::Closed;
  std::optional<absl::Time> next_probe_at;  // while the breaker is open
  bool paused = false;
  std::string pause_reason;
  uint64_t in_flight = 0;
  uint64_t ramp_percent = 100;       // of full speed; less for a while after a breaker closed
  uint64_t retry_ratio_percent = 0;  // 100 x attempts / events over 15 minutes
  bool storm = false;
};

// What an operator sees of the lanes and may do to them. Safe from any thread.
class LaneControl {
public:
  virtual ~LaneControl() = default;
  virtual std::vector<LaneStatus> lanes() = 0;  // in the config's order
  // Both persist. NotFound names the upstream that is not configured; Unavailable when the store
  // can't take it. A lane that is paused keeps capturing and finishes what is in flight.
  virtual absl::Status pause(std::string_view upstream, std::string_view reason) = 0;
  virtual absl::Status resume(std::string_view upstream) = 0;
};

}  // namespace forebay
