#include "source/policy/pacer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

MonotonicTime at(absl::Duration since_origin) { return MonotonicTime::fromOrigin(since_origin); }

// From 1e-5 to 1e8 a second.
double randomRate(Random& random) { return std::pow(10, -5 + 13 * random.unit()); }

double burst(double per_second) {
  return std::max(1.0, per_second * absl::ToDoubleSeconds(kPacerCatchUp));
}

// One may start at once, however slow; the next has to wait for its share of a second.
TEST(PacerTest, OneAtFirst) {
  Pacer pacer;
  EXPECT_EQ(pacer.available(at(absl::Hours(1)), 0.001), 1u);
  EXPECT_EQ(pacer.availableAt(at(absl::Hours(1)), 0.001), at(absl::Hours(1)));
  pacer.take(at(absl::Hours(1)), 0.001, 1);
  EXPECT_EQ(pacer.available(at(absl::Hours(1)), 0.001), 0u);
  EXPECT_EQ(pacer.available(at(absl::Hours(1) + absl::Seconds(999)), 0.001), 0u);
  EXPECT_EQ(pacer.available(at(absl::Hours(1) + absl::Seconds(1000)), 0.001), 1u);
}

// A turn that comes late may catch up on 20 ms, and not on more.
TEST(PacerTest, CatchesUpOnTwentyMilliseconds) {
  Pacer pacer;
  pacer.take(at(absl::ZeroDuration()), 1000, 1);
  EXPECT_EQ(pacer.available(at(absl::Milliseconds(7)), 1000), 7u);
  EXPECT_EQ(pacer.available(at(absl::Milliseconds(20)), 1000), 20u);
  EXPECT_EQ(pacer.available(at(absl::Milliseconds(21)), 1000), 20u);
  EXPECT_EQ(pacer.available(at(absl::Hours(24 * 365)), 1000), 20u);
}

// What was saved at a high rate is no more than the low rate allows.
TEST(PacerTest, SlowingDownForgetsTheSavings) {
  Pacer pacer;
  pacer.take(at(absl::ZeroDuration()), 1000, 1);
  pacer.take(at(absl::Milliseconds(20)), 1000, 1);
  EXPECT_EQ(pacer.available(at(absl::Milliseconds(20)), 1000), 19u);
  EXPECT_EQ(pacer.available(at(absl::Milliseconds(20)), 1), 1u);
}

// As long as time stands still nothing is gained, however often it is asked.
TEST(PacerTest, TimeThatStandsStill) {
  Pacer pacer;
  const MonotonicTime now = at(absl::Seconds(5));
  pacer.take(now, 1e8, 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(pacer.available(now, 1e8), 0u);
    ASSERT_GT(pacer.availableAt(now, 1e8), now);
  }
}

// The time that availableAt() names is not in the past, something may start then if the rate
// stays, and nothing could a good while before.
TEST(PacerTest, AvailableAtIsTrue) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 2000; ++run) {
    SCOPED_TRACE(run);
    Pacer pacer;
    MonotonicTime now = at(absl::Seconds(1e6 * random.unit()));
    double rate = randomRate(random);
    for (int step = 0; step < 50; ++step) {
      if (random.next() % 4 == 0) {
        rate = randomRate(random);
      }
      now = now + absl::Seconds(random.unit() / rate);
      const MonotonicTime next = pacer.availableAt(now, rate);
      ASSERT_GE(next, now);
      ASSERT_GE(pacer.available(next, rate), 1u);
      ASSERT_EQ(next == now, pacer.available(now, rate) >= 1);
      const MonotonicTime before = next + -absl::Seconds(0.001 / rate) + -absl::Nanoseconds(2);
      if (before > now) {
        ASSERT_EQ(pacer.available(before, rate), 0u);
      }
      if (random.next() % 4 != 0) {
        now = next;
        pacer.take(now, rate, 1 + random.next() % pacer.available(now, rate));
      }
    }
  }
}

// Between any two starts there are no more than the highest rate gives in that time, and one
// catching up, whatever the rates and however late the turns.
TEST(PacerTest, NeverFasterThanTheHighestRate) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 300; ++run) {
    SCOPED_TRACE(run);
    Pacer pacer;
    const double highest = randomRate(random);
    double rate = highest;
    MonotonicTime now = at(absl::Seconds(1000 * random.unit()));
    std::vector<std::pair<MonotonicTime, double>> total;  // when, and how many by then
    double started = 0;
    for (int step = 0; step < 300; ++step) {
      rate = random.next() % 8 == 0 ? highest * random.unit() + 1e-9 : rate;
      now = pacer.availableAt(now, rate);
      if (random.next() % 2 == 0) {
        now = now + absl::Seconds(random.unit() * 30 / rate);
      }
      const size_t available = pacer.available(now, rate);
      ASSERT_LE(static_cast<double>(available), burst(rate) + 1e-5);
      total.emplace_back(now, started);
      started += static_cast<double>(available);
      pacer.take(now, rate, available);
      for (const auto& [from, before] : total) {
        ASSERT_LE(started - before,
                  burst(highest) + absl::ToDoubleSeconds(now - from) * highest * (1 + 1e-9) + 1e-5);
      }
    }
  }
}

// Turns that come as named give the whole rate.
TEST(PacerTest, GivesTheWholeRate) {
  for (const double rate : {0.001, 0.3, 1.0, 7.0, 1000.0, 33'333.3, 1e8}) {
    Pacer pacer;
    const MonotonicTime from = at(absl::Seconds(1234));
    MonotonicTime now = from;
    double started = 0;
    for (int i = 0; i < 100'000; ++i) {
      now = pacer.availableAt(now, rate);
      const size_t available = pacer.available(now, rate);
      pacer.take(now, rate, available);
      started += static_cast<double>(available);
    }
    const double allowed = absl::ToDoubleSeconds(now - from) * rate;
    EXPECT_GE(started, allowed * 0.999) << rate;
    EXPECT_LE(started, allowed + 1 + 1e-5) << rate;
  }
}

// Turns that come a hair early each time get nothing more in the end.
TEST(PacerTest, HairsDoNotAddUp) {
  Pacer pacer;
  constexpr int kTurns = 2'000'000;
  constexpr absl::Duration kShare = absl::Nanoseconds(999'999'100);  // of a second
  size_t started = 0;
  for (int i = 0; i < kTurns; ++i) {
    const MonotonicTime now = at(kShare * i);
    const size_t available = pacer.available(now, 1);
    pacer.take(now, 1, available);
    started += available;
  }
  EXPECT_LE(started, static_cast<size_t>(absl::ToDoubleSeconds(kShare * kTurns)) + 1);
}

}  // namespace
}  // namespace forebay
