#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "source/base/limits.h"
#include "source/store/event_store.h"

namespace forebay {

struct ReplayRequest {
  std::vector<EventId> ids;
  std::optional<EventFilter> filter;  // instead of ids
  uint32_t rate_per_minute = limits::kReplayRateDefault;
  bool dry_run = false;
};

// Reads the JSON body of a replay. InvalidArgument names the field, as in `filter.since` or
// `ids[3]`, and its value.
absl::StatusOr<ReplayRequest> parseReplayRequest(std::string_view body, absl::Time now);

// For a POST that takes everything from its query: the body is empty, or an object without fields.
absl::Status checkNoFields(std::string_view body);

}  // namespace forebay
