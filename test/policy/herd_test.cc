#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "source/policy/retry_policy.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

constexpr int kEvents = 10'000;
const absl::Time kOutage = absl::FromUnixSeconds(1'800'000'000);

// The first retries of events that all failed within one second.
struct Wave {
  size_t seconds = 0;  // from its first to its last
  size_t busiest = 0;  // retries in one second
  double mean() const { return static_cast<double>(kEvents) / static_cast<double>(seconds); }
  double ratio() const { return static_cast<double>(busiest) / mean(); }
};

Wave firstWave(JitterKind jitter, Random& random) {
  const RetryPolicy policy({.jitter = {jitter}});
  std::map<int64_t, size_t> by_second;
  for (int i = 0; i < kEvents; ++i) {
    const absl::Time failed_at = kOutage + absl::Seconds(random.unit());
    const Decision decision =
        policy.decide({.kind = OutcomeKind::Answered, .status = 503}, Verdict::Retry,
                      {.attempts = 1, .budget_from = kOutage}, failed_at, random);
    EXPECT_EQ(decision.kind, Decision::Kind::Retry);
    ++by_second[absl::ToUnixSeconds(decision.retry_at)];
  }
  Wave wave;
  wave.seconds = static_cast<size_t>(by_second.rbegin()->first - by_second.begin()->first) + 1;
  for (const auto& [second, retries] : by_second) {
    wave.busiest = std::max(wave.busiest, retries);
  }
  return wave;
}

// With the default backoff and jitter, 10,000 events that failed in the same second come back
// spread out: the busiest second has at most three times the mean. The others are shown beside it.
TEST(HerdTest, FullJitterSpreadsTheFirstWave) {
  SeededRandom random(testSeed());
  constexpr struct {
    JitterKind kind;
    const char* name;
  } kJitters[] = {{JitterKind::Full, "`FULL`"},
                  {JitterKind::Equal, "`EQUAL`"},
                  {JitterKind::Decorrelated, "`DECORRELATED`"},
                  {JitterKind::Proportional, "`PROPORTIONAL`"},
                  {JitterKind::None, "`NONE`"}};
  std::map<JitterKind, Wave> waves;
  std::printf("| Jitter | Seconds of the wave | Mean per second | Busiest second | Ratio |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const auto& [kind, name] : kJitters) {
    const Wave wave = firstWave(kind, random);
    std::printf("| %s | %zu | %.0f | %zu | %.2f |\n", name, wave.seconds, wave.mean(), wave.busiest,
                wave.ratio());
    waves[kind] = wave;
  }
  EXPECT_LE(waves[JitterKind::Full].ratio(), 3);
  EXPECT_GE(waves[JitterKind::Full].seconds, 30u);
  // The herd itself, so that the numbers above mean something.
  EXPECT_EQ(waves[JitterKind::None].busiest, static_cast<size_t>(kEvents));
}

}  // namespace
}  // namespace forebay
