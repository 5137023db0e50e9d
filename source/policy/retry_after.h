#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace forebay {

// How long a `Retry-After` asks to wait: seconds, or an HTTP date (the three forms of RFC 9110)
// relative to `now`. A date in the past is zero. Nothing for what is malformed, negative, or
// further away than a year: nobody means that. The name of the weekday must be one, but is not held
// against the date: a server that gets it wrong still says when.
std::optional<absl::Duration> parseRetryAfter(std::string_view value, absl::Time now);

}  // namespace forebay
