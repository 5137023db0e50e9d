#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "source/admin/query.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/delivery/lane_control.h"
#include "source/event/event_id.h"
#include "source/store/event_store.h"

namespace forebay {

struct AdminRequest {
  std::string method;
  std::string path_and_query;
  std::string body;
};

struct AdminResponse {
  int status = 200;
  std::string content_type;
  std::string body;
};

// Everything must outlive the Admin.
struct AdminDeps {
  EventStore& store;
  LaneControl& lanes;
  const Clock& clock;
  StatsSink& stats;
  Log& log;
  Random& random;             // for job ids; nobody else's
  std::string envoy_version;  // empty when unknown
};

// What an operator may ask and do: one table of routes, served by Envoy's admin, and by whatever
// else translates its own paths to these. Every answer but a body's is JSON (docs/api.md). Safe
// from any thread; blocks on the disk, so never call it on an Envoy worker.
class Admin {
public:
  using Result = absl::StatusOr<AdminResponse>;

  struct Route {
    std::string_view path;  // without the query; matched exactly
    bool mutating;          // POST; otherwise GET
    std::string_view help;
    absl::Span<const std::string_view> parameters;  // of the query
    Result (Admin::*handler)(const Query& query, std::string_view body);
  };
  static absl::Span<const Route> routes();

  explicit Admin(AdminDeps deps);

  AdminResponse handle(const AdminRequest& request);

private:
  static const Route kRoutes[];

  Result status(const Query& query, std::string_view body);
  Result events(const Query& query, std::string_view body);
  Result event(const Query& query, std::string_view body);
  Result eventBody(const Query& query, std::string_view body);
  Result replay(const Query& query, std::string_view body);
  Result upstreams(const Query& query, std::string_view body);
  Result pause(const Query& query, std::string_view body);
  Result resume(const Query& query, std::string_view body);

  Result dispatch(const AdminRequest& request);
  Result setPaused(const Query& query, std::string_view body, bool paused);
  std::string nextJobId(absl::Time now);

  const AdminDeps deps_;
  const MonotonicTime started_;
  absl::Mutex ids_mutex_;
  EventIdGenerator ids_ ABSL_GUARDED_BY(ids_mutex_);
};

}  // namespace forebay
