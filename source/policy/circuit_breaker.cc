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
      failures_in_a_row_ = 0;
      if (probe) {
        open_ = false;
        // What happened before says nothing of the app as it is now.
        slots_ = {};
      } else if (rateExceeded(false, now)) {
        open(config_.open_initial, now);
      }
      return;
    case Verdict::Retry:
    case Verdict::RetryNotFound:
      break;
  }
  if (probe) {
    open(open_for_ * config_.open_multiplier, now);
    return;
  }
  ++failures_in_a_row_;
  const bool rate_exceeded = rateExceeded(true, now);
  if (failures_in_a_row_ >= config_.consecutive_failures || rate_exceeded) {
    open(config_.open_initial, now);
  }
}

void CircuitBreaker::open(absl::Duration open_for, MonotonicTime now) {
  open_ = true;
  open_for_ = std::min(open_for, config_.open_max);
  probe_at_ = now + open_for_;
}

bool CircuitBreaker::rateExceeded(bool failed, MonotonicTime now) {
  if (!config_.failure_rate.has_value()) {
    return false;
  }
  const BreakerConfig::FailureRate& rate = *config_.failure_rate;
  absl::Duration into_slot;
  const int64_t number =
      absl::IDivDuration(now.sinceOrigin(), rate.window / (kSlots - 1), &into_slot);
  Slot& present = slots_[number % kSlots];
  if (present.number != number) {
    present = {number};
  }
  ++present.attempts;
  present.failures += failed;
  uint64_t attempts = 0;
  uint64_t failures = 0;
  for (const Slot& slot : slots_) {
    if (slot.number > number - kSlots) {
      attempts += slot.attempts;
      failures += slot.failures;
    }
  }
  return attempts >= rate.requests_min &&
         static_cast<double>(failures) * 100 >= rate.percent * static_cast<double>(attempts);
}

BreakerSnapshot CircuitBreaker::snapshot(MonotonicTime now) const {
  if (!open_) {
    return {};
  }
  return {true, std::max(probe_at_ - now, absl::ZeroDuration()), open_for_};
}

void CircuitBreaker::restore(const BreakerSnapshot& snapshot, MonotonicTime now) {
  if (!snapshot.open) {
    return;
  }
  open_ = true;
  open_for_ = std::clamp(snapshot.open_for, std::min(config_.open_initial, config_.open_max),
                         config_.open_max);
  probe_at_ = now + std::clamp(snapshot.until_probe, absl::ZeroDuration(), open_for_);
}

BreakerState CircuitBreaker::state(MonotonicTime now) const {
  if (!open_) {
    return BreakerState::Closed;
  }
  return probing_ || now >= probe_at_ ? BreakerState::HalfOpen : BreakerState::Open;
}

}  // namespace forebay
