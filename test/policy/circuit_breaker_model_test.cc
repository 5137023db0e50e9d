#include <algorithm>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "source/policy/circuit_breaker.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

// The breaker told as a story in whole milliseconds: a list of what counted, read anew each time.
class Model {
public:
  Model(int threshold, int64_t initial, int64_t multiplier, int64_t max)
      : threshold_(threshold), initial_(initial), multiplier_(multiplier), max_(max) {}

  BreakerState state(int64_t now) const {
    if (!opened_at_.has_value()) {
      return BreakerState::Closed;
    }
    return now < probeAt() ? BreakerState::Open : BreakerState::HalfOpen;
  }

  bool allows(int64_t now) const {
    switch (state(now)) {
      case BreakerState::Closed:
        return true;
      case BreakerState::Open:
        return false;
      case BreakerState::HalfOpen:
        return !probe_under_way_;
    }
    return false;
  }

  int64_t probeAt() const {
    int64_t open_for = std::min(initial_, max_);
    for (int i = 0; i < failed_probes_; ++i) {
      open_for = std::min(open_for * multiplier_, max_);
    }
    return *opened_at_ + open_for;
  }

  bool start(int64_t now) {
    probe_under_way_ = state(now) == BreakerState::HalfOpen;
    return probe_under_way_;
  }

  void outcome(Verdict verdict, bool was_probe, int64_t now) {
    const bool failed = verdict == Verdict::Retry || verdict == Verdict::RetryNotFound;
    if (was_probe) {
      probe_under_way_ = false;
      if (failed) {
        ++failed_probes_;
        opened_at_ = now;
      } else if (verdict != Verdict::NotAnAttempt) {
        opened_at_.reset();
        row_.clear();
      }
      return;
    }
    if (opened_at_.has_value() || verdict == Verdict::NotAnAttempt) {
      return;
    }
    row_.push_back(failed);
    const auto last_answer = std::find(row_.rbegin(), row_.rend(), false);
    if (last_answer - row_.rbegin() >= threshold_) {
      opened_at_ = now;
      failed_probes_ = 0;
    }
  }

private:
  const int threshold_;
  const int64_t initial_;
  const int64_t multiplier_;
  const int64_t max_;
  std::vector<bool> row_;  // since it was closed: whether each attempt failed
  std::optional<int64_t> opened_at_;
  int failed_probes_ = 0;
  bool probe_under_way_ = false;
};

MonotonicTime at(int64_t ms) { return MonotonicTime::fromOrigin(absl::Milliseconds(ms)); }

Verdict randomVerdict(Random& random, double failing) {
  if (random.unit() < 0.1) {
    return Verdict::NotAnAttempt;
  }
  if (random.unit() < failing) {
    return random.next() % 4 == 0 ? Verdict::RetryNotFound : Verdict::Retry;
  }
  return random.next() % 2 == 0 ? Verdict::Success : Verdict::Permanent;
}

// How often a walk saw each state, to show that it went everywhere.
struct Visits {
  int closed = 0;
  int open = 0;
  int half_open = 0;
  int probes = 0;
};

void walk(Random& random, int steps, Visits& visits) {
  const int threshold = 1 + static_cast<int>(random.next() % 5);
  const int64_t initial = 1 + static_cast<int64_t>(random.next() % 200);
  const int64_t multiplier = 1 + static_cast<int64_t>(random.next() % 4);
  const int64_t max = 1 + static_cast<int64_t>(random.next() % 2000);
  CircuitBreaker breaker({.consecutive_failures = static_cast<uint32_t>(threshold),
                          .open_initial = absl::Milliseconds(initial),
                          .open_multiplier = static_cast<double>(multiplier),
                          .open_max = absl::Milliseconds(max)});
  Model model(threshold, initial, multiplier, max);
  std::vector<bool> in_flight;  // whether each is the probe
  int64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    now += static_cast<int64_t>(random.next() % 100);
    const double failing = now / 5000 % 2 == 0 ? 0.9 : 0.2;  // outages come and go
    ASSERT_EQ(breaker.state(at(now)), model.state(now)) << "step " << step;
    ASSERT_EQ(breaker.allows(at(now)), model.allows(now)) << "step " << step;
    if (model.state(now) != BreakerState::Closed) {
      ASSERT_EQ(breaker.probeAt(), at(model.probeAt())) << "step " << step;
      ASSERT_LE(breaker.probeAt() - at(now), absl::Milliseconds(max));
    }
    visits.closed += model.state(now) == BreakerState::Closed ? 1 : 0;
    visits.open += model.state(now) == BreakerState::Open ? 1 : 0;
    visits.half_open += model.state(now) == BreakerState::HalfOpen ? 1 : 0;
    if (random.next() % 2 == 0 && in_flight.size() < 10) {
      if (breaker.allows(at(now))) {
        const bool probe = breaker.onAttemptStarted(at(now));
        ASSERT_EQ(probe, model.start(now)) << "step " << step;
        visits.probes += probe ? 1 : 0;
        in_flight.push_back(probe);
      }
    } else if (!in_flight.empty()) {
      const size_t which = random.next() % in_flight.size();
      const bool probe = in_flight[which];
      in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
      const Verdict verdict = randomVerdict(random, failing);
      breaker.onOutcome(verdict, probe, at(now));
      model.outcome(verdict, probe, now);
    }
    ASSERT_LE(std::count(in_flight.begin(), in_flight.end(), true), 1) << "step " << step;
  }
}

// Over random walks of attempts that overlap, the breaker does what the model does at each step,
// and never has two probes under way.
TEST(CircuitBreakerModelTest, RandomWalks) {
  SeededRandom random(testSeed());
  Visits visits;
  for (int i = 0; i < 1000; ++i) {
    walk(random, 500, visits);
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(visits.closed, 1000);
  EXPECT_GT(visits.open, 1000);
  EXPECT_GT(visits.half_open, 1000);
  EXPECT_GT(visits.probes, 1000);
}

}  // namespace
}  // namespace forebay
