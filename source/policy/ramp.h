#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

// Brings a lane back to full speed after its breaker closed or an operator resumed it, so that a
// backlog does not knock over an app that has just stood up. Concurrency grows in a line from one;
// the rate grows with it, or, where there is no rate limit, from one attempt per second and slot,
// doubling kRampDoublings times. A failure sets it back by half of the way. Belongs to one thread.
class Ramp {
public:
  explicit Ramp(absl::Duration length) : length_(length) {}

  // From the start, or (after a restart) from `elapsed` on.
  void begin(MonotonicTime now, absl::Duration elapsed = absl::ZeroDuration());
  // An attempt that was started at `started` has failed. Those that were under way at the last
  // setback say nothing new.
  void onFailure(MonotonicTime started, MonotonicTime now);

  bool active(MonotonicTime now) const { return position(now) < 1; }
  // From 0, at the start, to 1: full speed.
  double position(MonotonicTime now) const;
  // When it began, as if it had never been set back; none at full speed.
  std::optional<MonotonicTime> began(MonotonicTime now) const;

  // At least 1.
  uint32_t concurrency(uint32_t max, MonotonicTime now) const;
  // What to multiply a configured rate with: more than zero, at most 1.
  double rateFactor(MonotonicTime now) const;
  // Attempts per second where no rate is configured; none at full speed.
  std::optional<double> ownRate(uint32_t concurrency_max, MonotonicTime now) const;
  // When concurrency() will next be larger; infinite at full speed.
  MonotonicTime grows(uint32_t concurrency_max, MonotonicTime now) const;

private:
  absl::Duration length_;
  std::optional<MonotonicTime> began_;
  MonotonicTime set_back_at_;
};

inline constexpr int kRampDoublings = 12;

}  // namespace forebay
