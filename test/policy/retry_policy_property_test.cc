#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "source/policy/retry_policy.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

constexpr int kRuns = 100'000;
const absl::Time kCaptured = absl::FromUnixSeconds(1'800'000'000);

int64_t below(Random& random, int64_t limit) {
  return static_cast<int64_t>(random.next() % static_cast<uint64_t>(limit));
}

absl::Duration randomWait(Random& random) {
  return absl::Microseconds(static_cast<int64_t>(std::exp(random.unit() * std::log(1e11))));
}

RetryConfig randomConfig(Random& random) {
  RetryConfig config;
  switch (random.next() % 4) {
    case 0:
      config.backoff = ExponentialBackoff{randomWait(random), 1 + 4 * random.unit(),
                                          randomWait(random) + absl::Seconds(1)};
      break;
    case 1:
      config.backoff = ScheduleBackoff{
          {absl::ZeroDuration(), randomWait(random), randomWait(random), randomWait(random)}};
      break;
    case 2:
      config.backoff = LinearBackoff{randomWait(random), randomWait(random), absl::Hours(2)};
      break;
    default:
      config.backoff = FixedBackoff{randomWait(random)};
  }
  config.jitter = {static_cast<JitterKind>(random.next() % 5), random.unit()};
  config.attempts_max = 1 + static_cast<uint32_t>(random.next() % 20);
  config.give_up_after = randomWait(random) * 5;
  return config;
}

// An answer, with what its Retry-After says in the test's own terms.
struct Said {
  Outcome outcome;
  std::optional<absl::Time> not_before;
  bool nonsense = false;
};

Said randomSaid(Random& random, absl::Time now) {
  constexpr uint32_t kStatuses[] = {200, 301, 400, 404, 408, 425, 429, 429, 500, 503, 503, 501};
  Said said{.outcome = {.kind = OutcomeKind::Answered, .status = kStatuses[random.next() % 12]}};
  switch (random.next() % 5) {
    case 0: {
      const int64_t seconds = below(random, 100'000);
      said.outcome.retry_after = std::to_string(seconds);
      said.not_before = now + absl::Seconds(seconds);
      break;
    }
    case 1: {
      const absl::Time date =
          absl::FromUnixSeconds(absl::ToUnixSeconds(now) + below(random, 200'000) - 100'000);
      said.outcome.retry_after =
          absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", date, absl::UTCTimeZone());
      said.not_before = date;
      break;
    }
    case 2: {
      constexpr const char* kNonsense[] = {"", "soon", "-1", "1.5", "31536001"};
      said.outcome.retry_after = kNonsense[random.next() % 5];
      said.nonsense = true;
      break;
    }
    case 3:
      said.outcome.kind = static_cast<OutcomeKind>(1 + random.next() % 4);
      break;
    default:
      break;
  }
  if (said.outcome.kind == OutcomeKind::Answered && random.next() % 8 == 0) {
    said.outcome.directive = random.next() % 2 == 0 ? Directive::AbortMessage : Directive::Disable;
  }
  return said;
}

struct Case {
  RetryConfig config;
  AttemptHistory history;
  absl::Time now;
  Said said;
  Verdict verdict;
  Decision decision;

  bool obeysRetryAfter() const {
    return said.outcome.kind == OutcomeKind::Answered &&
           (said.outcome.status == 429 || said.outcome.status == 503);
  }
  absl::Time deadline() const { return history.budget_from + config.give_up_after; }
};

Case randomCase(Random& random) {
  Case c;
  c.config = randomConfig(random);
  c.history = {.attempts = 1 + static_cast<uint32_t>(random.next() % 22),
               .previous_delay = random.next() % 4 == 0 ? absl::ZeroDuration() : randomWait(random),
               .budget_from = kCaptured};
  c.history.not_found = static_cast<uint32_t>(random.next() % (c.history.attempts + 1));
  c.now = kCaptured + c.config.give_up_after * (1.2 * random.unit());
  c.said = randomSaid(random, c.now);
  c.verdict = Classifier().classify(c.said.outcome);
  c.decision = RetryPolicy(c.config).decide(c.said.outcome, c.verdict, c.history, c.now, random);
  return c;
}

void checkRetry(const Case& c) {
  ASSERT_EQ(c.decision.retry_at, c.now + c.decision.delay);
  ASSERT_GE(c.decision.delay, absl::ZeroDuration());
  ASSERT_LE(c.decision.retry_at, c.deadline());
  ASSERT_LT(c.history.attempts, c.config.attempts_max);
  ASSERT_FALSE(c.decision.because.empty());
  if (c.verdict == Verdict::RetryNotFound) {
    ASSERT_LT(c.history.not_found, 5u);
  }
  if (c.obeysRetryAfter() && c.said.not_before.has_value()) {
    ASSERT_GE(c.decision.retry_at, *c.said.not_before);
  }
}

// A retry is never earlier than Retry-After says, never beyond the deadline and never beyond the
// attempts; success, refusal and abort decide by themselves; nonsense is reported when it mattered.
TEST(RetryPolicyPropertyTest, EveryDecisionKeepsTheRules) {
  SeededRandom random(testSeed());
  int retries = 0;
  int waits_for_retry_after = 0;
  int expired = 0;
  for (int run = 0; run < kRuns; ++run) {
    SCOPED_TRACE(run);
    const Case c = randomCase(random);
    const bool aborted = c.said.outcome.directive == Directive::AbortMessage;
    const bool retryable =
        !aborted && (c.verdict == Verdict::Retry || c.verdict == Verdict::RetryNotFound);
    ASSERT_EQ(c.decision.kind == Decision::Kind::Delivered, c.verdict == Verdict::Success);
    ASSERT_EQ(c.decision.reason == v1::DEAD_REASON_PERMANENT,
              c.verdict != Verdict::Success && (c.verdict == Verdict::Permanent || aborted));
    ASSERT_EQ(c.decision.kind == Decision::Kind::Dead, c.decision.reason != v1::DEAD_REASON_NONE);
    const bool gone = c.verdict == Verdict::RetryNotFound && c.history.not_found >= 5;
    const bool exhausted = retryable && (c.history.attempts >= c.config.attempts_max || gone);
    ASSERT_EQ(c.decision.reason == v1::DEAD_REASON_EXHAUSTED, exhausted);
    ASSERT_EQ(c.decision.retry_after_ignored,
              retryable && !exhausted && c.obeysRetryAfter() && c.said.nonsense);
    if (retryable && !exhausted && c.now > c.deadline()) {
      ASSERT_EQ(c.decision.reason, v1::DEAD_REASON_EXPIRED);
    }
    if (c.decision.kind == Decision::Kind::Retry) {
      checkRetry(c);
      ASSERT_FALSE(HasFatalFailure());
      ++retries;
      waits_for_retry_after += c.decision.because.starts_with("retry-after ") ? 1 : 0;
    }
    expired += c.decision.reason == v1::DEAD_REASON_EXPIRED ? 1 : 0;
  }
  EXPECT_GT(retries, kRuns / 50);
  EXPECT_GT(waits_for_retry_after, 100);
  EXPECT_GT(expired, kRuns / 50);
}

// Followed to its end over virtual time, an event of an app that never answers is dead within its
// deadline and its attempts, whatever the config.
TEST(RetryPolicyPropertyTest, EveryEventEnds) {
  SeededRandom random(testSeed());
  for (int run = 0; run < kRuns / 10; ++run) {
    SCOPED_TRACE(run);
    const RetryConfig config = randomConfig(random);
    const RetryPolicy policy(config);
    AttemptHistory history{.budget_from = kCaptured};
    absl::Time now = kCaptured;
    Decision decision{.kind = Decision::Kind::Retry};
    while (decision.kind == Decision::Kind::Retry) {
      ++history.attempts;
      ASSERT_LE(history.attempts, config.attempts_max);
      ASSERT_FALSE(policy.isExpired(kCaptured, now));
      const Said said = randomSaid(random, now);
      decision = policy.decide(said.outcome, Verdict::Retry, history, now, random);
      history.previous_delay = decision.delay;
      now = decision.retry_at;
    }
    ASSERT_EQ(decision.kind, Decision::Kind::Dead);
    ASSERT_TRUE(decision.reason == v1::DEAD_REASON_EXHAUSTED ||
                decision.reason == v1::DEAD_REASON_EXPIRED ||
                decision.reason == v1::DEAD_REASON_PERMANENT);
  }
}

}  // namespace
}  // namespace forebay
