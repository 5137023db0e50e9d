#pragma once

#include <string>
#include <vector>

#include "google/protobuf/struct.pb.h"
#include "source/config/config.h"

namespace forebay::test {

// A file of the tree, by its path from the top. It must be in the test's `data`.
std::string readFile(const std::string& path);

google::protobuf::Value parseJson(const std::string& json);
std::string toJson(const google::protobuf::Value& value);

// What the capture configurations of the tests are held against: upstreams `billing` and `crm`.
EngineConfig engineOfTests();

// One `retry` on an upstream that is fine otherwise.
std::string bootstrapWithRetry(const std::string& retry_json);

std::vector<std::string> errorLines(const absl::Status& status);

// Whether `line` is about the path before the first `: ` of `expected`, and says what is after it.
bool lineMatches(const std::string& line, const std::string& expected);

}  // namespace forebay::test
