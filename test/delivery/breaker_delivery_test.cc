#include <gtest/gtest.h>

#include "test/delivery/world.h"

namespace forebay {
namespace {

UpstreamConfig fragile() {
  UpstreamConfig config = upstream("app");
  config.retry.backoff = FixedBackoff{absl::Seconds(1)};
  config.retry.attempts_max = 50;
  config.breaker.consecutive_failures = 5;
  config.concurrency_max = 4;
  return config;
}

// An outage of hours costs an event only the attempts before the breaker opened, and the probes.
TEST(BreakerDeliveryTest, OpenTimeCostsNoAttempts) {
  World world({fragile()});
  world.transport.automatic = [](const auto&) { return failed(OutcomeKind::ConnectFailed); };
  std::vector<EventId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(world.capture("app"));
  }
  world.run(absl::Hours(6));
  // 5 failures (at most 4 in flight beside), then a probe after 10, 20, 40, … and every 300 s.
  EXPECT_LE(world.transport.sent.size(), 90u);
  EXPECT_EQ(world.store.totals()["app"].backlog(), 100u);
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Open);
  EXPECT_TRUE(world.forwarder->lanes()[0].next_probe_at.has_value());
  EXPECT_EQ(world.stats.value("breaker_open[app]"), 1u);

  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.store.totals()["app"].delivered, 100u);
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
  EXPECT_EQ(world.stats.value("breaker_open[app]"), 0u);
  EXPECT_EQ(world.log.count(LogLevel::Info, "breaker closed"), 1);
}

// While half open exactly one attempt is under way.
TEST(BreakerDeliveryTest, OneProbeAtATime) {
  World world({fragile()});
  world.transport.automatic = [](const auto&) { return answered(500); };
  for (int i = 0; i < 50; ++i) {
    world.capture("app");
  }
  world.settle();
  world.transport.automatic = nullptr;
  const size_t before = world.transport.sent.size();
  world.run(absl::Seconds(30));
  EXPECT_EQ(world.transport.sent.size(), before + 1);
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::HalfOpen);
  world.transport.answer(answered(200));
  world.settle();
  // Closed; the ramp begins with one at a time, too.
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
  EXPECT_EQ(world.transport.waiting.size(), 1u);
}

// A probe that fails keeps the lane closed for twice as long.
TEST(BreakerDeliveryTest, FailedProbesDoubleTheWait) {
  World world({fragile()});
  world.transport.automatic = [](const auto&) { return answered(500); };
  for (int i = 0; i < 50; ++i) {
    world.capture("app");
  }
  world.settle();
  std::vector<size_t> attempts;
  for (int i = 0; i < 3; ++i) {
    const size_t before = world.transport.sent.size();
    world.run(absl::Seconds(10 << i) - absl::Milliseconds(10));
    EXPECT_EQ(world.transport.sent.size(), before) << "wait " << i;
    world.run(absl::Milliseconds(10));
    EXPECT_EQ(world.transport.sent.size(), before + 1) << "wait " << i;
  }
}

// A permanent answer comes from an app that is up: it never opens the breaker.
TEST(BreakerDeliveryTest, PermanentAnswersDoNotOpenIt) {
  World world({fragile()});
  world.transport.automatic = [](const auto&) { return answered(422); };
  for (int i = 0; i < 100; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(5));
  EXPECT_EQ(world.store.totals()["app"].dead, 100u);
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
}

// Probes are numbered and shown, but an outage of hours exhausts nobody: not even an event that
// probes time and again.
TEST(BreakerDeliveryTest, FailedProbesAreNotHeldAgainstTheEvent) {
  UpstreamConfig config = fragile();
  config.retry.attempts_max = 3;
  World world({config});
  world.transport.automatic = [](const auto&) { return answered(503); };
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(world.capture("app"));
  }
  world.run(absl::Hours(5));
  EXPECT_GT(world.transport.sent.size(), 50u);
  EXPECT_EQ(world.store.totals()["app"].dead, 0u);
  EXPECT_GT(world.state(ids[0]).attempts(), 10u);
  EXPECT_EQ(world.store.attempts(ids[0])->size(), world.state(ids[0]).attempts());
  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.store.totals()["app"].delivered, 3u);
}

}  // namespace
}  // namespace forebay
