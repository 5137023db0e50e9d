#include <deque>

#include "gtest/gtest.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

// Notes when each attempt is sent.
struct PacedWorld : World {
  explicit PacedWorld(UpstreamConfig config) : World({std::move(config)}) {
    transport.automatic = [this](const OutgoingRequest&) {
      sent_at.push_back(clock.monotonicNow());
      return answered(status);
    };
  }

  size_t sentWithin(absl::Duration window) const {
    size_t most = 0;
    std::deque<MonotonicTime> recent;
    for (const MonotonicTime at : sent_at) {
      recent.push_back(at);
      while (at - recent.front() >= window) {
        recent.pop_front();
      }
      most = std::max(most, recent.size());
    }
    return most;
  }

  uint32_t status = 200;
  std::vector<MonotonicTime> sent_at;
};

// A rate limit holds over any window, and is used up while there is work.
TEST(PaceDeliveryTest, RateLimitIsExactOverAnyWindow) {
  UpstreamConfig config = upstream("app");
  config.rate_limit = RateLimitConfig{20, absl::Seconds(1)};
  PacedWorld world(config);
  for (int i = 0; i < 500; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(10));
  EXPECT_LE(world.sentWithin(absl::Seconds(1)), 20u);
  EXPECT_GE(world.sent_at.size(), 199u);
  EXPECT_LE(world.sent_at.size(), 201u);
}

UpstreamConfig fragile(absl::Duration ramp) {
  UpstreamConfig config = upstream("app");
  config.breaker.consecutive_failures = 3;
  config.ramp = ramp;
  return config;
}

void breakAndMend(PacedWorld& world) {
  world.status = 500;
  for (int i = 0; i < 10'000; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(1));
  ASSERT_EQ(world.forwarder->lanes()[0].breaker, BreakerState::Open);
  world.status = 200;
  while (world.forwarder->lanes()[0].breaker != BreakerState::Closed) {
    world.run(absl::Seconds(1));
  }
  world.sent_at.clear();
}

// After an outage a lane with a rate limit comes back to it in a line.
TEST(PaceDeliveryTest, RateGrowsBackOverTheRamp) {
  UpstreamConfig config = fragile(absl::Seconds(60));
  config.rate_limit = RateLimitConfig{100, absl::Seconds(1)};
  PacedWorld world(config);
  breakAndMend(world);
  std::vector<size_t> each;
  for (int i = 0; i < 7; ++i) {
    const size_t before = world.sent_at.size();
    world.run(absl::Seconds(10));
    each.push_back(world.sent_at.size() - before);
  }
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_GT(each[i], each[i - 1]) << i;
  }
  EXPECT_LT(each[0], 150u);
  EXPECT_GE(each[6], 990u);
  EXPECT_LE(each[6], 1010u);
}

// Without a rate limit it begins with one attempt a second and slot.
TEST(PaceDeliveryTest, RampWithoutARateLimitBeginsSlowly) {
  PacedWorld world(fragile(absl::Seconds(60)));
  breakAndMend(world);
  world.run(absl::Seconds(2));
  EXPECT_LE(world.sent_at.size(), 30u);
  EXPECT_GE(world.sent_at.size(), 10u);
  EXPECT_LT(world.forwarder->lanes()[0].ramp_percent, 10u);
  world.run(absl::Seconds(60));
  EXPECT_EQ(world.store.totals()["app"].delivered, 10'000u);
  EXPECT_EQ(world.forwarder->lanes()[0].ramp_percent, 100u);
}

// In flight at once: one at the start of the ramp, all at its end.
TEST(PaceDeliveryTest, ConcurrencyGrowsBackOverTheRamp) {
  PacedWorld world(fragile(absl::Seconds(60)));
  breakAndMend(world);
  world.transport.automatic = nullptr;
  EXPECT_LE(world.forwarder->lanes()[0].in_flight, 1u);
  world.run(absl::Seconds(8));
  EXPECT_EQ(world.forwarder->lanes()[0].in_flight, 2u);
  world.run(absl::Seconds(26));
  EXPECT_EQ(world.forwarder->lanes()[0].in_flight, 6u);
  world.run(absl::Seconds(40));
  EXPECT_EQ(world.forwarder->lanes()[0].in_flight, 10u);
}

// A failure during the ramp sets it back by half.
TEST(PaceDeliveryTest, FailureDuringTheRampStepsBack) {
  PacedWorld world(fragile(absl::Seconds(60)));
  breakAndMend(world);
  world.transport.automatic = nullptr;
  world.run(absl::Seconds(40));
  const uint64_t before = world.forwarder->lanes()[0].ramp_percent;
  // Those under way from before it count once.
  world.transport.answer(answered(200));
  world.settle();
  world.transport.answer(answered(500));
  world.transport.answer(answered(500));
  world.settle();
  EXPECT_NEAR(static_cast<double>(world.forwarder->lanes()[0].ramp_percent),
              static_cast<double>(before) / 2, 2);
}

// A resume ramps; a start does not.
TEST(PaceDeliveryTest, ResumeRamps) {
  PacedWorld world(fragile(absl::Seconds(60)));
  world.transport.automatic = nullptr;
  ASSERT_TRUE(world.forwarder->pause("app", "").ok());
  for (int i = 0; i < 50; ++i) {
    world.capture("app");
  }
  world.settle();
  ASSERT_TRUE(world.forwarder->resume("app").ok());
  world.settle();
  EXPECT_EQ(world.transport.waiting.size(), 1u);

  PacedWorld fresh(fragile(absl::Seconds(60)));
  fresh.transport.automatic = nullptr;
  for (int i = 0; i < 50; ++i) {
    fresh.capture("app");
  }
  fresh.settle();
  EXPECT_EQ(fresh.transport.waiting.size(), 10u);
}

}  // namespace
}  // namespace forebay
