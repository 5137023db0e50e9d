#include "source/event/event_id.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "source/base/log.h"

namespace forebay {
namespace {

constexpr char kAlphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr uint64_t kMillisecondsMax = (uint64_t{1} << 48) - 1;

int digitValue(char c) {
  if (c >= 'a' && c <= 'z') {
    c = static_cast<char>(c - 'a' + 'A');
  }
  const char* const found = std::strchr(kAlphabet, c);
  return c == '\0' || found == nullptr ? -1 : static_cast<int>(found - kAlphabet);
}

uint64_t milliseconds(absl::Time time) {
  const int64_t value = absl::ToUnixMillis(time);
  return static_cast<uint64_t>(std::clamp<int64_t>(value, 0, kMillisecondsMax));
}

void writeTime(uint64_t ms, uint8_t* bytes) {
  for (int i = 5; i >= 0; --i) {
    bytes[i] = static_cast<uint8_t>(ms & 0xff);
    ms >>= 8;
  }
}

}  // namespace

EventId EventId::fromBytes(std::string_view bytes) {
  EventId id;
  std::copy_n(bytes.begin(), std::min(bytes.size(), kBytes), id.bytes_.begin());
  return id;
}

absl::StatusOr<EventId> EventId::parse(std::string_view text) {
  const auto malformed = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", printable(text, 64), "\" is not an event id (26 letters and digits)"));
  };
  // 26 digits hold 130 bits; the first may only use three of its five.
  if (text.size() != kTextLength || digitValue(text[0]) > 7) {
    return malformed();
  }
  EventId id;
  unsigned __int128 value = 0;
  for (const char c : text) {
    const int digit = digitValue(c);
    if (digit < 0) {
      return malformed();
    }
    value = (value << 5) | static_cast<unsigned>(digit);
  }
  for (int i = kBytes - 1; i >= 0; --i) {
    id.bytes_[i] = static_cast<uint8_t>(value & 0xff);
    value >>= 8;
  }
  return id;
}

EventId EventId::firstAt(absl::Time time) {
  EventId id;
  writeTime(milliseconds(time), id.bytes_.data());
  return id;
}

EventId EventId::lastAt(absl::Time time) {
  EventId id;
  id.bytes_.fill(0xff);
  writeTime(milliseconds(time), id.bytes_.data());
  return id;
}

std::string EventId::toString() const {
  unsigned __int128 value = 0;
  for (const uint8_t byte : bytes_) {
    value = (value << 8) | byte;
  }
  std::string text(kTextLength, '0');
  for (size_t i = kTextLength; i > 0; --i) {
    text[i - 1] = kAlphabet[static_cast<size_t>(value & 31)];
    value >>= 5;
  }
  return text;
}

absl::Time EventId::time() const {
  int64_t ms = 0;
  for (int i = 0; i < 6; ++i) {
    ms = (ms << 8) | bytes_[i];
  }
  return absl::FromUnixMillis(ms);
}

void EventIdGenerator::continueAfter(const EventId& id) { last_ = std::max(last_, id); }

EventId EventIdGenerator::next(absl::Time now) {
  EventId id;
  writeTime(milliseconds(now), id.bytes_.data());
  const uint64_t high = random_.next();
  const uint64_t low = random_.next();
  std::memcpy(id.bytes_.data() + 6, &high, 8);
  std::memcpy(id.bytes_.data() + 14, &low, 2);
  if (id <= last_) {
    id = last_;
    for (int i = EventId::kBytes - 1; i >= 0 && ++id.bytes_[i] == 0; --i) {
    }
  }
  last_ = id;
  return id;
}

}  // namespace forebay
