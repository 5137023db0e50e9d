#include "source/cli/plan_json.h"

#include <string_view>

#include "source/admin/json_writer.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

int64_t seconds(absl::Duration span) { return absl::ToInt64Seconds(span); }

void writeIfAny(std::string_view key, const std::optional<absl::Duration>& span, JsonWriter& json) {
  if (span.has_value()) {
    json.number(key, seconds(*span));
  }
}

std::string_view endName(PlanSeries::End end) {
  switch (end) {
    case PlanSeries::End::Drained:
      return "drained";
    case PlanSeries::End::NotFalling:
      return "not_falling";
    case PlanSeries::End::Limit:
      break;
  }
  return "limit";
}

void writeInput(const PlanInput& input, JsonWriter& json) {
  json.text("upstream", input.upstream.name);
  json.text("kind", outageKindName(input.kind));
  json.number("rate_per_second", input.per_second);
  json.number("burst", input.burst);
  json.number("outage_seconds", seconds(input.outage));
  json.number("latency_ms", absl::ToDoubleMilliseconds(input.latency));
  if (input.capacity.has_value()) {
    json.number("capacity_per_second", *input.capacity);
  }
  json.number("seed", input.seed);
}

void writeSummary(const Plan& plan, JsonWriter& json) {
  const PlanSummary& summary = plan.summary;
  json.text("end", endName(plan.series.end));
  json.boolean("keeps_up", summary.keeps_up);
  json.number("backlog_at_return", summary.backlog_at_return);
  json.number("attempts_in_outage", summary.attempts_in_outage);
  json.number("attempts_per_second_max_in_outage", summary.attempts_per_second_max_in_outage);
  writeIfAny("breaker_opened_seconds", summary.breaker_opened, json);
  writeIfAny("first_delivery_seconds", summary.first_delivery, json);
  writeIfAny("full_speed_seconds", summary.full_speed, json);
  writeIfAny("drained_seconds", summary.drained, json);
  json.number("attempts_per_second_max", summary.attempts_per_second_max);
  json.number("attempts_per_second_mean", summary.attempts_per_second_mean);
  json.number("delivered", summary.delivered);
  json.number("dead", summary.dead);
  json.beginObject("dead_reasons");
  for (const auto& [reason, count] : plan.series.dead_reasons) {
    json.number(reason, count);
  }
  json.endObject();
  json.number("backlog_at_end", summary.backlog_at_end);
}

}  // namespace

std::string planJson(const Plan& plan) {
  JsonWriter json;
  json.beginObject();
  writeInput(plan.input, json);
  writeSummary(plan, json);
  json.number("series_begin_seconds", -seconds(plan.series.lead_in));
  json.beginArray("series");
  for (const PlanSecond& second : plan.series.seconds) {
    json.beginObject();
    json.number("backlog", second.backlog);
    json.number("attempts", second.attempts);
    json.number("delivered", second.delivered);
    json.number("dead", second.dead);
    json.text("breaker", breakerStateName(second.breaker));
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return cat(std::move(json).take(), "\n");
}

std::string compareJson(const std::vector<ComparedPlan>& plans) {
  JsonWriter json;
  json.beginObject();
  writeInput(plans.front().plan.input, json);
  json.beginArray("plans");
  for (const ComparedPlan& compared : plans) {
    json.beginObject();
    json.text("jitter", compared.jitter);
    json.boolean("breaker", compared.with_breaker);
    writeSummary(compared.plan, json);
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return cat(std::move(json).take(), "\n");
}

}  // namespace forebay
