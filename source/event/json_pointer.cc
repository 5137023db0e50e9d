#include "source/event/json_pointer.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <utility>

#include "source/base/utf8.h"

namespace forebay {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Less than 0 for what is no digit.
int hexValue(char c) {
  if (isDigit(c)) {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// `digits` holds at least four.
uint32_t hexUnit(std::string_view digits) {
  uint32_t unit = 0;
  for (size_t i = 0; i < 4; ++i) {
    unit = unit << 4 | static_cast<uint32_t>(hexValue(digits[i]));
  }
  return unit;
}

bool isHighSurrogate(uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool isLowSurrogate(uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// What `\x` stands for; 0 where it is no escape of one letter.
char unescaped(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

struct Utf8 {
  explicit Utf8(uint32_t symbol) {
    if (symbol < 0x80) {
      add(symbol);
    } else if (symbol < 0x800) {
      add(0xC0 | symbol >> 6);
      add(0x80 | (symbol & 0x3F));
    } else if (symbol < 0x10000) {
      add(0xE0 | symbol >> 12);
      add(0x80 | (symbol >> 6 & 0x3F));
      add(0x80 | (symbol & 0x3F));
    } else {
      add(0xF0 | symbol >> 18);
      add(0x80 | (symbol >> 12 & 0x3F));
      add(0x80 | (symbol >> 6 & 0x3F));
      add(0x80 | (symbol & 0x3F));
    }
  }
  void add(uint32_t byte) { bytes[length++] = static_cast<char>(byte); }
  std::string_view view() const { return {bytes.data(), length}; }

  std::array<char, 4> bytes;
  size_t length = 0;
};

// Hands the text of a JSON string to `take`, piece by piece. `raw` is what stands between the
// quotes, and was scanned. False once `take` says so, and at half a surrogate pair.
template <typename Take>
bool unescape(std::string_view raw, Take take) {
  while (!raw.empty()) {
    const size_t plain = std::min(raw.find('\\'), raw.size());
    if (plain > 0) {
      if (!take(raw.substr(0, plain))) {
        return false;
      }
      raw.remove_prefix(plain);
      continue;
    }
    if (raw[1] != 'u') {
      const char letter = unescaped(raw[1]);
      if (!take(std::string_view(&letter, 1))) {
        return false;
      }
      raw.remove_prefix(2);
      continue;
    }
    uint32_t symbol = hexUnit(raw.substr(2));
    raw.remove_prefix(6);
    if (isHighSurrogate(symbol)) {
      const uint32_t low = raw.starts_with("\\u") ? hexUnit(raw.substr(2)) : 0;
      if (!isLowSurrogate(low)) {
        return false;
      }
      symbol = 0x10000 + ((symbol - 0xD800) << 10) + (low - 0xDC00);
      raw.remove_prefix(6);
    } else if (isLowSurrogate(symbol)) {
      return false;
    }
    if (!take(Utf8(symbol).view())) {
      return false;
    }
  }
  return true;
}

// Whether a name of an object, as `raw` above, is what a pointer's token says.
bool nameIs(std::string_view raw, std::string_view token) {
  const bool is_prefix = unescape(raw, [&](std::string_view piece) {
    for (const char c : piece) {
      if (token.empty()) {
        return false;
      }
      const bool escaped = token[0] == '~';
      const char wanted = !escaped ? token[0] : token[1] == '0' ? '~' : '/';
      if (c != wanted) {
        return false;
      }
      token.remove_prefix(escaped ? 2 : 1);
    }
    return true;
  });
  return is_prefix && token.empty();
}

constexpr uint64_t kNoIndex = std::numeric_limits<uint64_t>::max();

// The element that a pointer's token names; kNoIndex where it names none, as `-` and `01` do.
uint64_t indexOf(std::string_view token) {
  constexpr size_t kDigitsMax = 18;  // no array is longer
  if (token.empty() || token.size() > kDigitsMax || (token[0] == '0' && token.size() > 1)) {
    return kNoIndex;
  }
  uint64_t index = 0;
  for (const char c : token) {
    if (!isDigit(c)) {
      return kNoIndex;
    }
    index = index * 10 + static_cast<uint64_t>(c - '0');
  }
  return index;
}

// The pointer's tokens, one at a time, forth and back.
class Tokens {
public:
  explicit Tokens(std::string_view pointer)
      : pointer_(pointer),
        count_(static_cast<size_t>(std::count(pointer.begin(), pointer.end(), '/'))) {}

  size_t count() const { return count_; }
  std::string_view current() const { return pointer_.substr(begin_, end_ - begin_); }
  // Before the first one at the start.
  void forth() {
    begin_ = end_ + 1;
    end_ = std::min(pointer_.find('/', begin_), pointer_.size());
  }
  void back() {
    end_ = begin_ - 1;
    begin_ = end_ == 0 ? 0 : pointer_.rfind('/', end_ - 1) + 1;
  }

private:
  const std::string_view pointer_;
  const size_t count_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Goes through a document once. Of the brackets that are open it knows their kinds, and how many of
// them, from the outermost, lie on the pointer's way.
class Scan {
public:
  Scan(std::string_view json, std::string_view pointer) : json_(json), tokens_(pointer) {}

  // Whether it is JSON throughout.
  bool run() {
    on_way_ = true;
    if (!takeValue()) {
      return false;
    }
    while (depth_ > 0) {
      if (!takeMemberOrEnd()) {
        return false;
      }
    }
    skipBlanks();
    return at_ == json_.size();
  }

  // The scalar at the pointer, as it stands in the document; empty when there is none.
  std::string_view found() const { return found_; }

private:
  // A NUL at the end: nothing that is looked for.
  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void skipBlanks() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') {
      ++at_;
    }
  }

  bool takeMemberOrEnd() {
    const bool in_object = is_object_[depth_ - 1];
    skipBlanks();
    if (take(in_object ? '}' : ']')) {
      close();
      return true;
    }
    if (!is_first_ && !take(',')) {
      return false;
    }
    return (in_object ? takeName() : countElement()) && takeValue();
  }

  bool isInnermostOnWay() const { return depth_ == depth_on_way_; }

  bool takeName() {
    skipBlanks();
    const size_t begin = at_;
    if (!takeString()) {
      return false;
    }
    const std::string_view raw = json_.substr(begin + 1, at_ - begin - 2);
    on_way_ = isInnermostOnWay() && nameIs(raw, tokens_.current());
    skipBlanks();
    return take(':');
  }

  bool countElement() {
    on_way_ = isInnermostOnWay() && index_++ == wanted_index_;
    return true;
  }

  // A scalar, or the bracket that opens something larger.
  bool takeValue() {
    skipBlanks();
    if (on_way_) {
      found_ = {};  // of a name that came before: this one replaces all that was below it
    }
    const size_t begin = at_;
    is_first_ = false;
    switch (peek()) {
      case '{':
      case '[':
        return open();
      case '"':
        if (!takeString()) {
          return false;
        }
        break;
      case 't':
        if (!takeWord("true")) {
          return false;
        }
        break;
      case 'f':
        if (!takeWord("false")) {
          return false;
        }
        break;
      case 'n':
        return takeWord("null");  // never found
      default:
        if (!takeNumber()) {
          return false;
        }
    }
    if (on_way_ && depth_on_way_ == tokens_.count()) {
      found_ = json_.substr(begin, at_ - begin);
    }
    return true;
  }

  bool open() {
    if (depth_ == kJsonDepthMax) {
      return false;
    }
    is_object_[depth_++] = json_[at_++] == '{';
    is_first_ = true;
    if (on_way_ && depth_on_way_ < tokens_.count()) {
      ++depth_on_way_;
      tokens_.forth();
      index_ = 0;
      wanted_index_ = indexOf(tokens_.current());
    }
    return true;
  }

  void close() {
    if (isInnermostOnWay()) {
      --depth_on_way_;
      tokens_.back();
      wanted_index_ = kNoIndex;  // if an array holds what ends here, its element has been found
    }
    --depth_;
    is_first_ = false;
  }

  bool takeWord(std::string_view word) {
    if (!json_.substr(at_).starts_with(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  bool takeDigits() {
    if (!isDigit(peek())) {
      return false;
    }
    while (isDigit(peek())) {
      ++at_;
    }
    return true;
  }

  bool takeNumber() {
    take('-');
    if (!take('0') && !takeDigits()) {
      return false;
    }
    if (take('.') && !takeDigits()) {
      return false;
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      return takeDigits();
    }
    return true;
  }

  bool takeString() {
    if (!take('"')) {
      return false;
    }
    while (at_ < json_.size()) {
      const auto c = static_cast<unsigned char>(json_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!takeEscape()) {
          return false;
        }
      } else if (c >= 0x80) {
        const Utf8Symbol symbol = firstUtf8Symbol(json_.substr(at_));
        if (!symbol.valid) {
          return false;
        }
        at_ += symbol.length;
      } else if (c < 0x20) {
        return false;
      } else {
        ++at_;
      }
    }
    return false;
  }

  bool takeEscape() {
    ++at_;
    if (!take('u')) {
      return unescaped(peek()) != 0 && take(peek());
    }
    for (int i = 0; i < 4; ++i) {
      if (hexValue(peek()) < 0) {
        return false;
      }
      ++at_;
    }
    return true;
  }

  const std::string_view json_;
  size_t at_ = 0;
  std::bitset<kJsonDepthMax> is_object_;  // of the open brackets, the outermost first
  size_t depth_ = 0;
  bool is_first_ = false;  // nothing came yet since the latest opening bracket

  Tokens tokens_;  // the current one belongs to the innermost bracket on the way
  size_t depth_on_way_ = 0;
  uint64_t index_ = 0;  // of that bracket's next element, while it is the innermost
  uint64_t wanted_index_ = kNoIndex;
  bool on_way_ = false;  // whether the value that comes is the pointer's, or holds it
  std::string_view found_;
};

}  // namespace

bool isJsonPointer(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '~' && next != '0' && next != '1') {
      return false;
    }
  }
  return text[0] == '/';
}

std::optional<std::string> scalarAt(std::string_view json, std::string_view pointer) {
  Scan scan(json, pointer);
  if (!scan.run() || scan.found().empty()) {
    return std::nullopt;
  }
  const std::string_view found = scan.found();
  if (found[0] != '"') {
    return std::string(found);
  }
  const std::string_view raw = found.substr(1, found.size() - 2);
  std::string text;
  text.reserve(raw.size());  // an escape is never shorter than what it stands for
  const bool is_text = unescape(raw, [&](std::string_view piece) {
    text.append(piece);
    return true;
  });
  return is_text ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace forebay
