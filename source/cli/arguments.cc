#include "source/cli/arguments.h"

#include <algorithm>

#include "source/base/log.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

bool contains(absl::Span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::StatusOr<Arguments> Arguments::parse(absl::Span<const std::string> arguments,
                                           absl::Span<const std::string_view> valued,
                                           absl::Span<const std::string_view> flags) {
  Arguments parsed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      parsed.words_.insert(parsed.words_.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (!argument.starts_with('-') || argument == "-") {
      parsed.words_.emplace_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string shown = printable(argument.substr(0, equals), 64);
    const auto wrong = [&](std::string_view what) {
      return absl::InvalidArgumentError(cat(shown, ": ", what));
    };
    const std::string_view name =
        argument.starts_with("--") ? argument.substr(2, equals - 2) : std::string_view();
    std::string value;
    if (contains(flags, name)) {
      if (equals != std::string_view::npos) {
        return wrong("takes no value");
      }
    } else if (!contains(valued, name)) {
      return wrong("unknown option");
    } else if (equals != std::string_view::npos) {
      value = std::string(argument.substr(equals + 1));
    } else if (i + 1 == arguments.size()) {
      return wrong("wants a value");
    } else {
      value = arguments[++i];
    }
    if (!parsed.options_.emplace(name, value).second) {
      return wrong("given twice");
    }
  }
  return parsed;
}

std::string Arguments::takeFirstWord() {
  std::string word = std::move(words_.front());
  words_.erase(words_.begin());
  return word;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = options_.find(std::string(option));
  return found == options_.end() ? std::nullopt : std::optional(found->second);
}

std::string Arguments::firstOtherThan(absl::Span<const std::string_view> allowed) const {
  for (const auto& [name, value] : options_) {
    if (!contains(allowed, name)) {
      return name;
    }
  }
  return "";
}

}  // namespace forebay
