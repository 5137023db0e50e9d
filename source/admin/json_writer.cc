#include "source/admin/json_writer.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "source/base/utf8.h"

namespace forebay {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool needsEscape(uint32_t symbol) {
  return symbol < 0x20 || (symbol >= 0x7F && symbol <= 0x9F) || symbol == '<' || symbol == '>' ||
         symbol == '&' || symbol == 0x2028 || symbol == 0x2029;
}

void appendEscaped(uint32_t symbol, std::string& out) {
  switch (symbol) {
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      absl::StrAppendFormat(&out, "\\u%04x", symbol);
  }
}

}  // namespace

void appendJsonString(std::string_view text, std::string& out) {
  out.push_back('"');
  while (!text.empty()) {
    const Utf8Symbol next = firstUtf8Symbol(text);
    if (!next.valid) {
      out.append(kReplacement);
    } else if (next.value == '"' || next.value == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(next.value));
    } else if (needsEscape(next.value)) {
      appendEscaped(next.value, out);
    } else {
      out.append(text.substr(0, next.length));
    }
    text.remove_prefix(next.length);
  }
  out.push_back('"');
}

}  // namespace forebay
