#include "test/sim/decisions.h"

#include <algorithm>

#include "source/base/strings.h"
#include "source/policy/retry_after.h"
#include "test/sim/lane_model.h"

namespace forebay::sim {
namespace {

constexpr uint32_t kNotFoundMax = 5;

absl::Time deadline(const Decided& decided) {
  return absl::FromUnixMicros(decided.before.budget_from_us()) +
         decided.upstream.retry.give_up_after;
}

bool isDead(const v1::EventState& state, v1::DeadReason reason) {
  return state.state() == v1::STATE_DEAD && state.reason() == reason;
}

// What the app asked for, where it may ask.
absl::Duration askedFor(const Decided& decided) {
  const Outcome& outcome = *decided.outcome;
  if (!outcome.retry_after.has_value() || (outcome.status != 429 && outcome.status != 503)) {
    return absl::ZeroDuration();
  }
  return parseRetryAfter(*outcome.retry_after, decided.wall).value_or(absl::ZeroDuration());
}

std::string wrongRetry(const Decided& decided, const v1::EventState& next) {
  const RetryConfig& retry = decided.upstream.retry;
  const bool is_404 = meaningOf(*decided.outcome) == Meaning::RetryNotFound;
  // A probe that fails is not held against the event.
  const bool free = next.budget_attempts() > decided.before.budget_attempts();
  const uint32_t not_found = decided.before.not_found() + (is_404 && !free ? 1 : 0);
  const uint32_t attempts = next.attempts() - next.budget_attempts();
  const bool exhausted = attempts >= retry.attempts_max || (is_404 && not_found >= kNotFoundMax);
  if (exhausted != isDead(next, v1::DEAD_REASON_EXHAUSTED)) {
    return cat("after ", attempts, " of at most ", retry.attempts_max, " attempts, ", not_found,
               " of them 404: ", next.ShortDebugString());
  }
  const absl::Duration asked = askedFor(decided);
  const absl::Duration longest = std::max(asked, longestDelay(retry));
  if (next.state() == v1::STATE_RETRYING) {
    const absl::Duration wait = absl::FromUnixMicros(next.due_at_us()) - decided.due_now;
    // Due times are whole microseconds.
    if (wait < asked - absl::Microseconds(1) || wait > longest) {
      return cat("tried again in ", absl::FormatDuration(wait), "; asked for ",
                 absl::FormatDuration(asked), ", at most ", absl::FormatDuration(longest));
    }
    if (decided.wall + wait > deadline(decided)) {
      return cat("to be tried again in ", absl::FormatDuration(wait), ", after its deadline");
    }
  } else if (!exhausted && (!isDead(next, v1::DEAD_REASON_EXPIRED) ||
                            decided.wall + longest <= deadline(decided))) {
    return cat("given up too soon: ", next.ShortDebugString());
  }
  return "";
}

}  // namespace

absl::Duration longestDelay(const RetryConfig& retry) {
  absl::Duration longest;
  if (const auto* exponential = std::get_if<ExponentialBackoff>(&retry.backoff)) {
    longest = exponential->max;
  } else if (const auto* schedule = std::get_if<ScheduleBackoff>(&retry.backoff)) {
    longest = *std::max_element(schedule->delays.begin(), schedule->delays.end());
  } else if (const auto* linear = std::get_if<LinearBackoff>(&retry.backoff)) {
    longest = linear->max;
  } else {
    longest = std::get<FixedBackoff>(retry.backoff).interval;
  }
  const bool stretches = retry.jitter.kind == JitterKind::Proportional;
  return longest * (stretches ? 1 + retry.jitter.ratio : 1) * 2;  // a 404 or a 429 doubles it
}

std::string wrongDecision(const Decided& decided, const Settlement& settlement) {
  const v1::EventState& next = settlement.state;
  if (decided.outcome == nullptr) {
    const bool expired = isDead(next, v1::DEAD_REASON_EXPIRED) && decided.wall > deadline(decided);
    return expired ? "" : cat("settled without an attempt: ", next.ShortDebugString());
  }
  const Meaning meaning = meaningOf(*decided.outcome);
  const uint32_t cost = meaning == Meaning::NoAttempt ? 0 : 1;
  if (next.attempts() != decided.before.attempts() + cost ||
      settlement.attempt.has_value() != (cost == 1)) {
    return cat("attempts ", decided.before.attempts(), " became ", next.attempts(), " after ",
               outcomeName(*decided.outcome));
  }
  switch (meaning) {
    case Meaning::Success:
      return next.state() == v1::STATE_DELIVERED
                 ? ""
                 : cat("taken by the app, but ", next.ShortDebugString());
    case Meaning::Permanent:
      return isDead(next, v1::DEAD_REASON_PERMANENT)
                 ? ""
                 : cat("refused for good, but ", next.ShortDebugString());
    case Meaning::NoAttempt:
      return next.state() == decided.before.state()
                 ? ""
                 : cat("an error of our own made it ", next.ShortDebugString());
    case Meaning::Retry:
    case Meaning::RetryNotFound:
      if (decided.outcome->directive == Directive::AbortMessage) {
        return isDead(next, v1::DEAD_REASON_PERMANENT)
                   ? ""
                   : cat("aborted by the app, but ", next.ShortDebugString());
      }
      return wrongRetry(decided, next);
  }
  return "";
}

}  // namespace forebay::sim
