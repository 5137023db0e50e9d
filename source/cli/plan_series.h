#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "source/cli/plan_options.h"
#include "source/config/config.h"

namespace forebay {

// What is to be simulated.
struct PlanInput {
  UpstreamConfig upstream;
  double per_second = 0;  // events
  uint32_t burst = 1;     // of them at once; the bursts are spread evenly
  absl::Duration outage;  // whole seconds
  OutageKind kind = OutageKind::Refused;
  absl::Duration latency;
  std::optional<double> capacity;  // requests per second that the app bears while it is up
  uint64_t seed = 1;
};

// One second of it.
struct PlanSecond {
  uint64_t backlog = 0;  // at its end: captured, neither delivered nor dead
  uint32_t attempts = 0;
  uint32_t delivered = 0;
  uint32_t dead = 0;
  BreakerState breaker = BreakerState::Closed;  // at its end, as the lane says
  bool full_speed = true;                       // at its end: closed, and not ramping
};

// All of it. The outage begins after `lead_in` and the app is back after `lead_in + outage`.
struct PlanSeries {
  absl::Duration lead_in;  // whole seconds
  absl::Duration outage;   // the same
  std::vector<PlanSecond> seconds;
  std::map<std::string, uint64_t> dead_reasons;
  // Why it ended.
  enum class End {
    Drained,
    NotFalling,  // for an hour no fewer events waited: it would go on like this
    Limit,       // what one plan may take
  };
  End end = End::Drained;

  size_t outageBegin() const { return static_cast<size_t>(absl::ToInt64Seconds(lead_in)); }
  size_t outageEnd() const { return static_cast<size_t>(absl::ToInt64Seconds(lead_in + outage)); }
};

}  // namespace forebay
