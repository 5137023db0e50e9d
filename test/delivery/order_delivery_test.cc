#include "gtest/gtest.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

// Within a key one at a time, in the order of capture; other keys go on.
TEST(OrderDeliveryTest, OneAtATimePerKey) {
  World world({upstream("app")});
  const EventId a1 = world.capture("app", "", "a");
  const EventId a2 = world.capture("app", "", "a");
  const EventId b1 = world.capture("app", "", "b");
  const EventId free1 = world.capture("app");
  const EventId free2 = world.capture("app");
  world.settle();
  ASSERT_EQ(world.transport.waiting.size(), 4u);
  world.transport.answer(b1, answered(200));
  world.transport.answer(free1, answered(200));
  world.transport.answer(free2, answered(200));
  world.settle();
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  world.transport.answer(a1, answered(200));
  world.settle();
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  world.transport.answer(a2, answered(200));
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 5u);
}

// A retry keeps its key to itself until it is delivered.
TEST(OrderDeliveryTest, RetryHoldsItsKey) {
  World world({upstream("app")});
  const EventId first = world.capture("app", "", "a");
  const EventId second = world.capture("app", "", "a");
  world.settle();
  world.transport.answer(first, answered(503));
  world.run(absl::Seconds(59));
  EXPECT_TRUE(world.transport.waiting.empty());
  EXPECT_TRUE(world.state(second).parked());
  world.run(absl::Seconds(2));
  world.transport.answer(first, answered(200));
  world.settle();
  world.transport.answer(second, answered(200));
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 2u);
}

// A dead event releases its key.
TEST(OrderDeliveryTest, DeadEventReleasesItsKey) {
  World world({upstream("app")});
  const EventId first = world.capture("app", "", "a");
  const EventId second = world.capture("app", "", "a");
  world.settle();
  world.transport.answer(first, answered(400));
  world.settle();
  world.transport.answer(second, answered(200));
  world.settle();
  EXPECT_EQ(world.state(first).state(), v1::STATE_DEAD);
  EXPECT_EQ(world.state(second).state(), v1::STATE_DELIVERED);
}

// So does one whose deadline passed while it waited.
TEST(OrderDeliveryTest, ExpiredEventReleasesItsKey) {
  UpstreamConfig config = upstream("app");
  config.retry.give_up_after = absl::Seconds(90);
  World world({config});
  const EventId first = world.capture("app", "", "a");
  world.settle();
  world.transport.answer(first, answered(503));
  world.settle();
  ASSERT_TRUE(world.forwarder->pause("app", "").ok());
  world.run(absl::Seconds(80));
  const EventId second = world.capture("app", "", "a");
  world.run(absl::Seconds(20));
  ASSERT_TRUE(world.forwarder->resume("app").ok());
  world.run(absl::Seconds(1));
  EXPECT_EQ(world.state(first).reason(), v1::DEAD_REASON_EXPIRED);
  world.transport.answer(second, answered(200));
  world.settle();
  EXPECT_EQ(world.state(second).state(), v1::STATE_DELIVERED);
}

// Order holds over a crash: the one in flight goes first again.
TEST(OrderDeliveryTest, OrderHoldsOverACrash) {
  World world({upstream("app")});
  const EventId first = world.capture("app", "", "a");
  const EventId second = world.capture("app", "", "a");
  world.settle();
  world.crash();
  world.settle();
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  world.transport.answer(first, answered(200));
  world.settle();
  world.transport.answer(second, answered(200));
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 2u);
}

// Replays of one key come in the order of capture, one at a time, and live events of the key do not
// wait for those that have not begun.
TEST(OrderDeliveryTest, ReplaysKeepTheOrder) {
  World world({upstream("app")});
  std::vector<EventId> dead;
  world.transport.automatic = [](const auto&) { return answered(400); };
  for (int i = 0; i < 3; ++i) {
    dead.push_back(world.capture("app", "", "a"));
  }
  world.settle();
  world.transport.automatic = nullptr;
  for (const EventId& id : dead) {
    world.replay(id);
  }
  const EventId live = world.capture("app", "", "a");
  for (const EventId& id : {live, dead[0], dead[1], dead[2]}) {
    world.settle();
    ASSERT_EQ(world.transport.waiting.size(), 1u);
    world.transport.answer(id, answered(200));
  }
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 4u);
}

}  // namespace
}  // namespace forebay
