#include "source/store/rocks/keys.h"

namespace forebay::rocks {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr size_t kDueTail = sizeof(uint64_t) + EventId::kBytes;

template <typename Number>
void appendNumber(Number number, std::string& out) {
  for (int shift = 8 * (sizeof(Number) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((number >> shift) & 0xff));
  }
}

uint64_t readNumber(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(uint64_t); ++i) {
    number = (number << 8) | static_cast<uint8_t>(bytes[i]);
  }
  return number;
}

void append(std::string_view bytes, std::string& out) { out.append(bytes.data(), bytes.size()); }

}  // namespace

std::string metaKey(std::string_view prefix, std::string_view upstream) {
  std::string key(prefix);
  append(upstream, key);
  return key;
}

std::string encodePosition(const Position& position) {
  std::string value;
  appendNumber(position.sequence, value);
  append(position.newest.bytes(), value);
  return value;
}

std::optional<Position> decodePosition(std::string_view value) {
  if (value.size() != sizeof(uint64_t) + EventId::kBytes) {
    return std::nullopt;
  }
  return Position{readNumber(value), EventId::fromBytes(value.substr(sizeof(uint64_t)))};
}

void encodeDueKey(std::string_view upstream, Queue queue, const DueKey& due, std::string& key) {
  key.clear();
  key.push_back(static_cast<char>(upstream.size()));
  append(upstream, key);
  key.push_back(static_cast<char>(queue));
  // The sign bit is turned round, so that times before 1970 sort before those after.
  appendNumber(static_cast<uint64_t>(due.due_us) ^ kSign, key);
  append(due.id.bytes(), key);
}

std::string dueBegin(std::string_view upstream, Queue queue) {
  std::string key(1, static_cast<char>(upstream.size()));
  append(upstream, key);
  key.push_back(static_cast<char>(queue));
  return key;
}

std::string dueEnd(std::string_view upstream, Queue queue) {
  // Longer than any key of the queue, and no byte is larger.
  std::string key = dueBegin(upstream, queue);
  key.append(kDueTail + 1, static_cast<char>(0xff));
  return key;
}

std::optional<std::string_view> dueUpstream(std::string_view key) {
  if (key.empty() || key.size() != 2 + static_cast<uint8_t>(key[0]) + kDueTail) {
    return std::nullopt;
  }
  return key.substr(1, static_cast<uint8_t>(key[0]));
}

std::optional<DueKey> decodeDueKey(std::string_view key) {
  if (!dueUpstream(key).has_value()) {
    return std::nullopt;
  }
  const std::string_view tail = key.substr(key.size() - kDueTail);
  return DueKey{static_cast<int64_t>(readNumber(tail) ^ kSign),
                EventId::fromBytes(tail.substr(sizeof(uint64_t)))};
}

std::string attemptKey(const EventId& id, uint32_t attempt) {
  std::string key(id.bytes());
  appendNumber(attempt, key);
  return key;
}

std::string setAsideKey(uint8_t state, const EventId& id) {
  std::string key(1, static_cast<char>(state));
  append(id.bytes(), key);
  return key;
}

std::optional<EventId> decodeSetAsideKey(std::string_view key) {
  if (key.size() != 1 + EventId::kBytes) {
    return std::nullopt;
  }
  return EventId::fromBytes(key.substr(1));
}

void encodeOrderKey(std::string_view upstream, OrderPlace place, std::string_view order_key,
                    const EventId& id, std::string& out) {
  out.clear();
  out.push_back(static_cast<char>(upstream.size()));
  append(upstream, out);
  out.push_back(static_cast<char>(place));
  out.push_back(static_cast<char>(order_key.size()));
  append(order_key, out);
  append(id.bytes(), out);
}

std::string orderEnd(std::string_view upstream, OrderPlace place, std::string_view order_key) {
  std::string key;
  encodeOrderKey(upstream, place, order_key, EventId(), key);
  key.resize(key.size() - EventId::kBytes);
  key.append(EventId::kBytes + 1, static_cast<char>(0xff));
  return key;
}

std::optional<EventId> decodeOrderKey(std::string_view key) {
  constexpr size_t kHeads = 3;  // two lengths and the place
  if (key.size() < kHeads + EventId::kBytes) {
    return std::nullopt;
  }
  const size_t upstream = static_cast<uint8_t>(key[0]);
  if (key.size() < kHeads + upstream + EventId::kBytes ||
      key.size() != kHeads + upstream + static_cast<uint8_t>(key[2 + upstream]) + EventId::kBytes) {
    return std::nullopt;
  }
  return EventId::fromBytes(key.substr(key.size() - EventId::kBytes));
}

}  // namespace forebay::rocks
