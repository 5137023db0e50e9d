#include <gtest/gtest.h>

#include "test/delivery/world.h"

namespace forebay {
namespace {

// A paused lane sends nothing, keeps what comes, and goes on where it was.
TEST(PauseTest, PausedLanesKeepCapturing) {
  World world({upstream("app"), upstream("other")});
  world.transport.automatic = [](const auto&) { return answered(200); };
  ASSERT_TRUE(world.forwarder->pause("app", "deploying").ok());
  for (int i = 0; i < 10; ++i) {
    world.capture("app");
    world.capture("other");
  }
  world.run(absl::Hours(1));
  EXPECT_EQ(world.store.totals()["app"].pending, 10u);
  EXPECT_EQ(world.store.totals()["other"].delivered, 10u);
  EXPECT_TRUE(world.forwarder->lanes()[0].paused);
  EXPECT_EQ(world.forwarder->lanes()[0].pause_reason, "deploying");
  EXPECT_EQ(world.stats.value("paused[app]"), 1u);
  ASSERT_TRUE(world.forwarder->resume("app").ok());
  world.run(absl::Seconds(1));
  EXPECT_EQ(world.store.totals()["app"].delivered, 10u);
  EXPECT_EQ(world.stats.value("paused[app]"), 0u);
}

// A pause outlives the process.
TEST(PauseTest, SurvivesARestart) {
  World world({upstream("app")});
  ASSERT_TRUE(world.forwarder->pause("app", "deploying").ok());
  world.restart();
  world.capture("app");
  world.run(absl::Minutes(1));
  EXPECT_TRUE(world.transport.sent.empty());
  EXPECT_EQ(world.forwarder->lanes()[0].pause_reason, "deploying");
}

// What is in flight when the lane is paused is still settled.
TEST(PauseTest, InFlightIsSettled) {
  World world({upstream("app")});
  const EventId id = world.capture("app");
  world.settle();
  ASSERT_TRUE(world.forwarder->pause("app", "").ok());
  world.transport.answer(answered(200));
  world.settle();
  EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
}

// A name that is not configured is refused by name.
TEST(PauseTest, UnknownUpstream) {
  World world({upstream("app")});
  const absl::Status status = world.forwarder->pause("nope", "");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("nope"), std::string::npos);
}

}  // namespace
}  // namespace forebay
