#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "source/cli/plan_report.h"

namespace forebay {

// One way to retry, among others.
struct ComparedPlan {
  std::string_view jitter;  // as in a configuration
  bool with_breaker = true;
  Plan plan;
};

// The input with each of the five jitters, and again without the breaker, so that what the jitter
// does alone can be seen.
absl::StatusOr<std::vector<ComparedPlan>> comparePlans(const PlanInput& input);

// A table, and what to read in it.
std::string compareText(const std::vector<ComparedPlan>& plans);
// Attempts over time, one panel for each, on one scale.
Plot comparePlot(const std::vector<ComparedPlan>& plans);

}  // namespace forebay
