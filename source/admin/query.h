#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace forebay {

// What is before the first `separator` and what is after it; all and nothing where there is none.
std::pair<std::string_view, std::string_view> splitOnce(std::string_view text, char separator);

// The parameters of a request's query. All are decoded, known and given at most once.
class Query {
public:
  // `text` is what follows the question mark. Percent escapes are decoded; a plus is a plus, as
  // in RFC 3986, so that 2026-01-01T00:00:00+01:00 means what it says. InvalidArgument names the
  // parameter that is malformed, repeated, or not among `known`.
  static absl::StatusOr<Query> parse(std::string_view text,
                                     absl::Span<const std::string_view> known);

  // None when it was not given; never empty otherwise.
  std::optional<std::string_view> get(std::string_view name) const;
  // As get(), but InvalidArgument when it was not given.
  absl::StatusOr<std::string_view> require(std::string_view name) const;

private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

// Digits only, from `min` to `max`. An error says what is wrong with `text`.
absl::StatusOr<uint64_t> parseWhole(std::string_view text, uint64_t min, uint64_t max);

}  // namespace forebay
