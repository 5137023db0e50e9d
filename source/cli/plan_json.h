#pragma once

#include <string>
#include <vector>

#include "source/cli/plan_compare.h"
#include "source/cli/plan_report.h"

namespace forebay {

// Plans for machines: one object on one line. Times are in seconds.
std::string planJson(const Plan& plan);
// Without the series.
std::string compareJson(const std::vector<ComparedPlan>& plans);

}  // namespace forebay
