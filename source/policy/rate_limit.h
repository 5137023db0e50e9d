#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/time/time.h"
#include "source/base/clock.h"
#include "source/policy/pacer.h"

namespace forebay {

// Both more than zero.
struct RateLimitConfig {
  uint32_t events = 0;
  absl::Duration per;
};

// At most `events` starts in any window of `per`, wherever the window begins, and evenly spread
// over it. Remembers the starts of the latest window, so the bound is exact. `factor`, more than
// zero and at most one, slows it down for a while. Time is passed in and never runs back. Belongs
// to one thread.
class RateLimit {
public:
  explicit RateLimit(const RateLimitConfig& config) : config_(config) {}

  size_t available(MonotonicTime now, double factor) const;
  // When available() is at least one, if the factor stays: `now` or later.
  MonotonicTime availableAt(MonotonicTime now, double factor) const;
  // `count` starts; at most available().
  void take(MonotonicTime now, double factor, size_t count);

private:
  double perSecond(double factor) const;

  const RateLimitConfig config_;
  Pacer pacer_;
  std::deque<MonotonicTime> starts_;  // of the latest window, at most config_.events
};

}  // namespace forebay
