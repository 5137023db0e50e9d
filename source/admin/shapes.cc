#include "source/admin/shapes.h"

#include <algorithm>

#include "source/admin/time_text.h"
#include "source/event/headers.h"
#include "source/event/names.h"
#include "source/policy/circuit_breaker.h"

namespace forebay {
namespace {

constexpr std::string_view kRedacted = "[redacted]";

void writeAttempt(const v1::AttemptRecord& attempt, JsonWriter& json) {
  json.beginObject();
  json.text("at", formatTimeUs(attempt.at_us()));
  json.number("attempt", attempt.attempt());
  json.textIfAny("outcome", attempt.outcome());
  if (attempt.status() > 0) {
    json.number("status", attempt.status());
  }
  json.textIfAny("error", attempt.error());
  json.number("duration_ms", attempt.duration_us() / 1000);
  if (attempt.next_at_us() != 0) {
    json.text("next_at", formatTimeUs(attempt.next_at_us()));
  }
  json.textIfAny("next_because", attempt.next_because());
  json.textIfAny("answer", attempt.answer());
  json.endObject();
}

void writeTotals(const LaneTotals& totals, JsonWriter& json) {
  json.beginObject("totals");
  json.number("accepted", totals.accepted);
  json.number("pending", totals.pending);
  json.number("retrying", totals.retrying);
  json.number("delivered", totals.delivered);
  json.number("dead", totals.dead);
  json.number("quarantined", totals.quarantined);
  json.endObject();
}

void writeStore(const StoreHealth& store, JsonWriter& json) {
  json.beginObject("store");
  json.textIfAny("path", store.path);
  json.number("bytes", store.bytes);
  json.number("bytes_max", store.bytes_max);
  json.boolean("read_only", store.read_only);
  json.textIfAny("reason", store.reason);
  json.endObject();
}

}  // namespace

void writeEventFields(const StoredEvent& stored, JsonWriter& json) {
  const v1::EventRecord& record = stored.event->record;
  const v1::EventState& state = stored.state;
  json.text("id", stored.event->id.toString());
  json.text("state", stateName(state.state()));
  if (state.state() == v1::STATE_DEAD) {
    json.textIfAny("reason", deadReasonName(state.reason()));
  }
  // The state's own copies: they can be read even when the record can't.
  json.textIfAny("source", state.source());
  json.textIfAny("upstream", state.upstream());
  json.text("verified", verifiedName(record.verified()));
  json.text("received_at", record.received_at_us() != 0 ? formatTimeUs(record.received_at_us())
                                                        : formatTime(stored.event->id.time()));
  json.textIfAny("method", record.method());
  json.textIfAny("path", record.path());
  json.number("body_bytes", record.body().size());
  json.number("attempts", state.attempts());
  if (state.parked()) {
    json.boolean("waits_for_order", true);
  } else if (state.due_at_us() != 0) {
    json.text("next_attempt_at", formatTimeUs(state.due_at_us()));
  }
  json.textIfAny("last_outcome", state.last_outcome());
  if (state.last_status() > 0) {
    json.number("last_status", state.last_status());
  }
}

void writeEventDetails(const StoredEvent& stored, absl::Span<const v1::AttemptRecord> attempts,
                       JsonWriter& json) {
  json.beginArray("headers");
  for (const v1::Header& header : stored.event->record.headers()) {
    json.beginObject();
    json.text("name", header.name());
    json.text("value", isSecretHeader(header.name()) ? kRedacted : header.value());
    json.endObject();
  }
  json.endArray();
  json.beginArray("attempt_log");
  for (const v1::AttemptRecord& attempt : attempts) {
    writeAttempt(attempt, json);
  }
  json.endArray();
  json.textIfAny("replay", stored.state.replay());
  json.textIfAny("order_key", stored.state.order_key());
}

void writeUpstream(const UpstreamView& upstream, JsonWriter& json) {
  const LaneStatus& lane = upstream.lane;
  json.beginObject();
  json.text("name", lane.name);
  json.textIfAny("cluster", lane.cluster);
  json.text("breaker", breakerStateName(lane.breaker));
  if (lane.breaker == BreakerState::Open && lane.next_probe_at) {
    json.text("next_probe_at", formatTime(*lane.next_probe_at));
  }
  json.boolean("paused", lane.paused);
  if (lane.paused) {
    json.textIfAny("pause_reason", lane.pause_reason);
  }
  json.number("backlog", upstream.totals.backlog());
  json.number("retrying", upstream.totals.retrying);
  json.number("in_flight", lane.in_flight);
  if (lane.ramp_percent < 100) {
    json.number("ramp_percent", lane.ramp_percent);
  }
  if (lane.retry_ratio_percent > 0) {
    json.number("retry_ratio_percent", lane.retry_ratio_percent);
  }
  if (lane.storm) {
    json.boolean("storm", true);
  }
  // Zero when nothing waits, and when a clock that stepped back would show a negative age.
  const absl::Duration oldest = upstream.oldest_pending.value_or(absl::ZeroDuration());
  json.number("oldest_pending_seconds", std::max<int64_t>(0, absl::ToInt64Seconds(oldest)));
  if (upstream.orphaned) {
    json.boolean("orphaned", true);
  }
  json.endObject();
}

void writeReplay(const ReplayView& replay, JsonWriter& json) {
  json.beginObject();
  json.text("id", replay.id);
  json.text("state", replay.state);
  json.number("matched", replay.matched);
  json.number("sent", 0);
  json.number("delivered", 0);
  json.number("failed", 0);
  json.number("rate_per_minute", replay.rate_per_minute);
  json.text("created_at", formatTime(replay.created_at));
  if (replay.estimated_end) {
    json.text("estimated_end", formatTime(*replay.estimated_end));
  }
  json.endObject();
}

void writeStatus(const StatusView& status, JsonWriter& json) {
  json.beginObject();
  json.text("version", status.version);
  json.textIfAny("envoy_version", status.envoy_version);
  json.number("uptime_seconds", absl::ToInt64Seconds(status.uptime));
  writeStore(status.store, json);
  writeTotals(status.totals, json);
  json.beginArray("upstreams");
  for (const UpstreamView& upstream : status.upstreams) {
    writeUpstream(upstream, json);
  }
  json.endArray();
  json.endObject();
}

}  // namespace forebay
