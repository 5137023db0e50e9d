#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "source/config/config.h"

namespace forebay {

// Reads Forebay's configuration out of `text`: an Envoy bootstrap (YAML or JSON) that holds the
// bootstrap extension, or Forebay's own part alone (`store`, `upstreams`). An error holds every
// mistake, one a line, in the words of parseEngineConfig(), or says what was looked for and what
// was found.
absl::StatusOr<EngineConfig> readEngineConfig(std::string_view text);

// The same from a file. An error begins with its name.
absl::StatusOr<EngineConfig> readEngineConfigFile(const std::string& path);

}  // namespace forebay
