#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace forebay {

// What was written on the command line: words, and options with a value or without one.
class Arguments {
public:
  // `--name VALUE` or `--name=VALUE`, `--name` for the flags; after `--` everything is a word. An
  // error names the option that is unknown, repeated, or lacks its value.
  static absl::StatusOr<Arguments> parse(absl::Span<const std::string> arguments,
                                         absl::Span<const std::string_view> valued,
                                         absl::Span<const std::string_view> flags);

  const std::vector<std::string>& words() const { return words_; }
  // There must be one.
  std::string takeFirstWord();
  bool has(std::string_view option) const { return options_.contains(std::string(option)); }
  std::optional<std::string> value(std::string_view option) const;

  // The first given option that is not among `allowed`; empty when all are.
  std::string firstOtherThan(absl::Span<const std::string_view> allowed) const;

private:
  std::vector<std::string> words_;
  std::map<std::string, std::string> options_;  // without the dashes
};

}  // namespace forebay
