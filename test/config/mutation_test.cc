// Whatever is done to a good configuration, reading it ends, doesn't crash, and says why when it
// refuses.

#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "source/base/random.h"
#include "source/config/config.h"
#include "test/config/test_data.h"

namespace forebay::test {
namespace {

using google::protobuf::Value;

constexpr int kRounds = 5'000;

constexpr char kBootstrap[] = R"({
  "store": {"path": "/x", "size_max_bytes": 67108864, "free_disk_min_bytes": 0},
  "upstreams": [
    {"name": "a", "cluster": "b", "timeout": "30s", "concurrency_max": 5,
     "retry": {"schedule": {"delays": ["0s", "30s"]}, "jitter": {"kind": "PROPORTIONAL",
               "ratio": 0.2}, "attempts_max": 5, "give_up_after": "3600s", "share_max_percent": 50},
     "rate_limit": {"events": 10, "per": "1s"}, "pause_after_permanent_failures": 5,
     "order_by": {"header": "x-shop-id"},
     "classify": [{"match": "404", "as": "RETRY"}],
     "circuit_breaker": {"consecutive_failures": 5, "open": {"initial": "1s", "multiplier": 2,
                         "max": "5s"}, "failure_rate": {"percent": 50, "window": "60s", "requests_min": 20},
                         "ramp": "60s"}},
    {"name": "c", "cluster": "d", "order_by": {"json_pointer": "/data/object"},
     "retry": {"exponential": {"initial": "1s", "multiplier": 2, "max": "60s"},
               "jitter": {"kind": "DECORRELATED"}}},
    {"name": "e", "cluster": "f", "retry": {"schedule": {"delays": ["1s", "2s", "3s"]},
               "jitter": {"kind": "DECORRELATED"}}}]})";
constexpr char kCapture[] = R"({"source": "stripe", "upstream": "billing", "provider": "none",
  "acknowledge": {"status": 200, "body": "ok", "content_type": "text/plain"},
  "body_bytes_max": 1000, "methods": ["POST", "PUT"]})";

// OK, or errors that have a path and a text on each line.
void expectAnAnswer(const absl::Status& status, const std::string& json) {
  if (status.ok()) {
    return;
  }
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
  for (const std::string& line : errorLines(status)) {
    const size_t colon = line.find(": ");
    ASSERT_TRUE(colon != std::string::npos && colon > 0 && colon + 2 < line.size())
        << "line: " << line << "\nconfig: " << json;
    for (const char c : line) {
      ASSERT_GE(static_cast<unsigned char>(c), 0x20) << json;
    }
  }
}

class MutationTest : public testing::Test {
protected:
  MutationTest() : seed_(randomSeed()), random_(seed_), engine_(engineOfTests()) {
    RecordProperty("seed", absl::StrCat(seed_));
    std::cout << "seed " << seed_ << std::endl;
  }

  size_t below(size_t bound) { return random_.next() % bound; }

  void check(const std::string& json) {
    SCOPED_TRACE(absl::StrCat("seed ", seed_));
    expectAnAnswer(parseEngineConfig(json).status(), json);
    expectAnAnswer(parseCaptureConfig(json, engine_).status(), json);
  }

  Value oddValue() {
    static const char* const kTexts[] = {"",    "0s",         "-1s",  "1e9s",
                                         "30s", "999999999s", "FULL", "\n\x01",
                                         "/",   "500-599",    "POST", "0.0000000001s",
                                         "a.b", "none",       "s",    "9999999999999999999s"};
    static const double kNumbers[] = {0,     -1,           0.5, 1,    1e18, -1e300,
                                      1e308, 4294967296.0, 200, 1000, 1e-9, 5e-324};
    Value value;
    switch (below(6)) {
      case 0:
        value.set_null_value(google::protobuf::NULL_VALUE);
        break;
      case 1:
        value.set_bool_value(true);
        break;
      case 2:
        value.set_number_value(kNumbers[below(std::size(kNumbers))]);
        break;
      case 3:
        value.mutable_list_value();
        break;
      case 4:
        value.mutable_struct_value();
        break;
      default:
        value.set_string_value(kTexts[below(std::size(kTexts))]);
    }
    return value;
  }

  // Replaces, doubles or drops something at a random place below `value`.
  void mutate(Value& value) {
    if (value.has_struct_value() && value.struct_value().fields_size() > 0 && below(8) > 0) {
      auto& fields = *value.mutable_struct_value()->mutable_fields();
      auto field = fields.begin();
      std::advance(field, below(fields.size()));
      switch (below(6)) {
        case 0:
          fields.erase(field);
          return;
        case 1: {
          const Value copy = field->second;
          fields[field->first + "x"] = copy;
          return;
        }
        default:
          mutate(field->second);
          return;
      }
    }
    if (value.has_list_value() && value.list_value().values_size() > 0 && below(8) > 0) {
      auto& values = *value.mutable_list_value()->mutable_values();
      if (below(4) == 0) {
        const Value copy = values[below(values.size())];
        *values.Add() = copy;
      } else {
        mutate(values[below(values.size())]);
      }
      return;
    }
    value = oddValue();
  }

  uint64_t seed_;
  SeededRandom random_;
  EngineConfig engine_;
};

TEST_F(MutationTest, OddValuesAnywhereAreAnswered) {
  for (int round = 0; round < kRounds && !HasFatalFailure(); ++round) {
    Value value = parseJson(below(2) == 0 ? kBootstrap : kCapture);
    for (size_t i = 1 + below(4); i > 0; --i) {
      mutate(value);
    }
    check(toJson(value));
  }
}

TEST_F(MutationTest, DamagedTextIsAnswered) {
  for (int round = 0; round < kRounds && !HasFatalFailure(); ++round) {
    std::string json = below(2) == 0 ? kBootstrap : kCapture;
    for (size_t i = 1 + below(4); i > 0 && !json.empty(); --i) {
      const size_t at = below(json.size());
      switch (below(4)) {
        case 0:
          json[at] = static_cast<char>(below(256));
          break;
        case 1:
          json.erase(at, 1 + below(10));
          break;
        case 2:
          json.insert(at, 1, "{}[]\",:\\0e-"[below(11)]);
          break;
        default:
          json.resize(at);
      }
    }
    check(json);
  }
}

}  // namespace
}  // namespace forebay::test
