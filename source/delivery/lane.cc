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
      breaker_(config.breaker),
      pace_(config),
      retry_share_(config.retry.share_max_percent) {}

size_t Lane::room(MonotonicTime now) const {
  if (paused_ || now < blocked_until_ || !breaker_.allows(now)) {
    return 0;
  }
  const size_t room = pace_.room(in_flight_.size(), now);
  // Half open: one probe, and nothing beside it.
  return breaker_.state(now) == BreakerState::HalfOpen ? std::min<size_t>(room, 1) : room;
}

MonotonicTime Lane::roomAt(MonotonicTime now) const {
  if (paused_) {
    return MonotonicTime::infiniteFuture();
  }
  MonotonicTime at = std::max(blocked_until_, pace_.roomAt(in_flight_.size(), now));
  if (breaker_.state(now) == BreakerState::Open) {
    return std::max(at, breaker_.probeAt());
  }
  return breaker_.allows(now) ? at : MonotonicTime::infiniteFuture();
}

LeaseLimits Lane::leaseLimits(size_t room, MonotonicTime now) const {
  // A probe is the oldest event that is due, whatever it is.
  const bool probe = breaker_.state(now) == BreakerState::HalfOpen;
  return {room, probe ? room : retry_share_.allowance(room)};
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
  in_flight.started = now;
  in_flight.is_probe = breaker_.onAttemptStarted(now);
  pace_.onStarted(now);
  return request;
}

Settlement Lane::finish(uint64_t token, const Outcome& outcome, absl::Time wall_now,
                        MonotonicTime now, Random& random) {
  InFlight& in_flight = in_flight_.at(token);
  const Verdict verdict = classifier_.classify(outcome);
  moveBreaker(in_flight, verdict, now);
  if (verdict == Verdict::NotAnAttempt) {
    return postpone(in_flight, outcome, wall_now, now);
  }
  own_error_backoff_ = absl::ZeroDuration();
  considerPause(outcome, verdict);
  storm_meter_.onAttempt(in_flight.started, sincePrevious(in_flight.attempt));
  in_flight.attempt.free =
      in_flight.is_probe && (verdict == Verdict::Retry || verdict == Verdict::RetryNotFound);
  const AttemptHistory history = historyOf(in_flight.attempt, verdict);
  const Decision decision = policy_.decide(outcome, verdict, history, wall_now, random);
  countAttempt(stats_, config_.name, in_flight.attempt, outcome, decision, wall_now);
  return settleAttempt(in_flight.attempt, history, outcome, decision);
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

void Lane::moveBreaker(const InFlight& in_flight, Verdict verdict, MonotonicTime now) {
  const BreakerState before = breaker_.state(now);
  const MonotonicTime probe_before = breaker_.probeAt();
  breaker_.onOutcome(verdict, in_flight.is_probe, now);
  const BreakerState after = breaker_.state(now);
  if (verdict == Verdict::Retry || verdict == Verdict::RetryNotFound) {
    pace_.ramp().onFailure(in_flight.started, now);
  }
  if (after == BreakerState::Open && breaker_.probeAt() != probe_before) {
    changed_ = true;
    log_.warn(cat("upstream ", config_.name, ": breaker open, next probe in ",
                  absl::FormatDuration(breaker_.probeAt() - now)));
  } else if (after == BreakerState::Closed && before != BreakerState::Closed) {
    changed_ = true;
    pace_.ramp().begin(now);
    log_.info(cat("upstream ", config_.name, ": breaker closed"));
  }
}

void Lane::considerPause(const Outcome& outcome, Verdict verdict) {
  permanent_in_a_row_ = verdict == Verdict::Permanent ? permanent_in_a_row_ + 1 : 0;
  if (outcome.directive == Directive::Disable) {
    pause_reason_ = "the app asked for it (webhook-delivery: disable)";
  } else if (config_.pause_after_permanent_failures > 0 &&
             permanent_in_a_row_ == config_.pause_after_permanent_failures) {
    pause_reason_ = cat(permanent_in_a_row_, " permanent failures in a row, the latest: ",
                        outcome.kind == OutcomeKind::Answered ? cat("status ", outcome.status)
                                                              : std::string(outcomeName(outcome)));
  }
}

void Lane::setPaused(bool paused, MonotonicTime now) {
  if (paused_ && !paused) {
    pace_.ramp().begin(now);
    permanent_in_a_row_ = 0;
    changed_ = true;
  }
  paused_ = paused;
}

void Lane::save(v1::LaneRecord& record, absl::Time wall_now, MonotonicTime now) const {
  record.clear_breaker();
  record.clear_ramp_began_at_us();
  const BreakerSnapshot snapshot = breaker_.snapshot(now);
  if (snapshot.open) {
    record.mutable_breaker()->set_open(true);
    record.mutable_breaker()->set_probe_at_us(absl::ToUnixMicros(wall_now + snapshot.until_probe));
    record.mutable_breaker()->set_open_for_us(absl::ToInt64Microseconds(snapshot.open_for));
  }
  if (const std::optional<MonotonicTime> began = pace_.ramp().began(now)) {
    record.set_ramp_began_at_us(absl::ToUnixMicros(wall_now - (now - *began)));
  }
}

void Lane::restore(const v1::LaneRecord& record, absl::Time wall_now, MonotonicTime now) {
  BreakerSnapshot snapshot;
  snapshot.open = record.breaker().open();
  snapshot.until_probe = absl::FromUnixMicros(record.breaker().probe_at_us()) - wall_now;
  snapshot.open_for = absl::Microseconds(record.breaker().open_for_us());
  breaker_.restore(snapshot, now);
  if (record.ramp_began_at_us() > 0) {
    // A wall clock that was set back meanwhile makes it begin anew.
    pace_.ramp().begin(now, wall_now - absl::FromUnixMicros(record.ramp_began_at_us()));
  }
}

}  // namespace forebay
