#include "source/base/utf8.h"

namespace forebay {
namespace {

bool isContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

}  // namespace

Utf8Symbol firstUtf8Symbol(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1, true};
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
    return {0, 1, false};
  }
  uint32_t symbol = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || !isContinuation(byte(i)) ||
        (i == 1 && (byte(i) < low || byte(i) > high))) {
      return {0, i, false};
    }
    symbol = (symbol << 6) | (byte(i) & 0x3F);
  }
  return {symbol, length, true};
}

}  // namespace forebay
