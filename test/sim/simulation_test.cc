#include "source/sim/simulation.h"

#include <gtest/gtest.h>

namespace forebay::sim {
namespace {

Script dayWithOutage(uint64_t seed) {
  Script script;
  script.seed = seed;
  UpstreamConfig upstream;
  upstream.name = "app";
  upstream.cluster = "app";
  script.upstreams = {upstream};
  script.arrivals.push_back({.upstream = "app",
                             .until = absl::Hours(23),
                             .kind = ArrivalScript::Kind::Poisson,
                             .per_second = 0.0125});
  script.apps.push_back({"app",
                         {{absl::Hours(2), {.kind = Behaviour::Kind::Refuses}},
                          {absl::Hours(4), {.latency_spread = absl::Milliseconds(100)}}}});
  return script;
}

Result run(const Script& script) {
  Observer nobody;
  return Simulation(script, nobody).run();
}

// After an outage of two hours every event of the day is delivered.
TEST(SimulationTest, DeliversAfterAnOutage) {
  const Result result = run(dayWithOutage(1));
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.drained);
  EXPECT_GT(result.totals.accepted, 900);
  EXPECT_EQ(result.totals.delivered, result.totals.accepted);
  EXPECT_GT(result.attempts, result.totals.accepted);
}

// The same seed gives the same attempts; another one gives others.
TEST(SimulationTest, SameSeedSameRun) {
  const Result one = run(dayWithOutage(7));
  const Result again = run(dayWithOutage(7));
  EXPECT_EQ(one.digest, again.digest);
  EXPECT_EQ(one.steps, again.steps);
  EXPECT_NE(one.digest, run(dayWithOutage(8)).digest);
}

// A restart of either kind loses nothing.
TEST(SimulationTest, RestartsLoseNothing) {
  for (const Restart::Kind kind : {Restart::Kind::Crash, Restart::Kind::Clean}) {
    Script script = dayWithOutage(3);
    script.arrivals[0].per_second = 1;
    script.arrivals[0].until = absl::Hours(1);
    script.apps = {{"app", {{absl::ZeroDuration(), {.latency = absl::Seconds(8)}}}}};
    for (int i = 1; i < 50; ++i) {
      script.restarts.push_back({absl::Minutes(i), kind, absl::Seconds(5)});
    }
    const Result result = run(script);
    EXPECT_EQ(result.error, "");
    EXPECT_TRUE(result.drained);
    EXPECT_GT(result.refused, 100);
    EXPECT_EQ(result.totals.delivered, result.totals.accepted);
    EXPECT_GT(result.attempts, result.totals.accepted);
  }
}

}  // namespace
}  // namespace forebay::sim
