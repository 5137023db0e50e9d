#include "source/store/rocks/settler.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"

namespace forebay::rocks {

void TransitionBatch::move(std::string_view upstream, const EventId& id, const Placement& from,
                           const v1::EventState& to, bool ends_lease) {
  const Placement next = placementOf(to);
  to.SerializeToString(&value_);
  batch_.Put(database_.family(Family::State), toSlice(id.bytes()), value_);
  if (from.due_us > 0 && (from.due_us != next.due_us || from.queue != next.queue)) {
    encodeDueKey(upstream, from.queue, {from.due_us, id}, key_);
    batch_.Delete(database_.family(Family::Due), key_);
  }
  if (next.due_us > 0) {
    encodeDueKey(upstream, next.queue, {next.due_us, id}, key_);
    batch_.Put(database_.family(Family::Due), key_, {});
  }
  if (from.state != to.state()) {
    if (isSetAside(from.state)) {
      batch_.Delete(database_.family(Family::SetAside),
                    setAsideKey(static_cast<uint8_t>(from.state), id));
    }
    if (isSetAside(to.state())) {
      batch_.Put(database_.family(Family::SetAside),
                 setAsideKey(static_cast<uint8_t>(to.state()), id), {});
    }
  }
  const auto [counts, added] = settled_.try_emplace(upstream);
  if (added) {
    counts->second = context_.book.settledCounts(upstream);
  }
  moveCount(counts->second, from.state, to.state());
  changes_.push_back({upstream, id, from, next, ends_lease});
}

void TransitionBatch::addAttempt(const EventId& id, const v1::AttemptRecord& attempt) {
  attempt.SerializeToString(&value_);
  batch_.Put(database_.family(Family::Attempts), attemptKey(id, attempt.attempt()), value_);
}

absl::Status TransitionBatch::commit(bool sync, const char* what) {
  for (const auto& [upstream, counts] : settled_) {
    batch_.Put(metaKey(kSettledPrefix, upstream), counts.SerializeAsString());
  }
  const absl::Status status = context_.write(batch_, sync, what);
  if (status.ok()) {
    context_.book.apply(changes_, settled_);
  }
  return status;
}

absl::Status settle(StoreContext& context, absl::Span<const Settlement> settlements) {
  absl::ReaderMutexLock opening(&context.opening);
  if (context.database == nullptr) {
    return context.notOpen();
  }
  absl::MutexLock transitions(&context.transitions);
  TransitionBatch batch(context, *context.database);
  std::vector<EventId> ids;
  ids.reserve(settlements.size());
  for (const Settlement& settlement : settlements) {
    ids.push_back(settlement.id);
  }
  const std::vector<std::optional<Lease>> leases = context.book.leases(ids);
  absl::flat_hash_set<EventId> seen;
  for (size_t i = 0; i < settlements.size(); ++i) {
    const Settlement& settlement = settlements[i];
    const std::optional<Lease>& lease = leases[i];
    if (!lease.has_value() || !seen.insert(settlement.id).second) {
      return absl::FailedPreconditionError(
          absl::StrCat("event ", settlement.id.toString(), ": settled without a lease"));
    }
    const absl::Status valid = checkSettlement(settlement, lease->upstream, lease->sequence);
    if (!valid.ok()) {
      return valid;
    }
    batch.move(lease->upstream, settlement.id, lease->placement, settlement.state, true);
    if (settlement.attempt.has_value()) {
      batch.addAttempt(settlement.id, *settlement.attempt);
    }
  }
  return batch.empty() ? absl::OkStatus() : batch.commit(false, "settle");
}

absl::StatusOr<size_t> markDue(StoreContext& context, absl::Span<const ReplayMark> marks) {
  size_t marked = 0;
  {
    absl::ReaderMutexLock opening(&context.opening);
    if (context.database == nullptr) {
      return context.notOpen();
    }
    absl::MutexLock transitions(&context.transitions);
    TransitionBatch batch(context, *context.database);
    std::vector<v1::EventState> states;
    states.reserve(marks.size());  // the batch keeps views of their upstreams
    absl::flat_hash_set<EventId> seen;
    for (const ReplayMark& mark : marks) {
      if (!seen.insert(mark.id).second || !context.book.isAdded(mark.id) ||
          context.book.lease(mark.id).has_value()) {
        continue;
      }
      absl::StatusOr<v1::EventState> state = readState(*context.database, mark.id);
      if (!state.ok()) {
        continue;
      }
      states.push_back(*std::move(state));
      const v1::EventState& held = states.back();
      batch.move(held.upstream(), mark.id, placementOf(held), replayedState(held, mark), false);
      ++marked;
    }
    const absl::Status status = batch.empty() ? absl::OkStatus() : batch.commit(true, "mark due");
    if (!status.ok()) {
      return status;
    }
  }
  context.wake();
  return marked;
}

}  // namespace forebay::rocks
