#pragma once

#include "absl/status/statusor.h"
#include "source/cli/plan_series.h"

namespace forebay {

// What keeps a run short: about five seconds on a slow machine.
inline constexpr uint64_t kPlanStepsMax = 8'000'000;
inline constexpr absl::Duration kPlanLengthMax = absl::Hours(31 * 24);

// Runs the real forwarder in virtual time: a while of calm, the outage, and what follows until
// nothing waits any more. The same input gives the same series.
absl::StatusOr<PlanSeries> runPlan(const PlanInput& input);

}  // namespace forebay
