#pragma once

#include <compare>

#include "absl/time/time.h"

namespace forebay {

// A point on a clock that never steps. Only differences mean anything; it must never be stored.
class MonotonicTime {
public:
  constexpr MonotonicTime() = default;
  static MonotonicTime fromOrigin(absl::Duration since_origin) {
    return MonotonicTime(since_origin);
  }
  static MonotonicTime infiniteFuture() { return MonotonicTime(absl::InfiniteDuration()); }

  absl::Duration sinceOrigin() const { return since_origin_; }

  friend MonotonicTime operator+(MonotonicTime time, absl::Duration delta) {
    return MonotonicTime(time.since_origin_ + delta);
  }
  friend absl::Duration operator-(MonotonicTime a, MonotonicTime b) {
    return a.since_origin_ - b.since_origin_;
  }
  friend bool operator==(MonotonicTime a, MonotonicTime b) {
    return a.since_origin_ == b.since_origin_;
  }
  friend bool operator<(MonotonicTime a, MonotonicTime b) {
    return a.since_origin_ < b.since_origin_;
  }
  friend bool operator<=(MonotonicTime a, MonotonicTime b) {
    return a.since_origin_ <= b.since_origin_;
  }
  friend bool operator>(MonotonicTime a, MonotonicTime b) { return b < a; }
  friend bool operator>=(MonotonicTime a, MonotonicTime b) { return b <= a; }

private:
  explicit MonotonicTime(absl::Duration since_origin) : since_origin_(since_origin) {}

  absl::Duration since_origin_;
};

// The only way to learn the time. Wall time is for records, due times and signatures; monotonic
// time is for timeouts and for the breaker. Safe from any thread.
class Clock {
public:
  virtual ~Clock() = default;
  virtual absl::Time wallNow() const = 0;
  virtual MonotonicTime monotonicNow() const = 0;
};

// The machine's clocks. Lives for ever.
const Clock& systemClock();

}  // namespace forebay
