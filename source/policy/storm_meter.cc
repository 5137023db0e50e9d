#include "source/policy/storm_meter.h"

#include <algorithm>

namespace forebay {
namespace {

int64_t minuteOf(MonotonicTime time) {
  return std::max<int64_t>(absl::ToInt64Minutes(time.sinceOrigin()), 0);
}

}  // namespace

void StormMeter::onAttempt(MonotonicTime started, absl::Duration since_previous) {
  const int64_t minute = minuteOf(started);
  Slot& slot = slotOf(minute);
  if (slot.minute > minute) {
    // It took longer than the window lasts.
    return;
  }
  if (slot.minute < minute) {
    slot = {minute};
  }
  ++slot.attempts;
  ++slot.events;
  const int64_t previous_minute = minuteOf(started + -since_previous);
  Slot& previous = slotOf(previous_minute);
  // One from before our own start was never counted.
  if (since_previous <= started.sinceOrigin() && previous.minute == previous_minute &&
      previous.events > 0) {
    --previous.events;
  }
}

uint64_t StormMeter::ratioPercent(MonotonicTime now) const {
  const int64_t minute = minuteOf(now);
  uint64_t attempts = 0;
  uint64_t events = 0;
  for (const Slot& slot : slots_) {
    if (slot.minute > minute - kSlots) {
      attempts += slot.attempts;
      events += slot.events;
    }
  }
  return attempts * 100 / std::max<uint64_t>(events, 1);
}

}  // namespace forebay
