#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/cli/plan_options.h"

namespace forebay {

extern const std::string_view kPlanHelp;

// The command `forebay plan`: reads the configuration, simulates, writes the picture if one is
// wanted, and returns what to print, at most `columns` wide where it can be helped.
absl::StatusOr<std::string> plan(const PlanOptions& options, size_t columns);

}  // namespace forebay
