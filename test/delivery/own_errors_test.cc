#include <gtest/gtest.h>

#include "test/delivery/world.h"

namespace forebay {
namespace {

// A cluster that Envoy does not have costs no attempt, is warned of, and is tried again.
TEST(OwnErrorsTest, MissingClusterCostsNoAttempt) {
  World world({upstream("app")});
  world.transport.automatic = [](const auto&) { return failed(OutcomeKind::ClusterMissing); };
  const EventId id = world.capture("app");
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.state(id).state(), v1::STATE_PENDING);
  EXPECT_EQ(world.state(id).attempts(), 0u);
  EXPECT_TRUE(world.store.attempts(id)->empty());
  EXPECT_GE(world.stats.value("own_errors[app,cluster_missing]"), 10u);
  EXPECT_LE(world.stats.value("own_errors[app,cluster_missing]"), 30u);
  EXPECT_GE(world.log.count(LogLevel::Warn, "no attempt is counted"), 10);

  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Minutes(1));
  EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
  EXPECT_EQ(world.state(id).attempts(), 1u);
}

// An event that Envoy can't make a request of does not stop those behind it.
TEST(OwnErrorsTest, OneBadEventStopsNobody) {
  UpstreamConfig config = upstream("app");
  config.concurrency_max = 1;
  World world({config});
  const EventId bad = world.capture("app", "bad");
  std::vector<EventId> good;
  for (int i = 0; i < 5; ++i) {
    good.push_back(world.capture("app"));
  }
  world.transport.automatic = [&](const OutgoingRequest& request) {
    return request.event->id == bad ? failed(OutcomeKind::OwnError) : answered(200);
  };
  world.run(absl::Minutes(5));
  for (const EventId& id : good) {
    EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
  }
  EXPECT_EQ(world.state(bad).state(), v1::STATE_PENDING);
}

// Our own errors never open the breaker.
TEST(OwnErrorsTest, BreakerIgnoresThem) {
  UpstreamConfig config = upstream("app");
  config.breaker.consecutive_failures = 1;
  World world({config});
  world.transport.automatic = [](const auto&) { return failed(OutcomeKind::OwnError); };
  for (int i = 0; i < 20; ++i) {
    world.capture("app");
  }
  world.run(absl::Minutes(1));
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
}

}  // namespace
}  // namespace forebay
