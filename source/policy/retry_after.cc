#include "source/policy/retry_after.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"

namespace forebay {
namespace {

constexpr int64_t kSecondsMax = int64_t{365} * 24 * 3600;
constexpr int kRfc850FutureYearsMax = 50;

constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                   "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Eats a text from the left. After the first mismatch nothing matches any more, so a form can be
// read in one go and asked for success at its end.
class Reader {
public:
  explicit Reader(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) { ok_ = take(expected); }

  int number(size_t digits) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!ok_ || rest_.empty() || !absl::ascii_isdigit(rest_[0])) {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

  // asctime pads the day of the month with a blank.
  int paddedNumber() { return take(" ") ? number(1) : number(2); }

  void dayName(size_t length) {
    ok_ = std::any_of(kDays.begin(), kDays.end(),
                      [&](std::string_view day) { return take(day.substr(0, length)); });
  }

  int month() {
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (take(kMonths[i])) {
        return static_cast<int>(i) + 1;
      }
    }
    ok_ = false;
    return 0;
  }

  bool done() const { return ok_ && rest_.empty(); }

private:
  bool take(std::string_view expected) {
    if (!ok_ || !rest_.starts_with(expected)) {
      return false;
    }
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::string_view rest_;
  bool ok_ = true;
};

struct Date {
  int64_t year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;

  absl::CivilSecond normalized() const {
    return absl::CivilSecond(year, month, day, hour, minute, second);
  }

  bool isValid() const {
    // A day that the month doesn't have runs into another month. A leap second is second 60; it is
    // taken for the first of the next minute.
    return absl::CivilDay(year, month, day).month() == month && hour <= 23 && minute <= 59 &&
           second <= 60;
  }
};

void readTime(Reader& reader, Date& date) {
  date.hour = reader.number(2);
  reader.literal(":");
  date.minute = reader.number(2);
  reader.literal(":");
  date.second = reader.number(2);
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Date> readImfFixdate(std::string_view text) {
  Reader reader(text);
  Date date;
  reader.dayName(3);
  reader.literal(", ");
  date.day = reader.number(2);
  reader.literal(" ");
  date.month = reader.month();
  reader.literal(" ");
  date.year = reader.number(4);
  reader.literal(" ");
  readTime(reader, date);
  reader.literal(" GMT");
  return reader.done() ? std::optional(date) : std::nullopt;
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<Date> readRfc850(std::string_view text, absl::Time now) {
  Reader reader(text);
  Date date;
  reader.dayName(std::string_view::npos);
  reader.literal(", ");
  date.day = reader.number(2);
  reader.literal("-");
  date.month = reader.month();
  reader.literal("-");
  const int two_digits = reader.number(2);
  reader.literal(" ");
  readTime(reader, date);
  reader.literal(" GMT");
  if (!reader.done()) {
    return std::nullopt;
  }
  // RFC 9110, 5.6.7: what appears to be more than 50 years ahead is the most recent such year of
  // the past.
  const absl::CivilSecond today = absl::ToCivilSecond(now, absl::UTCTimeZone());
  const absl::CivilSecond horizon(today.year() + kRfc850FutureYearsMax, today.month(), today.day(),
                                  today.hour(), today.minute(), today.second());
  date.year = horizon.year() - horizon.year() % 100 + two_digits;
  if (date.normalized() > horizon) {
    date.year -= 100;
  }
  return date;
}

// Sun Nov  6 08:49:37 1994
std::optional<Date> readAsctime(std::string_view text) {
  Reader reader(text);
  Date date;
  reader.dayName(3);
  reader.literal(" ");
  date.month = reader.month();
  reader.literal(" ");
  date.day = reader.paddedNumber();
  reader.literal(" ");
  readTime(reader, date);
  reader.literal(" ");
  date.year = reader.number(4);
  return reader.done() ? std::optional(date) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && absl::ascii_isspace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<absl::Duration> readSeconds(std::string_view digits) {
  int64_t seconds = 0;
  for (const char c : digits) {
    seconds = seconds * 10 + (c - '0');
    // At every digit, so that no length of text overflows.
    if (seconds > kSecondsMax) {
      return std::nullopt;
    }
  }
  return absl::Seconds(seconds);
}

}  // namespace

std::optional<absl::Duration> parseRetryAfter(std::string_view value, absl::Time now) {
  value = trimmed(value);
  if (!value.empty() && std::all_of(value.begin(), value.end(), absl::ascii_isdigit)) {
    return readSeconds(value);
  }
  std::optional<Date> date = readImfFixdate(value);
  if (!date.has_value()) {
    date = readRfc850(value, now);
  }
  if (!date.has_value()) {
    date = readAsctime(value);
  }
  if (!date.has_value() || !date->isValid()) {
    return std::nullopt;
  }
  const absl::Duration wait = absl::FromCivil(date->normalized(), absl::UTCTimeZone()) - now;
  if (wait > absl::Seconds(kSecondsMax)) {
    return std::nullopt;
  }
  return std::max(wait, absl::ZeroDuration());
}

}  // namespace forebay
