#include "source/delivery/lane.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay {

Lane::Lane(const UpstreamConfig& config, StatsSink& stats, Log& log)
    : config_(config),
      classifier_(config.classify),
      policy_(config.retry),
      stats_(stats),
      log_(log),
      breaker_(config.breaker) {}

size_t Lane::room(MonotonicTime now) const {
  if (paused_ || now < blocked_until_ || !breaker_.allows(now) ||
      in_flight_.size() >= config_.concurrency_max) {
    return 0;
  }
  // Half open: one probe, and nothing beside it.
  if (breaker_.state(now) == BreakerState::HalfOpen) {
    return 1;
  }
  return config_.concurrency_max - in_flight_.size();
}

MonotonicTime Lane::roomAt(MonotonicTime now) const {
  if (paused_ || in_flight_.size() >= config_.concurrency_max) {
    return MonotonicTime::infiniteFuture();
  }
  MonotonicTime at = std::max(now, blocked_until_);
  if (breaker_.state(now) == BreakerState::Open) {
    return std::max(at, breaker_.probeAt());
  }
  return breaker_.allows(now) ? at : MonotonicTime::infiniteFuture();
}

bool Lane::isExpired(const LeasedEvent& leased, absl::Time now) const {
  return policy_.isExpired(absl::FromUnixMicros(leased.state.budget_from_us()), now);
}

OutgoingRequest Lane::start(LeasedEvent&& leased, uint64_t token, absl::Time wall_now,
                            MonotonicTime now) {
  OutgoingRequest request = buildRequest(leased, config_, leased.state.attempts() + 1, token);
  InFlight& in_flight = in_flight_[token];
  in_flight.attempt.id = leased.event->id;
  in_flight.attempt.received_at = absl::FromUnixMicros(leased.event->record.received_at_us());
  in_flight.attempt.sent_at = wall_now;
  in_flight.attempt.state = std::move(leased.state);
  in_flight.is_probe = breaker_.onAttemptStarted(now);
  return request;
}

Settlement Lane::finish(uint64_t token, const Outcome& outcome, absl::Time wall_now,
                        MonotonicTime now, Random& random) {
  const InFlight& in_flight = in_flight_.at(token);
  const Verdict verdict = classifier_.classify(outcome);
  const BreakerState before = breaker_.state(now);
  breaker_.onOutcome(verdict, in_flight.is_probe, now);
  logBreaker(before, now);
  if (verdict == Verdict::NotAnAttempt) {
    return postpone(in_flight, outcome, wall_now, now);
  }
  own_error_backoff_ = absl::ZeroDuration();
  const Decision decision =
      policy_.decide(outcome, verdict, historyOf(in_flight.attempt.state), wall_now, random);
  countAttempt(stats_, config_.name, in_flight.attempt, outcome, decision, wall_now);
  return settleAttempt(in_flight.attempt, outcome, decision);
}

Settlement Lane::postpone(const InFlight& in_flight, const Outcome& outcome, absl::Time wall_now,
                          MonotonicTime now) {
  if (now >= blocked_until_) {
    own_error_backoff_ = std::clamp(own_error_backoff_ * 2, limits::kOwnErrorBackoffMin,
                                    limits::kOwnErrorBackoffMax);
    blocked_until_ = now + own_error_backoff_;
    log_.warn(cat("upstream ", config_.name, " (cluster ", config_.cluster, "): ", outcome.error,
                  "; no attempt is counted, trying again in ",
                  absl::FormatDuration(own_error_backoff_)));
  }
  stats_.add(Counter::OwnErrors, {config_.name, outcomeName(outcome)}, 1);
  return settlePostponed(in_flight.attempt, wall_now + own_error_backoff_, outcome.error);
}

void Lane::logBreaker(BreakerState before, MonotonicTime now) {
  const BreakerState after = breaker_.state(now);
  if (after == BreakerState::Open && before != BreakerState::Open) {
    log_.warn(cat("upstream ", config_.name, ": breaker open, next probe in ",
                  absl::FormatDuration(breaker_.probeAt() - now)));
  } else if (after == BreakerState::Closed && before != BreakerState::Closed) {
    log_.info(cat("upstream ", config_.name, ": breaker closed"));
  }
}

}  // namespace forebay
