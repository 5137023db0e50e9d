#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "source/cli/plan_series.h"

namespace forebay {

// What a series comes to. Times are since the app is back, to the second; none for what did not
// happen within the series.
struct PlanSummary {
  bool keeps_up = true;  // before the outage, what came in got through
  uint64_t backlog_at_return = 0;
  uint64_t attempts_in_outage = 0;
  uint32_t attempts_per_second_max_in_outage = 0;
  std::optional<absl::Duration> breaker_opened;  // since the outage began
  std::optional<absl::Duration> first_delivery;
  std::optional<absl::Duration> full_speed;
  std::optional<absl::Duration> drained;
  // From the return to the drained backlog, or to the end.
  uint32_t attempts_per_second_max = 0;
  double attempts_per_second_mean = 0;
  uint64_t delivered = 0;  // over the whole series, as is the next
  uint64_t dead = 0;
  uint64_t backlog_at_end = 0;
};

PlanSummary summarise(const PlanInput& input, const PlanSeries& series);

// How long a breaker that opened with the outage waits between two tries when the outage ends.
absl::Duration probeWait(const BreakerConfig& breaker, absl::Duration outage);

}  // namespace forebay
