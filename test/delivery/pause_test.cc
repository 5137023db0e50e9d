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

UpstreamConfig touchy(uint32_t failures) {
  UpstreamConfig config = upstream("app");
  config.concurrency_max = 1;
  config.pause_after_permanent_failures = failures;
  return config;
}

// So many permanent answers in a row mean that the endpoint is gone: the lane pauses, says why, and
// keeps what comes.
TEST(PauseTest, PermanentFailuresInARowPause) {
  World world({touchy(5)});
  world.transport.automatic = [](const auto&) { return answered(401); };
  for (int i = 0; i < 20; ++i) {
    world.capture("app");
  }
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.transport.sent.size(), 5u);
  EXPECT_EQ(world.store.totals()["app"].dead, 5u);
  EXPECT_EQ(world.store.totals()["app"].pending, 15u);
  EXPECT_TRUE(world.forwarder->lanes()[0].paused);
  EXPECT_EQ(world.forwarder->lanes()[0].pause_reason,
            "5 permanent failures in a row, the latest: status 401");
  EXPECT_EQ(world.log.count(LogLevel::Warn, "paused: 5 permanent failures"), 1);

  world.crash();
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.transport.sent.size(), 5u) << "it outlives a restart";

  world.transport.automatic = [](const auto&) { return answered(200); };
  ASSERT_TRUE(world.forwarder->resume("app").ok());
  world.run(absl::Minutes(10));
  EXPECT_EQ(world.store.totals()["app"].delivered, 15u);
}

// Anything else in between begins the row anew; so does a resume.
TEST(PauseTest, OnlyARowCounts) {
  World world({touchy(3)});
  int sent = 0;
  world.transport.automatic = [&](const auto&) { return answered(++sent % 3 == 0 ? 200 : 422); };
  for (int i = 0; i < 30; ++i) {
    world.capture("app");
  }
  world.run(absl::Minutes(1));
  EXPECT_EQ(sent, 30);
  EXPECT_FALSE(world.forwarder->lanes()[0].paused);
}

// Zero is never.
TEST(PauseTest, PauseRuleCanBeOff) {
  World world({touchy(0)});
  world.transport.automatic = [](const auto&) { return answered(401); };
  for (int i = 0; i < 300; ++i) {
    world.capture("app");
  }
  world.run(absl::Minutes(1));
  EXPECT_EQ(world.store.totals()["app"].dead, 300u);
}

// An app that asks to be left alone is, and its answer counts for the event as usual.
TEST(PauseTest, DisablePausesTheLane) {
  World world({touchy(0)});
  world.transport.automatic = [](const auto&) {
    Outcome outcome = answered(200);
    outcome.directive = Directive::Disable;
    return outcome;
  };
  const EventId id = world.capture("app");
  world.capture("app");
  world.run(absl::Minutes(1));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
  EXPECT_NE(world.forwarder->lanes()[0].pause_reason.find("webhook-delivery: disable"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay
