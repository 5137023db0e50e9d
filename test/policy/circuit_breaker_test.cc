#include "source/policy/circuit_breaker.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

MonotonicTime at(double seconds) { return MonotonicTime::fromOrigin(absl::Seconds(seconds)); }

constexpr BreakerConfig kThree{.consecutive_failures = 3};

// A breaker that opened at 0 s: its probe may go at 10 s.
CircuitBreaker openedAtZero() {
  CircuitBreaker breaker(kThree);
  for (int i = 0; i < 3; ++i) {
    breaker.onOutcome(Verdict::Retry, breaker.onAttemptStarted(at(0)), at(0));
  }
  return breaker;
}

void failProbe(CircuitBreaker& breaker, MonotonicTime now) {
  ASSERT_TRUE(breaker.allows(now));
  ASSERT_TRUE(breaker.onAttemptStarted(now));
  breaker.onOutcome(Verdict::Retry, true, now);
}

// The states have the API's words.
TEST(CircuitBreakerTest, Names) {
  EXPECT_EQ(breakerStateName(BreakerState::Closed), "closed");
  EXPECT_EQ(breakerStateName(BreakerState::Open), "open");
  EXPECT_EQ(breakerStateName(BreakerState::HalfOpen), "half_open");
}

// A new breaker lets everything through, and nothing is a probe.
TEST(CircuitBreakerTest, StartsClosed) {
  CircuitBreaker breaker{BreakerConfig{}};
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Closed);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(breaker.allows(at(0)));
    EXPECT_FALSE(breaker.onAttemptStarted(at(0)));
  }
}

// By default the twentieth failure in a row opens it, for ten seconds.
TEST(CircuitBreakerTest, OpensAtTheTwentiethFailure) {
  CircuitBreaker breaker{BreakerConfig{}};
  for (int i = 0; i < 19; ++i) {
    breaker.onOutcome(Verdict::Retry, false, at(5));
    ASSERT_EQ(breaker.state(at(5)), BreakerState::Closed);
  }
  breaker.onOutcome(Verdict::Retry, false, at(5));
  EXPECT_EQ(breaker.state(at(5)), BreakerState::Open);
  EXPECT_FALSE(breaker.allows(at(5)));
  EXPECT_EQ(breaker.probeAt(), at(15));
}

// A 404 that is retried counts as a failure like any other.
TEST(CircuitBreakerTest, NotFoundCounts) {
  CircuitBreaker breaker(kThree);
  breaker.onOutcome(Verdict::RetryNotFound, false, at(0));
  breaker.onOutcome(Verdict::Retry, false, at(0));
  breaker.onOutcome(Verdict::RetryNotFound, false, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Open);
}

// Any answer of the app, a permanent refusal too, breaks the row.
TEST(CircuitBreakerTest, AnswersBreakTheRow) {
  for (const Verdict answer : {Verdict::Success, Verdict::Permanent}) {
    CircuitBreaker breaker(kThree);
    for (int i = 0; i < 50; ++i) {
      breaker.onOutcome(Verdict::Retry, false, at(0));
      breaker.onOutcome(Verdict::Retry, false, at(0));
      breaker.onOutcome(answer, false, at(0));
    }
    EXPECT_EQ(breaker.state(at(0)), BreakerState::Closed);
  }
}

// What was no attempt neither counts nor breaks the row.
TEST(CircuitBreakerTest, NotAnAttemptIsNothing) {
  CircuitBreaker breaker(kThree);
  for (int i = 0; i < 50; ++i) {
    breaker.onOutcome(Verdict::NotAnAttempt, false, at(0));
  }
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Closed);
  breaker.onOutcome(Verdict::Retry, false, at(0));
  breaker.onOutcome(Verdict::Retry, false, at(0));
  breaker.onOutcome(Verdict::NotAnAttempt, false, at(0));
  breaker.onOutcome(Verdict::Retry, false, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Open);
}

// It stays open to the very instant of the probe, and is half open from then on.
TEST(CircuitBreakerTest, OpenUntilTheProbe) {
  const CircuitBreaker breaker = openedAtZero();
  const MonotonicTime just_before = at(10) + -absl::Nanoseconds(1);
  EXPECT_EQ(breaker.state(just_before), BreakerState::Open);
  EXPECT_FALSE(breaker.allows(just_before));
  EXPECT_EQ(breaker.state(at(10)), BreakerState::HalfOpen);
  EXPECT_TRUE(breaker.allows(at(10)));
  EXPECT_EQ(breaker.state(at(99999)), BreakerState::HalfOpen);
}

// Only one probe goes, and while it is under way the breaker is half open.
TEST(CircuitBreakerTest, OneProbe) {
  CircuitBreaker breaker = openedAtZero();
  EXPECT_TRUE(breaker.onAttemptStarted(at(11)));
  EXPECT_FALSE(breaker.allows(at(11)));
  EXPECT_FALSE(breaker.allows(at(500)));
  EXPECT_FALSE(breaker.onAttemptStarted(at(500)));
  EXPECT_EQ(breaker.state(at(500)), BreakerState::HalfOpen);
}

// An attempt that was started although it wasn't allowed is no probe.
TEST(CircuitBreakerTest, NoProbeBeforeItsTime) {
  CircuitBreaker breaker = openedAtZero();
  EXPECT_FALSE(breaker.onAttemptStarted(at(9)));
  EXPECT_TRUE(breaker.allows(at(10)));
}

// A probe that the app answers closes it, and a whole row of failures is needed again.
TEST(CircuitBreakerTest, AnsweredProbeCloses) {
  for (const Verdict answer : {Verdict::Success, Verdict::Permanent}) {
    CircuitBreaker breaker = openedAtZero();
    ASSERT_TRUE(breaker.onAttemptStarted(at(10)));
    breaker.onOutcome(answer, true, at(11));
    EXPECT_EQ(breaker.state(at(11)), BreakerState::Closed);
    EXPECT_TRUE(breaker.allows(at(11)));
    EXPECT_FALSE(breaker.onAttemptStarted(at(11)));
    breaker.onOutcome(Verdict::Retry, false, at(11));
    breaker.onOutcome(Verdict::Retry, false, at(11));
    EXPECT_EQ(breaker.state(at(11)), BreakerState::Closed);
    breaker.onOutcome(Verdict::Retry, false, at(11));
    EXPECT_EQ(breaker.state(at(11)), BreakerState::Open);
  }
}

// Failed probes open it for 20, 40, 80, 160 and then always 300 seconds, from the failure on.
TEST(CircuitBreakerTest, FailedProbesOpenLonger) {
  CircuitBreaker breaker = openedAtZero();
  for (const int seconds : {20, 40, 80, 160, 300, 300, 300}) {
    const MonotonicTime now = breaker.probeAt() + absl::Seconds(3);
    failProbe(breaker, now);
    EXPECT_EQ(breaker.probeAt(), now + absl::Seconds(seconds));
    EXPECT_EQ(breaker.state(now), BreakerState::Open);
  }
}

// A probe that gets a retryable 404 has failed.
TEST(CircuitBreakerTest, NotFoundFailsTheProbe) {
  CircuitBreaker breaker = openedAtZero();
  ASSERT_TRUE(breaker.onAttemptStarted(at(10)));
  breaker.onOutcome(Verdict::RetryNotFound, true, at(10));
  EXPECT_EQ(breaker.probeAt(), at(30));
}

// After closing, the next opening is short again.
TEST(CircuitBreakerTest, ClosingResetsTheOpenTime) {
  CircuitBreaker breaker = openedAtZero();
  failProbe(breaker, at(10));
  failProbe(breaker, at(30));
  ASSERT_TRUE(breaker.onAttemptStarted(at(70)));
  breaker.onOutcome(Verdict::Success, true, at(70));
  for (int i = 0; i < 3; ++i) {
    breaker.onOutcome(Verdict::Retry, false, at(100));
  }
  EXPECT_EQ(breaker.probeAt(), at(110));
  failProbe(breaker, at(110));
  EXPECT_EQ(breaker.probeAt(), at(130));
}

// A probe that was no attempt is given back: another may go at once, and nothing grew.
TEST(CircuitBreakerTest, NotAnAttemptGivesTheProbeBack) {
  CircuitBreaker breaker = openedAtZero();
  ASSERT_TRUE(breaker.onAttemptStarted(at(10)));
  breaker.onOutcome(Verdict::NotAnAttempt, true, at(12));
  EXPECT_EQ(breaker.state(at(12)), BreakerState::HalfOpen);
  EXPECT_TRUE(breaker.allows(at(12)));
  failProbe(breaker, at(12));
  EXPECT_EQ(breaker.probeAt(), at(32));
}

// Outcomes of attempts that started before it opened change nothing, while open and while probing.
TEST(CircuitBreakerTest, LateOutcomesChangeNothing) {
  for (const Verdict late : {Verdict::Success, Verdict::Permanent, Verdict::Retry,
                             Verdict::RetryNotFound, Verdict::NotAnAttempt}) {
    CircuitBreaker breaker = openedAtZero();
    for (int i = 0; i < 50; ++i) {
      breaker.onOutcome(late, false, at(5));
    }
    EXPECT_EQ(breaker.state(at(5)), BreakerState::Open);
    EXPECT_EQ(breaker.probeAt(), at(10));
    ASSERT_TRUE(breaker.onAttemptStarted(at(10)));
    breaker.onOutcome(late, false, at(11));
    EXPECT_EQ(breaker.state(at(11)), BreakerState::HalfOpen);
    EXPECT_FALSE(breaker.allows(at(11)));
    breaker.onOutcome(Verdict::Retry, true, at(12));
    EXPECT_EQ(breaker.probeAt(), at(32));
  }
}

// A threshold of one opens at the first failure; a multiplier of one never opens longer.
TEST(CircuitBreakerTest, SmallestConfig) {
  CircuitBreaker breaker({.consecutive_failures = 1,
                          .open_initial = absl::Milliseconds(100),
                          .open_multiplier = 1,
                          .open_max = absl::Seconds(1)});
  breaker.onOutcome(Verdict::Retry, false, at(0));
  EXPECT_EQ(breaker.probeAt(), at(0.1));
  failProbe(breaker, at(1));
  EXPECT_EQ(breaker.probeAt(), at(1.1));
}

// An initial open time above the maximum is the maximum.
TEST(CircuitBreakerTest, InitialIsCapped) {
  CircuitBreaker breaker({.consecutive_failures = 1,
                          .open_initial = absl::Seconds(60),
                          .open_max = absl::Seconds(20)});
  breaker.onOutcome(Verdict::Retry, false, at(0));
  EXPECT_EQ(breaker.probeAt(), at(20));
}

}  // namespace
}  // namespace forebay
