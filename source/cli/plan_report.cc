#include "source/cli/plan_report.h"

#include <algorithm>
#include <string_view>

#include "source/base/strings.h"
#include "source/cli/plan_text.h"
#include "source/cli/terminal_text.h"

namespace forebay {
namespace {

std::string eventsText(uint64_t count) {
  return cat(countText(count), count == 1 ? " event" : " events");
}

std::string rateText(double per_second) { return cat(decimalText(per_second), "/s"); }

std::string deadText(const Plan& plan) {
  if (plan.summary.dead == 0) {
    return "none dead";
  }
  std::string reasons;
  for (const auto& [reason, count] : plan.series.dead_reasons) {
    reasons.append(cat(reasons.empty() ? "" : ", ", reason));
  }
  return cat(countText(plan.summary.dead), " dead (", reasons, ")");
}

std::string firstDeliveryText(const Plan& plan) {
  const absl::Duration first = *plan.summary.first_delivery;
  const std::string text =
      cat("When the app is back, its first event arrives after ", spanText(first));
  if (!plan.summary.breaker_opened.has_value()) {
    return text;
  }
  const absl::Duration wait = probeWait(plan.input.upstream.breaker, plan.input.outage);
  return cat(text, " (it may take about ", spanText(wait),
             ": by then the open breaker tries no more often)");
}

std::string endText(const Plan& plan) {
  const PlanSummary& summary = plan.summary;
  if (summary.drained.has_value()) {
    return cat("drained after ", spanText(*summary.drained));
  }
  const std::string waiting =
      cat(eventsText(summary.backlog_at_end), " still wait after ",
          spanText(absl::Seconds(static_cast<int64_t>(plan.series.seconds.size())) -
                   plan.series.lead_in - plan.series.outage));
  return plan.series.end == PlanSeries::End::NotFalling
             ? cat("never drained: ", waiting, ", and they grow no fewer")
             : cat("not drained within what one plan simulates: ", waiting);
}

// A point in time that the table shows.
struct Moment {
  size_t second;
  std::string what;
};

std::vector<Moment> momentsOf(const Plan& plan) {
  const PlanSummary& summary = plan.summary;
  const size_t down = plan.series.outageBegin();
  const size_t back = plan.series.outageEnd();
  const bool is_partial = plan.input.kind == OutageKind::Brownout;
  std::vector<Moment> moments = {{0, "before"}, {down, is_partial ? "app failing" : "app down"}};
  const auto add = [&](size_t from, const std::optional<absl::Duration>& after,
                       std::string_view what) {
    if (after.has_value()) {
      moments.push_back(
          {from + static_cast<size_t>(absl::ToInt64Seconds(*after)), std::string(what)});
    }
  };
  add(down, summary.breaker_opened, "breaker open");
  add(down, plan.input.outage / 2, is_partial ? "still failing" : "still down");
  moments.push_back({back, is_partial ? "app well" : "app back"});
  add(back, summary.first_delivery, "first event delivered");
  add(back, summary.full_speed, "full speed");
  const std::vector<PlanSecond>& seconds = plan.series.seconds;
  for (const auto& [divisor, what] : {std::pair(2, "half drained"), std::pair(10, "nine tenths")}) {
    for (size_t i = back; i < seconds.size() && summary.drained.has_value(); ++i) {
      if (seconds[i].backlog <= summary.backlog_at_return / static_cast<uint64_t>(divisor)) {
        moments.push_back({i + 1, what});
        break;
      }
    }
  }
  add(back, summary.drained, "drained");
  moments.push_back({seconds.size(), "end"});
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.second < b.second; });
  return moments;
}

// Since the outage began; from the return on, since then.
std::string timeText(const Plan& plan, size_t second) {
  const absl::Duration time = absl::Seconds(static_cast<int64_t>(second)) - plan.series.lead_in;
  return time < absl::ZeroDuration() ? cat("-", spanText(-time))
         : time > plan.series.outage ? cat("+", spanText(time - plan.series.outage))
                                     : spanText(time);
}

}  // namespace

std::string arrivalsText(const PlanInput& input) {
  return cat(rateText(input.per_second),
             input.burst > 1 ? cat(" in bursts of ", countText(input.burst)) : "");
}

std::string planWords(const Plan& plan) {
  const PlanInput& input = plan.input;
  const PlanSummary& summary = plan.summary;
  std::string words;
  if (!summary.keeps_up) {
    words.append(cat("Even while the app is up, less gets through than the ",
                     rateText(input.per_second),
                     " that come: see concurrency_max, rate_limit, "
                     "--latency and --capacity.\n"));
  }
  words.append(cat(input.kind == OutageKind::Brownout ? "Failing in part for " : "Down for ",
                   spanText(input.outage), " at ", arrivalsText(input), ": ",
                   eventsText(summary.backlog_at_return), " wait, after ",
                   countText(summary.attempts_in_outage),
                   summary.attempts_in_outage == 1 ? " attempt.\n" : " attempts.\n"));
  if (summary.first_delivery.has_value()) {
    words.append(firstDeliveryText(plan));
    if (summary.full_speed.has_value() && summary.breaker_opened.has_value()) {
      words.append(cat(", it is at full speed after ", spanText(*summary.full_speed)));
    }
    words.append(", ");
  } else {
    words.append("When the app is back, nothing arrives: ");
  }
  words.append(cat(endText(plan), "; at most ", countText(summary.attempts_per_second_max),
                   " attempts/s, ", deadText(plan), ".\n"));
  return words;
}

std::string planTable(const Plan& plan) {
  const std::vector<PlanSecond>& seconds = plan.series.seconds;
  const std::vector<Moment> moments = momentsOf(plan);
  std::vector<std::vector<std::string>> rows = {
      {"TIME", "", "BACKLOG", "ATTEMPTS/S", "DELIVERED/S", "BREAKER"}};
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    const size_t from = moments[i].second;
    std::string what = moments[i].what;
    while (i + 2 < moments.size() && moments[i + 1].second == from) {
      what.append(", ").append(moments[++i].what);
    }
    const size_t to = moments[i + 1].second;
    if (from >= to) {
      break;
    }
    uint64_t attempts = 0;
    uint64_t delivered = 0;
    for (size_t second = from; second < to; ++second) {
      attempts += seconds[second].attempts;
      delivered += seconds[second].delivered;
    }
    const auto length = static_cast<double>(to - from);
    rows.push_back({timeText(plan, from), what,
                    countText(from == 0 ? 0 : seconds[from - 1].backlog),
                    decimalText(static_cast<double>(attempts) / length),
                    decimalText(static_cast<double>(delivered) / length),
                    std::string(breakerStateName(from == 0 ? BreakerState::Closed
                                                           : seconds[from - 1].breaker))});
  }
  return alignedTable(rows);
}

Plot planPlot(const Plan& plan) {
  Plot plot;
  plot.title = cat("Backlog and attempts of upstream ", plan.input.upstream.name);
  plot.subtitle =
      cat(outageKindName(plan.input.kind), " for ", spanText(plan.input.outage), ", ",
          arrivalsText(plan.input), " come in, answers take ", spanText(plan.input.latency));
  plot.begin = -plan.series.lead_in;
  plot.outage = plan.series.outage;
  plot.panels = {{"Events that wait", {}}, {"Attempts per second (the busiest second)", {}}};
  for (const PlanSecond& second : plan.series.seconds) {
    plot.panels[0].values.push_back(static_cast<double>(second.backlog));
    plot.panels[1].values.push_back(second.attempts);
  }
  return plot;
}

}  // namespace forebay
