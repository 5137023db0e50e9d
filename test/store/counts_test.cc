#include <map>

#include "test/store/contract.h"

namespace forebay {
namespace {

class CountsTest : public StoreContractTest {
protected:
  // Does one thing that changes states, at random.
  void step(SeededRandom& random) {
    const std::string upstream = random.next() % 3 == 0 ? "shipping" : "billing";
    switch (random.next() % 8) {
      case 0:
      case 1:
        append("x", upstream);
        break;
      case 2:
      case 3:
        for (LeasedEvent& leased : lease(1 + random.next() % 3, upstream)) {
          held_.push_back(std::move(leased));
        }
        break;
      case 4:
      case 5:
        settleOne(random);
        break;
      case 6:
        mark(random);
        break;
      default:
        clock_.advance(absl::Seconds(random.next() % 5));
        releaseOne();
    }
  }

  void settleOne(SeededRandom& random) {
    if (held_.empty()) {
      return;
    }
    const auto state = static_cast<v1::State>(random.next() % 5);
    settle(held_.front(), state, clock_.wallNow() + absl::Seconds(random.next() % 10));
    held_.erase(held_.begin());
  }

  void releaseOne() {
    if (!held_.empty()) {
      const EventId id = held_.front().event->id;
      store_->release(held_.front().state.upstream(), {&id, 1});
      held_.erase(held_.begin());
    }
  }

  void mark(SeededRandom& random) {
    const absl::StatusOr<ScanPage> page = store_->scan({}, std::nullopt, 5);
    ASSERT_OK(page.status());
    std::vector<ReplayMark> marks;
    for (const StoredEvent& stored : page->events) {
      if (random.next() % 2 == 0) {
        marks.push_back({stored.event->id, clock_.wallNow(), "job"});
      }
    }
    EXPECT_OK(store_->markDue(marks).status());
  }

  std::vector<LeasedEvent> held_;
};
FOREBAY_RUN_AGAINST_ALL_STORES(CountsTest);

// At every instant accepted is the sum of all states, each sum is what is stored, and a restart
// changes nothing about it.
TEST_P(CountsTest, RandomStepsKeepTheSums) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    step(random);
    expectCountsMatchScan(*store_);
    if (persists() && i % 50 == 49) {
      reopen();
      held_.clear();
      expectCountsMatchScan(*store_);
    }
  }
}

// Nothing that waits is ever forgotten: with time, every waiting event is leased exactly once.
TEST_P(CountsTest, EverythingThatWaitsIsLeasedInTheEnd) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  for (int i = 0; i < 300; ++i) {
    step(random);
  }
  while (!held_.empty()) {
    releaseOne();
  }
  clock_.advance(absl::Hours(1));
  const auto totals = store_->totals();
  for (const auto& [upstream, lane] : totals) {
    std::map<EventId, int> leased;
    for (const LeasedEvent& one : lease(10'000, upstream)) {
      ++leased[one.event->id];
    }
    EXPECT_EQ(leased.size(), lane.backlog()) << upstream;
    EXPECT_EQ(store_->nextDue(upstream), absl::InfiniteFuture());
  }
}

}  // namespace
}  // namespace forebay
