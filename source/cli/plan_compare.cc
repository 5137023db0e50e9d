#include "source/cli/plan_compare.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "source/base/strings.h"
#include "source/cli/plan_run.h"
#include "source/cli/plan_text.h"
#include "source/cli/terminal_text.h"

namespace forebay {
namespace {

constexpr std::pair<JitterKind, std::string_view> kJitters[] = {
    {JitterKind::Full, "FULL"},
    {JitterKind::Equal, "EQUAL"},
    {JitterKind::Decorrelated, "DECORRELATED"},
    {JitterKind::Proportional, "PROPORTIONAL"},
    {JitterKind::None, "NONE"}};

// Each run is alone, but takes memory for its backlog.
constexpr uint32_t kThreadsMax = 4;

PlanInput vary(PlanInput input, JitterKind jitter, bool with_breaker) {
  input.upstream.retry.jitter.kind = jitter;
  if (!with_breaker) {
    input.upstream.breaker.consecutive_failures = std::numeric_limits<uint32_t>::max();
    input.upstream.breaker.failure_rate.reset();
  }
  return input;
}

absl::Status run(Plan& plan) {
  absl::StatusOr<PlanSeries> series = runPlan(plan.input);
  if (!series.ok()) {
    return series.status();
  }
  plan.series = *std::move(series);
  plan.summary = summarise(plan.input, plan.series);
  return absl::OkStatus();
}

std::string drainedText(const Plan& plan) {
  return plan.summary.drained.has_value()                 ? spanText(*plan.summary.drained)
         : plan.series.end == PlanSeries::End::NotFalling ? "never"
                                                          : "not within the plan";
}

}  // namespace

absl::StatusOr<std::vector<ComparedPlan>> comparePlans(const PlanInput& input) {
  std::vector<ComparedPlan> plans;
  for (const bool with_breaker : {true, false}) {
    for (const auto& [jitter, name] : kJitters) {
      plans.push_back({name, with_breaker, {vary(input, jitter, with_breaker), {}, {}}});
    }
  }
  std::vector<absl::Status> statuses(plans.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < plans.size(); i = next++) {
      statuses[i] = run(plans[i].plan);
    }
  };
  std::vector<std::thread> threads(
      std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax));
  for (std::thread& thread : threads) {
    thread = std::thread(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const absl::Status& status : statuses) {
    if (!status.ok()) {
      return status;
    }
  }
  return plans;
}

std::string compareText(const std::vector<ComparedPlan>& plans) {
  const PlanInput& input = plans.front().plan.input;
  std::vector<std::vector<std::string>> rows = {{"JITTER", "BREAKER", "DOWN: ATTEMPTS", "PEAK/S",
                                                 "BACK: PEAK/S", "MEAN/S", "PEAK/RATE",
                                                 "DRAINED AFTER", "DEAD"}};
  for (const ComparedPlan& compared : plans) {
    const PlanSummary& summary = compared.plan.summary;
    rows.push_back({std::string(compared.jitter), compared.with_breaker ? "yes" : "no",
                    countText(summary.attempts_in_outage),
                    countText(summary.attempts_per_second_max_in_outage),
                    countText(summary.attempts_per_second_max),
                    decimalText(summary.attempts_per_second_mean),
                    decimalText(summary.attempts_per_second_max / input.per_second),
                    drainedText(compared.plan), countText(summary.dead)});
  }
  return cat("Down for ", spanText(input.outage), " at ", arrivalsText(input),
             ", then back. DOWN: attempts while the app is down, and the busiest\n"
             "second. BACK: from the return until drained. RATE: what comes in.\n\n",
             alignedTable(rows));
}

Plot comparePlot(const std::vector<ComparedPlan>& plans) {
  Plot plot = planPlot(plans.front().plan);
  plot.title = cat("Attempts per second of upstream ", plans.front().plan.input.upstream.name,
                   ", by jitter");
  plot.panels.clear();
  plot.same_scale = true;
  for (const ComparedPlan& compared : plans) {
    Panel panel = planPlot(compared.plan).panels[1];
    panel.title = cat(compared.jitter, compared.with_breaker ? "" : ", without breaker");
    plot.panels.push_back(std::move(panel));
  }
  return plot;
}

}  // namespace forebay
