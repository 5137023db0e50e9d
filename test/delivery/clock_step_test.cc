#include "gtest/gtest.h"
#include "source/delivery/due_clock.h"
#include "test/delivery/world.h"

namespace forebay {
namespace {

// A wall clock that is set back by a year delays neither a retry nor what is captured after it.
TEST(ClockStepTest, SteppingBackHoldsNothingUp) {
  World world({upstream("app")});
  const EventId retried = world.capture("app");
  world.settle();
  world.transport.answer(answered(503));
  world.settle();
  world.clock.stepWall(absl::Hours(-24 * 365));
  const EventId later = world.capture("app");
  world.settle();
  world.transport.answer(later, answered(200));
  world.run(absl::Seconds(59));
  EXPECT_TRUE(world.transport.waiting.empty());
  world.run(absl::Seconds(2));
  world.transport.answer(retried, answered(503));
  world.run(absl::Seconds(61));
  world.transport.answer(retried, answered(200));
  world.settle();
  EXPECT_EQ(world.store.totals()["app"].delivered, 2u);
}

// Nor does a restart after it.
TEST(ClockStepTest, SteppingBackBeforeARestart) {
  World world({upstream("app")});
  world.forwarder->pause("app", "").IgnoreError();
  const EventId waiting = world.capture("app");
  world.clock.stepWall(absl::Hours(-24 * 365));
  world.crash();
  world.forwarder->resume("app").IgnoreError();
  world.settle();
  world.transport.answer(waiting, answered(200));
  world.settle();
  EXPECT_EQ(world.state(waiting).state(), v1::STATE_DELIVERED);
}

// Deadlines are by the wall: a step forward beyond one ends the event without another attempt.
TEST(ClockStepTest, SteppingForwardBeyondTheDeadline) {
  World world({upstream("app")});
  const EventId id = world.capture("app");
  world.settle();
  world.transport.answer(answered(503));
  world.settle();
  world.clock.stepWall(absl::Hours(24 * 365));
  world.run(absl::Hours(1));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  EXPECT_EQ(world.state(id).reason(), v1::DEAD_REASON_EXPIRED);
}

// Every reading finds it later; now and then much later, as on a machine that is busy elsewhere.
class BusyClock final : public Clock {
public:
  absl::Time wallNow() const override { return absl::UnixEpoch() + pass(); }
  MonotonicTime monotonicNow() const override { return MonotonicTime::fromOrigin(pass()); }

private:
  absl::Duration pass() const {
    ++readings_;
    return elapsed_ += readings_ % 7 == 0 ? absl::Seconds(1) : absl::Nanoseconds(700);
  }

  mutable int readings_ = 0;
  mutable absl::Duration elapsed_;
};

// What passes between two readings of the clocks never adds up: nothing gets due early by it.
TEST(DueClockTest, StaysWithTheWall) {
  const BusyClock busy;
  DueClock clock(busy, absl::InfinitePast());
  for (int i = 0; i < 1000; ++i) {
    const absl::Time due_now = clock.now();
    EXPECT_LE(due_now, busy.wallNow());
    EXPECT_EQ(clock.ahead(), absl::ZeroDuration());
  }
}

}  // namespace
}  // namespace forebay
