#include "source/cli/plan_run.h"

#include <algorithm>

#include "source/base/strings.h"
#include "source/event/names.h"
#include "source/sim/simulation.h"

namespace forebay {
namespace {

// A backlog that has not fallen for so long will not fall later.
constexpr absl::Duration kPatience = absl::Hours(1);
// Where the upstream keeps an order: over so many keys the events are spread.
constexpr uint32_t kOrderKeys = 1000;
constexpr double kBrownoutErrorRatio = 0.5;
constexpr int kBrownoutSlowdown = 10;

absl::Duration leadIn(absl::Duration outage) {
  return absl::Floor(std::clamp(outage / 20, absl::Seconds(10), absl::Minutes(10)),
                     absl::Seconds(1));
}

sim::Behaviour whileUp(const PlanInput& input) {
  sim::Behaviour up;
  up.latency = input.latency;
  if (input.capacity.has_value()) {
    up.capacity = sim::Behaviour::Capacity{*input.capacity};
  }
  return up;
}

sim::Behaviour whileDown(const PlanInput& input) {
  sim::Behaviour down;
  down.latency = input.latency;
  switch (input.kind) {
    case OutageKind::Refused:
      down.kind = sim::Behaviour::Kind::Refuses;
      break;
    case OutageKind::ServerError:
      down.status = 503;
      break;
    case OutageKind::Hang:
      down.kind = sim::Behaviour::Kind::Hangs;
      break;
    case OutageKind::Brownout:
      down.latency = input.latency * kBrownoutSlowdown;
      down.error_ratio = kBrownoutErrorRatio;
      down.error_status = 503;
      break;
  }
  return down;
}

sim::Script scriptOf(const PlanInput& input, absl::Duration lead_in) {
  sim::Script script;
  script.upstreams = {input.upstream};
  const sim::Behaviour up = whileUp(input);
  script.apps = {
      {input.upstream.cluster,
       {{absl::ZeroDuration(), up}, {lead_in, whileDown(input)}, {lead_in + input.outage, up}}}};
  sim::ArrivalScript arrivals;
  arrivals.upstream = input.upstream.name;
  arrivals.until = kPlanLengthMax;
  arrivals.per_second = input.per_second;
  arrivals.kind =
      input.burst > 1 ? sim::ArrivalScript::Kind::Bursts : sim::ArrivalScript::Kind::Constant;
  arrivals.burst = input.burst;
  arrivals.keys = input.upstream.order_by.has_value() ? kOrderKeys : 0;
  script.arrivals = {arrivals};
  script.until = kPlanLengthMax;
  script.seed = input.seed;
  return script;
}

// Counts second by second, and stops the simulation when there is nothing more to learn.
class Recorder final : public sim::Observer {
public:
  Recorder(PlanSeries& series, uint64_t steps_max) : series_(series), steps_max_(steps_max) {}
  // Before the run.
  void watch(sim::Simulation& simulation) { simulation_ = &simulation; }

  void onCapture(const Event&) override {
    roll();
    ++present_.backlog;
  }
  void onAttempt(const sim::AttemptStart&) override {
    roll();
    ++present_.attempts;
  }
  void onSettle(const Settlement& settlement) override {
    roll();
    if (settlement.state.state() == v1::STATE_DELIVERED) {
      --present_.backlog;
      ++present_.delivered;
    } else if (settlement.state.state() == v1::STATE_DEAD) {
      --present_.backlog;
      ++present_.dead;
      ++series_.dead_reasons[std::string(deadReasonName(settlement.state.reason()))];
    }
  }
  void afterStep(sim::Simulation&) override { roll(); }

private:
  // Closes the seconds that are over.
  void roll() {
    while (!ended_ && simulation_->now() >= second_ends_) {
      closeSecond();
    }
  }

  void closeSecond() {
    // None while the process is down, which it never is here.
    const LaneStatus lane = simulation_->forwarder()->lanes().front();
    present_.breaker = lane.breaker;
    present_.full_speed = lane.breaker == BreakerState::Closed && lane.ramp_percent >= 100;
    series_.seconds.push_back(present_);
    second_ends_ += absl::Seconds(1);
    present_.attempts = present_.delivered = present_.dead = 0;
    judge();
  }

  // After each second.
  void judge() {
    const size_t count = series_.seconds.size();
    if (count <= series_.outageBegin()) {
      calm_ = std::max(calm_, present_.backlog);
    } else if (count > series_.outageEnd()) {
      if (drained_at_ == 0 && present_.backlog <= calm_) {
        drained_at_ = count;
      }
      delivered_ = delivered_ || series_.seconds.back().delivered > 0;
      patience_left_ -= delivered_ ? 1 : 0;
      if (drained_at_ > 0 && count >= drained_at_ + series_.outageBegin()) {
        return end(PlanSeries::End::Drained);
      }
      if (drained_at_ == 0 && patience_left_ <= 0) {
        const auto patience = static_cast<size_t>(absl::ToInt64Seconds(kPatience));
        if (present_.backlog >= series_.seconds[count - 1 - patience].backlog) {
          return end(PlanSeries::End::NotFalling);
        }
      }
    }
    if (simulation_->steps() > steps_max_) {
      end(PlanSeries::End::Limit);
    }
  }

  void end(PlanSeries::End why) {
    series_.end = why;
    ended_ = true;
    simulation_->stop();
  }

  PlanSeries& series_;
  const uint64_t steps_max_;
  sim::Simulation* simulation_ = nullptr;
  PlanSecond present_;
  absl::Duration second_ends_ = absl::Seconds(1);
  uint64_t calm_ = 1;       // the largest backlog before the outage
  size_t drained_at_ = 0;   // in seconds; 0: not yet
  bool delivered_ = false;  // anything since the app is back
  int64_t patience_left_ = absl::ToInt64Seconds(kPatience);
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<PlanSeries> runPlan(const PlanInput& input, uint64_t steps_max) {
  PlanSeries series;
  series.lead_in = leadIn(input.outage);
  series.outage = input.outage;
  series.end = PlanSeries::End::Limit;
  Recorder recorder(series, steps_max);
  sim::Simulation simulation(scriptOf(input, series.lead_in), recorder);
  recorder.watch(simulation);
  const sim::Result result = simulation.run();
  if (!result.error.empty()) {
    return absl::InternalError(cat("the simulation failed: ", result.error));
  }
  if (series.seconds.size() <= series.outageEnd()) {
    return absl::ResourceExhaustedError(
        "so many attempts are made during the outage that a plan would take too long: lower --rate "
        "or --outage");
  }
  return series;
}

}  // namespace forebay
