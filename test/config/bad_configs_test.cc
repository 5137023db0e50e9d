// Every mistake in bad_configs.json is refused with the lines that stand there, and no others. The
// integration tests run the same table through `envoy --mode validate`.

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "source/config/config.h"
#include "test/config/test_data.h"

namespace forebay::test {
namespace {

absl::Status parseAs(const std::string& kind, const std::string& json) {
  if (kind == "bootstrap") {
    return parseEngineConfig(json).status();
  }
  EXPECT_EQ(kind, "capture");
  return parseCaptureConfig(json, engineOfTests()).status();
}

TEST(BadConfigsTest, EveryMistakeOfTheTableIsToldAndNothingElse) {
  const google::protobuf::Value table = parseJson(readFile("test/config/bad_configs.json"));
  EXPECT_GE(table.list_value().values_size(), 100);
  for (const google::protobuf::Value& entry : table.list_value().values()) {
    const auto& fields = entry.struct_value().fields();
    SCOPED_TRACE(fields.at("kind").string_value() + ": " + fields.at("name").string_value());
    const absl::Status status =
        parseAs(fields.at("kind").string_value(), toJson(fields.at("config")));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    std::vector<std::string> lines = errorLines(status);
    const auto& expected = fields.at("errors").list_value().values();
    EXPECT_EQ(static_cast<int>(lines.size()), expected.size()) << status.message();
    for (const google::protobuf::Value& wanted : expected) {
      const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return lineMatches(line, wanted.string_value());
      });
      if (found == lines.end()) {
        ADD_FAILURE() << "no line for " << wanted.string_value() << " in\n" << status.message();
      } else {
        lines.erase(found);
      }
    }
  }
}

void expectOneError(const std::string& json, const std::string& expected) {
  const absl::Status status = parseEngineConfig(json).status();
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << expected;
  const std::vector<std::string> lines = errorLines(status);
  EXPECT_EQ(lines.size(), 1u) << status.message();
  EXPECT_TRUE(lineMatches(lines[0], expected)) << status.message();
}

TEST(BadConfigsTest, WhatIsNoMappingIsRefused) {
  expectOneError("", "config: is missing");
  expectOneError("{", "config: is not valid JSON");
  expectOneError("{\"store\": {\"path\": \"\xff\"}}", "config: is not valid JSON");
  expectOneError("[]", "config: must be a mapping (got a list)");
  expectOneError("5", "config: must be a mapping (got a number)");
  expectOneError("null", "config: must be a mapping (got null)");
  expectOneError("{} {}", "config: is not valid JSON");
  expectOneError(std::string(5 << 20, ' '), "config: must be at most 4194304 bytes long");
}

// Protobuf's own reader needs minutes for the deepest of these.
TEST(BadConfigsTest, DepthIsBounded) {
  for (const int depth : {32, 33, 1000, 1'000'000}) {
    const std::string lists = std::string(depth, '[') + std::string(depth, ']');
    expectOneError(lists, depth <= 32 ? "config: must be a mapping"
                                      : "config: must not be nested deeper than 32");
  }
  // Brackets in a string, even behind an escaped quote, are no depth.
  expectOneError(absl::StrCat(R"({"upstreams": [{"name": "a", "cluster": "b"}], "store": "\")",
                              std::string(50, '['), "\"}"),
                 "store: must be a mapping (got a string)");
}

std::string repeat(const std::string& element, int times) {
  return absl::StrCat("[", absl::StrJoin(std::vector<std::string>(times, element), ","), "]");
}

// Too long for a readable table.
TEST(BadConfigsTest, LongOnesAreRefused) {
  expectOneError(
      bootstrapWithRetry(absl::StrCat(R"({"schedule": {"delays": )", repeat("\"1s\"", 101), "}}")),
      "upstreams[0].retry.schedule.delays: must be at most 100 (got 101)");
  expectOneError(absl::StrCat(R"({"store": {"path": "/)", std::string(1024, 'a'),
                              R"("}, "upstreams": [{"name": "a", "cluster": "b"}]})"),
                 "store.path: must be at most 1024 bytes long (got 1025)");
  expectOneError(absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": )", repeat("{}", 257), "}"),
                 "upstreams: must be at most 256 (got 257)");
  expectOneError(absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": [{"name": "a",
                                  "cluster": "b", "classify": )",
                              repeat(R"({"match": "404", "as": "RETRY"})", 101), "}]}"),
                 "upstreams[0].classify: must be at most 100 (got 101)");
  const absl::Status status =
      parseCaptureConfig(absl::StrCat(R"({"source": "a", "upstream": "crm", "acknowledge": {)",
                                      R"("body": ")", std::string(65'537, 'x'), "\"}}"),
                         engineOfTests())
          .status();
  EXPECT_EQ(status.message(), "acknowledge.body: must be at most 65536 bytes long (got 65537)");
}

// Nobody reads ten thousand lines, and they would all go to Envoy's log.
TEST(BadConfigsTest, VeryManyMistakesAreCounted) {
  const absl::Status status =
      parseEngineConfig(
          absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": )", repeat("7", 250), "}"))
          .status();
  const std::vector<std::string> lines = errorLines(status);
  EXPECT_EQ(lines.size(), 101u);
  EXPECT_EQ(lines.back(), "config: 150 more mistakes");
}

TEST(BadConfigsTest, ManyUpstreamsAreNotAllListed) {
  EngineConfig engine = engineOfTests();
  for (int i = 0; i < 100; ++i) {
    engine.upstreams.push_back(engine.upstreams[0]);
  }
  const absl::Status status =
      parseCaptureConfig(R"({"source": "a", "upstream": "b"})", engine).status();
  EXPECT_TRUE(absl::EndsWith(status.message(), ", billing, …)")) << status.message();
  EXPECT_LT(status.message().size(), 300u);
}

}  // namespace
}  // namespace forebay::test
