#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

// Brings a lane back to full speed after its breaker closed or an operator resumed it, so that a
// backlog does not knock over an app that has just stood up. Concurrency grows in a line from one;
// the rate grows with it, or, where there is no rate limit, from one attempt per second and slot,
// doubling kRampDoublings times. A failure sets it back by half of the way. Time is passed in and
// never runs back. Belongs to one thread.
class Ramp {
public:
  // Finite; zero is none.
  explicit Ramp(absl::Duration length) : length_(length) {}

  // From the start, or (after a restart) from `elapsed` on; less than zero is zero.
  void begin(MonotonicTime now, absl::Duration elapsed = absl::ZeroDuration());
  // An attempt that was started at `started` has failed. Those that were under way at the last
  // setback say nothing new.
  void onFailure(MonotonicTime started, MonotonicTime now);

  bool active(MonotonicTime now) const { return began_.has_value() && now - *began_ < length_; }
  // From 0, at the start, to 1: full speed.
  double position(MonotonicTime now) const;
  // When one that was never set back would have begun to be where it is; none at full speed.
  std::optional<MonotonicTime> began(MonotonicTime now) const;

  // At least 1, at most `max`, which is at least 1.
  uint32_t concurrency(uint32_t max, MonotonicTime now) const;
  // What to multiply a configured rate with: more than zero, at most 1.
  double rateFactor(MonotonicTime now) const;
  // Attempts per second where no rate is configured; none at full speed.
  std::optional<double> ownRate(uint32_t concurrency_max, MonotonicTime now) const;
  // The first instant at which concurrency() is larger or, as `concurrency_max` is 1, the ramp is
  // over; infinite at full speed.
  MonotonicTime grows(uint32_t concurrency_max, MonotonicTime now) const;

private:
  absl::Duration length_;
  std::optional<MonotonicTime> began_;
  MonotonicTime set_back_at_;
};

inline constexpr int kRampDoublings = 12;

}  // namespace forebay
