#include "source/policy/storm_meter.h"

#include <algorithm>

namespace forebay {
namespace {

int64_t minuteOf(MonotonicTime now) { return absl::ToInt64Minutes(now.sinceOrigin()); }

}  // namespace

void StormMeter::onAttempt(MonotonicTime now, bool new_event) {
  const int64_t minute = minuteOf(now);
  Slot& slot = slots_[minute % kSlots];
  if (slot.minute != minute) {
    slot = {minute};
  }
  ++slot.attempts;
  slot.events += new_event;
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
