// The handlers that show and steer upstreams.

#include <utility>

#include "source/admin/admin.h"
#include "source/admin/answers.h"
#include "source/admin/replay_request.h"
#include "source/admin/shapes.h"
#include "source/admin/upstream_views.h"
#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/base/version.h"

namespace forebay {
namespace {

constexpr std::string_view kOperatorsReason = "paused by an operator";

LaneTotals sumOf(absl::Span<const UpstreamView> upstreams) {
  LaneTotals sum;
  for (const UpstreamView& upstream : upstreams) {
    sum.accepted += upstream.totals.accepted;
    sum.pending += upstream.totals.pending;
    sum.retrying += upstream.totals.retrying;
    sum.delivered += upstream.totals.delivered;
    sum.dead += upstream.totals.dead;
    sum.quarantined += upstream.totals.quarantined;
  }
  return sum;
}

}  // namespace

Admin::Result Admin::status(const Query&, std::string_view) {
  StatusView view;
  view.version = kVersion;
  view.envoy_version = deps_.envoy_version;
  view.uptime = deps_.clock.monotonicNow() - started_;
  view.store = deps_.store.health();
  view.upstreams = upstreamViews(deps_.store, deps_.lanes, deps_.clock.wallNow());
  view.totals = sumOf(view.upstreams);
  JsonWriter json;
  writeStatus(view, json);
  return jsonAnswer(std::move(json));
}

Admin::Result Admin::upstreams(const Query&, std::string_view) {
  JsonWriter json;
  json.beginObject();
  json.beginArray("upstreams");
  for (const UpstreamView& upstream :
       upstreamViews(deps_.store, deps_.lanes, deps_.clock.wallNow())) {
    writeUpstream(upstream, json);
  }
  json.endArray();
  json.endObject();
  return jsonAnswer(std::move(json));
}

Admin::Result Admin::pause(const Query& query, std::string_view body) {
  return setPaused(query, body, true);
}

Admin::Result Admin::resume(const Query& query, std::string_view body) {
  return setPaused(query, body, false);
}

Admin::Result Admin::setPaused(const Query& query, std::string_view body, bool paused) {
  const absl::StatusOr<std::string_view> name = query.require("upstream");
  if (!name.ok()) {
    return name.status();
  }
  if (const absl::Status status = checkNoFields(body); !status.ok()) {
    return status;
  }
  const absl::Status done =
      paused ? deps_.lanes.pause(*name, kOperatorsReason) : deps_.lanes.resume(*name);
  const std::string what =
      cat("admin: ", paused ? "pause" : "resume", " upstream=\"", printable(*name), "\"");
  if (!done.ok()) {
    deps_.log.warn(cat(what, " failed: ", printable(toStd(done.message()))));
    return fromBelow(done);
  }
  deps_.log.info(what);

  for (const UpstreamView& upstream :
       upstreamViews(deps_.store, deps_.lanes, deps_.clock.wallNow())) {
    if (upstream.lane.name == *name) {
      JsonWriter json;
      writeUpstream(upstream, json);
      return jsonAnswer(std::move(json));
    }
  }
  return absl::NotFoundError(cat("upstream \"", printable(*name), "\" is gone"));
}

}  // namespace forebay
