#include "source/config/config.h"

#include <algorithm>

#include "google/protobuf/util/json_util.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/config/config_limits.h"
#include "source/config/struct_to_message.h"
#include "source/config/validators.h"

namespace forebay {

namespace {

// The deepest nesting of brackets; text within quotes has none.
size_t depthOf(std::string_view json) {
  size_t depth = 0;
  size_t deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (quoted) {
      if (json[i] == '\\') {
        ++i;  // what is escaped can't end the string
      } else if (json[i] == '"') {
        quoted = false;
      }
    } else if (json[i] == '"') {
      quoted = true;
    } else if (json[i] == '{' || json[i] == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((json[i] == '}' || json[i] == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

// Fills `message` as far as the JSON allows.
void readJson(std::string_view json, google::protobuf::Message& message, ConfigErrors& errors) {
  if (json.empty()) {
    errors.add("", "is missing");
    return;
  }
  if (json.size() > limits::kConfigBytesMax) {
    errors.add("", cat("must be at most ", limits::kConfigBytesMax, " bytes long (got ",
                       json.size(), ")"));
    return;
  }
  // Protobuf has a limit of its own, but takes minutes to say so: its time grows with the square.
  if (depthOf(json) > limits::kConfigDepthMax) {
    errors.add("", cat("must not be nested deeper than ", limits::kConfigDepthMax));
    return;
  }
  google::protobuf::Value value;
  const auto parsed = google::protobuf::util::JsonStringToMessage(std::string(json), &value);
  if (!parsed.ok()) {
    errors.add("", cat("is not valid JSON: ", printable(std::string(parsed.message()))));
    return;
  }
  structToMessage(value, message, errors);
}

}  // namespace

const UpstreamConfig* EngineConfig::findUpstream(std::string_view name) const {
  for (const UpstreamConfig& upstream : upstreams) {
    if (upstream.name == name) {
      return &upstream;
    }
  }
  return nullptr;
}

absl::StatusOr<EngineConfig> parseEngineConfig(std::string_view json) {
  ConfigErrors errors;
  v1::BootstrapConfig message;
  readJson(json, message, errors);
  EngineConfig config = validateEngine(Section(message, "", errors));
  if (absl::Status status = errors.status(); !status.ok()) {
    return status;
  }
  return config;
}

absl::StatusOr<CaptureConfig> parseCaptureConfig(std::string_view json,
                                                 const EngineConfig& engine) {
  ConfigErrors errors;
  v1::CaptureFilterConfig message;
  readJson(json, message, errors);
  CaptureConfig config = validateCapture(Section(message, "", errors), engine);
  if (absl::Status status = errors.status(); !status.ok()) {
    return status;
  }
  return config;
}

}  // namespace forebay
