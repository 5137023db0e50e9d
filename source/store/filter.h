#pragma once

#include "api/forebay/v1/event.pb.h"
#include "source/event/event_id.h"
#include "source/store/event_store.h"

namespace forebay {

// What an EventFilter means, the same in every store. Pure. Cheap questions first: a store asks
// the id and the state before it reads the event.

// Ids from `first` on and before `end` are within the filter's times. Ids count milliseconds, so
// a bound within a millisecond takes all of it.
struct IdRange {
  EventId first;
  EventId end;
};
IdRange idRange(const EventFilter& filter, std::optional<EventId> before);

bool matchesState(const EventFilter& filter, const v1::EventState& state);
bool matchesText(const EventFilter& filter, const v1::EventRecord& record);

}  // namespace forebay
