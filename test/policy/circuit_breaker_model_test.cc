#include <algorithm>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "source/policy/circuit_breaker.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

// In whole milliseconds.
struct ModelConfig {
  int threshold = 0;
  int64_t initial = 0;
  int64_t multiplier = 0;
  int64_t max = 0;
  // Of the failure rate; none where the slot, a tenth of the window, is 0.
  int64_t slot = 0;
  int64_t percent = 0;
  int64_t requests_min = 0;
};

// The breaker told as a story: a list of what counted, read anew each time.
class Model {
public:
  explicit Model(const ModelConfig& config) : config_(config) {}

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
    int64_t open_for = std::min(config_.initial, config_.max);
    for (int i = 0; i < failed_probes_; ++i) {
      open_for = std::min(open_for * config_.multiplier, config_.max);
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
    row_.push_back({now, failed});
    const auto last_answer = std::find_if(row_.rbegin(), row_.rend(),
                                          [](const Counted& counted) { return !counted.failed; });
    const bool by_row = failed && last_answer - row_.rbegin() >= config_.threshold;
    const bool by_rate = rateExceeded(now);
    if (by_row || by_rate) {
      opened_at_ = now;
      failed_probes_ = 0;
      openings_by_rate_ += by_rate && !by_row;
    }
  }

  // The process ends and another begins at once: the row and the probe are forgotten, and a probe
  // that was due is due now.
  void restart(int64_t now) {
    row_.clear();
    probe_under_way_ = false;
    if (state(now) == BreakerState::HalfOpen) {
      *opened_at_ += now - probeAt();
    }
  }

  int openingsByRate() const { return openings_by_rate_; }

private:
  struct Counted {
    int64_t at;
    bool failed;
  };

  bool rateExceeded(int64_t now) const {
    if (config_.slot == 0) {
      return false;
    }
    const int64_t from = (now / config_.slot - 10) * config_.slot;
    int64_t attempts = 0;
    int64_t failures = 0;
    for (const Counted& counted : row_) {
      attempts += counted.at >= from;
      failures += counted.at >= from && counted.failed;
    }
    return attempts >= config_.requests_min && failures * 100 >= config_.percent * attempts;
  }

  const ModelConfig config_;
  std::vector<Counted> row_;  // since it was closed
  std::optional<int64_t> opened_at_;
  int failed_probes_ = 0;
  bool probe_under_way_ = false;
  int openings_by_rate_ = 0;
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
  int restarts_while_open = 0;
  int openings_by_rate = 0;
};

ModelConfig randomConfig(Random& random) {
  const auto upTo = [&](int64_t most) {
    return 1 + static_cast<int64_t>(random.next() % static_cast<uint64_t>(most));
  };
  ModelConfig config{.threshold = static_cast<int>(upTo(5)),
                     .initial = upTo(200),
                     .multiplier = upTo(4),
                     .max = upTo(2000)};
  if (random.next() % 2 == 0) {
    config.threshold = static_cast<int>(upTo(50));
    config.slot = upTo(300);
    config.percent = upTo(100);
    config.requests_min = upTo(20);
  }
  return config;
}

BreakerConfig breakerConfig(const ModelConfig& config) {
  BreakerConfig breaker{.consecutive_failures = static_cast<uint32_t>(config.threshold),
                        .open_initial = absl::Milliseconds(config.initial),
                        .open_multiplier = static_cast<double>(config.multiplier),
                        .open_max = absl::Milliseconds(config.max)};
  if (config.slot > 0) {
    breaker.failure_rate = {.percent = static_cast<double>(config.percent),
                            .window = absl::Milliseconds(10 * config.slot),
                            .requests_min = static_cast<uint32_t>(config.requests_min)};
  }
  return breaker;
}

void walk(Random& random, int steps, Visits& visits) {
  const ModelConfig config = randomConfig(random);
  CircuitBreaker breaker(breakerConfig(config));
  Model model(config);
  std::vector<bool> in_flight;  // whether each is the probe
  int64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    now += static_cast<int64_t>(random.next() % 100);
    const double failing = now / 5000 % 2 == 0 ? 0.9 : 0.2;  // outages come and go
    ASSERT_EQ(breaker.state(at(now)), model.state(now)) << "step " << step;
    ASSERT_EQ(breaker.allows(at(now)), model.allows(now)) << "step " << step;
    if (model.state(now) != BreakerState::Closed) {
      ASSERT_EQ(breaker.probeAt(), at(model.probeAt())) << "step " << step;
      ASSERT_LE(breaker.probeAt() - at(now), absl::Milliseconds(config.max));
    }
    visits.closed += model.state(now) == BreakerState::Closed ? 1 : 0;
    visits.open += model.state(now) == BreakerState::Open ? 1 : 0;
    visits.half_open += model.state(now) == BreakerState::HalfOpen ? 1 : 0;
    if (random.next() % 100 == 0) {
      visits.restarts_while_open += model.state(now) != BreakerState::Closed ? 1 : 0;
      const BreakerSnapshot snapshot = breaker.snapshot(at(now));
      breaker = CircuitBreaker(breakerConfig(config));
      breaker.restore(snapshot, at(now));
      model.restart(now);
      in_flight.clear();
    } else if (random.next() % 2 == 0 && in_flight.size() < 10) {
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
  visits.openings_by_rate += model.openingsByRate();
}

// Over random walks of attempts that overlap, with restarts in between, the breaker does what the
// model does at each step, and never has two probes under way.
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
  EXPECT_GT(visits.restarts_while_open, 1000);
  EXPECT_GT(visits.openings_by_rate, 1000);
}

}  // namespace
}  // namespace forebay
