#include "source/cli/plan_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "source/cli/plan_compare.h"
#include "source/cli/plan_json.h"
#include "source/cli/plan_report.h"

namespace forebay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Ten seconds of calm at 10/s; twenty down, the breaker open after two; a probe ten seconds after
// the return; a ramp of four seconds; drained at 40/s.
Plan fixedPlan() {
  Plan plan;
  plan.input.upstream.name = "app";
  plan.input.per_second = 10;
  plan.input.outage = absl::Seconds(20);
  plan.input.latency = absl::Milliseconds(50);
  plan.series.lead_in = absl::Seconds(10);
  plan.series.outage = plan.input.outage;
  uint64_t backlog = 0;
  const auto add = [&](uint32_t attempts, uint32_t delivered, BreakerState breaker,
                       bool full_speed) {
    backlog += 10;
    backlog -= std::min<uint64_t>(delivered, backlog);
    plan.series.seconds.push_back({backlog, attempts, delivered, 0, breaker, full_speed});
  };
  for (int i = 0; i < 10; ++i) {
    add(10, 10, BreakerState::Closed, true);
  }
  add(10, 0, BreakerState::Closed, true);
  add(15, 0, BreakerState::Open, false);
  for (int i = 2; i < 30; ++i) {
    add(0, 0, BreakerState::Open, false);
  }
  for (int i = 0; i < 4; ++i) {
    add(20, 20, BreakerState::Closed, false);
  }
  while (backlog > 1) {
    add(40, 40, BreakerState::Closed, true);
  }
  add(10, 10, BreakerState::Closed, true);
  plan.summary = summarise(plan.input, plan.series);
  return plan;
}

TEST(PlanSummaryTest, CountsFromTheReturn) {
  const PlanSummary summary = fixedPlan().summary;
  EXPECT_TRUE(summary.keeps_up);
  EXPECT_EQ(summary.backlog_at_return, 200);
  EXPECT_EQ(summary.attempts_in_outage, 25);
  EXPECT_EQ(summary.attempts_per_second_max_in_outage, 15);
  EXPECT_EQ(summary.breaker_opened, absl::Seconds(2));
  EXPECT_EQ(summary.first_delivery, absl::Seconds(11));
  EXPECT_EQ(summary.full_speed, absl::Seconds(15));
  EXPECT_EQ(summary.drained, absl::Seconds(23));
  EXPECT_EQ(summary.attempts_per_second_max, 40);
  EXPECT_NEAR(summary.attempts_per_second_mean, (4 * 20 + 9 * 40) / 23.0, 1e-9);
  EXPECT_EQ(summary.backlog_at_end, 0);
  EXPECT_EQ(summary.dead, 0);
}

// What is always under way is no backlog: drained is what it was before the outage.
TEST(PlanSummaryTest, DrainedIsAsBefore) {
  Plan plan = fixedPlan();
  for (PlanSecond& second : plan.series.seconds) {
    second.backlog += 3;
  }
  EXPECT_EQ(summarise(plan.input, plan.series).drained, absl::Seconds(23));
}

TEST(PlanSummaryTest, SaysThatTheAppCannotKeepUp) {
  Plan plan = fixedPlan();
  plan.input.per_second = 12;
  EXPECT_FALSE(summarise(plan.input, plan.series).keeps_up);
  plan.input.burst = 20;  // one of which may not be due yet
  EXPECT_TRUE(summarise(plan.input, plan.series).keeps_up);
}

// The open time has grown to its largest after an hour, but not after a minute.
TEST(PlanSummaryTest, ProbesGetRarer) {
  const BreakerConfig defaults;
  EXPECT_EQ(probeWait(defaults, absl::Seconds(5)), absl::Seconds(10));
  EXPECT_EQ(probeWait(defaults, absl::Minutes(1)), absl::Seconds(40));
  EXPECT_EQ(probeWait(defaults, absl::Hours(1)), absl::Minutes(5));
  BreakerConfig constant;
  constant.open_multiplier = 1;
  EXPECT_EQ(probeWait(constant, absl::Hours(24 * 7)), absl::Seconds(10));
}

TEST(PlanReportTest, SaysItInWords) {
  EXPECT_EQ(planWords(fixedPlan()),
            "Down for 20 s at 10/s: 200 events wait, after 25 attempts.\n"
            "When the app is back, its first event arrives after 11 s (it may take about 20 s: by "
            "then the open breaker tries no more often), it is at full speed after 15 s, drained "
            "after 23 s; at most 40 attempts/s, none dead.\n");
}

TEST(PlanReportTest, SaysWhenItNeverDrains) {
  Plan plan = fixedPlan();
  plan.series.seconds.resize(50);
  plan.series.end = PlanSeries::End::NotFalling;
  plan.series.seconds.back().dead = 2;
  plan.series.dead_reasons = {{"exhausted", 2}};
  plan.summary = summarise(plan.input, plan.series);
  EXPECT_THAT(planWords(plan), HasSubstr("never drained: "));
  EXPECT_THAT(planWords(plan), HasSubstr("2 dead (exhausted)."));
  EXPECT_THAT(planTable(plan), Not(HasSubstr("drained\n")));
}

TEST(PlanReportTest, ShowsWhatChangesWhen) {
  EXPECT_EQ(planTable(fixedPlan()),
            R"(TIME                          BACKLOG  ATTEMPTS/S  DELIVERED/S  BREAKER
-10 s  before                 0        10          10           closed
0 s    app down               0        13          0            closed
2 s    breaker open           20       0           0            open
10 s   still down             100      0           0            open
20 s   app back               200      1.8         1.8          open
+11 s  first event delivered  290      25          25           closed
+15 s  full speed             230      40          40           closed
+20 s  half drained           80       40          40           closed
+22 s  nine tenths            20       40          40           closed
+23 s  drained                0        10          10           closed
)");
}

// One line each, with and without the breaker.
TEST(PlanCompareTest, PutsThemSideBySide) {
  Plan never = fixedPlan();
  never.input.burst = 1000;
  never.series.seconds.resize(50);
  never.series.end = PlanSeries::End::NotFalling;
  never.summary = summarise(never.input, never.series);
  const std::vector<ComparedPlan> plans = {{"FULL", true, fixedPlan()}, {"NONE", false, never}};
  EXPECT_EQ(
      compareText(plans),
      "Down for 20 s at 10/s, then back. DOWN: attempts while the app is down, and the busiest\n"
      "second. BACK: from the return until drained. RATE: what comes in.\n\n"
      "JITTER  BREAKER  DOWN: ATTEMPTS  PEAK/S  BACK: PEAK/S  MEAN/S  PEAK/RATE  DRAINED AFTER  "
      "DEAD\n"
      "FULL    yes      25              15      40            19      4          23 s           "
      "0\n"
      "NONE    no       25              15      40            16      4          never          "
      "0\n");
  const Plot plot = comparePlot(plans);
  EXPECT_TRUE(plot.same_scale);
  ASSERT_EQ(plot.panels.size(), 2);
  EXPECT_EQ(plot.panels[1].title, "NONE, without breaker");
  EXPECT_EQ(plot.panels[0].values.size(), 54);
  EXPECT_THAT(compareJson(plans), HasSubstr(R"("plans":[{"jitter":"FULL","breaker":true,"end":)"));
}

TEST(PlanJsonTest, IsOneObject) {
  const std::string json = planJson(fixedPlan());
  google::protobuf::Struct object;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &object).ok());
  EXPECT_EQ(object.fields().at("series").list_value().values_size(), 54);
  EXPECT_THAT(
      json,
      StartsWith(R"({"upstream":"app","kind":"refused","rate_per_second":10,"burst":1,)"
                 R"("outage_seconds":20,"latency_ms":50,"seed":1,"end":"drained","keeps_up":true,)"
                 R"("backlog_at_return":200,"attempts_in_outage":25,)"
                 R"("attempts_per_second_max_in_outage":15,"breaker_opened_seconds":2,)"
                 R"("first_delivery_seconds":11,"full_speed_seconds":15,"drained_seconds":23,)"
                 R"("attempts_per_second_max":40,"attempts_per_second_mean":19.1304,)"
                 R"("delivered":550,"dead":0,"dead_reasons":{},"backlog_at_end":0,)"
                 R"("series_begin_seconds":-10,"series":[{"backlog":0,"attempts":10,)"
                 R"("delivered":10,"dead":0,"breaker":"closed"},)"));
}

}  // namespace
}  // namespace forebay
