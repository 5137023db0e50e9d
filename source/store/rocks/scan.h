#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "source/store/event_store.h"
#include "source/store/rocks/database.h"

namespace forebay::rocks {

// As EventStore::scan(). Reads states, which are small, and the events only of those that match;
// dead and quarantined ones are found through their own index. A page also ends when it holds
// kPageBytesMax of events. An event that can't be read is shown by its state alone.
absl::StatusOr<ScanPage> scan(Database& database, const EventFilter& filter,
                              std::optional<EventId> before, size_t limit);

inline constexpr uint64_t kPageBytesMax = 32 << 20;

}  // namespace forebay::rocks
