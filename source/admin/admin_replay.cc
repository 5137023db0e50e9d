// The handler that makes stored events due again.

#include <utility>
#include <vector>

#include "source/admin/admin.h"
#include "source/admin/answers.h"
#include "source/admin/filter_fields.h"
#include "source/admin/replay_request.h"
#include "source/admin/shapes.h"
#include "source/base/strings.h"
#include "source/replay/schedule.h"
#include "source/replay/selection.h"

namespace forebay {
namespace {

absl::StatusOr<std::vector<SelectedEvent>> select(EventStore& store, const ReplayRequest& request) {
  absl::StatusOr<std::vector<SelectedEvent>> selected =
      request.filter ? selectByFilter(store, *request.filter) : selectByIds(store, request.ids);
  if (absl::IsOutOfRange(selected.status())) {
    return absl::InvalidArgumentError(
        cat("filter: \"", describeFilter(*request.filter), "\" ", selected.status().message()));
  }
  if (!selected.ok()) {
    return fromBelow(selected.status());
  }
  return selected;
}

std::string auditLine(const ReplayRequest& request, const ReplaySchedule& schedule, size_t matched,
                      uint64_t marked) {
  const std::string what =
      request.filter ? describeFilter(*request.filter) : cat(request.ids.size(), " ids");
  return cat("admin: replay job=", schedule.job, " of ", what,
             " rate_per_minute=", schedule.rate_per_minute, " matched=", matched,
             " made_due=", marked);
}

}  // namespace

Admin::Result Admin::replay(const Query&, std::string_view body) {
  const absl::Time now = deps_.clock.wallNow();
  const absl::StatusOr<ReplayRequest> request = parseReplayRequest(body, now);
  if (!request.ok()) {
    return request.status();
  }
  const absl::StatusOr<std::vector<SelectedEvent>> selected = select(deps_.store, *request);
  if (!selected.ok()) {
    return selected.status();
  }

  const ReplaySchedule schedule{nextJobId(now), now, request->rate_per_minute};
  ReplayView view;
  view.id = schedule.job;
  view.state = "planned";
  view.matched = selected->size();
  view.rate_per_minute = schedule.rate_per_minute;
  view.created_at = now;
  if (!selected->empty()) {
    view.estimated_end = schedule.dueAt(selected->size() - 1);
  }
  if (!request->dry_run) {
    const MarkResult result = applyMarks(deps_.store, planMarks(*selected, schedule));
    for (const auto& [upstream, count] : result.marked) {
      deps_.stats.add(Counter::Replayed, {upstream}, count);
    }
    const std::string audit = auditLine(*request, schedule, selected->size(), result.total());
    if (!result.status.ok()) {
      deps_.log.warn(cat(audit, ", then failed: ", printable(toStd(result.status.message()))));
      return fromBelow(absl::Status(
          result.status.code(),
          cat(result.total(), " of ", selected->size(), " events were made due by job ",
              schedule.job, ", then: ", result.status.message())));
    }
    deps_.log.info(audit);
    // What is being delivered at this moment is left alone, and no part of the job.
    view.matched = result.total();
    view.state = view.matched > 0 ? "running" : "done";
  }
  JsonWriter json;
  writeReplay(view, json);
  return jsonAnswer(std::move(json));
}

}  // namespace forebay
