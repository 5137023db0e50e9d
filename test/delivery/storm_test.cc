#include "gtest/gtest.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

UpstreamConfig hasty() {
  UpstreamConfig config = upstream("app");
  config.retry.backoff = FixedBackoff{absl::Seconds(30)};
  config.retry.attempts_max = 1000;
  config.breaker.consecutive_failures = 1'000'000;
  return config;
}

// More than five attempts an event within fifteen minutes is a storm, and shown as one.
TEST(StormTest, IsShownWhileItLasts) {
  World world({hasty()});
  world.transport.automatic = [](const auto&) { return answered(503); };
  for (int i = 0; i < 10; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(121));  // five attempts each
  EXPECT_EQ(world.stats.value("retry_ratio[app]"), 500u);
  EXPECT_EQ(world.stats.value("storm[app]"), 0u);
  world.run(absl::Seconds(30));
  EXPECT_EQ(world.stats.value("retry_ratio[app]"), 600u);
  EXPECT_EQ(world.stats.value("storm[app]"), 1u);
  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Minutes(17));
  EXPECT_EQ(world.stats.value("storm[app]"), 0u);
  EXPECT_EQ(world.stats.value("retry_ratio[app]"), 0u);
}

// An error of our own is no attempt, and no part of a storm.
TEST(StormTest, OwnErrorsDoNotCount) {
  World world({hasty()});
  world.transport.automatic = [](const auto&) { return failed(OutcomeKind::ClusterMissing); };
  world.capture("app");
  world.run(absl::Minutes(10));
  EXPECT_GT(world.transport.sent.size(), 10u);
  EXPECT_EQ(world.stats.value("retry_ratio[app]"), 0u);
}

}  // namespace
}  // namespace forebay
