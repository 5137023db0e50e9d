#include "source/delivery/forwarder.h"

#include <gtest/gtest.h>

#include "test/delivery/world.h"

namespace forebay {
namespace {

// An event that the app takes is delivered once and never sent again.
TEST(ForwarderTest, DeliversOnce) {
  World world({upstream("app")});
  world.transport.automatic = [](const auto&) { return answered(200); };
  const EventId id = world.capture("app");
  world.run(absl::Hours(1));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  const v1::EventState state = world.state(id);
  EXPECT_EQ(state.state(), v1::STATE_DELIVERED);
  EXPECT_EQ(state.attempts(), 1u);
  EXPECT_EQ(state.last_outcome(), "2xx");
  EXPECT_EQ(state.last_status(), 200u);
  EXPECT_EQ(state.due_at_us(), 0);
  EXPECT_EQ(world.stats.value("attempts[app,2xx]"), 1u);
  EXPECT_EQ(world.stats.value("delivered[app]"), 1u);
  EXPECT_EQ(world.stats.samples("attempts_to_success[app]"), std::vector<uint64_t>({1}));
}

// A retry happens when it is due, not before, and counts its attempts.
TEST(ForwarderTest, RetriesWhenDue) {
  World world({upstream("app")});
  world.transport.automatic = [](const auto&) { return answered(503); };
  const EventId id = world.capture("app");
  world.run(absl::Seconds(59));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  EXPECT_EQ(world.state(id).state(), v1::STATE_RETRYING);
  world.run(absl::Seconds(2));
  EXPECT_EQ(world.transport.sent.size(), 2u);
  world.transport.automatic = [](const auto&) { return answered(204); };
  world.run(absl::Seconds(60));
  EXPECT_EQ(world.transport.sent.size(), 3u);
  EXPECT_EQ(ScriptedTransport::header(world.transport.sent[2], "forebay-attempt"), "3");
  EXPECT_EQ(world.state(id).state(), v1::STATE_DELIVERED);
  const auto attempts = world.store.attempts(id);
  ASSERT_EQ(attempts->size(), 3u);
  EXPECT_EQ((*attempts)[0].status(), 503u);
  EXPECT_EQ((*attempts)[0].next_at_us() - (*attempts)[0].at_us(), 60'000'000);
  EXPECT_EQ((*attempts)[2].attempt(), 3u);
}

// The budget of attempts ends in the dead letters, with the reason.
TEST(ForwarderTest, ExhaustedEventsAreDead) {
  UpstreamConfig config = upstream("app");
  config.retry.attempts_max = 3;
  World world({config});
  world.transport.automatic = [](const auto&) { return failed(OutcomeKind::Timeout); };
  const EventId id = world.capture("app");
  world.run(absl::Hours(1));
  EXPECT_EQ(world.transport.sent.size(), 3u);
  EXPECT_EQ(world.state(id).state(), v1::STATE_DEAD);
  EXPECT_EQ(world.state(id).reason(), v1::DEAD_REASON_EXHAUSTED);
  EXPECT_EQ(world.stats.value("dead[app,exhausted]"), 1u);
}

// A permanent answer is believed at once.
TEST(ForwarderTest, PermanentAnswersAreDead) {
  World world({upstream("app")});
  world.transport.automatic = [](const auto&) { return answered(400); };
  const EventId id = world.capture("app");
  world.run(absl::Hours(1));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  EXPECT_EQ(world.state(id).reason(), v1::DEAD_REASON_PERMANENT);
}

// An event whose deadline passed while its lane was paused is dead without another attempt.
TEST(ForwarderTest, NeverAnAttemptBeyondTheDeadline) {
  UpstreamConfig config = upstream("app");
  config.retry.give_up_after = absl::Minutes(10);
  World world({config});
  ASSERT_TRUE(world.forwarder->pause("app", "test").ok());
  const EventId id = world.capture("app");
  world.run(absl::Minutes(11));
  ASSERT_TRUE(world.forwarder->resume("app").ok());
  world.run(absl::Seconds(2));
  EXPECT_TRUE(world.transport.sent.empty());
  EXPECT_EQ(world.state(id).reason(), v1::DEAD_REASON_EXPIRED);
  EXPECT_EQ(world.stats.value("dead[app,expired]"), 1u);
}

// No more than concurrency_max attempts are in flight, and the rest follow as slots come free.
TEST(ForwarderTest, ConcurrencyIsBounded) {
  UpstreamConfig config = upstream("app");
  config.concurrency_max = 3;
  World world({config});
  for (int i = 0; i < 10; ++i) {
    world.capture("app");
  }
  world.settle();
  EXPECT_EQ(world.transport.waiting.size(), 3u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(world.transport.waiting.size(), 3u);
    world.transport.answer(answered(200));
    world.settle();
  }
  EXPECT_EQ(world.transport.sent.size(), 10u);
  EXPECT_EQ(world.store.totals()["app"].delivered, 10u);
}

// One upstream that hangs delays nobody else.
TEST(ForwarderTest, LanesShareNothing) {
  World world({upstream("hung"), upstream("well")});
  for (int i = 0; i < 20; ++i) {
    world.capture("hung");
  }
  world.settle();
  EXPECT_EQ(world.transport.waiting.size(), 10u);
  world.transport.automatic = [](const auto&) { return answered(200); };
  for (int i = 0; i < 50; ++i) {
    world.capture("well");
  }
  world.settle();
  EXPECT_EQ(world.store.totals()["well"].delivered, 50u);
  EXPECT_EQ(world.store.totals()["hung"].pending, 20u);
}

// Retries go out in the order in which they are due, the oldest first.
TEST(ForwarderTest, EarliestDueFirst) {
  UpstreamConfig config = upstream("app");
  config.concurrency_max = 1;
  World world({config});
  std::vector<EventId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(world.capture("app"));
    world.clock.advance(absl::Milliseconds(10));
  }
  world.transport.automatic = [](const auto&) { return answered(200); };
  world.settle();
  ASSERT_EQ(world.transport.sent.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(world.transport.sent[i].event->id, ids[i]);
  }
}

// What was in flight when Envoy went down is neither counted nor lost: a new forwarder over the
// same store sends it again under the same attempt number.
TEST(ForwarderTest, AbandonedAttemptsAreNotCounted) {
  World world({upstream("app")});
  const EventId id = world.capture("app");
  world.settle();
  ASSERT_EQ(world.transport.waiting.size(), 1u);
  world.forwarder->stopSending();
  EXPECT_FALSE(world.forwarder->idle());
  world.transport.answer(failed(OutcomeKind::Abandoned));
  world.settle();
  EXPECT_TRUE(world.forwarder->idle());
  EXPECT_EQ(world.state(id).attempts(), 0u);
  EXPECT_EQ(world.state(id).state(), v1::STATE_PENDING);
  EXPECT_EQ(world.stats.value("attempts[app,abandoned]"), 0u);
}

// After stopSending() outcomes are still written, and nothing new starts.
TEST(ForwarderTest, DrainingSettlesWhatIsInFlight) {
  World world({upstream("app")});
  const EventId first = world.capture("app");
  world.settle();
  world.forwarder->stopSending();
  const EventId second = world.capture("app");
  world.transport.answer(answered(200));
  world.run(absl::Seconds(10));
  EXPECT_TRUE(world.forwarder->idle());
  EXPECT_EQ(world.state(first).state(), v1::STATE_DELIVERED);
  EXPECT_EQ(world.state(second).state(), v1::STATE_PENDING);
  EXPECT_EQ(world.transport.sent.size(), 1u);
}

// A wall clock that steps forward makes waiting retries due within a second of real time.
TEST(ForwarderTest, NoticesAClockThatStepsForward) {
  World world({upstream("app")});
  world.transport.automatic = [](const auto&) { return answered(503); };
  world.capture("app");
  world.settle();
  world.clock.stepWall(absl::Hours(2));
  world.run(absl::Seconds(2));
  EXPECT_EQ(world.transport.sent.size(), 2u);
}

}  // namespace
}  // namespace forebay
