#pragma once

#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "source/admin/shapes.h"
#include "source/delivery/lane_control.h"
#include "source/store/event_store.h"

namespace forebay {

// Every upstream that is configured, in the config's order, then by name those that only have
// events left from an earlier configuration.
std::vector<UpstreamView> upstreamViews(EventStore& store, LaneControl& lanes, absl::Time now);

}  // namespace forebay
