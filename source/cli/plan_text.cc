#include "source/cli/plan_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

absl::Status wrong(std::string_view text, std::string_view wanted) {
  return absl::InvalidArgumentError(cat("\"", printable(text, 64), "\": ", wanted));
}

struct Unit {
  std::string_view name;
  int64_t seconds;
};
constexpr Unit kRateUnits[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
// From the largest; each is a whole number of the next.
constexpr Unit kSpanUnits[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};

}  // namespace

absl::StatusOr<double> parseRate(std::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  double number = 0;
  if (absl::SimpleAtod(toAbsl(text.substr(0, slash)), &number) && std::isfinite(number) &&
      number > 0) {
    for (const Unit& unit : kRateUnits) {
      if (slash < text.size() && text.substr(slash + 1) == unit.name) {
        return number / static_cast<double>(unit.seconds);
      }
    }
  }
  return wrong(text, "wants a rate such as 50/s, 3000/min or 100/h");
}

absl::StatusOr<absl::Duration> parseSpan(std::string_view text) {
  absl::Duration span;
  if (absl::ParseDuration(std::string(text), &span) && span >= absl::ZeroDuration() &&
      span < absl::InfiniteDuration()) {
    return span;
  }
  return wrong(text, "wants a time such as 2h, 90s, 1h30m or 50ms");
}

std::string spanText(absl::Duration span) {
  if (span < absl::Seconds(1)) {
    return span == absl::ZeroDuration()
               ? "0 s"
               : cat(absl::ToInt64Milliseconds(span + absl::Microseconds(500)), " ms");
  }
  if (span < absl::Seconds(10)) {
    return absl::StrFormat("%g s", std::round(absl::ToDoubleSeconds(span) * 10) / 10);
  }
  int64_t seconds = absl::ToInt64Seconds(span + absl::Milliseconds(500));
  for (size_t i = 0; i + 1 < std::size(kSpanUnits); ++i) {
    const Unit& unit = kSpanUnits[i];
    const Unit& next = kSpanUnits[i + 1];
    if (seconds >= unit.seconds) {
      // Rounded to the second unit first, so that 59 min 59.9 s becomes 1 h and not 60 min.
      seconds = (seconds + next.seconds / 2) / next.seconds * next.seconds;
      const int64_t whole = seconds / unit.seconds;
      const int64_t rest = seconds % unit.seconds / next.seconds;
      return rest == 0 ? cat(whole, " ", unit.name)
                       : cat(whole, " ", unit.name, " ", rest, " ", next.name);
    }
  }
  return cat(seconds, " s");
}

std::string countText(uint64_t count) {
  std::string digits = cat(count);
  for (size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, 1, ',');
  }
  return digits;
}

std::string decimalText(double number) {
  if (number >= 9.95 || number == 0) {
    return countText(static_cast<uint64_t>(std::llround(number)));
  }
  return number < 0.1 ? absl::StrFormat("%.1g", number)
                      : absl::StrFormat("%g", std::round(number * 10) / 10);
}

std::string wrapped(std::string_view text, size_t columns) {
  std::string out;
  size_t used = 0;
  for (const absl::string_view line : absl::StrSplit(toAbsl(text), '\n')) {
    for (const absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      if (used > 0 && used + 1 + word.size() > columns) {
        out.push_back('\n');
        used = 0;
      }
      out.append(used == 0 ? "" : " ").append(toStd(word));
      used += (used == 0 ? 0 : 1) + word.size();
    }
    out.push_back('\n');
    used = 0;
  }
  out.pop_back();  // the split sees one more line than there are ends of lines
  return out;
}

}  // namespace forebay
