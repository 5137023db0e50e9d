#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "api/forebay/v1/event.pb.h"

namespace forebay {

// The words that the API, the metrics and the logs use.
std::string_view stateName(v1::State state);
std::string_view deadReasonName(v1::DeadReason reason);
std::string_view verifiedName(v1::Verified verified);

// Names the text that is no state.
absl::StatusOr<v1::State> parseState(std::string_view name);

}  // namespace forebay
