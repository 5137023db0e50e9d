#include "source/delivery/settler.h"

#include <algorithm>
#include <string>

#include "source/event/names.h"

namespace forebay {

AttemptHistory historyOf(const FinishedAttempt& finished, Verdict verdict) {
  const v1::EventState& leased = finished.state;
  const uint32_t counted = finished.free ? 0 : 1;
  AttemptHistory history;
  history.attempts = leased.attempts() + counted - leased.budget_attempts();
  history.not_found = leased.not_found() + (verdict == Verdict::RetryNotFound ? counted : 0);
  history.previous_delay = absl::Microseconds(leased.last_delay_us());
  history.budget_from = absl::FromUnixMicros(leased.budget_from_us());
  return history;
}

absl::Duration sincePrevious(const FinishedAttempt& finished) {
  const int64_t last_us = finished.state.last_attempt_at_us();
  return last_us == 0 ? absl::InfiniteDuration() : finished.sent_at - absl::FromUnixMicros(last_us);
}

Settlement settleAttempt(const FinishedAttempt& finished, const AttemptHistory& history,
                         const Outcome& outcome, const Decision& decision) {
  Settlement settlement{finished.id, finished.state, v1::AttemptRecord()};
  v1::EventState& state = settlement.state;
  const std::string outcome_name(outcomeName(outcome));
  state.set_attempts(state.attempts() + 1);
  state.set_last_outcome(outcome_name);
  state.set_last_status(outcome.status);
  state.set_last_attempt_at_us(absl::ToUnixMicros(finished.sent_at));
  state.set_crashes(0);
  state.set_not_found(history.not_found);
  state.set_budget_attempts(state.budget_attempts() + (finished.free ? 1 : 0));
  state.set_due_at_us(0);
  state.clear_due_because();
  switch (decision.kind) {
    case Decision::Kind::Delivered:
      state.set_state(v1::STATE_DELIVERED);
      break;
    case Decision::Kind::Retry:
      state.set_state(v1::STATE_RETRYING);
      state.set_due_at_us(absl::ToUnixMicros(decision.retry_at));
      state.set_due_because(decision.because);
      state.set_last_delay_us(absl::ToInt64Microseconds(decision.delay));
      break;
    case Decision::Kind::Dead:
      state.set_state(v1::STATE_DEAD);
      state.set_reason(decision.reason);
      break;
  }

  v1::AttemptRecord& attempt = *settlement.attempt;
  attempt.set_at_us(absl::ToUnixMicros(finished.sent_at));
  attempt.set_attempt(state.attempts());
  attempt.set_outcome(outcome_name);
  attempt.set_status(outcome.status);
  attempt.set_error(outcome.error);
  attempt.set_duration_us(absl::ToInt64Microseconds(outcome.duration));
  attempt.set_next_at_us(state.due_at_us());
  attempt.set_next_because(state.due_because());
  attempt.set_answer(outcome.answer);
  attempt.set_replay(state.replay());
  return settlement;
}

Settlement settleExpired(const LeasedEvent& leased) {
  Settlement settlement{leased.event->id, leased.state, std::nullopt};
  settlement.state.set_state(v1::STATE_DEAD);
  settlement.state.set_reason(v1::DEAD_REASON_EXPIRED);
  settlement.state.set_due_at_us(0);
  settlement.state.clear_due_because();
  return settlement;
}

Settlement settlePostponed(const FinishedAttempt& finished, absl::Time due_at,
                           std::string_view because) {
  Settlement settlement{finished.id, finished.state, std::nullopt};
  settlement.state.set_due_at_us(absl::ToUnixMicros(due_at));
  settlement.state.set_due_because(std::string(because));
  settlement.state.set_crashes(0);
  return settlement;
}

void countAttempt(StatsSink& stats, std::string_view upstream, const FinishedAttempt& finished,
                  const Outcome& outcome, const Decision& decision, absl::Time now) {
  stats.add(Counter::Attempts, {upstream, outcomeName(outcome)}, 1);
  if (decision.retry_after_ignored) {
    stats.add(Counter::RetryAfterIgnored, {upstream}, 1);
  }
  if (decision.kind == Decision::Kind::Dead) {
    stats.add(Counter::Dead, {upstream, deadReasonName(decision.reason)}, 1);
  }
  if (decision.kind == Decision::Kind::Delivered) {
    stats.add(Counter::Delivered, {upstream}, 1);
    // A clock that stepped back since the capture makes no negative delay.
    const absl::Duration delay = std::max(now - finished.received_at, absl::ZeroDuration());
    stats.record(Histogram::DeliveryDelayMs, {upstream}, absl::ToInt64Milliseconds(delay));
    stats.record(Histogram::AttemptsToSuccess, {upstream},
                 finished.state.attempts() + 1 - finished.state.budget_attempts());
  }
}

}  // namespace forebay
