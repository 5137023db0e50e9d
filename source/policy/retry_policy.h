#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "api/forebay/v1/event.pb.h"
#include "source/base/random.h"
#include "source/policy/backoff.h"
#include "source/policy/classifier.h"
#include "source/policy/outcome.h"

namespace forebay {

struct RetryConfig {
  BackoffShape backoff = ExponentialBackoff{};
  Jitter jitter;
  uint32_t attempts_max = 16;
  absl::Duration give_up_after = absl::Hours(72);
  // Of a lane's attempts, while first attempts wait.
  double share_max_percent = 80;
};

// What the policy needs to know of an event's past, the latest attempt included.
struct AttemptHistory {
  uint32_t attempts = 0;          // within the present budget
  uint32_t not_found = 0;         // of these, how many were RetryNotFound
  absl::Duration previous_delay;  // the wait before the latest attempt
  absl::Time budget_from;         // capture, or the replay
};

struct Decision {
  enum class Kind { Delivered, Retry, Dead };

  Kind kind = Kind::Dead;
  absl::Time retry_at;   // with Retry
  absl::Duration delay;  // with Retry
  std::string because;   // with Retry: "backoff", "retry-after 120s", …; for the operator
  v1::DeadReason reason = v1::DEAD_REASON_NONE;  // with Dead
  bool retry_after_ignored = false;              // the app sent one that made no sense
};

// Decides what follows an attempt. Knows no clock: `now` is the wall time of the outcome.
class RetryPolicy {
public:
  explicit RetryPolicy(const RetryConfig& config)
      : config_(config), backoff_(config.backoff, config.jitter) {}

  // `verdict` must not be NotAnAttempt. An event that the app wants aborted is as dead as after a
  // permanent answer, unless it was delivered. Directive::Disable is none of an event's business.
  Decision decide(const Outcome& outcome, Verdict verdict, const AttemptHistory& history,
                  absl::Time now, Random& random) const;

  // Whether an event may still be tried at `now`: never beyond its deadline.
  bool isExpired(absl::Time budget_from, absl::Time now) const {
    return now > budget_from + config_.give_up_after;
  }

  const RetryConfig& config() const { return config_; }

private:
  RetryConfig config_;
  Backoff backoff_;
};

}  // namespace forebay
