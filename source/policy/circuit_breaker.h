#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
  // Opens as well when, of at least `requests_min` attempts within `window`, so many failed. Asked
  // at every outcome, so a success may be the one that opens it: the attempt that makes the number
  // large enough to judge says no less of the failures before it.
  struct FailureRate {
    double percent = 50;  // more than zero, at most 100
    absl::Duration window = absl::Seconds(60);
    uint32_t requests_min = 20;
  };
  std::optional<FailureRate> failure_rate;
};

enum class BreakerState { Closed, Open, HalfOpen };
std::string_view breakerStateName(BreakerState state);  // closed, open, half_open

// What of a breaker outlives a restart. Durations, since monotonic time does not.
struct BreakerSnapshot {
  bool open = false;
  absl::Duration until_probe;  // while open; not negative
  absl::Duration open_for;     // while open: the whole of the present open time
};

// Leaves a failing upstream alone. Retryable failures in a row, or a share of them within a window,
// open it; after its open time one probe may go, whose outcome closes it or opens it for longer. A
// permanent answer is an answer: the app is up. Time is passed in. Belongs to one thread.
class CircuitBreaker {
public:
  explicit CircuitBreaker(const BreakerConfig& config) : config_(config) {}

  BreakerSnapshot snapshot(MonotonicTime now) const;
  // Of a new one. An open one waits out what was left of its time, within what the config allows
  // now, whatever the snapshot says. A probe that was under way is forgotten: another may go at
  // once.
  void restore(const BreakerSnapshot& snapshot, MonotonicTime now);

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
  // Counts a closed breaker's attempt; whether the share of failures is too high now.
  bool rateExceeded(bool failed, MonotonicTime now);
  void open(absl::Duration open_for, MonotonicTime now);

  BreakerConfig config_;
  bool open_ = false;
  bool probing_ = false;
  uint32_t failures_in_a_row_ = 0;
  absl::Duration open_for_;
  MonotonicTime probe_at_;

  // The attempts of the failure rate's window, in slots of a tenth of it: one counts for the whole
  // window and at most a tenth more.
  struct Slot {
    int64_t number = -1;
    uint32_t attempts = 0;
    uint32_t failures = 0;
  };
  static constexpr int64_t kSlots = 11;  // ten whole ones and the present one
  std::array<Slot, kSlots> slots_;
};

}  // namespace forebay
