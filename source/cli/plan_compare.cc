#include "source/cli/plan_compare.h"

#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
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

std::string drainedText(const Plan& plan) {
  return plan.summary.drained.has_value()                    ? spanText(*plan.summary.drained)
         : plan.series.end == PlanSeries::End::NotFalling ? "never"
                                                             : "not within the plan";
}

}  // namespace

absl::StatusOr<std::vector<ComparedPlan>> comparePlans(const PlanInput& input) {
  std::vector<ComparedPlan> plans;
  for (const bool with_breaker : {true, false}) {
    for (const auto& [jitter, name] : kJitters) {
      PlanInput varied = input;
      varied.upstream.retry.jitter.kind = jitter;
      if (!with_breaker) {
        varied.upstream.breaker.consecutive_failures = std::numeric_limits<uint32_t>::max();
        varied.upstream.breaker.failure_rate.reset();
      }
      absl::StatusOr<PlanSeries> series = runPlan(varied);
      if (!series.ok()) {
        return series.status();
      }
      const PlanSummary summary = summarise(varied, *series);
      plans.push_back(
          {name, with_breaker, {std::move(varied), *std::move(series), summary}});
    }
  }
  return plans;
}

std::string compareText(const std::vector<ComparedPlan>& plans) {
  std::vector<std::vector<std::string>> rows = {{"JITTER", "BREAKER", "ATTEMPTS WHILE DOWN",
                                                 "PEAK/S", "MEAN/S", "PEAK/RATE", "DRAINED AFTER",
                                                 "DEAD"}};
  for (const ComparedPlan& compared : plans) {
    const PlanSummary& summary = compared.plan.summary;
    rows.push_back({std::string(compared.jitter), compared.with_breaker ? "yes" : "no",
                    countText(summary.attempts_in_outage),
                    countText(summary.attempts_per_second_max),
                    decimalText(summary.attempts_per_second_mean),
                    decimalText(summary.attempts_per_second_max / compared.plan.input.per_second),
                    drainedText(compared.plan), countText(summary.dead)});
  }
  return alignedTable(rows);
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
