#include "test/store/contract.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OrderTest : public StoreContractTest {
protected:
  // Leases all that is due, and expects these.
  std::vector<LeasedEvent> expectLeased(const std::vector<std::string>& expected) {
    std::vector<LeasedEvent> leased = lease(100);
    EXPECT_EQ(bodies(leased), expected);
    leased.resize(expected.size());
    return leased;
  }
  // Leases all that is due, expects this one, and delivers it.
  void expectDelivered(const std::string& body) {
    const std::vector<LeasedEvent> leased = expectLeased({body});
    if (!HasFailure()) {
      settle(leased[0], v1::STATE_DELIVERED);
    }
  }
  void replay(const std::vector<EventId>& ids, absl::Duration in = absl::ZeroDuration()) {
    std::vector<ReplayMark> marks;
    for (const EventId& id : ids) {
      marks.push_back({id, clock_.wallNow() + in, "job"});
    }
    EXPECT_EQ(*store_->markDue(marks), ids.size());
  }
};
FOREBAY_RUN_AGAINST_ALL_STORES(OrderTest);

// Of a key one event at a time is leased, in the order of capture; other keys and events without
// one go on beside it, and fill the limit.
TEST_P(OrderTest, OneAtATimePerKey) {
  for (const char* const body : {"a1", "a2", "a3"}) {
    appendOrdered(body, "a");
  }
  appendOrdered("b1", "b");
  append("none");
  reopen();
  std::vector<LeasedEvent> leased = lease(3);
  ASSERT_THAT(bodies(leased), ElementsAre("a1", "b1", "none"));
  expectLeased({});
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
  settle(leased[0], v1::STATE_DELIVERED);
  EXPECT_NE(store_->nextDue(kLane), absl::InfiniteFuture());
  expectDelivered("a2");
  reopen();
  if (persists()) {
    leased = expectLeased({"a3", "b1", "none"});
  } else {
    leased = expectLeased({"a3"});
  }
  settle(leased[0], v1::STATE_DELIVERED);
  appendOrdered("a4", "a");
  expectDelivered("a4");
}

// The same key in another lane is another key.
TEST_P(OrderTest, KeysBelongToTheirLane) {
  appendOrdered("a1", "a");
  Event event = makeEvent("other", clock_.wallNow(), "shipping");
  event.record.set_order_key("a");
  ASSERT_OK(appendOne(*store_, std::move(event)).status());
  expectLeased({"a1"});
  EXPECT_THAT(bodies(lease(10, "shipping")), ElementsAre("other"));
}

// An event that waits for its next attempt holds up those captured after it, and nobody else.
TEST_P(OrderTest, RetriesKeepTheirPlace) {
  appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  settle(expectLeased({"a1"})[0], v1::STATE_RETRYING, clock_.wallNow() + absl::Minutes(1));
  appendOrdered("a3", "a");
  appendOrdered("b1", "b");
  expectDelivered("b1");
  EXPECT_EQ(store_->nextDue(kLane), clock_.wallNow() + absl::Minutes(1));
  reopen();
  expectLeased({});
  clock_.advance(absl::Minutes(1));
  expectDelivered("a1");
  expectDelivered("a2");
  expectDelivered("a3");
}

// An event given back goes first again.
TEST_P(OrderTest, ReleasedEventsKeepTheirPlace) {
  const EventId a1 = appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  expectLeased({"a1"});
  store_->release(kLane, {&a1, 1});
  expectDelivered("a1");
  expectDelivered("a2");
}

// A dead or quarantined event holds nobody up.
TEST_P(OrderTest, DeadEventsReleaseTheirKey) {
  appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  appendOrdered("a3", "a");
  settle(expectLeased({"a1"})[0], v1::STATE_DEAD);
  settle(expectLeased({"a2"})[0], v1::STATE_QUARANTINED);
  expectDelivered("a3");
}

// A replay holds nobody up before its first attempt; from then on it is an event like the others.
TEST_P(OrderTest, ReplaysHoldTheKeyOnceBegun) {
  const EventId a1 = appendOrdered("a1", "a");
  expectDelivered("a1");
  replay({a1}, absl::Minutes(1));
  appendOrdered("a2", "a");
  expectDelivered("a2");
  clock_.advance(absl::Minutes(1));
  settle(expectLeased({"a1"})[0], v1::STATE_RETRYING, clock_.wallNow() + absl::Minutes(1));
  appendOrdered("a3", "a");
  expectLeased({});
  reopen();
  expectLeased({});
  clock_.advance(absl::Minutes(1));
  expectDelivered("a1");
  expectDelivered("a3");
}

// Replays of a key follow each other in the order of capture, and live events pass them.
TEST_P(OrderTest, ParkedReplaysChain) {
  std::vector<EventId> ids;
  for (const char* const body : {"a1", "a2", "a3"}) {
    ids.push_back(appendOrdered(body, "a"));
    expectDelivered(body);
  }
  replay({ids[2], ids[0], ids[1]});
  std::vector<LeasedEvent> leased = expectLeased({"a1"});
  appendOrdered("a4", "a");
  expectLeased({});
  settle(leased[0], v1::STATE_DELIVERED);
  reopen();
  expectDelivered("a4");
  expectDelivered("a2");
  reopen();
  expectDelivered("a3");
  expectLeased({});
}

// Who waited for a replay in flight goes on when it is given back, whichever is older.
TEST_P(OrderTest, LiveEventsGoOnWhenAReplayIsGivenBack) {
  const EventId a1 = appendOrdered("a1", "a");
  expectDelivered("a1");
  replay({a1});
  expectLeased({"a1"});
  appendOrdered("a2", "a");
  expectLeased({});
  store_->release(kLane, {&a1, 1});
  reopen();
  expectDelivered("a2");
  expectDelivered("a1");
}

// The same when the process ends meanwhile.
TEST_P(OrderTest, LiveEventsGoOnAfterARestart) {
  if (!persists()) {
    GTEST_SKIP();
  }
  const EventId a1 = appendOrdered("a1", "a");
  expectDelivered("a1");
  replay({a1});
  expectLeased({"a1"});
  appendOrdered("a2", "a");
  expectLeased({});
  reopen();
  expectDelivered("a2");
  expectDelivered("a1");
}

// Replaying an event that waits takes it out of the order until its time; those behind it go on.
TEST_P(OrderTest, ReplayingAWaitingEventLetsTheOthersPass) {
  const EventId a1 = appendOrdered("a1", "a");
  const EventId a2 = appendOrdered("a2", "a");
  appendOrdered("a3", "a");
  settle(expectLeased({"a1"})[0], v1::STATE_RETRYING, clock_.wallNow() + absl::Hours(1));
  expectLeased({});
  replay({a2, a1}, absl::Minutes(1));
  expectDelivered("a3");
  reopen();
  expectLeased({});
  clock_.advance(absl::Minutes(1));
  expectDelivered("a1");
  expectDelivered("a2");
}

}  // namespace
}  // namespace forebay
