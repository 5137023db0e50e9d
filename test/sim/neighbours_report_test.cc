#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "absl/container/flat_hash_map.h"
#include "source/base/strings.h"
#include "source/sim/simulation.h"

namespace forebay::sim {
namespace {

constexpr int kLanes = 10;
constexpr std::string_view kBad = "app-0";

// Delays from capture to success of all lanes but the bad one.
class Delays final : public Observer {
public:
  void watch(Simulation& simulation) { simulation_ = &simulation; }

  void onCapture(const Event& event) override {
    if (event.record.upstream() != kBad) {
      captured_[event.id] = simulation_->now();
    }
  }
  void onSettle(const Settlement& settlement) override {
    const auto found = captured_.find(settlement.id);
    if (found != captured_.end() && settlement.state.state() == v1::STATE_DELIVERED) {
      delays_.push_back(simulation_->now() - found->second);
      captured_.erase(found);
    }
  }

  absl::Duration percentile(double percent) {
    const auto nth = delays_.begin() + static_cast<ptrdiff_t>(delays_.size() * percent / 100);
    std::nth_element(delays_.begin(), nth, delays_.end());
    return *nth;
  }
  size_t count() const { return delays_.size(); }

private:
  Simulation* simulation_ = nullptr;
  absl::flat_hash_map<EventId, absl::Duration> captured_;
  std::vector<absl::Duration> delays_;
};

Delays runTen(const Behaviour& bad) {
  Script script;
  for (int i = 0; i < kLanes; ++i) {
    UpstreamConfig upstream;
    upstream.name = cat("app-", i);
    upstream.cluster = upstream.name;
    script.upstreams.push_back(upstream);
    Behaviour well;
    well.latency_spread = absl::Milliseconds(100);
    script.apps.push_back({upstream.cluster, {{absl::ZeroDuration(), i == 0 ? bad : well}}});
    script.arrivals.push_back({.upstream = upstream.name,
                               .until = absl::Minutes(15),
                               .kind = ArrivalScript::Kind::Poisson,
                               .per_second = 20});
  }
  script.until = absl::Minutes(20);
  Delays delays;
  Simulation simulation(script, delays);
  delays.watch(simulation);
  EXPECT_EQ(simulation.run().error, "");
  return delays;
}

// An app that hangs costs the other nine nothing: their 99th percentile of delay stays within a
// fifth of what it is with ten healthy apps.
TEST(NeighboursReportTest, AHungAppCostsTheOthersNothing) {
  Delays healthy = runTen({.latency_spread = absl::Milliseconds(100)});
  Delays hung = runTen({.kind = Behaviour::Kind::Hangs});
  std::cout << "the other nine     events      p50      p99\n";
  for (auto& [name, delays] : {std::pair<const char*, Delays&>("ten healthy apps", healthy),
                               std::pair<const char*, Delays&>("one app hangs   ", hung)}) {
    std::cout << name << "   " << delays.count() << "   "
              << absl::FormatDuration(absl::Trunc(delays.percentile(50), absl::Microseconds(100)))
              << "   "
              << absl::FormatDuration(absl::Trunc(delays.percentile(99), absl::Microseconds(100)))
              << "\n";
  }
  EXPECT_GT(hung.count(), 9 * 15 * 60 * 20 * 0.95);
  EXPECT_LE(hung.percentile(99), healthy.percentile(99) * 1.2);
}

}  // namespace
}  // namespace forebay::sim
