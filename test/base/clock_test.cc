#include "source/base/clock.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

MonotonicTime at(int seconds) { return MonotonicTime::fromOrigin(absl::Seconds(seconds)); }

// Points compare as their distances from the origin do.
TEST(MonotonicTimeTest, Orders) {
  EXPECT_TRUE(at(1) < at(2));
  EXPECT_TRUE(at(2) > at(1));
  EXPECT_TRUE(at(1) <= at(1));
  EXPECT_TRUE(at(1) >= at(1));
  EXPECT_TRUE(at(1) == at(1));
  EXPECT_TRUE(at(1) != at(2));
  EXPECT_FALSE(at(1) < at(1));
  EXPECT_FALSE(at(1) > at(1));
  EXPECT_FALSE(at(2) <= at(1));
  EXPECT_FALSE(at(1) >= at(2));
}

// A default point is the origin.
TEST(MonotonicTimeTest, StartsAtTheOrigin) {
  EXPECT_EQ(MonotonicTime(), at(0));
  EXPECT_EQ(MonotonicTime().sinceOrigin(), absl::ZeroDuration());
}

// Adding a duration and taking the difference are inverse, below a second and into the past too.
TEST(MonotonicTimeTest, AddsAndSubtracts) {
  for (const absl::Duration delta : {absl::Nanoseconds(1), absl::Milliseconds(1500), absl::Hours(9),
                                     -absl::Seconds(3), absl::ZeroDuration()}) {
    EXPECT_EQ((at(100) + delta) - at(100), delta);
    EXPECT_EQ((at(100) + delta).sinceOrigin(), absl::Seconds(100) + delta);
  }
}

// "Never" is later than any point, and stays so when something is added.
TEST(MonotonicTimeTest, InfiniteFutureIsLast) {
  const MonotonicTime never = MonotonicTime::infiniteFuture();
  EXPECT_GT(never, at(2'000'000'000));
  EXPECT_EQ(never + absl::Hours(1), never);
  EXPECT_EQ(never - at(5), absl::InfiniteDuration());
}

// The machine's monotonic clock does not go back, and its wall clock is of our century.
TEST(SystemClockTest, Runs) {
  MonotonicTime previous = systemClock().monotonicNow();
  for (int i = 0; i < 10'000; ++i) {
    const MonotonicTime now = systemClock().monotonicNow();
    ASSERT_LE(previous, now);
    previous = now;
  }
  EXPECT_GT(systemClock().wallNow(), absl::FromUnixSeconds(1'600'000'000));
}

// There is one system clock.
TEST(SystemClockTest, IsOne) { EXPECT_EQ(&systemClock(), &systemClock()); }

}  // namespace
}  // namespace forebay
