// `forebay plan` as a whole: from the command line through the real forwarder to what is printed.

#include "source/cli/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "source/base/strings.h"
#include "source/cli/cli.h"
#include "source/cli/plan_run.h"

namespace forebay {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kQuickstart[] = "examples/quickstart/envoy.yaml";

class PlanTest : public ::testing::Test {
protected:
  int run(const std::vector<std::string>& arguments, size_t columns = 80) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = runCli(arguments, {out, err, nullptr, nullptr, columns});
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  double number(const std::string& field) const {
    google::protobuf::Struct object;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(out_, &object).ok()) << out_;
    return object.fields().at(field).number_value();
  }

  std::string writeFile(const std::string& name, std::string_view content) {
    const std::string path = cat(::testing::TempDir(), "/", name);
    std::ofstream(path) << content;
    return path;
  }

  std::string out_;
  std::string err_;
};

TEST_F(PlanTest, HelpTeachesWithTwoExamples) {
  EXPECT_EQ(run({"plan", "--help"}), 0);
  EXPECT_EQ(out_, kPlanHelp);
  EXPECT_THAT(out_, AllOf(HasSubstr("Examples\n"), HasSubstr("forebay plan envoy.yaml --rate"),
                          HasSubstr("forebay plan envoy.yaml --upstream")));
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("forebay plan CONFIG"));
}

TEST_F(PlanTest, WrongUsageIsExitCode2) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "wants one CONFIG"},
      {{"a", "b"}, "wants one CONFIG"},
      {{""}, "wants one CONFIG"},
      {{"a", "--rate", "fast"}, "--rate: \"fast\": wants a rate such as"},
      {{"a", "--rate", "20000/s"}, "--rate: \"20000/s\": at most 10,000/s"},
      {{"a", "--outage", "2"}, "--outage: \"2\": wants a time such as"},
      {{"a", "--outage", "0s"}, "--outage: \"0s\": from 1 s to 7 d"},
      {{"a", "--outage", "1000h"}, "--outage: \"1000h\": from 1 s to 7 d"},
      {{"a", "--outage", "1500ms"}, "--outage: \"1500ms\": wants whole seconds"},
      {{"a", "--kind", "dead"}, "--kind: \"dead\": wants refused, 5xx, hang or brownout"},
      {{"a", "--latency", "2h"}, "--latency: \"2h\": at most 1 h"},
      {{"a", "--capacity", "0/s"}, "--capacity: \"0/s\": wants a rate"},
      {{"a", "--burst", "0"}, "--burst: \"0\": wants a whole number from 1 to 100,000"},
      {{"a", "--seed", "x"}, "--seed: \"x\": wants a whole number"},
      {{"a", "--seed", "-1"}, "--seed: \"-1\": wants a whole number"},
      {{"a", "--svg", ""}, "--svg: wants the name of a file"},
      {{"a", "--limit", "5"}, "--limit: not an option of plan"},
      {{"a", "--rate", "100/s", "--outage", "2h"},
       "--rate x --outage are 720,000 events; a plan takes at most 500,000, so that it is done"},
      {{"a", "--rate", "50/s", "--outage", "2h", "--compare"},
       "with --compare a plan takes at most 50,000"},
  };
  for (const auto& [rest, message] : cases) {
    std::vector<std::string> arguments = {"plan"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    EXPECT_EQ(run(arguments), 2) << message;
    EXPECT_THAT(err_, HasSubstr(message));
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(run({"status", "--outage", "1h"}), 2);
  EXPECT_THAT(err_, HasSubstr("--outage: not an option of status"));
}

TEST_F(PlanTest, WhatTheFileDoesNotHoldIsExitCode1) {
  EXPECT_EQ(run({"plan", "/nonexistent.yaml"}), 1);
  EXPECT_EQ(err_, "forebay: /nonexistent.yaml: can't be read\n");
  EXPECT_EQ(run({"plan", kQuickstart, "--upstream", "ap\x1b"}), 1);
  EXPECT_EQ(err_, "forebay: --upstream: \"ap\\x1b\" is not there (known: app)\n");
  const std::string two = writeFile("two.yaml",
                                    "store: {path: /x}\nupstreams: [{name: a, cluster: a}, "
                                    "{name: b, cluster: b}]\n");
  EXPECT_EQ(run({"plan", two}), 1);
  EXPECT_EQ(err_, "forebay: --upstream: which one? (known: a, b)\n");
  EXPECT_EQ(run({"plan", two, "--upstream", "b", "--outage", "5s", "--svg", "/nonexistent/x.svg"}),
            1);
  EXPECT_EQ(err_, "forebay: /nonexistent/x.svg: can't be written\n");
}

// The same seed prints the same, to the last character; it says, shows and draws.
TEST_F(PlanTest, TellsOfTheQuickstart) {
  const std::string svg = cat(::testing::TempDir(), "/quickstart.svg");
  const std::vector<std::string> arguments = {"plan",     kQuickstart, "--rate", "5/s",
                                              "--outage", "2m",        "--svg",  svg};
  EXPECT_EQ(run(arguments), 0) << err_;
  EXPECT_THAT(out_, AllOf(StartsWith("Down for 2 min at 5/s: "), HasSubstr(" events wait, after "),
                          HasSubstr("\nTIME "), HasSubstr("\n+"), HasSubstr("drained"),
                          HasSubstr("\nEvents that wait\n"), HasSubstr("█"), HasSubstr("━")));
  const std::string first = out_;
  std::ostringstream picture;
  picture << std::ifstream(svg).rdbuf();
  EXPECT_THAT(picture.str(), AllOf(StartsWith("<svg "), EndsWith("</svg>\n"),
                                   HasSubstr("refused for 2 min, 5/s come in")));
  EXPECT_EQ(run(arguments), 0);
  EXPECT_EQ(out_, first);
}

// Every event of the simulated time is somewhere, the breaker spares the app, and the app bears
// what it bears.
TEST_F(PlanTest, TheNumbersAddUp) {
  EXPECT_EQ(run({"plan", kQuickstart, "--rate", "10/s", "--outage", "30m", "--json"}), 0) << err_;
  google::protobuf::Struct object;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(out_, &object).ok());
  const auto& series = object.fields().at("series").list_value().values();
  double attempts = 0;
  double settled = 0;
  for (const auto& second : series) {
    attempts += second.struct_value().fields().at("attempts").number_value();
    settled += second.struct_value().fields().at("delivered").number_value() +
               second.struct_value().fields().at("dead").number_value();
  }
  EXPECT_EQ(number("delivered") + number("dead"), settled);
  EXPECT_EQ(settled + number("backlog_at_end"), 10 * series.size());
  EXPECT_GE(attempts, settled);
  // Probes are not held against the events.
  EXPECT_EQ(number("dead"), 0);
  EXPECT_NEAR(number("backlog_at_return"), 10 * 1800, 200);
  // Ten failures open the breaker; from then on one attempt every few seconds.
  EXPECT_GE(number("attempts_in_outage"), 10);
  EXPECT_LE(number("attempts_in_outage"), 10 + 1800 / 2);
  EXPECT_LE(number("first_delivery_seconds"), 11);
  EXPECT_GT(number("full_speed_seconds"), number("first_delivery_seconds") + 50);
  EXPECT_LE(number("attempts_per_second_max"), 10 / 0.05);
}

// While the app is down in different ways.
TEST_F(PlanTest, EveryKindDrains) {
  for (const std::string kind : {"refused", "5xx", "hang", "brownout"}) {
    EXPECT_EQ(run({"plan", kQuickstart, "--outage", "1m", "--kind", kind, "--json"}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("\"end\":\"drained\"")) << kind;
    EXPECT_THAT(out_, HasSubstr(cat("\"kind\":\"", kind, "\"")));
  }
}

// An app that bears less than what comes is told so, and the run ends.
TEST_F(PlanTest, SaysThatItNeverDrains) {
  EXPECT_EQ(run({"plan", kQuickstart, "--outage", "1m", "--capacity", "8/s"}), 0) << err_;
  EXPECT_THAT(out_, AllOf(StartsWith("Even while the app is up, less gets through than the 10/s"),
                          HasSubstr("never drained: ")));
}

// The breaker spares an app that is down nearly everything; without it nothing does.
TEST_F(PlanTest, ComparesWithAndWithoutBreaker) {
  EXPECT_EQ(run({"plan", kQuickstart, "--outage", "2m", "--rate", "5/s", "--compare"}), 0) << err_;
  for (const std::string jitter : {"FULL", "EQUAL", "DECORRELATED", "PROPORTIONAL", "NONE"}) {
    EXPECT_THAT(out_, HasSubstr("\n" + jitter + " ")) << out_;
  }
  EXPECT_EQ(run({"plan", kQuickstart, "--outage", "2m", "--rate", "5/s", "--compare", "--json"}),
            0);
  google::protobuf::Struct object;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(out_, &object).ok());
  const auto& plans = object.fields().at("plans").list_value().values();
  ASSERT_EQ(plans.size(), 10);
  for (int i = 0; i < 5; ++i) {
    const auto& with = plans[i].struct_value().fields();
    const auto& without = plans[i + 5].struct_value().fields();
    EXPECT_EQ(with.at("jitter").string_value(), without.at("jitter").string_value());
    EXPECT_LT(10 * with.at("attempts_in_outage").number_value(),
              without.at("attempts_in_outage").number_value());
  }
}

// A plan that would take too long says so instead.
TEST_F(PlanTest, RefusesWhatTakesTooLong) {
  PlanInput input;
  input.upstream.name = input.upstream.cluster = "app";
  input.upstream.retry.backoff = FixedBackoff{absl::Milliseconds(10)};
  input.upstream.retry.attempts_max = 1000;
  input.upstream.breaker.consecutive_failures = 1'000'000'000;
  input.upstream.concurrency_max = 1000;
  input.per_second = 100;
  input.outage = absl::Hours(1);
  EXPECT_EQ(runPlan(input, 100'000).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace forebay
