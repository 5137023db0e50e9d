#pragma once

#include <array>
#include <cstdint>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

inline constexpr absl::Duration kStormWindow = absl::Minutes(15);
inline constexpr uint64_t kStormRatioPercent = 500;

// Attempts per event over the last 15 minutes, minute by minute. Belongs to one thread.
class StormMeter {
public:
  // `new_event`: no earlier attempt of the event lies within kStormWindow.
  void onAttempt(MonotonicTime now, bool new_event);

  // 100 x attempts / events; 0 without attempts. Attempts of events that all began before the
  // window count as those of one event.
  uint64_t ratioPercent(MonotonicTime now) const;
  bool storm(MonotonicTime now) const { return ratioPercent(now) > kStormRatioPercent; }

private:
  static constexpr int64_t kSlots = 16;  // fifteen whole ones and the present one
  struct Slot {
    int64_t minute = -1;
    uint64_t attempts = 0;
    uint64_t events = 0;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace forebay
