#include "source/store/rocks/lane_book.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forebay::rocks {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

DueKey key(int64_t due_us) { return {due_us, EventId::firstAt(absl::FromUnixMillis(due_us))}; }

Committed committed(int64_t due_us, uint64_t bytes = 1) {
  auto event = std::make_shared<Event>();
  event->id = key(due_us).id;
  event->record.set_upstream("lane");
  return {key(due_us), {std::move(event), 1, bytes}};
}

std::map<std::string, LaneSums> oneLane(uint64_t accepted) {
  LaneSums sums;
  sums.accepted = accepted;
  return {{"lane", sums}};
}

// Refills all windows: the queue of first attempts with `found`, the others with nothing.
void refill(LaneBook& book, size_t wanted, const std::vector<DueKey>& found, const DueKey& next) {
  for (size_t i = 0; i < kQueues; ++i) {
    const std::optional<LaneBook::Refill> refill = book.beginRefill("lane", wanted);
    ASSERT_TRUE(refill.has_value());
    const bool first = refill->queue == Queue::First;
    book.endRefill("lane", refill->queue, first ? found : std::vector<DueKey>(),
                   first ? next : DueKey::after());
  }
}

// An event that is on disk but not yet added is left to addCommitted(). Otherwise it could be
// leased, delivered and settled before it is added, and would then be delivered a second time.
TEST(LaneBookTest, RefillLeavesWhatWasNotAddedYet) {
  LaneBook book({});
  book.load(oneLane(1), key(1).id);
  refill(book, 10, {key(1), key(2)}, DueKey::after());
  ASSERT_THAT(book.take("lane", 100, {10}).taken, SizeIs(1));
  EXPECT_FALSE(book.isAdded(key(2).id));
  std::vector<Committed> events = {committed(2)};
  book.addCommitted(absl::MakeSpan(events));
  EXPECT_TRUE(book.isAdded(key(2).id));
  const std::vector<Taken> taken = book.take("lane", 100, {10}).taken;
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_NE(taken[0].fresh.event, nullptr);
}

// A refill does not bring back what is leased.
TEST(LaneBookTest, RefillLeavesWhatIsLeased) {
  LaneBook book({});
  book.load(oneLane(2), key(9).id);
  refill(book, 1, {key(1)}, key(2));
  ASSERT_THAT(book.take("lane", 100, {1}).taken, SizeIs(1));
  book.load(oneLane(2), key(9).id);  // as after a reopening
  refill(book, 1, {key(1)}, DueKey::after());
  EXPECT_THAT(book.take("lane", 100, {1}).taken, IsEmpty());
  const EventId id = key(1).id;
  book.giveBack("lane", {&id, 1});
  EXPECT_THAT(book.take("lane", 100, {1}).taken, SizeIs(1));
}

// Events are kept in memory up to a number of bytes over all lanes, whatever leaves and comes.
TEST(LaneBookTest, KeptEventsAreBoundedOverAllLanes) {
  LaneBook book({.window_entries = 10, .lane_fresh_bytes_max = 100, .fresh_bytes_max = 50});
  const auto fresh_of = [&](std::vector<Committed> events) {
    book.addCommitted(absl::MakeSpan(events));
    size_t fresh = 0;
    for (const Taken& taken : book.take("lane", 1000, {100}).taken) {
      fresh += taken.fresh.event != nullptr;
    }
    return fresh;
  };
  EXPECT_EQ(fresh_of({committed(1, 30), committed(2, 30), committed(3, 20)}), 2);
  EXPECT_EQ(fresh_of({committed(4, 50), committed(5, 1)}), 1);
}

// What a queue holds beyond its window is read before another queue is asked in its place.
TEST(LaneBookTest, TakeStopsWhereAWindowRanOut) {
  LaneBook book({});
  book.load(oneLane(3), key(9).id);
  for (int i = 0; i < 3; ++i) {
    const std::optional<LaneBook::Refill> refill = book.beginRefill("lane", 1);
    ASSERT_TRUE(refill.has_value());
    if (refill->queue == Queue::First) {
      book.endRefill("lane", Queue::First, {key(5)}, key(7));
    } else {
      book.endRefill("lane", refill->queue, {key(refill->queue == Queue::Retry ? 6 : 1)},
                     DueKey::after());
    }
  }
  EXPECT_FALSE(book.beginRefill("lane", 1).has_value());
  const LaneBook::Take take = book.take("lane", 100, {10});
  ASSERT_THAT(take.taken, SizeIs(1));
  EXPECT_EQ(take.taken[0].key, key(5));
  EXPECT_TRUE(take.unsure);
  EXPECT_FALSE(book.first("lane").known);
  // Nothing else is due before what comes next on disk.
  EXPECT_FALSE(book.take("lane", 6, {10}).unsure);
  book.beginRefill("lane", 10);
  book.endRefill("lane", Queue::First, {key(7)}, DueKey::after());
  const LaneBook::Take rest = book.take("lane", 100, {10});
  ASSERT_THAT(rest.taken, SizeIs(1));
  EXPECT_EQ(rest.taken[0].key, key(7));
  EXPECT_FALSE(rest.unsure);
}

}  // namespace
}  // namespace forebay::rocks
