#include "source/policy/retry_policy.h"

#include <limits>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

using Kind = Decision::Kind;

const absl::Time kCaptured = absl::FromUnixSeconds(1'800'000'000);
const absl::Time kNow = kCaptured + absl::Minutes(10);

// Without jitter, so that each wait is one number: 30 s, 60 s, 120 s, …
RetryConfig plainConfig() { return {.jitter = {JitterKind::None}}; }

Outcome answered(uint32_t status, std::optional<std::string> retry_after = std::nullopt) {
  return {.kind = OutcomeKind::Answered, .status = status, .retry_after = std::move(retry_after)};
}

Decision decideAt(absl::Time now, const RetryConfig& config, const Outcome& outcome,
                  uint32_t attempts, Verdict verdict) {
  StuckRandom random = StuckRandom::highest();
  const uint32_t not_found = verdict == Verdict::RetryNotFound ? attempts : 0;
  return RetryPolicy(config).decide(
      outcome, verdict, {.attempts = attempts, .not_found = not_found, .budget_from = kCaptured},
      now, random);
}

// As the classifier would have it.
Decision decide(const Outcome& outcome, uint32_t attempts,
                const RetryConfig& config = plainConfig()) {
  return decideAt(kNow, config, outcome, attempts, Classifier().classify(outcome));
}

void expectRetry(const Decision& decision, absl::Duration delay, const std::string& because) {
  EXPECT_EQ(decision.kind, Kind::Retry);
  EXPECT_EQ(decision.delay, delay);
  EXPECT_EQ(decision.retry_at, kNow + delay);
  EXPECT_EQ(decision.because, because);
  EXPECT_EQ(decision.reason, v1::DEAD_REASON_NONE);
}

void expectDead(const Decision& decision, v1::DeadReason reason) {
  EXPECT_EQ(decision.kind, Kind::Dead);
  EXPECT_EQ(decision.reason, reason);
}

// A success is delivered, on any attempt and however late.
TEST(RetryPolicyTest, SuccessIsDelivered) {
  for (const uint32_t attempts : {1u, 16u, 1000u}) {
    EXPECT_EQ(decide(answered(200), attempts).kind, Kind::Delivered);
  }
  EXPECT_EQ(
      decideAt(kCaptured + absl::Hours(1000), plainConfig(), answered(200), 1, Verdict::Success)
          .kind,
      Kind::Delivered);
}

// A permanent answer is the end, on the first attempt too.
TEST(RetryPolicyTest, PermanentIsDead) {
  expectDead(decide(answered(400), 1), v1::DEAD_REASON_PERMANENT);
  expectDead(decide(answered(410), 16), v1::DEAD_REASON_PERMANENT);
}

// A failure waits for the backoff of the attempts made so far.
TEST(RetryPolicyTest, RetryWaitsForTheBackoff) {
  expectRetry(decide(answered(500), 1), absl::Seconds(30), "backoff");
  expectRetry(decide(answered(502), 3), absl::Seconds(120), "backoff");
  expectRetry(decide({.kind = OutcomeKind::Timeout}, 2), absl::Seconds(60), "backoff");
}

// Decorrelated jitter is given the wait before the latest attempt.
TEST(RetryPolicyTest, PassesThePreviousDelay) {
  RetryConfig config;
  config.jitter = {JitterKind::Decorrelated};
  StuckRandom random = StuckRandom::highest();
  const Decision decision = RetryPolicy(config).decide(
      answered(500), Verdict::Retry,
      {.attempts = 2, .previous_delay = absl::Seconds(100), .budget_from = kCaptured}, kNow,
      random);
  EXPECT_NEAR(absl::ToDoubleSeconds(decision.delay), 300, 0.001);
}

// The attempt that reaches attempts_max is the last.
TEST(RetryPolicyTest, Exhausted) {
  EXPECT_EQ(decide(answered(500), 15).kind, Kind::Retry);
  expectDead(decide(answered(500), 16), v1::DEAD_REASON_EXHAUSTED);
  expectDead(decide(answered(500), 17), v1::DEAD_REASON_EXHAUSTED);
  expectDead(decide(answered(500), std::numeric_limits<uint32_t>::max()),
             v1::DEAD_REASON_EXHAUSTED);
}

// With one attempt allowed, the first failure is the end.
TEST(RetryPolicyTest, OneAttempt) {
  RetryConfig config = plainConfig();
  config.attempts_max = 1;
  expectDead(decide(answered(500), 1, config), v1::DEAD_REASON_EXHAUSTED);
}

// With no limit to speak of, attempts beyond an int's range still have a wait.
TEST(RetryPolicyTest, HugeAttemptCounts) {
  RetryConfig config = plainConfig();
  config.attempts_max = std::numeric_limits<uint32_t>::max();
  expectRetry(decide(answered(500), 4'000'000'000u, config), absl::Hours(1), "backoff");
}

// A 404 is tried five times at most, at twice the wait.
TEST(RetryPolicyTest, NotFoundIsCareful) {
  expectRetry(decide(answered(404), 1), absl::Seconds(60), "backoff, doubled for 404");
  expectRetry(decide(answered(404), 4), absl::Seconds(480), "backoff, doubled for 404");
  expectDead(decide(answered(404), 5), v1::DEAD_REASON_EXHAUSTED);
  const Outcome too_large{.kind = OutcomeKind::TooLarge};
  expectRetry(decide(too_large, 4), absl::Seconds(480), "backoff, doubled for too_large");
  expectDead(decide(too_large, 5), v1::DEAD_REASON_EXHAUSTED);
}

// Other failures before it do not count: an app that is deployed after an outage has its time.
TEST(RetryPolicyTest, OnlyNotFoundsCountAsNotFound) {
  StuckRandom random = StuckRandom::highest();
  const RetryPolicy policy(plainConfig());
  const auto kind = [&](uint32_t not_found) {
    return policy
        .decide(answered(404), Verdict::RetryNotFound,
                {.attempts = 9, .not_found = not_found, .budget_from = kCaptured}, kNow, random)
        .kind;
  };
  EXPECT_EQ(kind(1), Kind::Retry);
  EXPECT_EQ(kind(4), Kind::Retry);
  EXPECT_EQ(kind(5), Kind::Dead);
}

// A smaller attempts_max holds for a 404 too.
TEST(RetryPolicyTest, NotFoundObeysASmallerLimit) {
  RetryConfig config = plainConfig();
  config.attempts_max = 3;
  EXPECT_EQ(decide(answered(404), 2, config).kind, Kind::Retry);
  expectDead(decide(answered(404), 3, config), v1::DEAD_REASON_EXHAUSTED);
}

// A 404 that the user's rule calls RETRY is an ordinary failure.
TEST(RetryPolicyTest, RuledNotFoundIsOrdinary) {
  expectRetry(decideAt(kNow, plainConfig(), answered(404), 5, Verdict::Retry), absl::Seconds(480),
              "backoff");
}

// Retry-After on 429 and 503 is obeyed when it is longer than the backoff.
TEST(RetryPolicyTest, RetryAfterIsObeyed) {
  for (const uint32_t status : {429u, 503u}) {
    expectRetry(decide(answered(status, "120"), 1), absl::Seconds(120), "retry-after 120s");
    EXPECT_FALSE(decide(answered(status, "120"), 1).retry_after_ignored);
  }
}

// The larger of it and the backoff counts, and a usable one takes the doubling off a 429.
TEST(RetryPolicyTest, RetryAfterNeverShortens) {
  for (const uint32_t status : {429u, 503u}) {
    for (const char* const value : {"0", "29", "30", "Thu, 01 Jan 1970 00:00:00 GMT"}) {
      expectRetry(decide(answered(status, value), 1), absl::Seconds(30), "backoff");
      EXPECT_FALSE(decide(answered(status, value), 1).retry_after_ignored);
    }
    expectRetry(decide(answered(status, "31"), 1), absl::Seconds(31), "retry-after 31s");
  }
}

// A date is waited for exactly; the words round it up.
TEST(RetryPolicyTest, RetryAfterAsADate) {
  const absl::Time date = kNow + absl::Seconds(90);
  const std::string value =
      absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", date, absl::UTCTimeZone());
  expectRetry(decide(answered(503, value), 1), absl::Seconds(90), "retry-after 90s");
  const Decision later = decideAt(kNow + absl::Milliseconds(400), plainConfig(),
                                  answered(503, value), 1, Verdict::Retry);
  EXPECT_EQ(later.retry_at, date);
  EXPECT_EQ(later.because, "retry-after 90s");
}

// On any other answer Retry-After means nothing, sense or nonsense.
TEST(RetryPolicyTest, RetryAfterOnlyOn429And503) {
  for (const uint32_t status : {408u, 425u, 500u, 502u, 504u}) {
    for (const char* const value : {"120", "soon"}) {
      expectRetry(decide(answered(status, value), 1), absl::Seconds(30), "backoff");
      EXPECT_FALSE(decide(answered(status, value), 1).retry_after_ignored);
    }
  }
  expectRetry(decide(answered(404, "1000"), 1), absl::Seconds(60), "backoff, doubled for 404");
  Outcome reset = answered(503, "120");
  reset.kind = OutcomeKind::Reset;
  expectRetry(decide(reset, 1), absl::Seconds(30), "backoff");
}

// A 429 that doesn't say when waits twice the backoff; a 503 waits once.
TEST(RetryPolicyTest, Without429RetryAfterTwice) {
  expectRetry(decide(answered(429), 1), absl::Seconds(60), "backoff, doubled for 429");
  expectRetry(decide(answered(503), 1), absl::Seconds(30), "backoff");
  EXPECT_FALSE(decide(answered(429), 1).retry_after_ignored);
}

// A Retry-After that makes no sense is as good as none, and is reported.
TEST(RetryPolicyTest, NonsenseRetryAfterIsIgnored) {
  for (const char* const value : {"soon", "-5", "", "31536001", "99999999999999999999"}) {
    const Decision busy = decide(answered(429, value), 1);
    expectRetry(busy, absl::Seconds(60), "backoff, doubled for 429");
    EXPECT_TRUE(busy.retry_after_ignored) << value;
    const Decision down = decide(answered(503, value), 1);
    expectRetry(down, absl::Seconds(30), "backoff");
    EXPECT_TRUE(down.retry_after_ignored) << value;
  }
}

std::string httpDate(const char* format, absl::Time time) {
  return absl::FormatTime(format, time, absl::UTCTimeZone());
}
constexpr char kImfFixdate[] = "%a, %d %b %Y %H:%M:%S GMT";
constexpr char kRfc850[] = "%A, %d-%b-%y %H:%M:%S GMT";
constexpr char kAsctime[] = "%a %b %e %H:%M:%S %Y";

// Ten years, in seconds or as a date of any form, are ignored rather than the event's death; so
// are numbers that fit nowhere.
TEST(RetryPolicyTest, RetryAfterOfTenYearsIsIgnored) {
  const absl::Time in_ten_years = kNow + absl::Hours(24 * 3652);
  for (const std::string& value :
       {std::string("315360000"), httpDate(kImfFixdate, in_ten_years),
        httpDate(kRfc850, in_ten_years), httpDate(kAsctime, in_ten_years),
        std::string("Fri, 31 Dec 9999 23:59:59 GMT"), std::string("9223372036854775808"),
        std::string("18446744073709551616"), std::string(100'000, '9'), std::string("-1"),
        std::string("-99999999999999999999"), std::string("+120"), std::string("1e3"),
        std::string("12O"), std::string("120, 120"), std::string("inf"), std::string("nan"),
        std::string("Fri, 32 Jan 2027 00:00:00 GMT"), std::string("\0", 1)}) {
    for (const uint32_t status : {429u, 503u}) {
      const Decision decision = decide(answered(status, value), 1);
      EXPECT_EQ(decision.kind, Kind::Retry) << value.substr(0, 64);
      EXPECT_EQ(decision.delay, absl::Seconds(status == 429 ? 60 : 30)) << value.substr(0, 64);
      EXPECT_TRUE(decision.retry_after_ignored) << value.substr(0, 64);
    }
  }
}

// Four days make sense, and are too long for an event that is given up after three, in each form.
TEST(RetryPolicyTest, SaneRetryAfterBeyondTheDeadlineIsDead) {
  const absl::Time in_four_days = kNow + absl::Hours(96);
  for (const std::string& value :
       {std::string("345600"), httpDate(kImfFixdate, in_four_days), httpDate(kRfc850, in_four_days),
        httpDate(kAsctime, in_four_days)}) {
    const Decision decision = decide(answered(503, value), 1);
    expectDead(decision, v1::DEAD_REASON_EXPIRED);
    EXPECT_FALSE(decision.retry_after_ignored) << value;
  }
}

Outcome aborted(Outcome outcome) {
  outcome.directive = Directive::AbortMessage;
  return outcome;
}

// An app that wants an event aborted is obeyed on any answer that isn't a success, at any attempt.
TEST(RetryPolicyTest, AbortMessageIsDead) {
  for (const uint32_t status : {301u, 400u, 404u, 408u, 429u, 500u, 503u}) {
    for (const uint32_t attempts : {1u, 4u, 16u, 1000u}) {
      expectDead(decide(aborted(answered(status, "120")), attempts), v1::DEAD_REASON_PERMANENT);
    }
  }
}

// What was delivered is delivered, whatever the app asks for beside it.
TEST(RetryPolicyTest, AbortMessageOnSuccessIsDelivered) {
  EXPECT_EQ(decide(aborted(answered(200)), 1).kind, Kind::Delivered);
  EXPECT_EQ(decideAt(kNow, plainConfig(), aborted(answered(409)), 1, Verdict::Success).kind,
            Kind::Delivered);
}

// A lane that is to be disabled loses no event by it: the event is retried like any other.
TEST(RetryPolicyTest, DisableIsNotTheEvents) {
  Outcome outcome = answered(500);
  outcome.directive = Directive::Disable;
  expectRetry(decide(outcome, 1), absl::Seconds(30), "backoff");
}

// A wait that ends exactly at the deadline is granted; a nanosecond later is the end.
TEST(RetryPolicyTest, DeadAtOnceBeyondTheDeadline) {
  const absl::Time last = kCaptured + absl::Hours(72) - absl::Seconds(30);
  EXPECT_EQ(decideAt(last, plainConfig(), answered(500), 1, Verdict::Retry).kind, Kind::Retry);
  expectDead(decideAt(last + absl::Nanoseconds(1), plainConfig(), answered(500), 1, Verdict::Retry),
             v1::DEAD_REASON_EXPIRED);
}

// A Retry-After longer than the give-up deadline makes the event dead now, not later.
TEST(RetryPolicyTest, RetryAfterBeyondDeadlineIsDead) {
  expectDead(decide(answered(503, "259200"), 1), v1::DEAD_REASON_EXPIRED);
  expectDead(decide(answered(429, "31536000"), 1), v1::DEAD_REASON_EXPIRED);
}

// The doubled wait is what is held against the deadline.
TEST(RetryPolicyTest, DoubledWaitCountsForTheDeadline) {
  const absl::Time now = kCaptured + absl::Hours(72) - absl::Seconds(45);
  EXPECT_EQ(decideAt(now, plainConfig(), answered(500), 1, Verdict::Retry).kind, Kind::Retry);
  expectDead(decideAt(now, plainConfig(), answered(429), 1, Verdict::Retry),
             v1::DEAD_REASON_EXPIRED);
  expectDead(decideAt(now, plainConfig(), answered(404), 1, Verdict::RetryNotFound),
             v1::DEAD_REASON_EXPIRED);
}

// An ignored Retry-After is reported even when the deadline ends the event.
TEST(RetryPolicyTest, ExpiredStillReportsNonsense) {
  const Decision decision = decideAt(kCaptured + absl::Hours(72), plainConfig(),
                                     answered(503, "soon"), 1, Verdict::Retry);
  expectDead(decision, v1::DEAD_REASON_EXPIRED);
  EXPECT_TRUE(decision.retry_after_ignored);
}

// When both limits are reached, the attempts are the reason.
TEST(RetryPolicyTest, ExhaustedBeforeExpired) {
  expectDead(
      decideAt(kCaptured + absl::Hours(1000), plainConfig(), answered(500), 16, Verdict::Retry),
      v1::DEAD_REASON_EXHAUSTED);
}

// The deadline counts from the budget's begin, which a replay moves.
TEST(RetryPolicyTest, ReplayHasItsOwnDeadline) {
  StuckRandom random = StuckRandom::highest();
  const absl::Time now = kCaptured + absl::Hours(1000);
  const Decision decision =
      RetryPolicy(plainConfig())
          .decide(answered(500), Verdict::Retry, {.attempts = 1, .budget_from = now}, now, random);
  EXPECT_EQ(decision.kind, Kind::Retry);
}

// An event may be tried up to its deadline, that instant included.
TEST(RetryPolicyTest, IsExpired) {
  const RetryPolicy policy(plainConfig());
  EXPECT_FALSE(policy.isExpired(kCaptured, kCaptured));
  EXPECT_FALSE(policy.isExpired(kCaptured, kCaptured + absl::Hours(72)));
  EXPECT_TRUE(policy.isExpired(kCaptured, kCaptured + absl::Hours(72) + absl::Nanoseconds(1)));
}

// The defaults are the contract's.
TEST(RetryPolicyTest, Defaults) {
  const RetryConfig config;
  const auto& shape = std::get<ExponentialBackoff>(config.backoff);
  EXPECT_EQ(shape.initial, absl::Seconds(30));
  EXPECT_EQ(shape.multiplier, 2);
  EXPECT_EQ(shape.max, absl::Hours(1));
  EXPECT_EQ(config.jitter.kind, JitterKind::Full);
  EXPECT_EQ(config.attempts_max, 16u);
  EXPECT_EQ(config.give_up_after, absl::Hours(72));
}

}  // namespace
}  // namespace forebay
