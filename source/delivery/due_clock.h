#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

// The time by which due times are set and compared: that of the wall clock, but it never runs back.
// A wall clock that is set back by a year must not hold up for a year what was due in a minute; so
// from then on this one goes on by itself, ahead of the wall. Deadlines and records have nothing to
// do with it. Belongs to one thread.
class DueClock {
public:
  // `latest_capture`: what the store has seen says how far this clock was when it was last used.
  DueClock(const Clock& clock, absl::Time latest_capture)
      : clock_(clock), as_of_(clock.monotonicNow()), now_(latest_capture) {}

  absl::Time now() {
    // The wall first: what passes between the two readings must not put this clock ahead for good.
    const absl::Time wall = clock_.wallNow();
    const MonotonicTime as_of = clock_.monotonicNow();
    now_ = std::max(wall, now_ + (as_of - as_of_));
    as_of_ = as_of;
    return now_;
  }
  // How far it is ahead of the wall. Less than a millisecond is the time between two readings.
  absl::Duration ahead() {
    const absl::Time due_now = now();
    const absl::Duration ahead = due_now - clock_.wallNow();
    return ahead < absl::Milliseconds(1) ? absl::ZeroDuration() : ahead;
  }

private:
  const Clock& clock_;
  MonotonicTime as_of_;
  absl::Time now_;
};

}  // namespace forebay
