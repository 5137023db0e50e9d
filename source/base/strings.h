#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace forebay {

// Debian builds Abseil with a string_view of its own. These bridge the two, and cost nothing where
// they are one type.
inline absl::string_view toAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view toStd(absl::string_view text) { return {text.data(), text.size()}; }

template <typename T>
decltype(auto) catPiece(const T& part) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return toAbsl(part);
  } else {
    return (part);
  }
}

// absl::StrCat that takes std::string_view too.
template <typename... T>
std::string cat(const T&... parts) {
  return absl::StrCat(catPiece(parts)...);
}

inline std::string join(absl::Span<const std::string_view> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    joined.append(i == 0 ? std::string_view() : separator).append(parts[i]);
  }
  return joined;
}

}  // namespace forebay
