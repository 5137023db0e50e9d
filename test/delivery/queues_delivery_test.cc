#include "gtest/gtest.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

UpstreamConfig narrow(uint32_t concurrency) {
  UpstreamConfig config = upstream("app");
  config.concurrency_max = concurrency;
  config.breaker.consecutive_failures = 1'000'000;
  return config;
}

// Live events go before replays, however long those have been due.
TEST(QueuesDeliveryTest, LiveEventsBeforeReplays) {
  World world({narrow(1)});
  const EventId old = world.capture("app");
  world.settle();
  world.transport.answer(answered(400));
  world.settle();
  const EventId busy = world.capture("app");
  world.settle();
  world.replay(old);
  world.run(absl::Seconds(5));
  const EventId live = world.capture("app");
  world.transport.answer(busy, answered(200));
  world.settle();
  world.transport.answer(live, answered(200));
  world.settle();
  world.transport.answer(old, answered(200));
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 3u);
}

// While first attempts wait, no more than the share of the attempts are retries.
TEST(QueuesDeliveryTest, RetriesLeaveRoomForFirstAttempts) {
  UpstreamConfig config = narrow(10);
  config.rate_limit = RateLimitConfig{10, absl::Seconds(1)};
  config.retry.attempts_max = 1000;
  World world({config});
  size_t retries = 0;
  size_t total = 0;
  world.transport.automatic = [&](const OutgoingRequest& request) {
    ++total;
    retries += ScriptedTransport::header(request, "forebay-attempt") != "1";
    return answered(503);
  };
  for (int i = 0; i < 600; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(61));  // all were tried once: from now on only retries are due
  ASSERT_NEAR(static_cast<double>(retries), 10, 2);
  for (int i = 0; i < 300; ++i) {
    world.capture("app");
  }
  retries = total = 0;
  world.run(absl::Seconds(60));
  EXPECT_NEAR(static_cast<double>(total), 600, 2);
  // Older events first: the retries take all that they may, and the first attempts the rest.
  EXPECT_NEAR(static_cast<double>(retries), 480, 2);
}

// Where no first attempt waits, retries have the lane for themselves.
TEST(QueuesDeliveryTest, RetriesAloneAreFree) {
  UpstreamConfig config = narrow(10);
  config.retry.share_max_percent = 0;
  World world({config});
  world.transport.automatic = [](const auto&) { return answered(503); };
  for (int i = 0; i < 100; ++i) {
    world.capture("app");
  }
  world.run(absl::Seconds(61));
  EXPECT_EQ(world.transport.sent.size(), 200u);
}

// A probe is the oldest event that is due, also when it is a retry.
TEST(QueuesDeliveryTest, ProbeIsTheOldestDueEvent) {
  UpstreamConfig config = narrow(10);
  config.breaker.consecutive_failures = 1;
  config.breaker.open_initial = absl::Seconds(70);
  config.retry.share_max_percent = 0;
  World world({config});
  const EventId oldest = world.capture("app");
  world.settle();
  world.transport.answer(answered(503));
  world.settle();
  world.clock.advance(absl::Seconds(1));
  world.capture("app");
  world.run(absl::Seconds(71));
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  EXPECT_EQ(world.transport.waiting[0].first.event->id, oldest);
}

}  // namespace
}  // namespace forebay
