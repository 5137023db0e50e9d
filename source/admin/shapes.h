#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/forebay/v1/event.pb.h"
#include "source/admin/json_writer.h"
#include "source/delivery/lane_control.h"
#include "source/store/event_store.h"

namespace forebay {

// The contract's shapes: names, order, and which fields are left out when.

// The fields of EVENT, into an object that the caller opened.
void writeEventFields(const StoredEvent& stored, JsonWriter& json);
// What `event` has beyond EVENT. Credentials are shown as [redacted].
void writeEventDetails(const StoredEvent& stored, absl::Span<const v1::AttemptRecord> attempts,
                       JsonWriter& json);

struct UpstreamView {
  LaneStatus lane;
  bool orphaned = false;  // it has events, but the configuration no longer names it
  LaneTotals totals;
  std::optional<absl::Duration> oldest_pending;
};
void writeUpstream(const UpstreamView& upstream, JsonWriter& json);

struct ReplayView {
  std::string id;
  std::string_view state;
  uint64_t matched = 0;
  uint32_t rate_per_minute = 0;
  absl::Time created_at;
  std::optional<absl::Time> estimated_end;
};
void writeReplay(const ReplayView& replay, JsonWriter& json);

struct StatusView {
  std::string_view version;
  std::string_view envoy_version;
  absl::Duration uptime;
  StoreHealth store;
  LaneTotals totals;
  std::vector<UpstreamView> upstreams;
};
void writeStatus(const StatusView& status, JsonWriter& json);

}  // namespace forebay
