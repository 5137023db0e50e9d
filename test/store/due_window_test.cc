#include "source/store/rocks/due_window.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "source/base/random.h"

namespace forebay::rocks {
namespace {

DueKey key(int64_t due_us) { return {due_us, EventId::firstAt(absl::FromUnixMillis(due_us))}; }

Fresh fresh(uint64_t bytes) { return {std::make_shared<Event>(), 1, bytes}; }

// A lane with nothing on disk holds whatever is inserted.
TEST(DueWindowTest, CompleteWindowHoldsAll) {
  DueWindow window(10, 100);
  window.markComplete();
  window.insert(key(2));
  window.insert(key(1));
  EXPECT_EQ(window.popFirst().first, key(1));
  EXPECT_EQ(window.popFirst().first, key(2));
  EXPECT_TRUE(window.complete());
}

// Before the disk was read, what is inserted is left to the first refill.
TEST(DueWindowTest, UnknownDiskHoldsNothing) {
  DueWindow window(10, 100);
  window.insert(key(1));
  EXPECT_TRUE(window.empty());
  window.beginRefill();
  window.endRefill({key(1), key(5)}, DueKey::after());
  EXPECT_EQ(window.size(), 2);
  EXPECT_TRUE(window.complete());
}

// Over its capacity the window forgets what is due last, and from then on knows only what is
// before.
TEST(DueWindowTest, ForgetsTheLastWhenFull) {
  DueWindow window(2, 100);
  window.markComplete();
  for (const int due : {30, 10, 20}) {
    window.insert(key(due));
  }
  EXPECT_EQ(window.size(), 2);
  EXPECT_EQ(window.end(), key(30));
  window.insert(key(40));
  EXPECT_EQ(window.size(), 2);
  window.insert(key(5));
  EXPECT_EQ(window.end(), key(20));
  EXPECT_EQ(window.first(), key(5));
}

// What is committed while the disk is being read is not lost when the read has not seen it.
TEST(DueWindowTest, KeepsWhatArrivesDuringARefill) {
  DueWindow window(10, 100);
  window.beginRefill();
  window.insert(key(7), fresh(10));
  window.endRefill({key(3)}, DueKey::after());
  EXPECT_EQ(window.popFirst().first, key(3));
  const auto [arrived, held] = window.popFirst();
  EXPECT_EQ(arrived, key(7));
  EXPECT_NE(held.event, nullptr);
}

// What arrives during a refill beyond what was read is left to the next one.
TEST(DueWindowTest, LeavesWhatArrivesBeyondTheRead) {
  DueWindow window(10, 100);
  window.beginRefill();
  window.insert(key(70), fresh(10));
  window.endRefill({key(3)}, key(9));
  EXPECT_EQ(window.size(), 1);
  EXPECT_EQ(window.end(), key(9));
  EXPECT_EQ(window.freshBytes(), 0);
}

// Events are kept with their entries up to a number of bytes; after that, only the entries are.
TEST(DueWindowTest, KeepsEventsUpToTheirBytes) {
  DueWindow window(10, 100);
  window.markComplete();
  window.insert(key(1), fresh(60));
  window.insert(key(2), fresh(60));
  window.insert(key(3), fresh(40));
  EXPECT_EQ(window.freshBytes(), 100);
  EXPECT_NE(window.popFirst().second.event, nullptr);
  EXPECT_EQ(window.popFirst().second.event, nullptr);
  EXPECT_NE(window.popFirst().second.event, nullptr);
  EXPECT_EQ(window.freshBytes(), 0);
}

// The disk and the leases in the simplest form, beside the window.
struct Model {
  std::set<DueKey> disk;
  std::set<DueKey> leased;

  std::set<DueKey> expected(const DueKey& end) const {
    std::set<DueKey> keys;
    for (const DueKey& due : disk) {
      if (due < end && !leased.contains(due)) {
        keys.insert(due);
      }
    }
    return keys;
  }
};

// Empties a copy of the window.
std::set<DueKey> contents(DueWindow window) {
  std::set<DueKey> keys;
  while (!window.empty()) {
    keys.insert(window.popFirst().first);
  }
  EXPECT_EQ(window.freshBytes(), 0);
  return keys;
}

// One read of the disk, with commits landing at any moment of it.
void refill(DueWindow& window, Model& model, SeededRandom& random) {
  const auto commit = [&] {
    while (random.next() % 3 == 0) {
      const DueKey due = key(static_cast<int64_t>(random.next() % 1000));
      if (!model.disk.contains(due)) {
        model.disk.insert(due);
        window.insert(due, fresh(random.next() % 20));
      }
    }
  };
  window.beginRefill();
  const DueKey from = window.end();
  commit();
  const std::set<DueKey> snapshot = model.disk;
  commit();
  std::vector<DueKey> found;
  DueKey next = DueKey::after();
  const size_t count = 1 + random.next() % 8;
  for (auto it = snapshot.lower_bound(from); it != snapshot.end(); ++it) {
    if (found.size() == count) {
      next = *it;
      break;
    }
    found.push_back(*it);
  }
  std::erase_if(found, [&](const DueKey& due) { return model.leased.contains(due); });
  if (random.next() % 8 == 0) {
    window.abandonRefill();
  } else {
    window.endRefill(found, next);
  }
}

void step(DueWindow& window, Model& model, SeededRandom& random) {
  const DueKey due = key(static_cast<int64_t>(random.next() % 1000));
  switch (random.next() % 6) {
    case 0:
    case 1:  // a commit, or a retry
      if (model.disk.insert(due).second) {
        window.insert(due, fresh(random.next() % 20));
      }
      break;
    case 2:  // a lease
      if (!window.empty()) {
        model.leased.insert(window.popFirst().first);
      }
      break;
    case 3:  // the end of one: settled, or given back
      if (!model.leased.empty()) {
        const DueKey held = *model.leased.begin();
        model.leased.erase(held);
        if (random.next() % 2 == 0) {
          model.disk.erase(held);
        } else {
          window.insert(held);
        }
      }
      break;
    case 4:  // a replay takes a waiting one away
      if (model.disk.contains(due) && !model.leased.contains(due)) {
        model.disk.erase(due);
        window.erase(due);
      }
      break;
    default:
      refill(window, model, random);
  }
}

// After every step the window holds exactly the unleased entries on disk below its end.
TEST(DueWindowTest, RandomStepsKeepTheInvariant) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  for (int round = 0; round < 200; ++round) {
    DueWindow window(1 + random.next() % 12, random.next() % 100);
    Model model;
    if (random.next() % 2 == 0) {
      window.markComplete();
    }
    for (int i = 0; i < 300; ++i) {
      step(window, model, random);
      ASSERT_EQ(contents(window), model.expected(window.end()))
          << "round " << round << " step " << i;
    }
  }
}

}  // namespace
}  // namespace forebay::rocks
