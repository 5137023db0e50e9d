#include <map>
#include <set>

#include "source/store/lifecycle.h"
#include "source/store/rocks/audit.h"
#include "test/store/contract.h"

namespace forebay {
namespace {

// Random steps against a store, held against what the rules say of the states that it was given.
class OrderModelTest : public StoreContractTest {
protected:
  struct Known {
    std::string key;
    v1::EventState state;
    bool leased = false;
  };

  void step(SeededRandom& random) {
    switch (random.next() % 10) {
      case 0:
      case 1:
      case 2: {
        const std::string key = random.next() % 5 == 0 ? "" : keys_[random.next() % 3];
        const EventId id = appendOrdered("x", key);
        Known& known = known_[id];
        known.key = key;
        capturedState(makeEvent("x", clock_.wallNow()).record, 1, known.state);
        known.state.set_order_key(key);
        break;
      }
      case 3:
      case 4:
      case 5:
        leaseSome(1 + random.next() % 4);
        break;
      case 6:
      case 7:
        settleOne(random);
        break;
      case 8:
        mark(random);
        break;
      default:
        clock_.advance(absl::Seconds(random.next() % 5));
        if (random.next() % 2 == 0) {
          releaseOne(random);
        }
    }
  }

  void leaseSome(size_t limit) {
    for (LeasedEvent& leased : lease(limit)) {
      const EventId id = leased.event->id;
      Known& known = known_.at(id);
      EXPECT_FALSE(known.leased);
      EXPECT_FALSE(leased.state.parked());
      EXPECT_LE(leased.state.due_at_us(), absl::ToUnixMicros(clock_.wallNow()));
      for (const auto& [other, its] : known_) {
        if (known.key.empty() || its.key != known.key || other == id) {
          continue;
        }
        EXPECT_FALSE(its.leased) << "two of a key are leased";
        const bool holds = orderPlace(its.state) == OrderPlace::Holds;
        EXPECT_FALSE(holds && other < id) << "an older one of the key waits";
      }
      known.leased = true;
      known.state = leased.state;
      held_.push_back(std::move(leased));
    }
  }

  LeasedEvent takeHeld(SeededRandom& random) {
    const auto at = held_.begin() + static_cast<long>(random.next() % held_.size());
    LeasedEvent leased = std::move(*at);
    held_.erase(at);
    known_.at(leased.event->id).leased = false;
    return leased;
  }

  void settleOne(SeededRandom& random) {
    if (held_.empty()) {
      return;
    }
    const LeasedEvent leased = takeHeld(random);
    const v1::State states[] = {v1::STATE_RETRYING, v1::STATE_RETRYING, v1::STATE_DELIVERED,
                                v1::STATE_DEAD};
    const Settlement settlement = settlementTo(
        leased, states[random.next() % 4], clock_.wallNow() + absl::Seconds(random.next() % 10));
    EXPECT_OK(store_->settle({&settlement, 1}));
    known_.at(settlement.id).state = settlement.state;
  }

  void releaseOne(SeededRandom& random) {
    if (!held_.empty()) {
      const EventId id = takeHeld(random).event->id;
      store_->release(kLane, {&id, 1});
    }
  }

  void mark(SeededRandom& random) {
    std::vector<ReplayMark> marks;
    for (auto& [id, known] : known_) {
      if (!known.leased && random.next() % 8 == 0) {
        marks.push_back({id, clock_.wallNow() + absl::Seconds(random.next() % 3), "job"});
        known.state = replayedState(known.state, marks.back());
      }
    }
    EXPECT_EQ(*store_->markDue(marks), marks.size());
  }

  void restart() {
    reopen();
    if (persists()) {
      held_.clear();
      for (auto& [id, known] : known_) {
        known.leased = false;
      }
    }
  }

  // Delivers until nothing is left: nobody may have been parked for good.
  void drain() {
    SeededRandom random(1);
    while (!held_.empty()) {
      releaseOne(random);
    }
    clock_.advance(absl::Hours(1));
    while (true) {
      leaseSome(7);
      if (held_.empty()) {
        break;
      }
      while (!held_.empty()) {
        const LeasedEvent leased = takeHeld(random);
        settle(leased, v1::STATE_DELIVERED);
        known_.at(leased.event->id).state.set_due_at_us(0);
      }
    }
    EXPECT_EQ(store_->totals()[kLane].backlog(), 0);
    expectCountsMatchScan(*store_);
  }

  const std::vector<std::string> keys_ = {"a", "b", std::string("\0\xff", 2)};
  std::map<EventId, Known> known_;
  std::vector<LeasedEvent> held_;
};
FOREBAY_RUN_AGAINST_ALL_STORES(OrderModelTest);

// Whatever is settled, given back and replayed, and whenever the store restarts: of a key one event
// is leased at a time, none before an older one that holds the key, and all have their turn.
TEST_P(OrderModelTest, RandomStepsKeepTheOrder) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    for (int i = 0; i < 150 && !HasFailure(); ++i) {
      step(random);
    }
    restart();
    if (round % 2 == 1) {
      drain();
    }
  }
  store_.reset();
  if (persists()) {
    const absl::StatusOr<StoreAudit> audit = auditStore(directory_.path() + "/data");
    ASSERT_OK(audit.status());
    EXPECT_TRUE(audit->clean()) << audit->messages.front();
  }
}

}  // namespace
}  // namespace forebay
