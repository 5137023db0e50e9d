#include "source/store/rocks/settler.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "source/base/strings.h"
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
  if (!to.order_key().empty()) {
    moveInOrder(upstream, id, from.order, to, ends_lease);
  }
  const auto [counts, added] = settled_.try_emplace(upstream);
  if (added) {
    counts->second = context_.book.settledCounts(upstream);
  }
  moveCount(counts->second, from.state, to.state());
  changes_.push_back({upstream, id, from, next, ends_lease});
}

void TransitionBatch::moveInOrder(std::string_view upstream, const EventId& id, OrderPlace from,
                                  const v1::EventState& to, bool ends_lease) {
  const OrderKey key{upstream, to.order_key()};
  const OrderPlace place = orderPlace(to);
  if (from != place && from != OrderPlace::None) {
    encodeOrderKey(upstream, from, key.key, id, key_);
    batch_.Delete(database_.family(Family::Order), key_);
  }
  if (from != place && place != OrderPlace::None) {
    context_.order.adding(key, place, id);
    encodeOrderKey(upstream, place, key.key, id, key_);
    batch_.Put(database_.family(Family::Order), key_, {});
  }
  touch(key).moved[id] = {place, ends_lease};
}

TransitionBatch::Touched& TransitionBatch::touch(const OrderKey& key) {
  encodeOrderKey(key.upstream, OrderPlace::None, key.key, EventId(), key_);
  Touched& touched = touched_[key_];
  if (touched.key.empty()) {
    touched.upstream.assign(key.upstream.data(), key.upstream.size());
    touched.key.assign(key.key.data(), key.key.size());
  }
  return touched;
}

absl::Status TransitionBatch::unparkFirst(Touched& touched) {
  const OrderKey key{touched.upstream, touched.key};
  const std::optional<EventId> holder = context_.book.keyHolder(key.upstream, key.key);
  if (holder.has_value()) {
    const auto moved = touched.moved.find(*holder);
    if (moved == touched.moved.end() || !moved->second.ends_lease) {
      return absl::OkStatus();
    }
  }
  // Whatever is captured meanwhile is younger.
  const EventId newest = context_.book.newestAdded();
  for (const OrderPlace place : {OrderPlace::Holds, OrderPlace::Behind}) {
    const absl::StatusOr<std::optional<Waiter>> stored = context_.order.first(
        database_, key, place, [&](const EventId& id) { return touched.moved.contains(id); });
    if (!stored.ok()) {
      return stored.status();
    }
    std::optional<EventId> first;
    if (stored->has_value()) {
      first = (*stored)->id;
    }
    for (const auto& [id, moved] : touched.moved) {
      if (moved.place == place && (!first.has_value() || id < *first)) {
        first = id;
      }
    }
    touched.low[place == OrderPlace::Holds ? 0 : 1] = first.value_or(newest);
    if (!first.has_value()) {
      continue;
    }
    // One that the batch moves itself is where it should be.
    if (stored->has_value() && (*stored)->id == *first && (*stored)->state.parked()) {
      v1::EventState unparked = (*stored)->state;
      unparked.set_parked(false);
      move(key.upstream, *first, placementOf((*stored)->state), unparked, false);
    }
    break;
  }
  return absl::OkStatus();
}

void TransitionBatch::addAttempt(const EventId& id, const v1::AttemptRecord& attempt) {
  attempt.SerializeToString(&value_);
  batch_.Put(database_.family(Family::Attempts), attemptKey(id, attempt.attempt()), value_);
}

absl::Status TransitionBatch::commit(bool sync, const char* what) {
  for (auto& [name, touched] : touched_) {
    const absl::Status status = unparkFirst(touched);
    if (!status.ok()) {
      return status;
    }
  }
  if (changes_.empty()) {
    return absl::OkStatus();
  }
  const absl::Status status = write(sync, what);
  if (!status.ok()) {
    return status;
  }
  for (const auto& [name, touched] : touched_) {
    for (const OrderPlace place : {OrderPlace::Holds, OrderPlace::Behind}) {
      const std::optional<EventId>& low = touched.low[place == OrderPlace::Holds ? 0 : 1];
      if (low.has_value()) {
        context_.order.noneBelow({touched.upstream, touched.key}, place, *low);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status TransitionBatch::write(bool sync, const char* what) {
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
    if (settlement.state.order_key() != lease->order_key) {
      return absl::InvalidArgumentError(
          absl::StrCat("event ", settlement.id.toString(), ": its order key can't change"));
    }
    batch.move(lease->upstream, settlement.id, lease->placement, settlement.state, true);
    if (settlement.attempt.has_value()) {
      batch.addAttempt(settlement.id, *settlement.attempt);
    }
  }
  const absl::Status status = batch.empty() ? absl::OkStatus() : batch.commit(false, "settle");
  if (status.ok()) {
    context.in_flight.remove(ids);
  }
  return status;
}

void recordCrashes(StoreContext& context) {
  const InFlight::Left left = context.in_flight.read();
  const std::vector<absl::StatusOr<v1::EventState>> states =
      readStates(*context.database, left.ids);
  TransitionBatch batch(context, *context.database);
  std::map<std::string_view, uint64_t> poison;  // by lane
  for (size_t i = 0; i < left.ids.size(); ++i) {
    if (!states[i].ok() || states[i]->due_at_us() == 0) {
      continue;
    }
    const v1::EventState& state = *states[i];
    if (!left.same_boot) {
      if (!state.order_key().empty()) {
        batch.ended({state.upstream(), state.order_key()});
      }
      continue;
    }
    const v1::EventState crashed = crashedState(state);
    batch.move(state.upstream(), left.ids[i], placementOf(state), crashed, false);
    if (crashed.state() == v1::STATE_DEAD) {
      ++poison[state.upstream()];
      context.log.warn(cat("lane ", printable(state.upstream()), ": event ", left.ids[i].toString(),
                           " was in flight when the process died, ", crashed.crashes(),
                           " times in a row; it is dead now (poison)"));
    }
  }
  const absl::Status status =
      batch.empty() ? absl::OkStatus() : batch.commit(true, "record crashes");
  if (!status.ok()) {
    context.log.error(cat("events in flight at a crash were not recorded: ", status.message()));
    return;
  }
  for (const auto& [upstream, count] : poison) {
    context.stats.add(Counter::Dead, {upstream, "poison"}, count);
  }
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
