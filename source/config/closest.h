#pragma once

#include <string_view>
#include <vector>

namespace forebay {

// The candidate that `name` was probably meant to be, or an empty view when none is near. Case,
// `_` and `-` count for nothing: `attemptsMax` means `attempts_max`.
std::string_view closest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace forebay
