#include "source/store/filter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/time/time.h"

namespace forebay {

IdRange idRange(const EventFilter& filter, std::optional<EventId> before) {
  IdRange range;
  range.end = EventId::lastAt(absl::InfiniteFuture());
  if (filter.since > absl::UnixEpoch()) {
    range.first = EventId::firstAt(filter.since);
  }
  if (filter.until < absl::InfiniteFuture()) {
    const absl::Time up = filter.until + absl::Milliseconds(1) - absl::Nanoseconds(1);
    range.end = EventId::firstAt(up);
  }
  if (before.has_value()) {
    range.end = std::min(range.end, *before);
  }
  return range;
}

bool matchesState(const EventFilter& filter, const v1::EventState& state) {
  return (!filter.state.has_value() || *filter.state == state.state()) &&
         (filter.source.empty() || filter.source == state.source()) &&
         (filter.upstream.empty() || filter.upstream == state.upstream());
}

bool matchesText(const EventFilter& filter, const v1::EventRecord& record) {
  if (filter.text.empty() || absl::StrContains(record.path(), filter.text) ||
      absl::StrContains(record.body(), filter.text)) {
    return true;
  }
  return std::any_of(
      record.headers().begin(), record.headers().end(),
      [&](const v1::Header& header) { return absl::StrContains(header.value(), filter.text); });
}

}  // namespace forebay
