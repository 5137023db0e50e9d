#include "source/policy/backoff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

using absl::Hours;
using absl::Minutes;
using absl::Seconds;
using absl::ZeroDuration;

constexpr int kIntMax = std::numeric_limits<int>::max();

Backoff plain(BackoffShape shape) { return Backoff(std::move(shape), {JitterKind::None}); }

void expectBases(const Backoff& backoff, const std::vector<absl::Duration>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(backoff.base(static_cast<int>(i) + 1), expected[i]) << "failures " << i + 1;
  }
}

// The default doubles from 30 s and stays at an hour.
TEST(BackoffTest, ExponentialByDefault) {
  expectBases(plain(ExponentialBackoff{}),
              {Seconds(30), Seconds(60), Seconds(120), Seconds(240), Seconds(480), Seconds(960),
               Seconds(1920), Seconds(3600), Seconds(3600)});
}

// Fractions work, both as a multiplier and as a wait below a second.
TEST(BackoffTest, ExponentialFractions) {
  expectBases(plain(ExponentialBackoff{absl::Milliseconds(8), 1.5, Seconds(1)}),
              {absl::Milliseconds(8), absl::Milliseconds(12), absl::Milliseconds(18),
               absl::Milliseconds(27), absl::Microseconds(40'500)});
  expectBases(plain(ExponentialBackoff{Seconds(7), 1, Hours(1)}), {Seconds(7), Seconds(7)});
}

// No number of failures and no multiplier overflows: the wait is the maximum.
TEST(BackoffTest, ExponentialNeverOverflows) {
  for (const double multiplier : {1.0001, 2.0, 1000.0}) {
    for (const absl::Duration initial : {absl::Nanoseconds(1), absl::Milliseconds(1), Hours(1)}) {
      const Backoff backoff = plain(ExponentialBackoff{initial, multiplier, Hours(2)});
      EXPECT_EQ(backoff.base(kIntMax), Hours(2));
      EXPECT_EQ(backoff.base(1'000'000), Hours(2));
    }
  }
  EXPECT_EQ(plain(ExponentialBackoff{Seconds(1), 1000, Hours(1)}).base(103), Hours(1));
}

// An initial wait above the maximum is the maximum, and one of nothing stays nothing.
TEST(BackoffTest, ExponentialEdges) {
  EXPECT_EQ(plain(ExponentialBackoff{Hours(2), 2, Hours(1)}).base(1), Hours(1));
  EXPECT_EQ(plain(ExponentialBackoff{ZeroDuration(), 1000, Hours(1)}).base(kIntMax),
            ZeroDuration());
}

// A schedule's n-th delay is the wait before the n-th attempt, and its last one repeats.
TEST(BackoffTest, Schedule) {
  const Backoff backoff =
      plain(ScheduleBackoff{{ZeroDuration(), Seconds(30), Minutes(2), Minutes(10), Hours(1)}});
  EXPECT_EQ(backoff.beforeFirst(), ZeroDuration());
  expectBases(backoff, {Seconds(30), Minutes(2), Minutes(10), Hours(1), Hours(1), Hours(1)});
  EXPECT_EQ(backoff.base(kIntMax), Hours(1));
}

// A schedule may make the first attempt wait, and may go down.
TEST(BackoffTest, ScheduleOfAnyOrder) {
  const Backoff backoff = plain(ScheduleBackoff{{Seconds(10), Minutes(5), Seconds(1)}});
  EXPECT_EQ(backoff.beforeFirst(), Seconds(10));
  expectBases(backoff, {Minutes(5), Seconds(1), Seconds(1)});
}

// A schedule of one delay is that delay everywhere.
TEST(BackoffTest, ScheduleOfOne) {
  const Backoff backoff = plain(ScheduleBackoff{{Seconds(5)}});
  EXPECT_EQ(backoff.beforeFirst(), Seconds(5));
  expectBases(backoff, {Seconds(5), Seconds(5)});
}

// A schedule without delays, which the config refuses, still doesn't hammer.
TEST(BackoffTest, EmptyScheduleWaits) {
  const Backoff backoff = plain(ScheduleBackoff{});
  EXPECT_EQ(backoff.beforeFirst(), ZeroDuration());
  EXPECT_EQ(backoff.base(1), Seconds(30));
}

// Linear adds its step and stays at its maximum, without overflow.
TEST(BackoffTest, Linear) {
  const Backoff backoff = plain(LinearBackoff{Seconds(30), Seconds(20), Seconds(100)});
  expectBases(backoff,
              {Seconds(30), Seconds(50), Seconds(70), Seconds(90), Seconds(100), Seconds(100)});
  EXPECT_EQ(backoff.base(kIntMax), Seconds(100));
  EXPECT_EQ(plain(LinearBackoff{Seconds(1), Hours(1'000'000), Hours(9)}).base(kIntMax), Hours(9));
}

// Fixed never changes.
TEST(BackoffTest, Fixed) {
  const Backoff backoff = plain(FixedBackoff{Seconds(60)});
  expectBases(backoff, {Seconds(60), Seconds(60), Seconds(60)});
  EXPECT_EQ(backoff.base(kIntMax), Seconds(60));
}

// Only a schedule makes the first attempt wait.
TEST(BackoffTest, BeforeFirstIsZeroOtherwise) {
  EXPECT_EQ(plain(ExponentialBackoff{}).beforeFirst(), ZeroDuration());
  EXPECT_EQ(plain(LinearBackoff{}).beforeFirst(), ZeroDuration());
  EXPECT_EQ(plain(FixedBackoff{}).beforeFirst(), ZeroDuration());
}

// A count of failures that makes no sense is taken for one failure.
TEST(BackoffTest, FailuresBelowOne) {
  for (const int failures : {0, -1, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(plain(ExponentialBackoff{}).base(failures), Seconds(30));
    EXPECT_EQ(plain(LinearBackoff{}).base(failures), Seconds(30));
    EXPECT_EQ(plain(ScheduleBackoff{{Seconds(1), Seconds(2)}}).base(failures), Seconds(2));
  }
}

struct Range {
  absl::Duration low;
  absl::Duration high;
};

// The least and the most that chance can make of the wait after `failures`.
Range rangeOf(const Backoff& backoff, int failures, absl::Duration previous) {
  StuckRandom lowest = StuckRandom::lowest();
  StuckRandom highest = StuckRandom::highest();
  return {backoff.delay(failures, previous, lowest), backoff.delay(failures, previous, highest)};
}

void expectRange(const Range& range, absl::Duration low, absl::Duration high) {
  EXPECT_EQ(range.low, low);
  EXPECT_LE(range.high, high);
  EXPECT_GE(range.high, high - absl::Microseconds(1));
}

// Each jitter spans exactly its definition, from the lowest draw to the highest.
TEST(JitterTest, Ranges) {
  const BackoffShape shape = ExponentialBackoff{};
  const absl::Duration b = Seconds(240);  // after four failures
  expectRange(rangeOf(Backoff(shape, {JitterKind::Full}), 4, Seconds(9)), ZeroDuration(), b);
  expectRange(rangeOf(Backoff(shape, {JitterKind::Equal}), 4, Seconds(9)), b / 2, b);
  expectRange(rangeOf(Backoff(shape, {JitterKind::Proportional, 0.2}), 4, Seconds(9)), Seconds(192),
              Seconds(288));
  expectRange(rangeOf(Backoff(shape, {JitterKind::None}), 4, Seconds(9)), b, b);
  expectRange(rangeOf(Backoff(shape, {JitterKind::Decorrelated}), 4, Seconds(100)), Seconds(30),
              Seconds(300));
}

// The default is full jitter, and a fifth where it is proportional.
TEST(JitterTest, Defaults) {
  EXPECT_EQ(Jitter{}.kind, JitterKind::Full);
  EXPECT_EQ(Jitter{}.ratio, 0.2);
}

// Decorrelated jitter starts from the initial wait, and its base doesn't matter.
TEST(JitterTest, DecorrelatedStarts) {
  const Backoff backoff(ExponentialBackoff{}, {JitterKind::Decorrelated});
  for (const int failures : {1, 2, 9}) {
    expectRange(rangeOf(backoff, failures, ZeroDuration()), Seconds(30), Seconds(90));
  }
  // Below a third of the initial wait there is only the initial wait.
  expectRange(rangeOf(backoff, 2, Seconds(1)), Seconds(30), Seconds(30));
}

// Decorrelated jitter is capped by the shape's maximum, or by its largest delay.
TEST(JitterTest, DecorrelatedCaps) {
  const Jitter jitter{JitterKind::Decorrelated};
  expectRange(rangeOf(Backoff(ExponentialBackoff{}, jitter), 9, Hours(50)), Seconds(30), Hours(1));
  expectRange(
      rangeOf(Backoff(LinearBackoff{Seconds(5), Seconds(1), Minutes(3)}, jitter), 9, Minutes(2)),
      Seconds(5), Minutes(3));
  expectRange(
      rangeOf(Backoff(ScheduleBackoff{{Seconds(1), Seconds(10), Minutes(7), Seconds(20)}}, jitter),
              9, Hours(1)),
      Seconds(10), Minutes(7));
  expectRange(rangeOf(Backoff(FixedBackoff{Seconds(60)}, jitter), 9, Hours(1)), Seconds(60),
              Seconds(60));
}

// A ratio that makes no sense can't make a wait negative or undefined.
TEST(JitterTest, OddRatios) {
  const auto range = [](double ratio) {
    return rangeOf(Backoff(FixedBackoff{Seconds(60)}, {JitterKind::Proportional, ratio}), 1, {});
  };
  expectRange(range(0), Seconds(60), Seconds(60));
  expectRange(range(1), ZeroDuration(), Seconds(120));
  expectRange(range(5), ZeroDuration(), Seconds(120));
  expectRange(range(-1), Seconds(60), Seconds(60));
  expectRange(range(std::nan("")), Seconds(60), Seconds(60));
}

// Ten thousand events that fail in the same second come back spread out: the busiest second of the
// first wave has at most three times the mean.
TEST(JitterTest, FullJitterSpreadsAHerd) {
  SeededRandom random(testSeed());
  const Backoff backoff(ExponentialBackoff{}, {JitterKind::Full});
  constexpr int kEvents = 10'000;
  std::vector<int> seconds(31, 0);
  for (int i = 0; i < kEvents; ++i) {
    const absl::Duration failed_at = Seconds(1) * random.unit();
    const absl::Duration back_at = failed_at + backoff.delay(1, ZeroDuration(), random);
    ++seconds[static_cast<size_t>(absl::ToInt64Seconds(back_at))];
  }
  EXPECT_LE(*std::max_element(seconds.begin(), seconds.end()), 3 * kEvents / 30);
}

}  // namespace
}  // namespace forebay
