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

// Fails on half of at least ten attempts within a minute; never on a row.
CircuitBreaker halfOfTen() {
  return CircuitBreaker({.consecutive_failures = 1'000'000,
                         .failure_rate = BreakerConfig::FailureRate{
                             .percent = 50, .window = absl::Seconds(60), .requests_min = 10}});
}

void outcomes(CircuitBreaker& breaker, int count, Verdict verdict, MonotonicTime now) {
  for (int i = 0; i < count; ++i) {
    breaker.onOutcome(verdict, false, now);
  }
}

// Exactly the share opens it, and a hair less does not.
TEST(CircuitBreakerTest, FailureRateOpensAtExactlyThePercent) {
  CircuitBreaker breaker = halfOfTen();
  outcomes(breaker, 50, Verdict::Success, at(0));
  outcomes(breaker, 49, Verdict::Retry, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Closed);
  breaker.onOutcome(Verdict::Retry, false, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Open);
  EXPECT_EQ(breaker.probeAt(), at(10));
}

// Fewer than requests_min say nothing, even if all failed.
TEST(CircuitBreakerTest, FailureRateWaitsForEnough) {
  CircuitBreaker breaker = halfOfTen();
  outcomes(breaker, 9, Verdict::Retry, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Closed);
  breaker.onOutcome(Verdict::RetryNotFound, false, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Open);
}

// The attempt that makes them enough to judge may be an answer; one that is not enough tips
// nothing, and what was no attempt is not counted.
TEST(CircuitBreakerTest, AnAnswerMayTipTheRate) {
  for (const Verdict answer : {Verdict::Success, Verdict::Permanent}) {
    CircuitBreaker tipped = halfOfTen();
    outcomes(tipped, 9, Verdict::Retry, at(0));
    outcomes(tipped, 100, Verdict::NotAnAttempt, at(0));
    EXPECT_EQ(tipped.state(at(0)), BreakerState::Closed);
    tipped.onOutcome(answer, false, at(1));
    EXPECT_EQ(tipped.state(at(1)), BreakerState::Open);

    CircuitBreaker untipped = halfOfTen();
    outcomes(untipped, 4, Verdict::Retry, at(0));
    outcomes(untipped, 100, answer, at(0));
    EXPECT_EQ(untipped.state(at(0)), BreakerState::Closed);
  }
}

// Failures count for the window and at most a tenth of it more; then they have slid out.
TEST(CircuitBreakerTest, OldFailuresSlideOut) {
  for (const double when : {0.0, 5.9, 6.0, 1e6}) {
    CircuitBreaker within = halfOfTen();
    outcomes(within, 9, Verdict::Retry, at(when));
    within.onOutcome(Verdict::Retry, false, at(when + 60));
    EXPECT_EQ(within.state(at(when + 60)), BreakerState::Open) << when;

    CircuitBreaker beyond = halfOfTen();
    outcomes(beyond, 9, Verdict::Retry, at(when));
    outcomes(beyond, 9, Verdict::Retry, at(when + 66));
    EXPECT_EQ(beyond.state(at(when + 66)), BreakerState::Closed) << when;
    beyond.onOutcome(Verdict::Retry, false, at(when + 66));
    EXPECT_EQ(beyond.state(at(when + 66)), BreakerState::Open) << when;
  }
}

// A slot that comes round again does not bring back what it held, after days either.
TEST(CircuitBreakerTest, SlotsComeRoundEmpty) {
  for (const double later : {66.0, 132.0, 66.0 * 1e4, 1e9}) {
    CircuitBreaker breaker = halfOfTen();
    outcomes(breaker, 9, Verdict::Retry, at(0));
    outcomes(breaker, 9, Verdict::Retry, at(later));
    EXPECT_EQ(breaker.state(at(later)), BreakerState::Closed) << later;
  }
}

// A row of failures opens it beside a rate that has not seen enough.
TEST(CircuitBreakerTest, RowAndRateStandBesideEachOther) {
  CircuitBreaker breaker({.consecutive_failures = 3,
                          .failure_rate = BreakerConfig::FailureRate{.requests_min = 1000}});
  outcomes(breaker, 500, Verdict::Success, at(0));
  outcomes(breaker, 3, Verdict::Retry, at(0));
  EXPECT_EQ(breaker.state(at(0)), BreakerState::Open);
}

// Closing forgets the window: the failures that opened it do not open it again.
TEST(CircuitBreakerTest, ClosingForgetsTheWindow) {
  CircuitBreaker breaker = halfOfTen();
  outcomes(breaker, 10, Verdict::Retry, at(0));
  ASSERT_TRUE(breaker.onAttemptStarted(at(10)));
  breaker.onOutcome(Verdict::Success, true, at(10));
  outcomes(breaker, 9, Verdict::Retry, at(11));
  EXPECT_EQ(breaker.state(at(11)), BreakerState::Closed);
  breaker.onOutcome(Verdict::Retry, false, at(11));
  EXPECT_EQ(breaker.state(at(11)), BreakerState::Open);
  EXPECT_EQ(breaker.probeAt(), at(21));
}

CircuitBreaker restored(const BreakerSnapshot& snapshot, MonotonicTime now,
                        const BreakerConfig& config = kThree) {
  CircuitBreaker breaker(config);
  breaker.restore(snapshot, now);
  return breaker;
}

// A closed one is restored closed, with nothing counted yet.
TEST(CircuitBreakerTest, RestoresClosed) {
  CircuitBreaker before(kThree);
  outcomes(before, 2, Verdict::Retry, at(0));
  CircuitBreaker after = restored(before.snapshot(at(1)), at(1000));
  EXPECT_EQ(after.state(at(1000)), BreakerState::Closed);
  outcomes(after, 2, Verdict::Retry, at(1000));
  EXPECT_EQ(after.state(at(1000)), BreakerState::Closed);
}

// An open one waits out the rest of its time, and its next opening is longer as if nothing had
// been.
TEST(CircuitBreakerTest, RestoresOpen) {
  CircuitBreaker before = openedAtZero();
  failProbe(before, at(10));
  const BreakerSnapshot snapshot = before.snapshot(at(17));
  EXPECT_TRUE(snapshot.open);
  EXPECT_EQ(snapshot.until_probe, absl::Seconds(13));
  EXPECT_EQ(snapshot.open_for, absl::Seconds(20));
  CircuitBreaker after = restored(snapshot, at(5000));
  EXPECT_EQ(after.state(at(5012)), BreakerState::Open);
  EXPECT_EQ(after.probeAt(), at(5013));
  failProbe(after, at(5013));
  EXPECT_EQ(after.probeAt(), at(5053));
  EXPECT_EQ(after.snapshot(at(5013)).open_for, absl::Seconds(40));
}

// Half open, whether its probe was under way or not: another may go at once, and only one.
TEST(CircuitBreakerTest, RestoresHalfOpen) {
  for (const bool probing : {false, true}) {
    CircuitBreaker before = openedAtZero();
    if (probing) {
      ASSERT_TRUE(before.onAttemptStarted(at(10)));
    }
    CircuitBreaker after = restored(before.snapshot(at(12)), at(3));
    EXPECT_EQ(after.state(at(3)), BreakerState::HalfOpen);
    EXPECT_TRUE(after.allows(at(3)));
    EXPECT_TRUE(after.onAttemptStarted(at(3)));
    EXPECT_FALSE(after.allows(at(3)));
    after.onOutcome(Verdict::Retry, true, at(4));
    EXPECT_EQ(after.probeAt(), at(24));
  }
}

// What the config allows now holds, whatever it was before the restart.
TEST(CircuitBreakerTest, RestoresIntoAnotherConfig) {
  CircuitBreaker before = openedAtZero();
  failProbe(before, at(10));
  const BreakerSnapshot snapshot = before.snapshot(at(10));  // 20 s to go, of 20
  CircuitBreaker shorter = restored(snapshot, at(0), {.open_max = absl::Seconds(5)});
  EXPECT_EQ(shorter.probeAt(), at(5));
  failProbe(shorter, at(5));
  EXPECT_EQ(shorter.probeAt(), at(10));
  CircuitBreaker longer = restored(snapshot, at(0), {.open_initial = absl::Seconds(60)});
  EXPECT_EQ(longer.probeAt(), at(20));  // as was promised
  failProbe(longer, at(20));
  EXPECT_EQ(longer.probeAt(), at(140));
}

// A snapshot that nobody would write neither keeps it open beyond open_max nor opens it for less
// than at first.
TEST(CircuitBreakerTest, HostileSnapshots) {
  constexpr absl::Duration kInfinite = absl::InfiniteDuration();
  const absl::Duration values[] = {-kInfinite,
                                   -absl::Hours(9e6),
                                   -absl::Nanoseconds(1),
                                   absl::ZeroDuration(),
                                   absl::Seconds(15),
                                   absl::Hours(9e6),
                                   kInfinite};
  for (const absl::Duration until_probe : values) {
    for (const absl::Duration open_for : values) {
      EXPECT_EQ(restored({false, until_probe, open_for}, at(50)).state(at(50)),
                BreakerState::Closed);
      CircuitBreaker breaker = restored({true, until_probe, open_for}, at(50));
      ASSERT_GE(breaker.probeAt(), at(50));
      ASSERT_LE(breaker.probeAt(), at(350));
      const MonotonicTime probe_at = breaker.probeAt();
      failProbe(breaker, probe_at);
      EXPECT_GE(breaker.probeAt(), probe_at + absl::Seconds(20));
      EXPECT_LE(breaker.probeAt(), probe_at + absl::Seconds(300));
    }
  }
}

}  // namespace
}  // namespace forebay
