#include "source/replay/selection.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay {

absl::StatusOr<std::vector<SelectedEvent>> selectByIds(EventStore& store,
                                                       absl::Span<const EventId> ids) {
  // Ids grow with the time of capture.
  std::vector<EventId> ordered(ids.begin(), ids.end());
  std::sort(ordered.begin(), ordered.end());
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());

  std::vector<SelectedEvent> selected;
  absl::Status first_missing;
  for (const EventId& id : ordered) {
    absl::StatusOr<StoredEvent> stored = store.read(id);
    if (stored.ok()) {
      selected.push_back({id, stored->state.upstream()});
    } else if (absl::IsNotFound(stored.status()) || absl::IsDataLoss(stored.status())) {
      first_missing.Update(stored.status());
    } else {
      return stored.status();
    }
  }
  if (selected.empty() && !first_missing.ok()) {
    return first_missing;
  }
  return selected;
}

absl::StatusOr<std::vector<SelectedEvent>> selectByFilter(EventStore& store,
                                                          const EventFilter& filter) {
  std::vector<SelectedEvent> selected;
  std::optional<EventId> before;
  size_t empty_pages = 0;
  do {
    absl::StatusOr<ScanPage> page = store.scan(filter, before, limits::kScanStepEvents);
    if (!page.ok()) {
      return page.status();
    }
    for (const StoredEvent& stored : page->events) {
      selected.push_back({stored.event->id, stored.state.upstream()});
    }
    if (selected.size() > limits::kReplayEventsMax) {
      return absl::OutOfRangeError(cat("matches more than ", limits::kReplayEventsMax,
                                       " events; narrow it, with since and until say"));
    }
    // A page that found nothing has cost the store as much as one page may.
    empty_pages += page->events.empty() ? 1 : 0;
    if (page->next && empty_pages >= limits::kReplayEmptyPagesMax) {
      return absl::OutOfRangeError(
          cat("is a search for few among many, given up before its end after ", selected.size(),
              " matches; narrow it, with since and until say"));
    }
    before = page->next;
  } while (before);
  std::reverse(selected.begin(), selected.end());
  return selected;
}

}  // namespace forebay
