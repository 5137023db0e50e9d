#include "source/admin/admin.h"

#include <utility>

#include "absl/status/status.h"
#include "source/admin/answers.h"
#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

constexpr std::string_view kEventsParameters[] = {"state", "source", "upstream", "since",
                                                  "until", "q",      "limit",    "cursor"};
constexpr std::string_view kIdParameter[] = {"id"};
constexpr std::string_view kUpstreamParameter[] = {"upstream"};

}  // namespace

constexpr Admin::Route Admin::kRoutes[] = {
    {"/forebay", false, "Forebay: version, store, totals and upstreams", {}, &Admin::status},
    {"/forebay/events", false, "stored events, newest first; filters in the query",
     kEventsParameters, &Admin::events},
    {"/forebay/event", false, "one event and its attempts (?id=)", kIdParameter, &Admin::event},
    {"/forebay/event/body", false, "the raw body of one event (?id=)", kIdParameter,
     &Admin::eventBody},
    {"/forebay/replay",
     true,
     "deliver stored events again; what and how in a JSON body",
     {},
     &Admin::replay},
    {"/forebay/upstreams",
     false,
     "breaker, backlog and age of each upstream",
     {},
     &Admin::upstreams},
    {"/forebay/pause", true, "stop delivering to an upstream (?upstream=)", kUpstreamParameter,
     &Admin::pause},
    {"/forebay/resume", true, "deliver to a paused upstream again (?upstream=)", kUpstreamParameter,
     &Admin::resume},
};

absl::Span<const Admin::Route> Admin::routes() { return kRoutes; }

Admin::Admin(AdminDeps deps)
    : deps_(std::move(deps)), started_(deps_.clock.monotonicNow()), ids_(deps_.random) {}

AdminResponse Admin::handle(const AdminRequest& request) {
  Result result = dispatch(request);
  return result.ok() ? *std::move(result) : errorAnswer(result.status());
}

Admin::Result Admin::dispatch(const AdminRequest& request) {
  const auto [path, query_text] = splitOnce(request.path_and_query, '?');
  for (const Route& route : kRoutes) {
    if (route.path != path) {
      continue;
    }
    const bool allowed = route.mutating ? request.method == "POST"
                                        : request.method == "GET" || request.method == "HEAD";
    if (!allowed) {
      return absl::UnimplementedError(cat("method: \"", printable(request.method, 32),
                                          "\" is not for ", route.path, ", which wants ",
                                          route.mutating ? "POST" : "GET"));
    }
    if (request.body.size() > limits::kAdminBodyBytesMax) {
      return absl::InvalidArgumentError(cat("body: \"", request.body.size(),
                                            "\" bytes are more than ", limits::kAdminBodyBytesMax));
    }
    absl::StatusOr<Query> query = Query::parse(query_text, route.parameters);
    if (!query.ok()) {
      return query.status();
    }
    return (this->*route.handler)(*query, request.body);
  }
  return absl::NotFoundError(cat("no route \"", printable(path), "\""));
}

std::string Admin::nextJobId(absl::Time now) {
  absl::MutexLock lock(&ids_mutex_);
  return ids_.next(now).toString();
}

}  // namespace forebay
