#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iomanip>
#include <iostream>

#include "source/sim/simulation.h"

namespace forebay::sim {
namespace {

constexpr double kSteadyPerSecond = 50;
constexpr absl::Duration kOutageFrom = absl::Minutes(10);
constexpr absl::Duration kOutageUntil = absl::Minutes(130);

// What an operator would want to know of an outage.
class OutageReport final : public Observer {
public:
  void onCapture(const Event&) override { ++waiting_; }
  void onAttempt(const AttemptStart& start) override {
    attempts_in_outage += start.at >= kOutageFrom && start.at < kOutageUntil;
    window_.push_back(start.at);
    while (start.at - window_.front() >= absl::Seconds(1)) {
      window_.pop_front();
    }
    if (start.at >= kOutageUntil) {
      peak = std::max(peak, window_.size());
    }
    now_ = start.at;
  }
  void onSettle(const Settlement& settlement) override {
    waiting_ -= settlement.state.due_at_us() == 0;
    most_waiting = std::max(most_waiting, waiting_);
    // A second's worth of events is what waits in calm times too.
    if (now_ >= kOutageUntil && !drained_at.has_value() && waiting_ <= kSteadyPerSecond) {
      drained_at = now_;
    }
  }

  uint64_t attempts_in_outage = 0;
  size_t peak = 0;  // attempts within any one second after the outage
  uint64_t most_waiting = 0;
  std::optional<absl::Duration> drained_at;

private:
  uint64_t waiting_ = 0;
  absl::Duration now_;
  std::deque<absl::Duration> window_;
};

struct Outage {
  OutageReport report;
  Result result;
};

Outage runOutage(std::optional<RateLimitConfig> rate_limit) {
  Script script;
  UpstreamConfig upstream;
  upstream.name = "app";
  upstream.cluster = "app";
  upstream.rate_limit = rate_limit;
  script.upstreams = {upstream};
  script.apps.push_back({"app",
                         {{absl::ZeroDuration(), {}},
                          {kOutageFrom, {.kind = Behaviour::Kind::Refuses}},
                          {kOutageUntil, {}}}});
  script.arrivals.push_back(
      {.upstream = "app", .until = absl::Hours(5), .per_second = kSteadyPerSecond});
  Outage outage;
  outage.result = Simulation(script, outage.report).run();
  return outage;
}

void print(std::string_view name, const Outage& outage) {
  const OutageReport& report = outage.report;
  std::cout << std::left << std::setw(22) << name << std::right << std::setw(10)
            << outage.result.totals.accepted << std::setw(10) << report.most_waiting
            << std::setw(10) << report.attempts_in_outage << std::setw(8) << report.peak
            << std::setw(8) << std::setprecision(3)
            << static_cast<double>(report.peak) / kSteadyPerSecond << std::setw(12)
            << absl::FormatDuration(
                   absl::Trunc(*report.drained_at - kOutageUntil, absl::Seconds(1)))
            << std::setw(6) << outage.result.totals.dead << "\n";
}

// Two hours of outage at 50 events a second cost the app a handful of probes, a peak of at most
// twice the steady rate afterwards, and no event.
TEST(OutageReportTest, TwoHoursAtFiftyEventsASecond) {
  const Outage limited = runOutage(RateLimitConfig{100, absl::Seconds(1)});
  const Outage unlimited = runOutage(std::nullopt);
  ASSERT_TRUE(limited.report.drained_at.has_value());
  ASSERT_TRUE(unlimited.report.drained_at.has_value());
  std::cout
      << "                        events   waiting  attempts  peak/s  x steady  drained  dead\n"
         "                                at most in outage            in\n";
  print("rate limit 100 in 1s", limited);
  print("no rate limit", unlimited);

  EXPECT_LE(limited.report.peak, 2 * kSteadyPerSecond);
  for (const Outage* outage : {&limited, &unlimited}) {
    EXPECT_EQ(outage->result.error, "");
    EXPECT_TRUE(outage->result.drained);
    EXPECT_EQ(outage->result.totals.dead, 0);
    EXPECT_EQ(outage->result.totals.delivered, outage->result.totals.accepted);
    // 360,000 events came meanwhile.
    EXPECT_LE(outage->report.attempts_in_outage, 200);
  }
  // What comes and what waits share 100 a second, less the ramp's minute.
  EXPECT_LE(*limited.report.drained_at - kOutageUntil, absl::Hours(2) + absl::Minutes(10));
}

}  // namespace
}  // namespace forebay::sim
