#include "test/store/contract.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InvariantsTest : public StoreContractTest {};
FOREBAY_RUN_AGAINST_ALL_STORES(InvariantsTest);

// What was acknowledged can be read back byte for byte, also after a restart.
TEST_P(InvariantsTest, AcknowledgedEventsAreReadBack) {
  const std::string body("binary \0 \xff body", 15);
  const EventId id = append(body);
  reopen();
  const absl::StatusOr<StoredEvent> stored = store_->read(id);
  ASSERT_OK(stored.status());
  EXPECT_EQ(stored->event->id, id);
  EXPECT_EQ(stored->event->record.body(), body);
  EXPECT_EQ(stored->event->record.format(), kRecordFormat);
  EXPECT_EQ(stored->state.state(), v1::STATE_PENDING);
  EXPECT_EQ(stored->state.sequence(), 1);
  EXPECT_EQ(stored->state.due_at_us(), stored->event->record.received_at_us());
  EXPECT_EQ(stored->state.budget_from_us(), stored->event->record.received_at_us());
}

// Ids grow in the order of acknowledgement, also across a restart and when the clock steps back.
TEST_P(InvariantsTest, IdsOnlyGrow) {
  EventId last;
  for (int i = 0; i < 6; ++i) {
    const EventId id = append("x");
    EXPECT_LT(last, id);
    last = id;
    clock_.advance(-absl::Hours(i % 2));
    reopen();
  }
}

// The earliest due is leased first; ties go by capture.
TEST_P(InvariantsTest, LeasesInDueOrder) {
  append("first");
  append("second");
  clock_.advance(absl::Seconds(1));
  append("third");
  EXPECT_THAT(bodies(lease(2)), ElementsAre("first", "second"));
  EXPECT_THAT(bodies(lease(2)), ElementsAre("third"));
}

// What one holds, nobody else is given.
TEST_P(InvariantsTest, LeasedEventsAreNotLeasedAgain) {
  append("only");
  ASSERT_THAT(lease(10), SizeIs(1));
  EXPECT_THAT(lease(10), IsEmpty());
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
}

// A released event is due as before.
TEST_P(InvariantsTest, ReleasedEventsAreDueAgain) {
  const EventId id = append("only");
  const absl::Time due = clock_.wallNow();
  ASSERT_THAT(lease(1), SizeIs(1));
  store_->release(kLane, {&id, 1});
  EXPECT_EQ(store_->nextDue(kLane), due);
  EXPECT_THAT(bodies(lease(1)), ElementsAre("only"));
}

// A lease ends with the process: the event is due again.
TEST_P(InvariantsTest, LeasesDoNotSurviveARestart) {
  if (!persists()) {
    GTEST_SKIP();
  }
  append("only");
  ASSERT_THAT(lease(1), SizeIs(1));
  reopen();
  EXPECT_THAT(bodies(lease(1)), ElementsAre("only"));
}

// No event is leased before its time, nor is another lane's.
TEST_P(InvariantsTest, LeasesOnlyWhatIsDueInTheLane) {
  append("mine");
  append("other", "shipping");
  const std::vector<LeasedEvent> leased = lease(10);
  ASSERT_THAT(bodies(leased), ElementsAre("mine"));
  const absl::Time later = clock_.wallNow() + absl::Minutes(1);
  settle(leased[0], v1::STATE_RETRYING, later);
  EXPECT_EQ(store_->nextDue(kLane), later);
  EXPECT_THAT(lease(10), IsEmpty());
  clock_.advance(absl::Minutes(1));
  EXPECT_THAT(bodies(lease(10)), ElementsAre("mine"));
}

// Settled states and attempts outlive a restart; a delivered event is never due again by itself.
TEST_P(InvariantsTest, SettledStatesAreKept) {
  const EventId id = append("x");
  std::vector<LeasedEvent> leased = lease(1);
  ASSERT_THAT(leased, SizeIs(1));
  settle(leased[0], v1::STATE_RETRYING, clock_.wallNow());
  reopen();
  leased = lease(1);
  ASSERT_THAT(leased, SizeIs(1));
  EXPECT_EQ(leased[0].state.attempts(), 1);
  settle(leased[0], v1::STATE_DELIVERED);
  reopen();
  EXPECT_THAT(lease(1), IsEmpty());
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
  EXPECT_EQ(store_->read(id)->state.state(), v1::STATE_DELIVERED);
  const absl::StatusOr<std::vector<v1::AttemptRecord>> attempts = store_->attempts(id);
  ASSERT_OK(attempts.status());
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_EQ(attempts->at(0).status(), 500);
  EXPECT_EQ(attempts->at(1).attempt(), 2);
}

// A replay makes an event due whatever its state, with a fresh budget.
TEST_P(InvariantsTest, ReplayMakesDueWithAFreshBudget) {
  const EventId delivered = append("delivered");
  const EventId dead = append("dead");
  const EventId waiting = append("waiting");
  const std::vector<LeasedEvent> leased = lease(2);
  settle(leased[0], v1::STATE_DELIVERED);
  settle(leased[1], v1::STATE_DEAD);
  clock_.advance(absl::Hours(1));
  const absl::Time due = clock_.wallNow() + absl::Minutes(1);
  const std::vector<ReplayMark> marks = {{delivered, due, "job"},
                                         {dead, due, "job"},
                                         {dead, due, "job"},  // twice counts once
                                         {waiting, due, "job"},
                                         {EventId::firstAt(due), due, "job"}};  // not there
  const absl::StatusOr<size_t> marked = store_->markDue(marks);
  ASSERT_OK(marked.status());
  EXPECT_EQ(*marked, 3);
  reopen();
  expectCountsMatchScan(*store_);
  EXPECT_THAT(lease(10), IsEmpty());
  clock_.advance(absl::Minutes(1));
  const std::vector<LeasedEvent> again = lease(10);
  ASSERT_THAT(bodies(again), ElementsAre("delivered", "dead", "waiting"));
  EXPECT_EQ(again[0].state.state(), v1::STATE_RETRYING);
  EXPECT_EQ(again[0].state.budget_attempts(), 1);
  EXPECT_EQ(again[0].state.budget_from_us(), absl::ToUnixMicros(due));
  EXPECT_EQ(again[1].state.reason(), v1::DEAD_REASON_NONE);
  EXPECT_EQ(again[1].state.replay(), "job");
  EXPECT_EQ(again[2].state.state(), v1::STATE_PENDING);
}

// An event that is being delivered is not made due a second time.
TEST_P(InvariantsTest, ReplaySkipsWhatIsLeased) {
  const EventId id = append("x");
  ASSERT_THAT(lease(1), SizeIs(1));
  const ReplayMark mark{id, clock_.wallNow(), "job"};
  EXPECT_EQ(*store_->markDue({&mark, 1}), 0);
  EXPECT_THAT(lease(1), IsEmpty());
}

// What a lane is told to remember, it remembers.
TEST_P(InvariantsTest, LaneRecordsAreKept) {
  EXPECT_FALSE(store_->loadLane(kLane)->paused());
  v1::LaneRecord record;
  record.set_paused(true);
  record.set_pause_reason("by hand");
  ASSERT_OK(store_->saveLane(kLane, record, true));
  reopen();
  EXPECT_TRUE(store_->loadLane(kLane)->paused());
  EXPECT_EQ(store_->loadLane(kLane)->pause_reason(), "by hand");
  EXPECT_FALSE(store_->loadLane("another")->paused());
}

// Whoever waits for work is told of it, by appends and by replays.
TEST_P(InvariantsTest, NewWorkWakes) {
  absl::Mutex mutex;
  int wakes = 0;
  store_->onNewWork([&] {
    absl::MutexLock lock(&mutex);
    ++wakes;
  });
  const auto awaitWakes = [&](int count) {
    absl::MutexLock lock(&mutex);
    const auto enough = [&] { return wakes >= count; };
    EXPECT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30)));
  };
  const EventId id = append("x");
  awaitWakes(1);
  const ReplayMark mark{id, clock_.wallNow(), "job"};
  ASSERT_OK(store_->markDue({&mark, 1}).status());
  awaitWakes(2);
  store_->close();
}

// The oldest waiting event is known, whether it is held or not, until it is settled.
TEST_P(InvariantsTest, OldestWaitingIsTheEarliestCaptured) {
  EXPECT_EQ(store_->oldestWaiting(kLane), std::nullopt);
  const absl::Time first = clock_.wallNow();
  append("first");
  clock_.advance(absl::Seconds(5));
  append("second");
  EXPECT_EQ(store_->oldestWaiting(kLane), first);
  const std::vector<LeasedEvent> leased = lease(1);
  EXPECT_EQ(store_->oldestWaiting(kLane), first);
  settle(leased[0], v1::STATE_DELIVERED);
  EXPECT_EQ(store_->oldestWaiting(kLane), first + absl::Seconds(5));
}

}  // namespace
}  // namespace forebay
