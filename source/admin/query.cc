#include "source/admin/query.h"

#include <algorithm>
#include <charconv>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

int hexValue(char c) {
  if (absl::ascii_isdigit(c)) {
    return c - '0';
  }
  return absl::ascii_isxdigit(c) ? absl::ascii_tolower(c) - 'a' + 10 : -1;
}

std::optional<std::string> percentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) {
      return std::nullopt;
    }
    const int high = hexValue(text[i + 1]);
    const int low = hexValue(text[i + 2]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

template <typename... Parts>
absl::Status malformed(std::string_view name, const Parts&... what) {
  return absl::InvalidArgumentError(cat(printable(name, 64), ": ", what...));
}

}  // namespace

std::pair<std::string_view, std::string_view> splitOnce(std::string_view text, char separator) {
  const size_t found = text.find(separator);
  return found == std::string_view::npos ? std::pair(text, std::string_view())
                                         : std::pair(text.substr(0, found), text.substr(found + 1));
}

absl::StatusOr<Query> Query::parse(std::string_view text,
                                   absl::Span<const std::string_view> known) {
  Query query;
  while (!text.empty()) {
    const auto [piece, rest] = splitOnce(text, '&');
    text = rest;
    if (piece.empty()) {
      continue;
    }
    const auto [raw_name, raw_value] = splitOnce(piece, '=');
    std::optional<std::string> name = percentDecode(raw_name);
    if (!name) {
      return malformed(raw_name, "malformed percent escape in the parameter's name");
    }
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      return malformed(*name, "unknown parameter (",
                       known.empty() ? std::string("none is taken here") : join(known, ", "), ")");
    }
    if (query.get(*name)) {
      return malformed(*name, "given twice, the second time as \"", printable(raw_value, 64), "\"");
    }
    std::optional<std::string> value = percentDecode(raw_value);
    if (!value) {
      return malformed(*name, "malformed percent escape in \"", printable(raw_value, 64), "\"");
    }
    if (value->empty()) {
      return malformed(*name, "\"\" is empty; leave the parameter out to match everything");
    }
    query.parameters_.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

std::optional<std::string_view> Query::get(std::string_view name) const {
  for (const auto& [key, value] : parameters_) {
    if (key == name) {
      return value;
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::string_view> Query::require(std::string_view name) const {
  if (const std::optional<std::string_view> value = get(name)) {
    return *value;
  }
  return malformed(name, "missing");
}

absl::StatusOr<uint64_t> parseWhole(std::string_view text, uint64_t min, uint64_t max) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return absl::InvalidArgumentError(
        cat("\"", printable(text, 64), "\" is not a whole number from ", min, " to ", max));
  }
  return value;
}

}  // namespace forebay
