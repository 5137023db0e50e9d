#include "test/config/test_data.h"

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace forebay::test {

std::string readFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

google::protobuf::Value parseJson(const std::string& json) {
  google::protobuf::Value value;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &value);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return value;
}

std::string toJson(const google::protobuf::Value& value) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(value, &json);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return json;
}

EngineConfig engineOfTests() {
  const absl::StatusOr<EngineConfig> engine = parseEngineConfig(
      R"({"store": {"path": "/x"}, "upstreams": [{"name": "billing", "cluster": "a"},
                                                 {"name": "crm", "cluster": "b"}]})");
  EXPECT_TRUE(engine.ok()) << engine.status();
  return engine.ok() ? *engine : EngineConfig{};
}

std::string bootstrapWithRetry(const std::string& retry_json) {
  return absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": [{"name": "billing",
                          "cluster": "a", "retry": )",
                      retry_json, "}]}");
}

std::vector<std::string> errorLines(const absl::Status& status) {
  return absl::StrSplit(status.message(), '\n');
}

bool lineMatches(const std::string& line, const std::string& expected) {
  const size_t colon = expected.find(": ");
  if (colon == std::string::npos) {
    return false;
  }
  return absl::StartsWith(line, expected.substr(0, colon + 2)) &&
         absl::StrContains(line.substr(colon + 2), expected.substr(colon + 2));
}

}  // namespace forebay::test
