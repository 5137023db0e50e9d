#include "source/policy/storm_meter.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

MonotonicTime at(absl::Duration since_origin) { return MonotonicTime::fromOrigin(since_origin); }

constexpr absl::Duration kFirst = absl::InfiniteDuration();

// Without attempts there is no ratio.
TEST(StormMeterTest, NothingIsZero) {
  const StormMeter meter;
  EXPECT_EQ(meter.ratioPercent(at(absl::ZeroDuration())), 0u);
  EXPECT_EQ(meter.ratioPercent(at(absl::Hours(1000))), 0u);
  EXPECT_FALSE(meter.storm(at(absl::ZeroDuration())));
}

// An event that is tried a sixth time within the window makes a storm; five are none.
TEST(StormMeterTest, SixOfOneEvent) {
  StormMeter meter;
  const MonotonicTime start = at(absl::Minutes(100));
  meter.onAttempt(start, kFirst);
  EXPECT_EQ(meter.ratioPercent(start), 100u);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_FALSE(meter.storm(start + absl::Minutes(2 * i)));
    meter.onAttempt(start + absl::Minutes(2 * i), absl::Minutes(2));
  }
  EXPECT_EQ(meter.ratioPercent(start + absl::Minutes(10)), 600u);
  EXPECT_TRUE(meter.storm(start + absl::Minutes(10)));
}

// Events that are tried every ten minutes, for hours, are no storm, although each began long
// before the window.
TEST(StormMeterTest, SteadyRetriesAreNoStorm) {
  StormMeter meter;
  for (int i = 0; i < 50; ++i) {
    const MonotonicTime now = at(absl::Minutes(10 * i));
    for (int event = 0; event < 1000; ++event) {
      meter.onAttempt(now, i == 0 ? kFirst : absl::Minutes(10));
    }
    EXPECT_LE(meter.ratioPercent(now), 200u);
  }
}

// The window slides: what is older than fifteen whole minutes is gone, after days too.
TEST(StormMeterTest, Slides) {
  for (const absl::Duration origin : {absl::ZeroDuration(), absl::Hours(9999)}) {
    StormMeter meter;
    meter.onAttempt(at(origin), kFirst);
    meter.onAttempt(at(origin), absl::ZeroDuration());
    EXPECT_EQ(meter.ratioPercent(at(origin + absl::Minutes(16) - absl::Nanoseconds(1))), 200u);
    EXPECT_EQ(meter.ratioPercent(at(origin + absl::Minutes(16))), 0u);
    const MonotonicTime later = at(origin + absl::Hours(24 * 9) + absl::Minutes(7));
    EXPECT_EQ(meter.ratioPercent(later), 0u);
    meter.onAttempt(later, absl::Hours(24 * 9) + absl::Minutes(7));
    EXPECT_EQ(meter.ratioPercent(later), 100u);
  }
}

// An attempt that was under way for longer than the window changes nothing of it.
TEST(StormMeterTest, LongAttempts) {
  StormMeter meter;
  meter.onAttempt(at(absl::Minutes(64)), kFirst);
  meter.onAttempt(at(absl::Minutes(64)), absl::ZeroDuration());
  meter.onAttempt(at(absl::Minutes(48)), kFirst);
  meter.onAttempt(at(absl::Minutes(31)), absl::Minutes(3));
  EXPECT_EQ(meter.ratioPercent(at(absl::Minutes(64))), 200u);
}

// An attempt before our own start, and a wall clock that was set, do no harm.
TEST(StormMeterTest, OddPasts) {
  StormMeter meter;
  for (const absl::Duration odd : {absl::Hours(1), -absl::Hours(1), -absl::InfiniteDuration()}) {
    meter.onAttempt(at(absl::Minutes(5)), odd);
  }
  EXPECT_EQ(meter.ratioPercent(at(absl::Minutes(5))), 100u);
}

// Over random lives of events it is what counting the attempts of the present minute and the
// fifteen before, and the events that had them, gives; told in any order.
TEST(StormMeterTest, CountsExactly) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 200; ++run) {
    SCOPED_TRACE(run);
    StormMeter meter;
    std::map<uint64_t, absl::Duration> latest;                 // start of an event's last attempt
    std::vector<std::pair<absl::Duration, uint64_t>> started;  // and of all attempts
    absl::Duration now = absl::Seconds(1e6 * random.unit());
    const absl::Duration step_max = absl::Seconds(run % 2 == 0 ? 5 : 200);
    for (int step = 0; step < 1000; ++step) {
      now += random.next() % 500 == 0 ? absl::Hours(24 * random.unit()) : step_max * random.unit();
      const uint64_t event = random.next() % 50;
      // Told up to five minutes after its start, yet after the attempt before it.
      absl::Duration start = now - absl::Minutes(5 * random.unit());
      const auto known = latest.find(event);
      start = known == latest.end() ? std::max(start, absl::ZeroDuration())
                                    : std::max(start, known->second);
      meter.onAttempt(at(start), known == latest.end() ? kFirst : start - known->second);
      latest[event] = start;
      started.emplace_back(start, event);

      const absl::Duration asked = now + absl::Minutes(random.next() % 4 == 0 ? 3 : 0);
      const absl::Duration from = absl::Floor(asked, absl::Minutes(1)) - absl::Minutes(15);
      uint64_t attempts = 0;
      std::set<uint64_t> events;
      for (const auto& [when, whose] : started) {
        if (when >= from) {
          ++attempts;
          events.insert(whose);
        }
      }
      ASSERT_EQ(meter.ratioPercent(at(asked)), events.empty() ? 0 : attempts * 100 / events.size());
    }
  }
}

}  // namespace
}  // namespace forebay
