#include "source/cli/plan_summary.h"

#include <algorithm>

namespace forebay {
namespace {

// What counts as getting through: a little is always under way.
constexpr double kKeepsUpShare = 0.95;

absl::Duration secondsBetween(size_t from, size_t to) {
  return absl::Seconds(static_cast<int64_t>(to) - static_cast<int64_t>(from));
}

// Whether the second half of the time before the outage delivered what came.
bool keepsUp(const PlanInput& input, const PlanSeries& series) {
  const size_t from = series.outageBegin() / 2;
  const size_t to = std::min(series.outageBegin(), series.seconds.size());
  double delivered = 0;
  for (size_t i = from; i < to; ++i) {
    delivered += series.seconds[i].delivered;
  }
  // One burst may fall on the other side of the border.
  return delivered + input.burst >=
         kKeepsUpShare * input.per_second * static_cast<double>(to - from);
}

}  // namespace

PlanSummary summarise(const PlanInput& input, const PlanSeries& series) {
  PlanSummary summary;
  summary.keeps_up = keepsUp(input, series);
  const size_t down = series.outageBegin();
  const size_t back = series.outageEnd();
  uint64_t calm = 1;
  uint64_t attempts_after = 0;
  size_t seconds_after = 0;
  for (size_t i = 0; i < series.seconds.size(); ++i) {
    const PlanSecond& second = series.seconds[i];
    summary.delivered += second.delivered;
    summary.dead += second.dead;
    summary.backlog_at_end = second.backlog;
    if (i < down) {
      calm = std::max(calm, second.backlog);
      continue;
    }
    if (i < back) {
      summary.attempts_in_outage += second.attempts;
      summary.attempts_per_second_max_in_outage =
          std::max(summary.attempts_per_second_max_in_outage, second.attempts);
      summary.backlog_at_return = second.backlog;
      if (!summary.breaker_opened.has_value() && second.breaker != BreakerState::Closed) {
        summary.breaker_opened = secondsBetween(down, i + 1);
      }
      continue;
    }
    if (!summary.drained.has_value()) {
      attempts_after += second.attempts;
      ++seconds_after;
      summary.attempts_per_second_max = std::max(summary.attempts_per_second_max, second.attempts);
    }
    if (!summary.first_delivery.has_value() && second.delivered > 0) {
      summary.first_delivery = secondsBetween(back, i + 1);
    }
    if (!summary.full_speed.has_value() && summary.first_delivery.has_value() &&
        second.full_speed) {
      summary.full_speed = secondsBetween(back, i + 1);
    }
    if (!summary.drained.has_value() && second.backlog <= calm) {
      summary.drained = secondsBetween(back, i + 1);
    }
  }
  if (seconds_after > 0) {
    summary.attempts_per_second_mean =
        static_cast<double>(attempts_after) / static_cast<double>(seconds_after);
  }
  return summary;
}

absl::Duration probeWait(const BreakerConfig& breaker, absl::Duration outage) {
  absl::Duration open = breaker.open_initial;
  for (absl::Duration probed = open; probed < outage && open < breaker.open_max; probed += open) {
    open = std::min(open * breaker.open_multiplier, breaker.open_max);
  }
  return open;
}

}  // namespace forebay
