#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "source/config/config_limits.h"

namespace forebay {

// --- what a file may hold, aliases followed
inline constexpr size_t kYamlBytesMax = limits::kConfigBytesMax;
inline constexpr size_t kYamlNodesMax = 200'000;
inline constexpr size_t kYamlDepthMax = 100;

// Reads the first document of YAML, and so JSON. What stands in quotes stays text; of bare words,
// `true`, `on` and their like are booleans, and numbers are numbers. Aliases are copied, within the
// limits above. An error says what is wrong, with line and column; a key that is given twice is
// one.
absl::StatusOr<google::protobuf::Value> parseYaml(std::string_view text);

}  // namespace forebay
