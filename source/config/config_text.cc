#include "source/config/config_text.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {

namespace {

using google::protobuf::Value;

constexpr int64_t kSecondsMax = 315'576'000'000;  // google.protobuf.Duration's: 10,000 years
constexpr size_t kFractionDigitsMax = 9;

bool isDigits(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      return false;
    }
  }
  return !text.empty();
}

}  // namespace

std::optional<absl::Duration> parseSeconds(std::string_view seconds_text) {
  absl::string_view text = toAbsl(seconds_text);
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!absl::ConsumeSuffix(&text, "s")) {
    return std::nullopt;
  }
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  int64_t seconds = 0;
  if (!isDigits(whole) || !absl::SimpleAtoi(whole, &seconds) || seconds > kSecondsMax) {
    return std::nullopt;
  }
  absl::Duration duration = absl::Seconds(seconds);
  if (point != absl::string_view::npos) {
    std::string fraction(text.substr(point + 1));
    if (!isDigits(fraction) || fraction.size() > kFractionDigitsMax) {
      return std::nullopt;
    }
    fraction.resize(kFractionDigitsMax, '0');
    int64_t nanoseconds = 0;
    if (!absl::SimpleAtoi(fraction, &nanoseconds)) {
      return std::nullopt;
    }
    duration += absl::Nanoseconds(nanoseconds);
  }
  return negative ? -duration : duration;
}

std::string secondsText(absl::Duration duration) {
  const bool negative = duration < absl::ZeroDuration();
  const absl::Duration size = absl::AbsDuration(duration);
  const int64_t seconds = absl::ToInt64Seconds(size);
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(size - absl::Seconds(seconds));
  std::string text = cat(negative ? "-" : "", seconds);
  if (nanoseconds > 0) {
    absl::StrAppend(&text, absl::StrFormat(".%09d", nanoseconds));
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "s";
}

std::string numberText(double number) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, result.ptr);
}

std::string inQuotes(std::string_view text) { return cat("\"", printable(text), "\""); }

std::string valueText(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return numberText(value.number_value());
    case Value::kStringValue:
      return inQuotes(value.string_value());
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    default:
      return std::string(kindText(value));
  }
}

std::string_view kindText(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return "a number";
    case Value::kStringValue:
      return "a string";
    case Value::kBoolValue:
      return "a bool";
    case Value::kStructValue:
      return "a mapping";
    case Value::kListValue:
      return "a list";
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      break;
  }
  return "null";
}

}  // namespace forebay
