#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay {

struct Utf8Symbol {
  uint32_t value = 0;
  size_t length = 0;  // bytes to step over, at least 1
  bool valid = false;
};

// The first code point of `text`, which must not be empty. Of a broken sequence, `length` covers
// the longest start of a valid one (as Unicode advises), so that what follows is read as it is.
Utf8Symbol firstUtf8Symbol(std::string_view text);

}  // namespace forebay
