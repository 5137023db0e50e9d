#include "source/admin/time_text.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

constexpr std::string_view kUnits = "dhms";
constexpr int kDigitsMax = 9;  // 10^9 of the largest unit is far within what a Duration holds

absl::Duration unitLength(char unit) {
  switch (unit) {
    case 'd':
      return absl::Hours(24);
    case 'h':
      return absl::Hours(1);
    case 'm':
      return absl::Minutes(1);
    default:
      return absl::Seconds(1);
  }
}

// "1h30m": whole numbers, each with a unit, larger units first.
std::optional<absl::Duration> parseLength(std::string_view text) {
  absl::Duration sum;
  size_t next_unit = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    int64_t value = 0;
    size_t digits = 0;
    while (digits < text.size() && absl::ascii_isdigit(text[digits])) {
      value = value * 10 + (text[digits] - '0');
      if (++digits > kDigitsMax) {
        return std::nullopt;
      }
    }
    if (digits == 0 || digits == text.size()) {
      return std::nullopt;
    }
    const size_t unit = kUnits.find(text[digits], next_unit);
    if (unit == std::string_view::npos) {
      return std::nullopt;
    }
    next_unit = unit + 1;
    sum += value * unitLength(kUnits[unit]);
    text.remove_prefix(digits + 1);
  }
  return sum;
}

// Abseil's reader takes more than RFC 3339 does (spaces, "infinite-future", years of any length).
bool looksLikeRfc3339(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  const auto matches = [](std::string_view shape, std::string_view part) {
    if (shape.size() != part.size()) {
      return false;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 'd' ? !absl::ascii_isdigit(part[i]) : part[i] != shape[i]) {
        return false;
      }
    }
    return true;
  };
  if (text.size() < kShape.size() || !matches(kShape, text.substr(0, kShape.size()))) {
    return false;
  }
  text.remove_prefix(kShape.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    size_t digits = 0;
    while (digits < text.size() && absl::ascii_isdigit(text[digits])) {
      ++digits;
    }
    if (digits == 0 || digits > kDigitsMax) {
      return false;
    }
    text.remove_prefix(digits);
  }
  return text == "Z" || matches("+dd:dd", text) || matches("-dd:dd", text);
}

}  // namespace

std::string formatTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

std::string formatTimeUs(int64_t us_since_epoch) {
  return formatTime(absl::FromUnixMicros(us_since_epoch));
}

absl::StatusOr<absl::Time> parseTime(std::string_view text, absl::Time now) {
  if (text.starts_with('-')) {
    if (const std::optional<absl::Duration> ago = parseLength(text.substr(1))) {
      return now - *ago;
    }
  } else {
    const std::string upper = absl::AsciiStrToUpper(toAbsl(text));
    absl::Time time;
    if (looksLikeRfc3339(upper) && absl::ParseTime(absl::RFC3339_full, upper, &time, nullptr)) {
      return time;
    }
  }
  return absl::InvalidArgumentError(
      cat("\"", printable(text, 64),
          "\" is no time (RFC 3339 such as 2026-01-31T12:00:00Z, or relative such as -2h "
          "or -1h30m)"));
}

}  // namespace forebay
