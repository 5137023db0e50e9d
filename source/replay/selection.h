#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "source/store/event_store.h"

namespace forebay {

struct SelectedEvent {
  EventId id;
  std::string upstream;
};

// Which events a replay is about, in the order of their capture, each once. Both block on the
// disk. A store's error comes back as it is.

// Leaves out what is not there or can't be read; when that is all of them, the first such error.
absl::StatusOr<std::vector<SelectedEvent>> selectByIds(EventStore& store,
                                                       absl::Span<const EventId> ids);

// OutOfRange, with the reason, when more than limits::kReplayEventsMax match or the search does
// not come to an end: never a silent part of what was asked for.
absl::StatusOr<std::vector<SelectedEvent>> selectByFilter(EventStore& store,
                                                          const EventFilter& filter);

}  // namespace forebay
