#include "source/admin/json_writer.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace forebay {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Decoded {
  size_t length;    // bytes to step over; at least 1
  uint32_t symbol;  // 0 with `valid` false
  bool valid;
};

bool isContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// The first code point of `text`. Of a broken sequence, steps over the longest start of a valid
// one (as Unicode advises), so that what follows is read as it is.
Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {1, lead, true};
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte's range.
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    low = lead == 0xE0 ? 0xA0 : low;
    high = lead == 0xED ? 0x9F : high;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    low = lead == 0xF0 ? 0x90 : low;
    high = lead == 0xF4 ? 0x8F : high;
  } else {
    return {1, 0, false};
  }
  uint32_t symbol = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || !isContinuation(byte(i)) ||
        (i == 1 && (byte(i) < low || byte(i) > high))) {
      return {i, 0, false};
    }
    symbol = (symbol << 6) | (byte(i) & 0x3F);
  }
  return {length, symbol, true};
}

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
    const Decoded next = decode(text);
    if (!next.valid) {
      out.append(kReplacement);
    } else if (next.symbol == '"' || next.symbol == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(next.symbol));
    } else if (needsEscape(next.symbol)) {
      appendEscaped(next.symbol, out);
    } else {
      out.append(text.substr(0, next.length));
    }
    text.remove_prefix(next.length);
  }
  out.push_back('"');
}

}  // namespace forebay
