#include "source/sim/observed_store.h"

namespace forebay::sim {

absl::StatusOr<std::vector<LeasedEvent>> ObservedStore::leaseDue(std::string_view upstream,
                                                                 absl::Time now,
                                                                 const LeaseLimits& limits) {
  absl::StatusOr<std::vector<LeasedEvent>> leased = store_.leaseDue(upstream, now, limits);
  if (leased.ok()) {
    for (const LeasedEvent& event : *leased) {
      observer_.onLease(event);
    }
  }
  return leased;
}

absl::Status ObservedStore::settle(absl::Span<const Settlement> settlements) {
  const absl::Status settled = store_.settle(settlements);
  if (settled.ok()) {
    for (const Settlement& settlement : settlements) {
      observer_.onSettle(settlement);
    }
  }
  return settled;
}

void ObservedStore::release(std::string_view upstream, absl::Span<const EventId> ids) {
  store_.release(upstream, ids);
  for (const EventId& id : ids) {
    observer_.onRelease(id);
  }
}

absl::StatusOr<size_t> ObservedStore::markDue(absl::Span<const ReplayMark> marks) {
  for (const ReplayMark& mark : marks) {
    observer_.onReplay(mark);
  }
  return store_.markDue(marks);
}

}  // namespace forebay::sim
