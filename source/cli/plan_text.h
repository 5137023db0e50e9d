#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace forebay {

// How rates, times and counts are read from the command line, and how a plan writes them.

// `50/s`, `3000/min`, `0.5/h`: events per second, more than zero. An error shows the text.
absl::StatusOr<double> parseRate(std::string_view text);
// `2h`, `90s`, `1h30m`, `50ms`; not negative, not infinite. An error shows the text.
absl::StatusOr<absl::Duration> parseSpan(std::string_view text);

// At most two units, rounded: `350 ms`, `1.5 s`, `4 min 58 s`, `1 h 12 min`, `3 d 4 h`.
std::string spanText(absl::Duration span);
// `360,000`.
std::string countText(uint64_t count);
// At most one digit after the point, from 10 on none; none of it lost below 0.1: `0.02`.
std::string decimalText(double number);

// Each line of `text` in lines of at most `columns` bytes, broken at blanks.
std::string wrapped(std::string_view text, size_t columns);

}  // namespace forebay
