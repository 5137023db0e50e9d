#include "source/policy/retry_share.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

struct Batch {
  size_t firsts = 0;
  size_t retries = 0;
};

// As a lane chooses: retries up to the allowance, then first attempts, then retries again if no
// first attempt is left.
Batch choose(RetryShare& share, size_t room, size_t firsts_due, size_t retries_due) {
  const size_t allowed = share.allowance(room);
  EXPECT_LE(allowed, room);
  Batch batch;
  batch.retries = std::min(retries_due, allowed);
  batch.firsts = std::min(firsts_due, room - batch.retries);
  batch.retries += std::min(retries_due - batch.retries, room - batch.retries - batch.firsts);
  share.onStarted(batch.firsts, batch.retries);
  return batch;
}

// The most that any run of the batches exceeds the share of its attempts by.
class Excess {
public:
  explicit Excess(double percent) : share_(percent / 100) {}

  void add(const Batch& batch) {
    const double attempts = static_cast<double>(batch.firsts + batch.retries);
    run_ = std::max(run_, 0.0) + static_cast<double>(batch.retries) - share_ * attempts;
    largest_ = std::max(largest_, run_);
  }
  void endOfRun() { run_ = 0; }
  double largest() const { return largest_; }

private:
  const double share_;
  double run_ = 0;
  double largest_ = 0;
};

// Over every run of attempts that were chosen while first attempts waited, retries are at most
// the share of them and one more, whatever was due and however large the batches.
TEST(RetryShareTest, NoRunHasMore) {
  SeededRandom random(testSeed());
  for (int run = 0; run < 2000; ++run) {
    const double percent = run % 10 == 0 ? static_cast<double>(random.next() % 101)
                                         : static_cast<double>(random.next() % 10'001) / 100;
    SCOPED_TRACE(testing::Message() << run << ": " << percent << " %");
    RetryShare share(percent);
    Excess excess(percent);
    const size_t room_max = 1 + random.next() % 100;
    for (int step = 0; step < 500; ++step) {
      const size_t room = 1 + random.next() % room_max;
      const size_t firsts_due = random.next() % 3 == 0 ? random.next() % 10 : 1000;
      const size_t retries_due = random.next() % 3 == 0 ? random.next() % 10 : 1000;
      const Batch batch = choose(share, room, firsts_due, retries_due);
      if (batch.firsts < firsts_due) {
        excess.add(batch);
      } else {
        excess.endOfRun();
      }
      ASSERT_LE(excess.largest(), 1 + 1e-6);
      ASSERT_EQ(batch.firsts + batch.retries, std::min(room, firsts_due + retries_due));
    }
  }
}

// While both wait, each gets its part of a long run: neither is starved.
TEST(RetryShareTest, NeitherIsStarved) {
  SeededRandom random(testSeed());
  for (const double percent : {0.01, 1.0, 33.3, 50.0, 80.0, 99.0, 99.99}) {
    for (const size_t room : {1u, 2u, 7u, 1000u}) {
      RetryShare share(percent);
      double retries = 0;
      double attempts = 0;
      for (int step = 0; step < 50'000; ++step) {
        const size_t now = room == 7 ? 1 + random.next() % 7 : room;
        const Batch batch = choose(share, now, 10'000, 10'000);
        retries += static_cast<double>(batch.retries);
        attempts += static_cast<double>(now);
      }
      EXPECT_NEAR(retries, attempts * percent / 100, 1) << percent << " % in batches of " << room;
    }
  }
}

// A share of zero lets no retry go before a first attempt, and all of them where none waits.
TEST(RetryShareTest, Zero) {
  RetryShare share(0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(choose(share, 10, 100, 100).retries, 0u);
  }
  EXPECT_EQ(choose(share, 10, 3, 100).retries, 7u);
  EXPECT_EQ(choose(share, 10, 0, 100).retries, 10u);
  EXPECT_EQ(choose(share, 10, 100, 100).retries, 0u);
}

// A share of 100 never holds a retry back.
TEST(RetryShareTest, Hundred) {
  RetryShare share(100);
  for (size_t room = 1; room < 1000; ++room) {
    EXPECT_EQ(share.allowance(room), room);
    choose(share, room, 100, room % 7);
  }
}

// Retries that went because no first attempt waited are no debt, and waiting saves up nothing.
TEST(RetryShareTest, FreeRetriesAreNoDebt) {
  RetryShare share(50);
  share.onStarted(0, 1'000'000);
  EXPECT_EQ(share.allowance(10), 5u);
  share.onStarted(1'000'000, 0);
  EXPECT_EQ(share.allowance(10), 5u);
  EXPECT_EQ(share.allowance(1), 1u);
  EXPECT_EQ(share.allowance(0), 0u);
}

// A share beyond the ends is taken for the end.
TEST(RetryShareTest, BeyondTheEnds) {
  EXPECT_EQ(RetryShare(-5).allowance(100), 0u);
  EXPECT_EQ(RetryShare(500).allowance(100), 100u);
}

}  // namespace
}  // namespace forebay
