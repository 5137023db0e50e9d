#include <map>

#include "test/store/contract.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class QueuesTest : public StoreContractTest {
protected:
  // Appends, leases and settles it as failed: a retry that is due now.
  EventId appendRetry(std::string_view body) {
    const EventId id = append(body);
    std::vector<LeasedEvent> leased = lease(1000);
    for (const LeasedEvent& one : leased) {
      settle(one, v1::STATE_RETRYING, clock_.wallNow());
    }
    return id;
  }

  void replay(const EventId& id) {
    const ReplayMark mark{id, clock_.wallNow(), "job"};
    EXPECT_EQ(*store_->markDue({&mark, 1}), 1);
  }

  std::vector<std::string> leaseBodies(const LeaseLimits& limits) {
    absl::StatusOr<std::vector<LeasedEvent>> leased =
        store_->leaseDue(kLane, clock_.wallNow(), limits);
    EXPECT_OK(leased.status());
    return leased.ok() ? bodies(*leased) : std::vector<std::string>();
  }
};
FOREBAY_RUN_AGAINST_ALL_STORES(QueuesTest);

// Between a first attempt and a retry that are both due, the older event goes first, whichever was
// due first.
TEST_P(QueuesTest, OldestCapturedGoesFirst) {
  appendRetry("retry 1");
  appendRetry("retry 2");
  append("first 1");
  clock_.advance(absl::Seconds(1));
  append("first 2");
  reopen();
  EXPECT_THAT(leaseBodies({10}), ElementsAre("retry 1", "retry 2", "first 1", "first 2"));
}

// Retries beyond their share wait as long as a first attempt is due, and no longer.
TEST_P(QueuesTest, RetriesKeepToTheirShare) {
  for (const char* const body : {"r1", "r2", "r3", "r4"}) {
    appendRetry(body);
  }
  append("f1");
  append("f2");
  reopen();
  EXPECT_THAT(leaseBodies({3, 1}), ElementsAre("r1", "f1", "f2"));
  append("f3");
  EXPECT_THAT(leaseBodies({10, 0}), ElementsAre("f3", "r2", "r3", "r4"));
}

// Replays are given only what first attempts and retries leave, however old they are.
TEST_P(QueuesTest, ReplaysComeLast) {
  const EventId replayed = append("replayed");
  settle(lease(1)[0], v1::STATE_DELIVERED);
  replay(replayed);
  appendRetry("retry");  // leases the replay too: both are failed, the replay stays one
  append("first");
  reopen();
  EXPECT_THAT(leaseBodies({2}), ElementsAre("retry", "first"));
  EXPECT_THAT(leaseBodies({2}), ElementsAre("replayed"));
}

// An event that waits is in one queue, wherever its state put it last.
TEST_P(QueuesTest, EventsMoveBetweenQueues) {
  const EventId id = append("x");
  replay(id);
  reopen();
  std::vector<LeasedEvent> leased = lease(10);
  ASSERT_THAT(bodies(leased), ElementsAre("x"));  // once
  v1::EventState state = leased[0].state;
  EXPECT_EQ(state.replay(), "job");
  // Out of the replay, as a retry.
  state.clear_replay();
  state.set_attempts(1);
  state.set_state(v1::STATE_RETRYING);
  const Settlement settlement{id, state, std::nullopt};
  ASSERT_OK(store_->settle({&settlement, 1}));
  append("first");
  reopen();
  EXPECT_THAT(leaseBodies({10, 0}), ElementsAre("first", "x"));
  store_->release(kLane, {&id, 1});
  reopen();
  replay(id);
  EXPECT_THAT(lease(10), SizeIs(persists() ? 2 : 1));
  EXPECT_THAT(lease(10), IsEmpty());
}

// The lane sleeps until the earliest of its three queues.
TEST_P(QueuesTest, NextDueIsTheEarliestOfAllQueues) {
  const absl::Time now = clock_.wallNow();
  const EventId a = append("a");
  append("b");
  const std::vector<LeasedEvent> leased = lease(10);
  settle(leased[0], v1::STATE_DELIVERED);
  settle(leased[1], v1::STATE_RETRYING, now + absl::Minutes(2));
  const ReplayMark mark{a, now + absl::Minutes(1), "job"};
  ASSERT_EQ(*store_->markDue({&mark, 1}), 1);
  reopen();
  EXPECT_EQ(store_->nextDue(kLane), now + absl::Minutes(1));
  clock_.advance(absl::Minutes(1));
  EXPECT_THAT(leaseBodies({10}), ElementsAre("a"));
  EXPECT_EQ(store_->nextDue(kLane), now + absl::Minutes(2));
  clock_.advance(absl::Minutes(1));
  EXPECT_THAT(leaseBodies({10}), ElementsAre("b"));
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
}

}  // namespace
}  // namespace forebay
