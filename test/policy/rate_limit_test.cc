#include "source/policy/rate_limit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

MonotonicTime at(absl::Duration since_origin) { return MonotonicTime::fromOrigin(since_origin); }

// Whether every window of `per` that begins at a start holds at most `events`: no other window can
// hold more than the one that begins at its first start.
bool holds(const RateLimitConfig& config, const std::vector<MonotonicTime>& starts) {
  for (size_t i = 0; i + config.events < starts.size(); ++i) {
    if (starts[i + config.events] < starts[i] + config.per) {
      return false;
    }
  }
  return true;
}

size_t largestBurst(const std::vector<MonotonicTime>& starts) {
  size_t largest = 0;
  for (size_t i = 0; i < starts.size();) {
    size_t j = i;
    while (j < starts.size() && starts[j] == starts[i]) {
      ++j;
    }
    largest = std::max(largest, j - i);
    i = j;
  }
  return largest;
}

size_t startAll(RateLimit& limit, MonotonicTime now, double factor, size_t wanted,
                std::vector<MonotonicTime>& starts) {
  const size_t count = std::min(wanted, limit.available(now, factor));
  limit.take(now, factor, count);
  starts.insert(starts.end(), count, now);
  return count;
}

RateLimitConfig randomConfig(Random& random) {
  return {.events = static_cast<uint32_t>(std::pow(10, 3 * random.unit())),
          .per = absl::Seconds(std::pow(10, -4 + 7 * random.unit()))};
}

// Always as much as is allowed, each turn late by up to `late`.
std::vector<MonotonicTime> constantDemand(const RateLimitConfig& config, size_t events,
                                          absl::Duration late, Random& random) {
  RateLimit limit(config);
  std::vector<MonotonicTime> starts;
  MonotonicTime now = at(absl::Seconds(77));
  while (starts.size() < events) {
    now = limit.availableAt(now, 1) + late * random.unit();
    startAll(limit, now, 1, events, starts);
  }
  return starts;
}

double throughput(const RateLimitConfig& config, const std::vector<MonotonicTime>& starts) {
  return static_cast<double>(starts.size() - 1) /
         absl::FDivDuration(starts.back() - starts.front(), config.per) / config.events;
}

// Under random demand, with bursts, idle times, late turns and a factor that moves, no window of
// the length holds more than the limit, and no turn more than it may catch up on.
TEST(RateLimitTest, NoWindowHoldsMore) {
  SeededRandom random(testSeed());
  size_t full_windows = 0;
  for (int run = 0; run < 1000; ++run) {
    SCOPED_TRACE(run);
    const RateLimitConfig config = randomConfig(random);
    const absl::Duration share = config.per / config.events;
    RateLimit limit(config);
    std::vector<MonotonicTime> starts;
    MonotonicTime now = at(absl::Seconds(random.unit() * 1000));
    double factor = 1;
    for (int step = 0; step < 3000; ++step) {
      switch (random.next() % 8) {
        case 0:
          now = now + share * (3 * random.unit());
          break;
        case 1:
          now = now + (random.next() % 32 == 0 ? config.per * (2 * random.unit())
                                               : absl::Milliseconds(30 * random.unit()));
          break;
        case 2:
          factor = random.next() % 4 == 0 ? 0.01 + 0.99 * random.unit() : 1;
          break;
        case 3:
          break;  // time stands still
        default:
          now = limit.availableAt(now, factor);
      }
      startAll(limit, now, factor, 1 + random.next() % 40, starts);
    }
    ASSERT_TRUE(holds(config, starts)) << config.events << " in " << config.per;
    const double catch_up = absl::FDivDuration(kPacerCatchUp, share);
    ASSERT_LE(static_cast<double>(largestBurst(starts)), std::max(1.0, catch_up) + 1e-5);
    full_windows += starts.size() / config.events;
  }
  EXPECT_GT(full_windows, 1000u);  // the limit was reached, not only approached
}

// Turns that come as named give the whole limit, spread one by one.
TEST(RateLimitTest, GivesTheWholeLimit) {
  SeededRandom random(testSeed());
  for (const RateLimitConfig& config :
       {RateLimitConfig{1, absl::Hours(1)}, RateLimitConfig{1, absl::Milliseconds(1)},
        RateLimitConfig{3, absl::Seconds(1)}, RateLimitConfig{7, absl::Minutes(1)},
        RateLimitConfig{1000, absl::Seconds(1)}, RateLimitConfig{100'000, absl::Milliseconds(1)},
        RateLimitConfig{99'999, absl::Hours(24)}}) {
    const auto starts = constantDemand(config, 300'000, absl::ZeroDuration(), random);
    EXPECT_TRUE(holds(config, starts)) << config.events << " in " << config.per;
    EXPECT_GE(throughput(config, starts), 0.999) << config.events << " in " << config.per;
    EXPECT_EQ(largestBurst(starts), 1u) << config.events << " in " << config.per;
  }
}

// Turns up to 10 ms late still give 95 % of 1000 a second, in bursts of at most 20.
TEST(RateLimitTest, LateTurnsCatchUp) {
  SeededRandom random(testSeed());
  const RateLimitConfig config{1000, absl::Seconds(1)};
  const auto starts = constantDemand(config, 1'000'000, absl::Milliseconds(10), random);
  EXPECT_TRUE(holds(config, starts));
  const double got = throughput(config, starts);
  std::cout << "of 1000/s, turns up to 10 ms late: " << got << std::endl;
  EXPECT_GE(got, 0.95);
  EXPECT_LE(largestBurst(starts), 20u);
}

// The time that availableAt() names is not in the past and something may start then, so that no
// lane is stuck or spins, whatever the limit and the factor.
TEST(RateLimitTest, AvailableAtIsTrue) {
  SeededRandom random(testSeed());
  std::vector<RateLimitConfig> configs = {{1, absl::Hours(1)},
                                          {1, absl::Milliseconds(1)},
                                          {1, absl::Nanoseconds(1)},
                                          {100'000, absl::Milliseconds(1)},
                                          {4'000'000'000, absl::Hours(24)}};
  for (int i = 0; i < 300; ++i) {
    configs.push_back(randomConfig(random));
  }
  for (const RateLimitConfig& config : configs) {
    SCOPED_TRACE(testing::Message() << config.events << " in " << config.per);
    RateLimit limit(config);
    MonotonicTime now = at(absl::Hours(1000 * random.unit()));
    for (int step = 0; step < 2000; ++step) {
      const double factor =
          random.next() % 8 == 0 ? std::pow(10, -9 * random.unit()) : 0.5 + random.unit() / 2;
      const MonotonicTime next = limit.availableAt(now, factor);
      ASSERT_GE(next, now);
      ASSERT_GE(limit.available(next, factor), 1u);
      ASSERT_EQ(next == now, limit.available(now, factor) >= 1);
      now = next;
      limit.take(now, factor, 1 + random.next() % limit.available(now, factor));
    }
  }
}

// The window is half open: a start makes room at the very instant that `per` has passed.
TEST(RateLimitTest, RoomAfterExactlyOneWindow) {
  RateLimit limit({1, absl::Seconds(10)});
  limit.take(at(absl::Seconds(3)), 1, 1);
  EXPECT_EQ(limit.available(at(absl::Seconds(13)) + -absl::Nanoseconds(1), 1), 0u);
  EXPECT_EQ(limit.available(at(absl::Seconds(13)), 1), 1u);
}

// A factor slows the starts down and never speeds them up beyond the limit afterwards.
TEST(RateLimitTest, FactorSlowsDown) {
  RateLimit limit({100, absl::Seconds(1)});
  std::vector<MonotonicTime> starts;
  MonotonicTime now = at(absl::Seconds(1));
  while (now < at(absl::Seconds(101))) {
    startAll(limit, now, 0.1, 1000, starts);
    now = limit.availableAt(now, 0.1);
  }
  EXPECT_NEAR(static_cast<double>(starts.size()), 1000, 2);
  EXPECT_LE(limit.available(now, 1), 2u);
}

}  // namespace
}  // namespace forebay
