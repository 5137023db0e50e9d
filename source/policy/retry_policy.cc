#include "source/policy/retry_policy.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "absl/strings/str_cat.h"
#include "source/policy/retry_after.h"

namespace forebay {
namespace {

// A 404 may be an app whose routes are not up yet, which takes minutes, or an endpoint that is
// gone. One whose answer is too large may well have taken the event. So slower, and not often.
constexpr uint32_t kCarefulAttemptsMax = 5;

struct Wait {
  absl::Duration delay;
  std::string because;
  bool retry_after_ignored = false;
};

bool isStatus(const Outcome& outcome, uint32_t status) {
  return outcome.kind == OutcomeKind::Answered && outcome.status == status;
}

Wait waitAfter(const Outcome& outcome, Verdict verdict, absl::Duration backoff, absl::Time now) {
  if (verdict == Verdict::RetryNotFound) {
    return {.delay = backoff * 2,
            .because = absl::StrCat("backoff, doubled for ",
                                    outcome.kind == OutcomeKind::Answered ? "404" : "too_large")};
  }
  Wait wait{.delay = backoff, .because = "backoff"};
  const bool is_429 = isStatus(outcome, 429);
  if (!is_429 && !isStatus(outcome, 503)) {
    return wait;
  }
  if (outcome.retry_after.has_value()) {
    const std::optional<absl::Duration> asked = parseRetryAfter(*outcome.retry_after, now);
    if (asked.has_value()) {
      if (*asked > backoff) {
        wait.delay = *asked;
        wait.because = absl::StrCat(
            "retry-after ", absl::ToInt64Seconds(absl::Ceil(*asked, absl::Seconds(1))), "s");
      }
      return wait;
    }
    wait.retry_after_ignored = true;
  }
  if (is_429) {
    wait.delay = backoff * 2;
    wait.because = "backoff, doubled for 429";
  }
  return wait;
}

Decision dead(v1::DeadReason reason) { return {.kind = Decision::Kind::Dead, .reason = reason}; }

}  // namespace

Decision RetryPolicy::decide(const Outcome& outcome, Verdict verdict, const AttemptHistory& history,
                             absl::Time now, Random& random) const {
  assert(verdict != Verdict::NotAnAttempt);
  if (verdict == Verdict::Success) {
    return {.kind = Decision::Kind::Delivered};
  }
  if (verdict == Verdict::Permanent || outcome.directive == Directive::AbortMessage) {
    return dead(v1::DEAD_REASON_PERMANENT);
  }
  const bool not_found_for_good =
      verdict == Verdict::RetryNotFound && history.not_found >= kCarefulAttemptsMax;
  if (history.attempts >= config_.attempts_max || not_found_for_good) {
    return dead(v1::DEAD_REASON_EXHAUSTED);
  }
  const int failures =
      static_cast<int>(std::min<uint32_t>(history.attempts, std::numeric_limits<int32_t>::max()));
  Wait wait =
      waitAfter(outcome, verdict, backoff_.delay(failures, history.previous_delay, random), now);
  const absl::Time retry_at = now + wait.delay;
  // Now rather than when the wait is over: an operator should not learn of it days late.
  Decision decision = isExpired(history.budget_from, retry_at)
                          ? dead(v1::DEAD_REASON_EXPIRED)
                          : Decision{.kind = Decision::Kind::Retry,
                                     .retry_at = retry_at,
                                     .delay = wait.delay,
                                     .because = std::move(wait.because)};
  decision.retry_after_ignored = wait.retry_after_ignored;
  return decision;
}

}  // namespace forebay
