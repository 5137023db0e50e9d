#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace forebay {

// RFC 3339 in UTC with microseconds: 2026-01-02T03:04:05.000678Z.
std::string formatTime(absl::Time time);
std::string formatTimeUs(int64_t us_since_epoch);

// Reads RFC 3339 (any offset), or a time before `now`: -2h, -30m, -1h30m, -7d. An error names the
// text.
absl::StatusOr<absl::Time> parseTime(std::string_view text, absl::Time now);

}  // namespace forebay
