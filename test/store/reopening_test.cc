#include <thread>

#include "source/store/rocks/audit.h"
#include "test/store/faulty_disk.h"
#include "test/store/rocks_testing.h"

namespace forebay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// What follows an error of the disk.
class ReopeningTest : public RocksTest {
protected:
  ReopeningTest() { hooks_.env = disk_.env(); }
  ~ReopeningTest() override { close(); }

  void awaitWritable() {
    store_->maintainNow();
    stats_.awaitGauge(Gauge::StoreReadOnly, 0);
  }

  void expectClean() {
    expectCountsMatchScan(*store_);
    close();
    const absl::StatusOr<StoreAudit> audit = auditStore(config_.path);
    ASSERT_OK(audit.status());
    EXPECT_TRUE(audit->clean()) << audit->messages.front();
  }

  FaultyDisk disk_;
};

// A failed sync is no promise: the sender gets no success, the store refuses what follows, reopens
// itself, and has lost nothing that it acknowledged.
TEST_F(ReopeningTest, FailedSyncIsMendedByReopening) {
  open();
  const EventId before = append("before");
  absl::Mutex mutex;
  bool woken = false;
  store_->onNewWork([&] {
    absl::MutexLock lock(&mutex);
    woken = true;
  });
  disk_.failSyncs(1);
  const absl::Status failed = appendOne(*store_, makeEvent("during", clock_.wallNow())).status();
  EXPECT_TRUE(absl::IsUnavailable(failed)) << failed.ToString();
  EXPECT_EQ(stats_.counter(Counter::CommitFailures), 1);
  awaitWritable();
  EXPECT_TRUE(log_.contains("is read only: commit"));
  EXPECT_TRUE(log_.contains("writable again"));
  {
    absl::MutexLock lock(&mutex);
    EXPECT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&woken), absl::Seconds(30)));
  }
  const EventId after = append("after");
  EXPECT_OK(store_->read(before).status());
  EXPECT_OK(store_->read(after).status());
  EXPECT_FALSE(store_->health().read_only);
  expectClean();
}

TEST_F(ReopeningTest, FullDiskIsMendedByReopening) {
  open();
  append("before");
  disk_.failAppends(1);
  EXPECT_TRUE(absl::IsUnavailable(appendOne(*store_, makeEvent("x", clock_.wallNow())).status()));
  awaitWritable();
  append("after");
  expectClean();
}

// While it can't be reopened, the store says so at once and with the reason, and keeps trying.
TEST_F(ReopeningTest, StaysReadOnlyUntilTheDiskIsBack) {
  open();
  const EventId id = append("before");
  disk_.failNewFiles(true);
  disk_.failSyncs(1);
  EXPECT_FALSE(appendOne(*store_, makeEvent("x", clock_.wallNow())).ok());
  stats_.awaitGauge(Gauge::StoreReadOnly, 1);
  while (!log_.contains("still read only")) {
    store_->maintainNow();
    std::this_thread::yield();
  }
  EXPECT_THAT(store_->health().reason, HasSubstr("injected"));
  EXPECT_TRUE(absl::IsUnavailable(appendOne(*store_, makeEvent("y", clock_.wallNow())).status()));
  EXPECT_TRUE(absl::IsUnavailable(store_->read(id).status()));
  EXPECT_TRUE(absl::IsUnavailable(store_->leaseDue(kLane, clock_.wallNow(), {1}).status()));
  EXPECT_EQ(store_->totals().at(kLane).accepted, 1);
  disk_.failNewFiles(false);
  awaitWritable();
  EXPECT_OK(store_->read(id).status());
  expectClean();
}

// What was leased stays leased across a reopening, and can be settled after it.
TEST_F(ReopeningTest, LeasesSurvive) {
  open();
  append("held");
  append("waiting");
  const std::vector<LeasedEvent> held = lease(1);
  ASSERT_THAT(held, SizeIs(1));
  disk_.failSyncs(1);
  EXPECT_FALSE(appendOne(*store_, makeEvent("x", clock_.wallNow())).ok());
  awaitWritable();
  const std::vector<LeasedEvent> others = lease(10);
  for (const LeasedEvent& other : others) {
    EXPECT_NE(other.event->id, held[0].event->id);
    settle(other, v1::STATE_DELIVERED);
  }
  // Nor is it a death of the process.
  const rocks::InFlight file(config_.path, "", log_);
  EXPECT_THAT(file.read().ids, SizeIs(1));
  settle(held[0], v1::STATE_DELIVERED);
  EXPECT_THAT(file.read().ids, SizeIs(0));
  expectClean();
}

// A replay whose sync failed was reported as failed, though it may be found done. Settling a lease
// that was found settled after all counts once.
TEST_F(ReopeningTest, UnknownOutcomesCountOnce) {
  open();
  const EventId first = append("first");
  append("second");
  const std::vector<LeasedEvent> held = lease(2);
  ASSERT_THAT(held, SizeIs(2));
  settle(held[0], v1::STATE_DELIVERED);
  // The append of a log record fails after the settlement was laid out: nothing is known of it.
  disk_.failAppends(1);
  const Settlement settlement = settlementTo(held[1], v1::STATE_DELIVERED);
  EXPECT_TRUE(absl::IsUnavailable(store_->settle({&settlement, 1})));
  awaitWritable();
  EXPECT_OK(store_->settle({&settlement, 1}));
  disk_.failSyncs(1);
  const ReplayMark mark{first, clock_.wallNow(), "job"};
  EXPECT_TRUE(absl::IsUnavailable(store_->markDue({&mark, 1}).status()));
  awaitWritable();
  expectClean();
}

// The same under load from many threads, with faults at random: every acknowledged event is there.
TEST_F(ReopeningTest, RandomFaultsUnderLoad) {
  open();
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  std::vector<std::vector<EventId>> acknowledged(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::vector<EventId>& mine : acknowledged) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto id = appendOne(*store_, makeEvent("x", clock_.wallNow()));
        if (id.ok()) {
          mine.push_back(*id);
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      const auto leased = store_->leaseDue(kLane, clock_.wallNow(), {8});
      for (size_t i = 0; leased.ok() && i < leased->size(); ++i) {
        const Settlement settlement = settlementTo((*leased)[i], v1::STATE_DELIVERED);
        while (!store_->settle({&settlement, 1}).ok() && !stop) {
          std::this_thread::yield();
        }
      }
    }
  });
  for (int i = 0; i < 15; ++i) {
    const uint64_t events = store_->totals()[kLane].accepted;
    while (store_->totals()[kLane].accepted < events + 20) {
      std::this_thread::yield();
    }
    if (random.next() % 2 == 0) {
      disk_.failSyncs(1);
    } else {
      disk_.failAppends(1);
    }
    stats_.awaitGauge(Gauge::StoreReadOnly, 1);
    awaitWritable();
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<EventId>& mine : acknowledged) {
    for (const EventId& id : mine) {
      EXPECT_OK(store_->read(id).status());
    }
  }
  expectClean();
}

}  // namespace
}  // namespace forebay
