#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace forebay {

// The candidate that `name` was probably meant to be, or an empty view when none is near. Case,
// `_` and `-` count for nothing: `attemptsMax` means `attempts_max`.
absl::string_view closest(absl::string_view name, const std::vector<absl::string_view>& candidates);

}  // namespace forebay
