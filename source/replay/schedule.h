#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "source/replay/selection.h"
#include "source/store/event_store.h"

namespace forebay {

struct ReplaySchedule {
  std::string job;
  absl::Time start;
  uint32_t rate_per_minute = 1;

  // Of the event at `index` in the order of capture: evenly spread, the first one at once.
  absl::Time dueAt(size_t index) const {
    return start + absl::Minutes(1) * static_cast<int64_t>(index) / rate_per_minute;
  }
};

// The marks of one upstream. They are written upstream by upstream, because the store says how
// many it took, not which.
using MarksByUpstream = absl::btree_map<std::string, std::vector<ReplayMark>>;
MarksByUpstream planMarks(absl::Span<const SelectedEvent> selected, const ReplaySchedule& schedule);

struct MarkResult {
  absl::btree_map<std::string, uint64_t> marked;  // by upstream, also when it failed half way
  absl::Status status;

  uint64_t total() const;
};

// Makes the events due, limits::kReplayMarksPerWrite to a write, and stops at the first error.
// Blocks on the disk.
MarkResult applyMarks(EventStore& store, const MarksByUpstream& marks);

}  // namespace forebay
