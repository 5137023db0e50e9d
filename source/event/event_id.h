#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "source/base/random.h"

namespace forebay {

// A ULID: 48 bits of milliseconds and 80 of chance, in bytes whose order is the order of time.
class EventId {
public:
  static constexpr size_t kBytes = 16;
  static constexpr size_t kTextLength = 26;

  constexpr EventId() = default;

  // The 16 bytes of `bytes`, which must be that long.
  static EventId fromBytes(std::string_view bytes);
  // 26 characters of Crockford's base 32, either case. Names the text that is not.
  static absl::StatusOr<EventId> parse(std::string_view text);
  // The smallest and the largest id of that millisecond.
  static EventId firstAt(absl::Time time);
  static EventId lastAt(absl::Time time);

  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::string toString() const;
  absl::Time time() const;
  bool isZero() const { return *this == EventId(); }

  friend auto operator<=>(const EventId&, const EventId&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const EventId& id) {
    return H::combine(std::move(state), id.bytes_);
  }

private:
  friend class EventIdGenerator;

  std::array<uint8_t, kBytes> bytes_{};
};

// Makes ids that only ever grow, even within a millisecond and even when the clock steps back.
// Belongs to one thread.
class EventIdGenerator {
public:
  explicit EventIdGenerator(Random& random) : random_(random) {}

  // Every id after this is larger than `id`.
  void continueAfter(const EventId& id);
  EventId next(absl::Time now);

private:
  Random& random_;
  EventId last_;
};

}  // namespace forebay
