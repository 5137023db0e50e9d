// The policies that are in use elsewhere can be said in our configuration, and examples/policies
// says them.

#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "source/config/config.h"
#include "test/config/test_data.h"

namespace forebay::test {
namespace {

using google::protobuf::Value;

Value scalar(absl::string_view text) {
  Value value;
  double number = 0;
  if (absl::SimpleAtod(text, &number)) {
    value.set_number_value(number);
  } else {
    value.set_string_value(std::string(text));
  }
  return value;
}

// Only as much YAML as the examples use: nested mappings, plain scalars, and lists in one line.
Value parseYaml(const std::string& text) {
  Value root;
  std::map<size_t, Value*> mapping_at_indent = {{0, &root}};
  root.mutable_struct_value();
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    const size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || line[indent] == '#') {
      continue;
    }
    const std::vector<std::string> parts =
        absl::StrSplit(line.substr(indent), absl::MaxSplits(':', 1));
    EXPECT_EQ(parts.size(), 2u) << line;
    Value& value =
        (*mapping_at_indent.at(indent)->mutable_struct_value()->mutable_fields())[parts[0]];
    absl::string_view rest = absl::StripAsciiWhitespace(parts[1]);
    if (rest.empty()) {
      value.mutable_struct_value();
      mapping_at_indent[indent + 2] = &value;
    } else if (absl::ConsumePrefix(&rest, "[") && absl::ConsumeSuffix(&rest, "]")) {
      for (const absl::string_view element : absl::StrSplit(rest, ", ")) {
        *value.mutable_list_value()->add_values() = scalar(element);
      }
    } else {
      value = scalar(rest);
    }
  }
  return root;
}

struct Policy {
  std::string json;  // the same as the example's `retry`
  BackoffShape backoff;
  JitterKind jitter;
  uint32_t attempts_max = 16;
  absl::Duration give_up_after = absl::Hours(72);
};

std::vector<absl::Duration> seconds(const std::vector<int>& numbers) {
  std::vector<absl::Duration> durations;
  for (const int number : numbers) {
    durations.push_back(absl::Seconds(number));
  }
  return durations;
}

std::map<std::string, Policy> policies() {
  using S = ScheduleBackoff;
  using E = ExponentialBackoff;
  using L = LinearBackoff;
  const auto minutes = [](int number) { return absl::Minutes(number); };
  return {
      {"five_steps",
       {R"({"schedule": {"delays": ["0s", "30s", "120s", "600s", "3600s"]},
            "jitter": {"kind": "PROPORTIONAL", "ratio": 0.2}, "attempts_max": 5})",
        S{seconds({0, 30, 120, 600, 3600})}, JitterKind::Proportional, 5}},
      {"capped_exponential",
       {R"({"exponential": {"initial": "30s", "multiplier": 2, "max": "3600s"},
            "jitter": {"kind": "FULL"}, "attempts_max": 5})",
        E{absl::Seconds(30), 2, minutes(60)}, JitterKind::Full, 5}},
      {"long_tail",
       {R"({"exponential": {"initial": "60s", "multiplier": 2, "max": "3600s"},
            "jitter": {"kind": "EQUAL"}, "attempts_max": 16, "give_up_after": "259200s"})",
        E{minutes(1), 2, minutes(60)}, JitterKind::Equal, 16, absl::Hours(72)}},
      {"eight_steps",
       {R"({"schedule": {"delays": ["10s", "30s", "120s", "600s", "1800s", "7200s", "28800s",
                                    "86400s"]},
            "jitter": {"kind": "PROPORTIONAL", "ratio": 0.2}, "attempts_max": 8})",
        S{seconds({10, 30, 120, 600, 1800, 7200, 28800, 86400})}, JitterKind::Proportional, 8}},
      {"short_and_replay",
       {R"({"exponential": {"initial": "300s", "multiplier": 3, "max": "1800s"},
            "jitter": {"kind": "DECORRELATED"}, "attempts_max": 3, "give_up_after": "3600s"})",
        E{minutes(5), 3, minutes(30)}, JitterKind::Decorrelated, 3, minutes(60)}},
      {"fixed",
       {R"({"fixed": {"interval": "60s"}, "jitter": {"kind": "NONE"}})", FixedBackoff{minutes(1)},
        JitterKind::None}},
      {"linear",
       {R"({"linear": {"initial": "30s", "step": "30s", "max": "3600s"}, "jitter": {"kind": "NONE"}})",
        L{absl::Seconds(30), absl::Seconds(30), minutes(60)}, JitterKind::None}},
  };
}

// Backoffs as text, since they have no equality of their own.
std::string describe(const BackoffShape& shape) {
  if (const auto* e = std::get_if<ExponentialBackoff>(&shape)) {
    return absl::StrCat("exponential ", absl::FormatDuration(e->initial), " ", e->multiplier, " ",
                        absl::FormatDuration(e->max));
  }
  if (const auto* l = std::get_if<LinearBackoff>(&shape)) {
    return absl::StrCat("linear ", absl::FormatDuration(l->initial), " ",
                        absl::FormatDuration(l->step), " ", absl::FormatDuration(l->max));
  }
  if (const auto* f = std::get_if<FixedBackoff>(&shape)) {
    return absl::StrCat("fixed ", absl::FormatDuration(f->interval));
  }
  std::string text = "schedule";
  for (const absl::Duration delay : std::get<ScheduleBackoff>(shape).delays) {
    absl::StrAppend(&text, " ", absl::FormatDuration(delay));
  }
  return text;
}

TEST(PoliciesTest, EveryPolicyOfTheFieldCanBeSaid) {
  for (const auto& [name, policy] : policies()) {
    SCOPED_TRACE(name);
    const absl::StatusOr<EngineConfig> config = parseEngineConfig(bootstrapWithRetry(policy.json));
    ASSERT_TRUE(config.ok()) << config.status();
    const RetryConfig& retry = config->upstreams[0].retry;
    EXPECT_EQ(describe(retry.backoff), describe(policy.backoff));
    EXPECT_EQ(retry.jitter.kind, policy.jitter);
    EXPECT_EQ(retry.jitter.ratio, 0.2);
    EXPECT_EQ(retry.attempts_max, policy.attempts_max);
    EXPECT_EQ(retry.give_up_after, policy.give_up_after);
  }
}

TEST(PoliciesTest, TheExamplesSayTheSame) {
  std::set<std::string> examples;
  for (const auto& entry : std::filesystem::directory_iterator("examples/policies")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    if (entry.path().stem() == "whole_upstream") {
      continue;  // has a test of its own
    }
    examples.insert(entry.path().stem());
    SCOPED_TRACE(entry.path());
    const auto known = policies();
    const auto policy = known.find(entry.path().stem());
    ASSERT_TRUE(policy != known.end());
    const Value example = parseYaml(readFile(entry.path()));
    ASSERT_EQ(example.struct_value().fields().size(), 1u);
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
        example.struct_value().fields().at("retry"), parseJson(policy->second.json)));
  }
  EXPECT_EQ(examples.size(), policies().size());
}

// The example that sets pace and order is accepted as it stands, and sets all of it.
TEST(PoliciesTest, TheExampleOfAWholeUpstreamIsValid) {
  Value upstream = parseYaml(readFile("examples/policies/whole_upstream.yaml"));
  const absl::StatusOr<EngineConfig> config = parseEngineConfig(
      absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": [)", toJson(upstream), "]}"));
  ASSERT_TRUE(config.ok()) << config.status();
  const UpstreamConfig& found = config->upstreams[0];
  ASSERT_TRUE(found.rate_limit.has_value());
  EXPECT_EQ(found.rate_limit->events, 50u);
  EXPECT_EQ(found.rate_limit->per, absl::Seconds(1));
  ASSERT_TRUE(found.breaker.failure_rate.has_value());
  EXPECT_EQ(found.breaker.failure_rate->percent, 50);
  EXPECT_EQ(found.ramp, absl::Seconds(120));
  ASSERT_TRUE(found.order_by.has_value());
  EXPECT_EQ(found.order_by->json_pointer, "/data/object/customer");
}

}  // namespace
}  // namespace forebay::test
