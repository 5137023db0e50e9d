#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "source/base/clock.h"
#include "source/policy/classifier.h"

namespace forebay {

struct BreakerConfig {
  uint32_t consecutive_failures = 20;
  absl::Duration open_initial = absl::Seconds(10);
  double open_multiplier = 2;
  absl::Duration open_max = absl::Seconds(300);
};

enum class BreakerState { Closed, Open, HalfOpen };
std::string_view breakerStateName(BreakerState state);  // closed, open, half_open

// Leaves a failing upstream alone. Retryable failures in a row open it; after its open time one
// probe may go, whose outcome closes it or opens it for longer. A permanent answer is an answer:
// the app is up. Time is passed in. Belongs to one thread.
class CircuitBreaker {
public:
  explicit CircuitBreaker(const BreakerConfig& config) : config_(config) {}

  // Whether an attempt may start now. While half open, true once: call onAttemptStarted() next.
  bool allows(MonotonicTime now) const;
  // Returns whether this attempt is the probe.
  bool onAttemptStarted(MonotonicTime now);
  // `was_probe` as onAttemptStarted() said. NotAnAttempt only gives the probe back.
  void onOutcome(Verdict verdict, bool was_probe, MonotonicTime now);

  BreakerState state(MonotonicTime now) const;
  // When the next probe may go; meaningful while open.
  MonotonicTime probeAt() const { return probe_at_; }

private:
  BreakerConfig config_;
  bool open_ = false;
  bool probing_ = false;
  uint32_t failures_in_a_row_ = 0;
  absl::Duration open_for_;
  MonotonicTime probe_at_;
};

}  // namespace forebay
