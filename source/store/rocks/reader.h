#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "source/event/event.h"
#include "source/store/event_store.h"
#include "source/store/rocks/database.h"

namespace forebay::rocks {

// Stored bytes as messages, checked. All: NotFound when there is none, DataLoss when it can't be
// read. An error of the disk is DataLoss too, after a second try: for this record it is the same.

absl::StatusOr<v1::EventState> readState(Database& database, const EventId& id);
absl::StatusOr<EventPtr> readEvent(Database& database, const EventId& id);
absl::StatusOr<StoredEvent> readStored(Database& database, const EventId& id);
absl::StatusOr<std::vector<v1::AttemptRecord>> readAttempts(Database& database, const EventId& id);

// Many at once; the results are in the order of the ids.
std::vector<absl::StatusOr<v1::EventState>> readStates(Database& database,
                                                       absl::Span<const EventId> ids);
std::vector<absl::StatusOr<EventPtr>> readEvents(Database& database, absl::Span<const EventId> ids);

// Bytes that are a state, or DataLoss.
absl::StatusOr<v1::EventState> parseState(const EventId& id, const rocksdb::Slice& bytes);

}  // namespace forebay::rocks
