#pragma once

#include <string>

#include "source/cli/plan_series.h"
#include "source/cli/plan_summary.h"
#include "source/cli/plot.h"

namespace forebay {

// A plan that has been run.
struct Plan {
  PlanInput input;
  PlanSeries series;
  PlanSummary summary;
};

// `50/s`, `50/s in bursts of 1,000`.
std::string arrivalsText(const PlanInput& input);

// What happens, in a few sentences.
std::string planWords(const Plan& plan);
// What happens when, one line for each thing that changes.
std::string planTable(const Plan& plan);
// Backlog and attempts over time.
Plot planPlot(const Plan& plan);

}  // namespace forebay
