#include "source/base/log.h"

#include "absl/strings/escaping.h"
#include "source/base/strings.h"

namespace forebay {

std::string printable(std::string_view text, size_t bytes_max) {
  const bool cut = text.size() > bytes_max;
  std::string escaped = absl::CHexEscape(toAbsl(text.substr(0, bytes_max)));
  return cut ? cat(escaped, "…") : escaped;
}

}  // namespace forebay
