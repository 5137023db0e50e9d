#include "source/policy/circuit_breaker.h"

#include <algorithm>

namespace forebay {

std::string_view breakerStateName(BreakerState state) {
  switch (state) {
    case BreakerState::Closed:
      return "closed";
    case BreakerState::Open:
      return "open";
    case BreakerState::HalfOpen:
      return "half_open";
  }
  return "unknown";
}

bool CircuitBreaker::allows(MonotonicTime now) const {
  return !open_ || (!probing_ && now >= probe_at_);
}

bool CircuitBreaker::onAttemptStarted(MonotonicTime now) {
  if (!open_ || !allows(now)) {
    return false;
  }
  probing_ = true;
  return true;
}

void CircuitBreaker::onOutcome(Verdict verdict, bool was_probe, MonotonicTime now) {
  const bool probe = was_probe && probing_;
  if (probe) {
    probing_ = false;
  } else if (open_) {
    // It started before the breaker opened, so it says nothing of the app as it is now.
    return;
  }
  switch (verdict) {
    case Verdict::NotAnAttempt:
      return;
    case Verdict::Success:
    case Verdict::Permanent:
      open_ = false;
      failures_in_a_row_ = 0;
      return;
    case Verdict::Retry:
    case Verdict::RetryNotFound:
      break;
  }
  if (probe) {
    open_for_ = std::min(open_for_ * config_.open_multiplier, config_.open_max);
  } else if (++failures_in_a_row_ < config_.consecutive_failures) {
    return;
  } else {
    open_ = true;
    open_for_ = std::min(config_.open_initial, config_.open_max);
  }
  probe_at_ = now + open_for_;
}

BreakerState CircuitBreaker::state(MonotonicTime now) const {
  if (!open_) {
    return BreakerState::Closed;
  }
  return probing_ || now >= probe_at_ ? BreakerState::HalfOpen : BreakerState::Open;
}

}  // namespace forebay
