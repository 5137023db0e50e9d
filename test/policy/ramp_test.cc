#include "source/policy/ramp.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

MonotonicTime at(double seconds) { return MonotonicTime::fromOrigin(absl::Seconds(seconds)); }

const absl::Duration kGrain = absl::Nanoseconds(1) / 4;

void expectFullSpeed(const Ramp& ramp, MonotonicTime now) {
  EXPECT_FALSE(ramp.active(now));
  EXPECT_EQ(ramp.position(now), 1);
  EXPECT_EQ(ramp.began(now), std::nullopt);
  EXPECT_EQ(ramp.concurrency(10, now), 10u);
  EXPECT_EQ(ramp.rateFactor(now), 1);
  EXPECT_EQ(ramp.ownRate(10, now), std::nullopt);
  EXPECT_EQ(ramp.grows(10, now), MonotonicTime::infiniteFuture());
}

Ramp begunAtZero() {
  Ramp ramp(absl::Seconds(60));
  ramp.begin(at(0));
  return ramp;
}

// Until it begins there is none.
TEST(RampTest, FullSpeedAtFirst) {
  Ramp ramp(absl::Seconds(60));
  expectFullSpeed(ramp, at(0));
  ramp.onFailure(at(1), at(2));
  expectFullSpeed(ramp, at(2));
}

// A length of zero is none at all.
TEST(RampTest, LengthZeroIsNone) {
  Ramp ramp(absl::ZeroDuration());
  ramp.begin(at(5));
  expectFullSpeed(ramp, at(5));
  ramp.onFailure(at(5), at(6));
  expectFullSpeed(ramp, at(6));
}

// From one slot to all of them, in a line; full at the very end of its length.
TEST(RampTest, GrowsInALine) {
  const Ramp ramp = begunAtZero();
  EXPECT_EQ(ramp.concurrency(11, at(0)), 1u);
  EXPECT_EQ(ramp.concurrency(11, at(5.9)), 1u);
  EXPECT_EQ(ramp.concurrency(11, at(6)), 2u);
  EXPECT_EQ(ramp.concurrency(11, at(30)), 6u);
  EXPECT_EQ(ramp.concurrency(11, at(60) + -kGrain), 10u);
  EXPECT_TRUE(ramp.active(at(60) + -kGrain));
  EXPECT_DOUBLE_EQ(ramp.rateFactor(at(30)), 0.5);
  EXPECT_GT(ramp.rateFactor(at(0)), 0);
  expectFullSpeed(ramp, at(60));
  expectFullSpeed(ramp, at(1e9));
}

// Without a configured rate it is one a second and slot, and doubles twelve times.
TEST(RampTest, OwnRateDoublesTwelveTimes) {
  const Ramp ramp = begunAtZero();
  EXPECT_EQ(kRampDoublings, 12);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(ramp.ownRate(10, at(5 * i)).has_value());
    EXPECT_DOUBLE_EQ(*ramp.ownRate(10, at(5 * i)), 10 * std::exp2(i));
  }
  EXPECT_NEAR(*ramp.ownRate(10, at(60) + -kGrain), 40'960, 1);
}

// A failure takes back half of the way.
TEST(RampTest, FailureHalves) {
  Ramp ramp = begunAtZero();
  ramp.onFailure(at(39), at(40));
  EXPECT_DOUBLE_EQ(ramp.position(at(40)), 1.0 / 3);
  EXPECT_EQ(ramp.began(at(40)), at(20));
  ramp.onFailure(at(41), at(50));
  EXPECT_DOUBLE_EQ(ramp.position(at(50)), 0.25);
}

// What was under way at the last setback, or before the ramp, takes nothing back.
TEST(RampTest, OlderAttemptsSayNothingNew) {
  Ramp ramp(absl::Seconds(60));
  ramp.begin(at(100));
  ramp.onFailure(at(99), at(130));
  EXPECT_DOUBLE_EQ(ramp.position(at(130)), 0.5);
  ramp.onFailure(at(129), at(130));
  EXPECT_DOUBLE_EQ(ramp.position(at(130)), 0.25);
  for (int i = 0; i < 30; ++i) {
    ramp.onFailure(at(100 + i), at(131));
  }
  EXPECT_EQ(ramp.began(at(131)), at(115));
  ramp.onFailure(at(130), at(135));
  EXPECT_EQ(ramp.began(at(135)), at(125));
}

// A failure at full speed, after the ramp, does not bring it back.
TEST(RampTest, OverIsOver) {
  Ramp ramp = begunAtZero();
  ramp.onFailure(at(59), at(60));
  expectFullSpeed(ramp, at(60));
}

// After a restart it goes on where it was; an odd time is no time, or the end.
TEST(RampTest, GoesOnAfterARestart) {
  Ramp before = begunAtZero();
  before.onFailure(at(20), at(40));
  const absl::Duration elapsed = at(41) - *before.began(at(41));
  Ramp after(absl::Seconds(60));
  after.begin(at(7), elapsed);
  EXPECT_DOUBLE_EQ(after.position(at(7)), before.position(at(41)));
  EXPECT_EQ(after.concurrency(100, at(7)), before.concurrency(100, at(41)));
  for (const absl::Duration odd : {-absl::Seconds(1), -absl::InfiniteDuration()}) {
    after.begin(at(7), odd);
    EXPECT_EQ(after.position(at(7)), 0);
  }
  for (const absl::Duration over : {absl::Seconds(60), absl::InfiniteDuration()}) {
    after.begin(at(7), over);
    expectFullSpeed(after, at(7));
    after.onFailure(at(7), at(8));
    expectFullSpeed(after, at(8));
  }
}

// It may begin anew, in the middle of itself too.
TEST(RampTest, BeginsAnew) {
  Ramp ramp = begunAtZero();
  ramp.begin(at(30));
  EXPECT_EQ(ramp.position(at(30)), 0);
  EXPECT_EQ(ramp.concurrency(10, at(89.9)), 9u);
  expectFullSpeed(ramp, at(90));
}

// With one slot there is nothing to grow but the rate: the next change is the end.
TEST(RampTest, OneSlot) {
  const Ramp ramp = begunAtZero();
  EXPECT_EQ(ramp.concurrency(1, at(0)), 1u);
  EXPECT_EQ(ramp.concurrency(1, at(59)), 1u);
  EXPECT_EQ(ramp.grows(1, at(59)), at(60));
}

// grows() names the first instant at which there are more slots: not one grain of time earlier,
// always in the future, and one after the other they lead to full speed.
TEST(RampTest, GrowsIsTheVeryInstant) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 1000; ++run) {
    SCOPED_TRACE(run);
    const absl::Duration length = absl::Seconds(std::pow(10, -3 + 9 * random.unit()));
    const uint32_t max = 2 + static_cast<uint32_t>(random.next() % (run % 10 == 0 ? 9999 : 50));
    Ramp ramp(length);
    MonotonicTime now = at(1e6 * random.unit());
    ramp.begin(now, random.next() % 2 == 0 ? absl::ZeroDuration() : length * random.unit());
    uint32_t slots = ramp.concurrency(max, now);
    uint32_t steps = 0;
    while (ramp.active(now)) {
      const MonotonicTime next = ramp.grows(max, now);
      ASSERT_GT(next, now);
      ASSERT_EQ(ramp.concurrency(max, next + -kGrain), slots);
      ASSERT_GT(ramp.concurrency(max, next), slots);
      slots = ramp.concurrency(max, next);
      now = next;
      ASSERT_LE(++steps, max);
    }
    ASSERT_EQ(slots, max);
  }
}

// Without failures nothing ever shrinks; with them there is always a slot and a rate, and the
// position after each is the half.
TEST(RampTest, MonotoneAndNeverNothing) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 1000; ++run) {
    SCOPED_TRACE(run);
    const absl::Duration length = absl::Seconds(std::pow(10, -3 + 6 * random.unit()));
    const uint32_t max = 1 + static_cast<uint32_t>(random.next() % 10'000);
    Ramp ramp(length);
    MonotonicTime now = at(1e6 * random.unit());
    ramp.begin(now);
    for (int step = 0; step < 200 && ramp.active(now); ++step) {
      const MonotonicTime before = now;
      const uint32_t slots = ramp.concurrency(max, now);
      const double factor = ramp.rateFactor(now);
      const double rate = *ramp.ownRate(max, now);
      ASSERT_GE(slots, 1u);
      ASSERT_LE(slots, max);
      ASSERT_GT(factor, 0);
      ASSERT_LE(factor, 1);
      ASSERT_GE(rate, max);
      now = now + length * (0.05 * random.unit());
      ASSERT_GE(ramp.concurrency(max, now), slots);
      ASSERT_GE(ramp.rateFactor(now), factor);
      ASSERT_GE(ramp.ownRate(max, now).value_or(rate), rate);
      if (ramp.active(now) && random.next() % 4 == 0) {
        const double position = ramp.position(now);
        ramp.onFailure(before, now);
        ASSERT_TRUE(ramp.position(now) == position ||
                    std::abs(ramp.position(now) - position / 2) < 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace forebay
