#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "source/store/event_store.h"
#include "source/store/rocks/context.h"

namespace forebay::rocks {

// Hands out what is due: the windows of the book, refilled from the due index on disk. Safe from
// any thread.
class DueQueue {
public:
  explicit DueQueue(StoreContext& context) : context_(context) {}

  // As in EventStore. Parks at most 10,000 events in one call, and then returns what it has;
  // nextDue() says that there is more. Where some of a call's events are parked, those after them
  // were chosen as though they had not been.
  absl::StatusOr<std::vector<LeasedEvent>> leaseDue(std::string_view upstream, absl::Time now,
                                                    const LeaseLimits& limits);
  absl::Time nextDue(std::string_view upstream);
  void release(std::string_view upstream, absl::Span<const EventId> ids);
  // Gives back all leases: the store closes. What was in flight has not crashed.
  void releaseAll() ABSL_SHARED_LOCKS_REQUIRED(context_.opening);

  // After a reopening: leases are brought in line with what is on disk now. An event whose
  // settling failed may be found settled.
  void refreshLeases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.opening);

private:
  // Reads on from the end of each window that holds fewer than `wanted`.
  absl::Status refill(std::string_view upstream, size_t wanted)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  // Adds to `leased`, reading those events that are not in memory. What can't be read is left out
  // and made dead. On an error nothing is added and what was taken is given back.
  absl::Status load(std::string_view upstream, std::vector<Taken>&& taken,
                    std::vector<LeasedEvent>& leased) ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  void giveBack(std::string_view upstream, absl::Span<const EventId> ids)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  // Moves those of `leased` from `begin` on that must wait for another event of their key to
  // `waiting`.
  absl::Status sortOut(std::string_view upstream, size_t begin, std::vector<LeasedEvent>& leased,
                       std::vector<LeasedEvent>& waiting)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  absl::StatusOr<bool> mustWait(std::string_view upstream, const LeasedEvent& leased)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  absl::Status park(std::string_view upstream, absl::Span<const LeasedEvent> waiting)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  absl::Status buryCorrupt(std::string_view upstream, absl::Span<const LeasedEvent> corrupt)
      ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);

  StoreContext& context_;
  std::vector<EventId> ids_ ABSL_GUARDED_BY(context_.transitions);  // memory that is reused
};

}  // namespace forebay::rocks
