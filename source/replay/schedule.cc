#include "source/replay/schedule.h"

#include "source/base/limits.h"

namespace forebay {

MarksByUpstream planMarks(absl::Span<const SelectedEvent> selected,
                          const ReplaySchedule& schedule) {
  MarksByUpstream marks;
  for (size_t i = 0; i < selected.size(); ++i) {
    marks[selected[i].upstream].push_back({selected[i].id, schedule.dueAt(i), schedule.job});
  }
  return marks;
}

uint64_t MarkResult::total() const {
  uint64_t sum = 0;
  for (const auto& [upstream, count] : marked) {
    sum += count;
  }
  return sum;
}

MarkResult applyMarks(EventStore& store, const MarksByUpstream& marks) {
  MarkResult result;
  for (const auto& [upstream, of_upstream] : marks) {
    absl::Span<const ReplayMark> rest = of_upstream;
    while (!rest.empty()) {
      const absl::Span<const ReplayMark> chunk = rest.subspan(0, limits::kReplayMarksPerWrite);
      const absl::StatusOr<size_t> taken = store.markDue(chunk);
      if (!taken.ok()) {
        result.status = taken.status();
        return result;
      }
      if (*taken > 0) {
        result.marked[upstream] += *taken;
      }
      rest.remove_prefix(chunk.size());
    }
  }
  return result;
}

}  // namespace forebay
