#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "source/policy/backoff.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

constexpr int kRuns = 100'000;
constexpr JitterKind kJitters[] = {JitterKind::Full, JitterKind::Equal, JitterKind::Decorrelated,
                                   JitterKind::Proportional, JitterKind::None};
constexpr int kShapes = 4;

// From a microsecond to about a month, evenly over the magnitudes.
absl::Duration randomWait(Random& random) {
  return absl::Microseconds(static_cast<int64_t>(std::exp(random.unit() * std::log(2.6e12))));
}

BackoffShape randomShape(int which, Random& random) {
  const absl::Duration a = randomWait(random);
  const absl::Duration b = randomWait(random);
  switch (which) {
    case 0:
      return ExponentialBackoff{std::min(a, b), 1 + 9 * random.unit(), std::max(a, b)};
    case 1: {
      ScheduleBackoff schedule;
      for (uint64_t left = 1 + random.next() % 8; left > 0; --left) {
        schedule.delays.push_back(randomWait(random));
      }
      return schedule;
    }
    case 2:
      return LinearBackoff{std::min(a, b), randomWait(random), std::max(a, b)};
    default:
      return FixedBackoff{a};
  }
}

// What the base should be, in seconds, found step by step rather than by a formula.
double expectedBase(const BackoffShape& shape, int failures) {
  if (const auto* const e = std::get_if<ExponentialBackoff>(&shape)) {
    double wait = absl::ToDoubleSeconds(e->initial);
    const double max = absl::ToDoubleSeconds(e->max);
    for (int i = 1; i < failures && wait < max; ++i) {
      wait *= e->multiplier;
    }
    return std::min(wait, max);
  }
  if (const auto* const s = std::get_if<ScheduleBackoff>(&shape)) {
    const size_t attempt = static_cast<size_t>(failures) + 1;
    return absl::ToDoubleSeconds(attempt <= s->delays.size() ? s->delays[attempt - 1]
                                                             : s->delays.back());
  }
  if (const auto* const l = std::get_if<LinearBackoff>(&shape)) {
    double wait = absl::ToDoubleSeconds(l->initial);
    for (int i = 1; i < failures; ++i) {
      wait += absl::ToDoubleSeconds(l->step);
    }
    return std::min(wait, absl::ToDoubleSeconds(l->max));
  }
  return absl::ToDoubleSeconds(std::get<FixedBackoff>(shape).interval);
}

double largestBase(const BackoffShape& shape) {
  double largest = 0;
  if (const auto* const e = std::get_if<ExponentialBackoff>(&shape)) {
    return absl::ToDoubleSeconds(e->max);
  }
  if (const auto* const l = std::get_if<LinearBackoff>(&shape)) {
    return absl::ToDoubleSeconds(l->max);
  }
  if (const auto* const s = std::get_if<ScheduleBackoff>(&shape)) {
    for (const absl::Duration delay : s->delays) {
      largest = std::max(largest, absl::ToDoubleSeconds(delay));
    }
    return largest;
  }
  return absl::ToDoubleSeconds(std::get<FixedBackoff>(shape).interval);
}

struct Bounds {
  double low;
  double high;
};

Bounds expectedBounds(const BackoffShape& shape, Jitter jitter, int failures, double previous) {
  const double b = expectedBase(shape, failures);
  const double initial = expectedBase(shape, 1);
  switch (jitter.kind) {
    case JitterKind::Full:
      return {0, b};
    case JitterKind::Equal:
      return {b / 2, b};
    case JitterKind::Decorrelated: {
      const double cap = largestBase(shape);
      const double high = 3 * (previous > 0 ? previous : initial);
      return {std::min(initial, cap), std::min(std::max(initial, high), cap)};
    }
    case JitterKind::Proportional:
      return {b * (1 - jitter.ratio), b * (1 + jitter.ratio)};
    case JitterKind::None:
      break;
  }
  return {b, b};
}

// Every shape with every jitter stays within the bounds of its definition.
TEST(BackoffPropertyTest, DelaysAreWithinBounds) {
  SeededRandom random(testSeed());
  for (int run = 0; run < kRuns; ++run) {
    const int which = run % kShapes;
    const BackoffShape shape = randomShape(which, random);
    const Jitter jitter{kJitters[run / kShapes % 5], random.unit()};
    const int failures = 1 + static_cast<int>(random.next() % 40);
    const absl::Duration previous =
        random.next() % 4 == 0 ? absl::ZeroDuration() : randomWait(random);
    const double delay =
        absl::ToDoubleSeconds(Backoff(shape, jitter).delay(failures, previous, random));
    const Bounds bounds = expectedBounds(shape, jitter, failures, absl::ToDoubleSeconds(previous));
    const double slack = 2e-9 + 1e-9 * bounds.high;
    ASSERT_GE(delay, bounds.low - slack)
        << "shape " << which << " jitter " << static_cast<int>(jitter.kind) << " run " << run;
    ASSERT_LE(delay, bounds.high + slack)
        << "shape " << which << " jitter " << static_cast<int>(jitter.kind) << " run " << run;
  }
}

// The draws of each jitter reach both halves of its range: no jitter is stuck at an end.
TEST(BackoffPropertyTest, DelaysFillTheirRange) {
  SeededRandom random(testSeed());
  for (const JitterKind kind :
       {JitterKind::Full, JitterKind::Equal, JitterKind::Decorrelated, JitterKind::Proportional}) {
    const Backoff backoff(ExponentialBackoff{}, {kind});
    const Bounds bounds = expectedBounds(ExponentialBackoff{}, {kind}, 3, 60);
    int low_half = 0;
    for (int i = 0; i < 10'000; ++i) {
      const double delay = absl::ToDoubleSeconds(backoff.delay(3, absl::Seconds(60), random));
      low_half += delay < (bounds.low + bounds.high) / 2 ? 1 : 0;
    }
    EXPECT_NEAR(low_half, 5000, 300) << static_cast<int>(kind);
  }
}

// Without jitter, waits of exponential and linear backoff never shrink as failures grow.
TEST(BackoffPropertyTest, BasesNeverShrink) {
  SeededRandom random(testSeed());
  for (int run = 0; run < kRuns; ++run) {
    const Backoff backoff(randomShape(run % 2 == 0 ? 0 : 2, random), {JitterKind::None});
    const int failures = static_cast<int>(random.next() % (1u << (random.next() % 31)));
    ASSERT_LE(backoff.base(failures), backoff.base(failures + 1)) << "run " << run;
  }
}

absl::Duration hostileWait(Random& random) {
  const absl::Duration kWaits[] = {
      absl::InfiniteDuration(), -absl::InfiniteDuration(),
      absl::ZeroDuration(),     -absl::Seconds(5),
      absl::Nanoseconds(1) / 4, absl::Hours(std::numeric_limits<int64_t>::max() / 3600),
      absl::Seconds(30),        absl::Hours(1)};
  return kWaits[random.next() % 8];
}

double hostileNumber(Random& random) {
  constexpr double kNumbers[] = {0,
                                 -1,
                                 0.5,
                                 1,
                                 2,
                                 1000,
                                 1e300,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  return kNumbers[random.next() % 10];
}

BackoffShape hostileShape(Random& random) {
  switch (random.next() % 4) {
    case 0:
      return ExponentialBackoff{hostileWait(random), hostileNumber(random), hostileWait(random)};
    case 1: {
      ScheduleBackoff schedule;
      for (uint64_t left = random.next() % 4; left > 0; --left) {
        schedule.delays.push_back(hostileWait(random));
      }
      return schedule;
    }
    case 2:
      return LinearBackoff{hostileWait(random), hostileWait(random), hostileWait(random)};
    default:
      return FixedBackoff{hostileWait(random)};
  }
}

// Whatever the inputs, no wait is negative, infinite or beyond kDelayMax.
TEST(BackoffPropertyTest, SurvivesHostileConfigs) {
  SeededRandom random(testSeed());
  constexpr int kFailures[] = {std::numeric_limits<int>::min(), -1, 0, 1, 2, 7, 1100,
                               std::numeric_limits<int>::max()};
  for (int run = 0; run < kRuns; ++run) {
    const Backoff backoff(hostileShape(random),
                          {kJitters[random.next() % 5], hostileNumber(random)});
    const int failures = kFailures[random.next() % 8];
    for (const absl::Duration wait :
         {backoff.base(failures), backoff.delay(failures, hostileWait(random), random),
          backoff.beforeFirst()}) {
      ASSERT_GE(wait, absl::ZeroDuration()) << "run " << run;
      ASSERT_LE(wait, kDelayMax) << "run " << run;
    }
  }
}

}  // namespace
}  // namespace forebay
