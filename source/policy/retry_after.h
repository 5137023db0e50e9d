#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace forebay {

// How long a `Retry-After` asks to wait: seconds, or an HTTP date (the three forms of RFC 9110)
// relative to `now`. A date in the past is zero. Nothing for what is malformed, negative, or
// further away than a year: nobody means that.
std::optional<absl::Duration> parseRetryAfter(std::string_view value, absl::Time now);

}  // namespace forebay
