#include "source/admin/upstream_views.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace forebay {

std::vector<UpstreamView> upstreamViews(EventStore& store, LaneControl& lanes, absl::Time now) {
  absl::flat_hash_map<std::string, LaneTotals> totals = store.totals();
  std::vector<UpstreamView> views;
  for (LaneStatus& lane : lanes.lanes()) {
    UpstreamView& view = views.emplace_back();
    if (const auto found = totals.find(lane.name); found != totals.end()) {
      view.totals = found->second;
      totals.erase(found);
    }
    view.lane = std::move(lane);
  }
  const size_t configured = views.size();
  for (const auto& [name, of_upstream] : totals) {
    UpstreamView& view = views.emplace_back();
    view.lane.name = name;
    view.orphaned = true;
    view.totals = of_upstream;
  }
  std::sort(views.begin() + configured, views.end(),
            [](const UpstreamView& a, const UpstreamView& b) { return a.lane.name < b.lane.name; });
  for (UpstreamView& view : views) {
    if (const std::optional<absl::Time> oldest = store.oldestWaiting(view.lane.name)) {
      view.oldest_pending = now - *oldest;
    }
  }
  return views;
}

}  // namespace forebay
