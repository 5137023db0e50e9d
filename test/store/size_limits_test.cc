#include <filesystem>

#include "source/store/rocks/scan.h"
#include "test/store/faulty_disk.h"
#include "test/store/rocks_testing.h"

namespace forebay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class SizeLimitsTest : public RocksTest {
protected:
  // The store goes before the disk that it uses.
  ~SizeLimitsTest() override { close(); }

  std::string randomBody(size_t bytes) {
    std::string body;
    while (body.size() < bytes) {
      const uint64_t piece = random_.next();
      body.append(reinterpret_cast<const char*>(&piece), sizeof(piece));
    }
    return body;
  }

  FaultyDisk disk_;
  SeededRandom random_{1};
};

// More events than the queue holds are refused at once, inside append(); the others are kept.
TEST_F(SizeLimitsTest, QueueIsBoundedInEvents) {
  hooks_.env = disk_.env();
  open();
  disk_.holdSyncs(true);
  CollectingSink sink;
  for (size_t i = 0; i < limits::kCommitQueueEventsMax; ++i) {
    store_->append(makeEvent("x", clock_.wallNow()), sink, i);
  }
  EXPECT_EQ(sink.calls(), 0);
  CollectingSink refused;
  store_->append(makeEvent("one too many", clock_.wallNow()), refused, 1);
  ASSERT_EQ(refused.calls(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.await(1)[0].status));
  disk_.holdSyncs(false);
  for (const AppendResult& result : sink.await(limits::kCommitQueueEventsMax)) {
    EXPECT_OK(result.status);
  }
  append("there is room again");
  // One call for each write, not one for each event.
  EXPECT_LT(sink.calls(), 20);
}

TEST_F(SizeLimitsTest, QueueIsBoundedInBytes) {
  hooks_.env = disk_.env();
  open();
  disk_.holdSyncs(true);
  CollectingSink sink;
  const std::string body(limits::kCommitQueueBytesMax / 4, 'x');
  for (uint64_t i = 0; i < 3; ++i) {
    store_->append(makeEvent(body, clock_.wallNow()), sink, i);
  }
  CollectingSink refused;
  store_->append(makeEvent(body, clock_.wallNow()), refused, 1);
  ASSERT_EQ(refused.calls(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.await(1)[0].status));
  disk_.holdSyncs(false);
  for (const AppendResult& result : sink.await(3)) {
    EXPECT_OK(result.status);
  }
}

// Large bodies go to blob files, byte for byte.
TEST_F(SizeLimitsTest, LargeBodiesGoToBlobFiles) {
  open();
  const std::string body = randomBody(5 * limits::kMiB);
  const std::string largest = randomBody(limits::kBodyBytesMaxDefault);
  const EventId id = append(body);
  const EventId largest_id = append(largest);
  append("small");
  close();
  open();
  EXPECT_FALSE(largestFile(".blob").empty());
  EXPECT_EQ(store_->read(id)->event->record.body(), body);
  EXPECT_EQ(store_->read(largest_id)->event->record.body(), largest);
  EXPECT_THAT(lease(10), SizeIs(3));
}

// A page of large events ends before it fills the memory, and says where to go on.
TEST_F(SizeLimitsTest, PagesAreBoundedInBytes) {
  open();
  const std::string body = randomBody(5 * limits::kMiB);
  for (int i = 0; i < 12; ++i) {
    append(body);
  }
  size_t events = 0;
  std::optional<EventId> before;
  do {
    const absl::StatusOr<ScanPage> page = store_->scan({}, before, 100);
    ASSERT_OK(page.status());
    EXPECT_LE(page->events.size(), rocks::kPageBytesMax / body.size() + 1);
    events += page->events.size();
    before = page->next;
  } while (before.has_value());
  EXPECT_EQ(events, 12);
}

// Beyond its size the store takes no new events, but delivers, reads and replays; it takes them
// again when there is room, not at once.
TEST_F(SizeLimitsTest, FullStoreRefusesNewEventsOnly) {
  config_.size_max_bytes = 1 * limits::kMiB;
  open();
  const EventId id = append("x");
  const std::string filler = config_.path + "/filler";
  writeFile(filler, std::string(limits::kMiB, 'x'));
  store_->maintainNow();
  stats_.awaitGauge(Gauge::StoreReadOnly, 1);
  EXPECT_GT(store_->health().bytes, limits::kMiB);
  EXPECT_THAT(store_->health().reason, HasSubstr("the store is full"));
  EXPECT_TRUE(
      absl::IsResourceExhausted(appendOne(*store_, makeEvent("y", clock_.wallNow())).status()));

  const std::vector<LeasedEvent> leased = lease(1);
  ASSERT_THAT(leased, SizeIs(1));
  settle(leased[0], v1::STATE_DELIVERED);
  const ReplayMark mark{id, clock_.wallNow(), "job"};
  EXPECT_EQ(*store_->markDue({&mark, 1}), 1);
  EXPECT_OK(store_->read(id).status());

  // Just below the limit is not enough.
  std::filesystem::resize_file(
      filler, limits::kMiB - (store_->health().bytes - limits::kMiB) - 20 * limits::kKiB);
  store_->maintainNow();
  EXPECT_TRUE(
      absl::IsResourceExhausted(appendOne(*store_, makeEvent("y", clock_.wallNow())).status()));
  std::filesystem::remove(filler);
  store_->maintainNow();
  stats_.awaitGauge(Gauge::StoreReadOnly, 0);
  append("z");
}

// A store that is full when it opens says so from the start.
TEST_F(SizeLimitsTest, FullFromTheStart) {
  open();
  append("x");
  close();
  config_.free_disk_min_bytes = ~uint64_t{0} / 2;
  open();
  EXPECT_THAT(store_->health().reason, HasSubstr("the disk is full"));
  EXPECT_TRUE(
      absl::IsResourceExhausted(appendOne(*store_, makeEvent("y", clock_.wallNow())).status()));
  EXPECT_THAT(lease(1), SizeIs(1));
}

class BacklogTest : public SizeLimitsTest, public testing::WithParamInterface<size_t> {};

// A backlog longer than the window is leased whole, in due order, with new events in between.
TEST_P(BacklogTest, DrainsInDueOrder) {
  constexpr int kBacklog = 20'000;
  hooks_.limits.window_entries = GetParam();
  hooks_.limits.side_window_entries = GetParam();
  open();
  CollectingSink sink;
  for (int sent = 0; sent < kBacklog;) {
    for (int i = 0; i < 5'000; ++i, ++sent) {
      clock_.advance(absl::Microseconds(1 + random_.next() % 3));
      store_->append(makeEvent(std::to_string(sent), clock_.wallNow()), sink, 0);
    }
    sink.await(5'000);
  }
  int leased_total = 0;
  int64_t last_due_us = 0;
  while (true) {
    const std::vector<LeasedEvent> leased = lease(500);
    std::vector<Settlement> settlements;
    for (const LeasedEvent& one : leased) {
      EXPECT_GE(one.state.due_at_us(), last_due_us);
      EXPECT_EQ(one.event->record.body(), std::to_string(leased_total++));
      last_due_us = one.state.due_at_us();
      settlements.push_back(settlementTo(one, v1::STATE_DELIVERED));
    }
    if (leased.empty()) {
      break;
    }
    ASSERT_OK(store_->settle(settlements));
    if (leased_total == kBacklog / 2) {
      close();
      open();
    }
  }
  EXPECT_EQ(leased_total, kBacklog);
  EXPECT_EQ(store_->totals().at(kLane).delivered, kBacklog);
  EXPECT_EQ(store_->nextDue(kLane), absl::InfiniteFuture());
}

INSTANTIATE_TEST_SUITE_P(Windows, BacklogTest,
                         testing::Values(10, 1000, limits::kLaneWindowEntries));

}  // namespace
}  // namespace forebay
