#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "source/store/rocks/accept_loss.h"
#include "source/store/rocks/keys.h"
#include "test/store/rocks_testing.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OrderOnDiskTest : public RocksTest {
protected:
  std::string orderEntry(const EventId& id, OrderPlace place = OrderPlace::Holds) {
    std::string key;
    rocks::encodeOrderKey(kLane, place, "a", id, key);
    return key;
  }

  void appendMany(size_t count, const std::function<std::string(size_t)>& key_of) {
    CollectingSink sink;
    for (size_t sent = 0; sent < count;) {
      const size_t batch = std::min<size_t>(count - sent, 5'000);
      for (size_t i = 0; i < batch; ++i, ++sent) {
        Event event = makeEvent(std::to_string(sent), clock_.wallNow());
        event.record.set_order_key(key_of(sent));
        store_->append(std::move(event), sink, 0);
      }
      sink.await(batch);
    }
  }

  // Leases one, settles it, and returns how many deletions RocksDB stepped over for both.
  uint64_t deliverOne(size_t expected) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    const std::vector<LeasedEvent> leased = lease(1);
    EXPECT_THAT(bodies(leased), ElementsAre(std::to_string(expected)));
    if (leased.size() == 1) {
      settle(leased[0], v1::STATE_DELIVERED);
    }
    return rocksdb::get_perf_context()->internal_delete_skipped_count;
  }
};

// However many events wait for their turn in a key, none of them is kept in memory, and the next
// one is found without a walk over those that had theirs.
TEST_F(OrderOnDiskTest, ManyParkedEventsCostNoMemoryAndNoWalk) {
  constexpr size_t kEvents = 100'000;
  open();
  appendMany(kEvents, [](size_t) { return "a"; });
  const EventId other = append("another");
  // Others are reached, however many must be parked first.
  std::vector<LeasedEvent> leased;
  for (size_t calls = 0; calls <= kEvents / 10'000 && leased.size() < 2; ++calls) {
    for (LeasedEvent& one : lease(2 - leased.size())) {
      leased.push_back(std::move(one));
    }
  }
  ASSERT_THAT(leased, SizeIs(2));
  EXPECT_EQ(leased[1].event->id, other);
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
  EXPECT_LE(store_->entriesInMemory(), 5u);
  settle(leased[0], v1::STATE_DELIVERED);

  size_t next = 1;
  uint64_t skipped_max = 0;
  for (; next < 3'000; ++next) {
    skipped_max = std::max(skipped_max, deliverOne(next));
  }
  EXPECT_LE(skipped_max, 8u);
  EXPECT_LE(store_->entriesInMemory(), 5u);
  close();
  open();
  // The first after a restart must walk; the others know where to begin.
  deliverOne(next++);
  skipped_max = 0;
  for (; next < 4'000; ++next) {
    skipped_max = std::max(skipped_max, deliverOne(next));
  }
  EXPECT_LE(skipped_max, 8u);
  EXPECT_LE(store_->entriesInMemory(), 5u);
}

// What is remembered of keys is bounded.
TEST_F(OrderOnDiskTest, RememberedKeysAreBounded) {
  open();
  constexpr size_t kEvents = limits::kOrderHintsMax + 4'000;
  appendMany(kEvents, [](size_t i) { return std::to_string(i); });
  size_t delivered = 0;
  while (delivered < kEvents) {
    const std::vector<LeasedEvent> leased = lease(1'000);
    ASSERT_FALSE(leased.empty());
    std::vector<Settlement> settlements;
    for (const LeasedEvent& one : leased) {
      settlements.push_back(settlementTo(one, v1::STATE_DELIVERED));
    }
    ASSERT_OK(store_->settle(settlements));
    delivered += leased.size();
    EXPECT_LE(store_->entriesInMemory(), limits::kOrderHintsMax + limits::kLaneWindowEntries);
  }
}

TEST_F(OrderOnDiskTest, LongKeysAreRefused) {
  open();
  Event event = makeEvent("x", clock_.wallNow());
  event.record.set_order_key(std::string(limits::kOrderKeyBytesMax + 1, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(appendOne(*store_, std::move(event)).status()));
}

// An entry of an event that is not there is passed over, not waited for; the audit finds it, and
// accept-loss removes it.
TEST_F(OrderOnDiskTest, EntriesWithoutAnEventHoldNobodyUp) {
  open();
  append("x");
  const EventId ghost = EventId::firstAt(clock_.wallNow() - absl::Hours(1));
  edit([&](rocks::Database& database) {
    ASSERT_TRUE(
        database.db().Put({}, database.family(rocks::Family::Order), orderEntry(ghost), "").ok());
  });
  open();
  appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  std::vector<LeasedEvent> leased = lease(10);
  ASSERT_THAT(bodies(leased), ElementsAre("x", "a1"));
  settle(leased[1], v1::STATE_DELIVERED);
  EXPECT_THAT(bodies(lease(10)), ElementsAre("a2"));
  EXPECT_THAT(audit(), HasSubstr("the order index has 2 entries, not 1"));
  ASSERT_OK(acceptLoss(config_.path, log_).status());
  EXPECT_EQ(audit(), "");
}

// The audit finds an entry that is missing, and a parked event whom nobody will call; accept-loss
// mends both, in order.
TEST_F(OrderOnDiskTest, AuditFindsWhatAcceptLossMends) {
  open();
  const EventId a1 = appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  appendOrdered("a3", "a");
  settle(lease(10)[0], v1::STATE_RETRYING, clock_.wallNow() + absl::Hours(1));
  EXPECT_EQ(audit(), "");
  edit([&](rocks::Database& database) {
    ASSERT_TRUE(
        database.db().Delete({}, database.family(rocks::Family::Order), orderEntry(a1)).ok());
  });
  EXPECT_THAT(audit(), HasSubstr("not in the order index"));
  ASSERT_OK(acceptLoss(config_.path, log_).status());
  EXPECT_EQ(audit(), "");

  edit([&](rocks::Database& database) {
    for (const rocks::Family family : {rocks::Family::Events, rocks::Family::State}) {
      ASSERT_TRUE(
          database.db().Delete({}, database.family(family), rocks::toSlice(a1.bytes())).ok());
    }
  });
  ASSERT_OK(acceptLoss(config_.path, log_).status());
  open();
  std::vector<LeasedEvent> leased = lease(10);
  ASSERT_THAT(bodies(leased), ElementsAre("a2"));
  settle(leased[0], v1::STATE_DELIVERED);
  EXPECT_THAT(bodies(lease(10)), ElementsAre("a3"));
}

TEST_F(OrderOnDiskTest, AuditFindsThoseParkedForGood) {
  open();
  const EventId a1 = appendOrdered("a1", "a");
  close();
  edit([&](rocks::Database& database) {
    v1::EventState state;
    std::string value;
    ASSERT_TRUE(database.get(rocks::Family::State, a1.bytes(), &value).ok());
    ASSERT_TRUE(state.ParseFromString(value));
    state.set_parked(true);
    ASSERT_TRUE(database.db()
                    .Put({}, database.family(rocks::Family::State), rocks::toSlice(a1.bytes()),
                         state.SerializeAsString())
                    .ok());
    std::string due;
    rocks::encodeDueKey(kLane, Queue::First, {state.due_at_us(), a1}, due);
    ASSERT_TRUE(database.db().Delete({}, database.family(rocks::Family::Due), due).ok());
  });
  EXPECT_THAT(audit(), HasSubstr("parked, and no event of its key is in a queue"));
  ASSERT_OK(acceptLoss(config_.path, log_).status());
  open();
  EXPECT_THAT(bodies(lease(10)), ElementsAre("a1"));
}

// An event whose record or state can't be read dies, and those that waited for it go on.
TEST_F(OrderOnDiskTest, CorruptEventsReleaseTheirKey) {
  for (const rocks::Family family : {rocks::Family::Events, rocks::Family::State}) {
    open();
    const EventId first = appendOrdered("first", "a");
    appendOrdered("second", "a");
    ASSERT_THAT(lease(10), SizeIs(1));  // the second is parked
    edit([&](rocks::Database& database) {
      ASSERT_TRUE(database.db()
                      .Put({}, database.family(family), rocks::toSlice(first.bytes()), "junk")
                      .ok());
    });
    open();
    const std::vector<LeasedEvent> leased = lease(10);
    ASSERT_THAT(bodies(leased), ElementsAre("second"));
    settle(leased[0], v1::STATE_DELIVERED);
    edit([&](rocks::Database& database) {
      std::string value;
      EXPECT_TRUE(database.get(rocks::Family::Order, orderEntry(first), &value).IsNotFound());
    });
  }
}

}  // namespace
}  // namespace forebay
