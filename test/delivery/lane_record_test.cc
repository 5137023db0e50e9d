#include "gtest/gtest.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

UpstreamConfig fragile() {
  UpstreamConfig config = upstream("app");
  config.breaker.consecutive_failures = 3;
  return config;
}

void open(World& world) {
  world.transport.automatic = [](const auto&) { return answered(500); };
  for (int i = 0; i < 50; ++i) {
    world.capture("app");
  }
  world.settle();
  ASSERT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Open);
}

// An open breaker is open after a restart, and waits out what was left of its time.
TEST(LaneRecordTest, OpenBreakerOutlivesARestart) {
  World world({fragile()});
  open(world);
  world.run(absl::Seconds(4));
  const size_t sent = world.transport.sent.size();
  world.crash();
  world.settle();
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Open);
  world.run(absl::Milliseconds(5900));
  EXPECT_EQ(world.transport.sent.size(), sent);
  world.run(absl::Milliseconds(200));
  EXPECT_EQ(world.transport.sent.size(), sent + 1);
}

// A breaker that has doubled its time goes on from there.
TEST(LaneRecordTest, DoubledOpenTimeOutlivesARestart) {
  World world({fragile()});
  open(world);
  world.run(absl::Seconds(11));  // the first probe fails: 20 s now
  world.crash();
  const size_t sent = world.transport.sent.size();
  world.run(absl::Seconds(20));  // the second probe fails: 40 s now
  EXPECT_EQ(world.transport.sent.size(), sent + 1);
  world.run(absl::Seconds(35));
  EXPECT_EQ(world.transport.sent.size(), sent + 1);
  world.run(absl::Seconds(10));
  EXPECT_EQ(world.transport.sent.size(), sent + 2);
}

// A wall clock that stepped while the process was down neither keeps a breaker open for ever nor
// hammers the app.
TEST(LaneRecordTest, ClockStepsBetweenRestarts) {
  for (const absl::Duration step : {absl::Hours(-24 * 365), absl::Hours(24 * 365)}) {
    World world({fragile()});
    open(world);
    world.clock.stepWall(step);
    world.crash();
    const size_t sent = world.transport.sent.size();
    world.capture("app");
    world.run(absl::Seconds(11));
    // One probe at most; after a step back what waits is not due for a year, but the new event is.
    EXPECT_LE(world.transport.sent.size(), sent + 2) << step;
  }
}

// A ramp that was under way goes on.
TEST(LaneRecordTest, RampOutlivesARestart) {
  World world({fragile()});
  open(world);
  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Seconds(10));
  ASSERT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
  world.run(absl::Seconds(30));
  const uint64_t before = world.forwarder->lanes()[0].ramp_percent;
  ASSERT_GT(before, 40u);
  ASSERT_LT(before, 60u);
  world.crash();
  world.settle();
  EXPECT_NEAR(static_cast<double>(world.forwarder->lanes()[0].ramp_percent),
              static_cast<double>(before), 1);
}

// A breaker that closed is closed after a restart.
TEST(LaneRecordTest, ClosedBreakerStaysClosed) {
  World world({fragile()});
  open(world);
  world.transport.automatic = [](const auto&) { return answered(200); };
  world.run(absl::Minutes(5));
  world.crash();
  world.settle();
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Closed);
  EXPECT_EQ(world.forwarder->lanes()[0].ramp_percent, 100u);
}

// Pausing does not forget the breaker, and the breaker does not forget the pause.
TEST(LaneRecordTest, PauseAndBreakerShareARecord) {
  World world({fragile()});
  open(world);
  ASSERT_TRUE(world.forwarder->pause("app", "looking").ok());
  world.crash();
  world.settle();
  EXPECT_TRUE(world.forwarder->lanes()[0].paused);
  EXPECT_EQ(world.forwarder->lanes()[0].pause_reason, "looking");
  EXPECT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Open);
}

// An event in flight at three deaths of the process is dead, before a fourth attempt.
TEST(LaneRecordTest, PoisonIsDeadAfterThreeCrashes) {
  World world({upstream("app")});
  const EventId id = world.capture("app");
  for (int i = 1; i <= 3; ++i) {
    world.settle();
    ASSERT_EQ(world.transport.waiting.size(), 1u) << i;
    world.crash();
  }
  world.run(absl::Hours(1));
  EXPECT_EQ(world.transport.sent.size(), 3u);
  EXPECT_EQ(world.state(id).state(), v1::STATE_DEAD);
  EXPECT_EQ(world.state(id).reason(), v1::DEAD_REASON_POISON);
}

// An attempt that ends, however it ends, clears the suspicion.
TEST(LaneRecordTest, FinishedAttemptsClearTheSuspicion) {
  World world({upstream("app")});
  const EventId id = world.capture("app");
  for (int i = 0; i < 2; ++i) {
    world.settle();
    world.crash();
  }
  world.settle();
  world.transport.answer(answered(503));
  world.run(absl::Seconds(61));
  for (int i = 0; i < 2; ++i) {
    world.crash();
    world.settle();
  }
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  world.transport.answer(answered(200));
  world.settle();
  EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
}

}  // namespace
}  // namespace forebay
