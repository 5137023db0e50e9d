#include "source/delivery/attempt.h"

#include "absl/time/time.h"
#include "source/base/strings.h"
#include "source/event/headers.h"
#include "source/event/names.h"

namespace forebay {
namespace {

constexpr size_t kHeadersAdded = 12;  // pseudo headers, content-length and ours

}  // namespace

OutgoingRequest buildRequest(const LeasedEvent& leased, const UpstreamConfig& upstream,
                             uint32_t attempt, uint64_t token) {
  const v1::EventRecord& record = leased.event->record;
  OutgoingRequest request;
  request.token = token;
  request.cluster = upstream.cluster;
  request.timeout = upstream.timeout;
  request.event = leased.event;

  auto& headers = request.headers;
  headers.reserve(record.headers_size() + kHeadersAdded);
  headers.emplace_back(":method", record.method());
  headers.emplace_back(":path", record.path());
  // Envoy sends nothing without a host; an HTTP/1.0 sender may have given none.
  headers.emplace_back(":authority",
                       record.authority().empty() ? upstream.cluster : record.authority());
  if (!record.scheme().empty()) {
    headers.emplace_back(":scheme", record.scheme());
  }
  const ForwardedHeaders forwarded(record);
  for (const v1::Header& header : record.headers()) {
    if (forwarded.allows(header.name())) {
      headers.emplace_back(header.name(), header.value());
    }
  }
  // Without it Envoy would send the body chunked, which the sender may not have done.
  headers.emplace_back("content-length", cat(record.body().size()));
  headers.emplace_back("forebay-event-id", leased.event->id.toString());
  headers.emplace_back("forebay-attempt", cat(attempt));
  headers.emplace_back("forebay-source", record.source());
  headers.emplace_back(
      "forebay-received-at",
      absl::FormatTime("%Y-%m-%d%ET%H:%M:%E6SZ", absl::FromUnixMicros(record.received_at_us()),
                       absl::UTCTimeZone()));
  headers.emplace_back("forebay-verified", std::string(verifiedName(record.verified())));
  if (!leased.state.replay().empty()) {
    headers.emplace_back("forebay-replay", leased.state.replay());
  }
  return request;
}

}  // namespace forebay
