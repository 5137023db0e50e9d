#pragma once

#include "absl/status/statusor.h"
#include "source/cli/plan_series.h"

namespace forebay {

// What keeps a run short: some ten seconds on a slow machine.
inline constexpr uint64_t kPlanStepsMax = 5'000'000;
inline constexpr absl::Duration kPlanLengthMax = absl::Hours(31 * 24);

// Runs the real forwarder in virtual time: a while of calm, the outage, and what follows until
// nothing waits any more. The same input gives the same series. ResourceExhausted when not even the
// outage fits `steps_max`.
absl::StatusOr<PlanSeries> runPlan(const PlanInput& input, uint64_t steps_max = kPlanStepsMax);

}  // namespace forebay
