#pragma once

#include <array>
#include <cstdint>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

inline constexpr absl::Duration kStormWindow = absl::Minutes(15);
inline constexpr uint64_t kStormRatioPercent = 500;

// Attempts per event over the last 15 minutes, by whole minutes: the present one and the fifteen
// before it. Belongs to one thread.
class StormMeter {
public:
  // An attempt that started at `started`, so long after the start of the event's attempt before it;
  // infinitely long if it is the first. Attempts may be told late and in any order.
  void onAttempt(MonotonicTime started, absl::Duration since_previous);

  // 100 x attempts / events that had them; 0 without attempts.
  uint64_t ratioPercent(MonotonicTime now) const;
  bool storm(MonotonicTime now) const { return ratioPercent(now) > kStormRatioPercent; }

private:
  static constexpr int64_t kSlots = 16;
  struct Slot {
    int64_t minute = -1;
    uint64_t attempts = 0;
    uint64_t events = 0;  // whose latest attempt it is, so that each is counted once
  };
  Slot& slotOf(int64_t minute) { return slots_[static_cast<size_t>(minute % kSlots)]; }

  std::array<Slot, kSlots> slots_;
};

}  // namespace forebay
