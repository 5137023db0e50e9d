#include "source/base/log.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace forebay {

std::string printable(std::string_view text, size_t bytes_max) {
  const bool cut = text.size() > bytes_max;
  const std::string_view kept = text.substr(0, bytes_max);
  // Debian's Abseil has a string_view of its own.
  std::string escaped = absl::CHexEscape(absl::string_view(kept.data(), kept.size()));
  return cut ? absl::StrCat(escaped, "…") : escaped;
}

}  // namespace forebay
