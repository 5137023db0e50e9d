#include "source/store/rocks/due_queue.h"

#include <map>

#include "source/base/strings.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"
#include "source/store/rocks/settler.h"

namespace forebay::rocks {
namespace {

// Parked in one call: each is a write, and whoever settles waits meanwhile.
constexpr size_t kParkedMax = 10'000;

struct DuePage {
  std::vector<DueKey> keys;
  DueKey next = DueKey::after();
};

// At most `count` entries of the queue from `from` on. A damaged block is stepped over: the rest
// of the lane must not wait for it.
absl::StatusOr<DuePage> readDue(Database& database, std::string_view upstream, Queue queue,
                                const DueKey& from, size_t count, Log& log) {
  std::string first;
  if (from == DueKey::before()) {
    first = dueBegin(upstream, queue);
  } else {
    encodeDueKey(upstream, queue, from, first);
  }
  const std::string last = dueEnd(upstream, queue);
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(last);
  const auto iterator = database.iterate(Family::Due, &lower, &upper, true);
  DuePage page;
  page.keys.reserve(count);
  std::string seen;
  encodeDueKey(upstream, queue, from, seen);
  iterator->SeekToFirst();
  while (true) {
    for (; iterator->Valid(); iterator->Next()) {
      const std::optional<DueKey> key = decodeDueKey(toView(iterator->key()));
      if (!key.has_value()) {
        continue;  // not one of ours; the audit reports it
      }
      if (page.keys.size() == count) {
        page.next = *key;
        return page;
      }
      page.keys.push_back(*key);
    }
    const rocksdb::Status status = iterator->status();
    if (status.ok()) {
      return page;
    }
    if (!page.keys.empty()) {
      encodeDueKey(upstream, queue, page.keys.back(), seen);
    }
    if (!status.IsCorruption() || !stepOver(*iterator, seen, true)) {
      return toStatus(status, cat("lane ", printable(upstream), ": due index"));
    }
    log.error(cat("lane ", printable(upstream),
                  ": a damaged part of the due index was passed over (", status.ToString(),
                  "); its events wait until it is rebuilt, with the store closed, ",
                  "by: forebay store accept-loss PATH"));
  }
}

}  // namespace

absl::Status DueQueue::refill(std::string_view upstream, size_t wanted) {
  // More than once for a queue when what was found is leased. Every turn moves a window's end on.
  while (const std::optional<LaneBook::Refill> refill =
             context_.book.beginRefill(upstream, wanted)) {
    absl::StatusOr<DuePage> page = readDue(*context_.database, upstream, refill->queue,
                                           refill->from, refill->room, context_.log);
    if (!page.ok()) {
      context_.book.abandonRefill(upstream, refill->queue);
      return page.status();
    }
    context_.book.endRefill(upstream, refill->queue, std::move(page->keys), page->next);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LeasedEvent>> DueQueue::leaseDue(std::string_view upstream,
                                                            absl::Time now,
                                                            const LeaseLimits& limits) {
  absl::ReaderMutexLock opening(&context_.opening);
  if (context_.database == nullptr) {
    return context_.notOpen();
  }
  absl::MutexLock transitions(&context_.transitions);
  std::vector<LeasedEvent> leased;
  std::vector<LeasedEvent> waiting;
  absl::Status status;
  LeaseLimits left = limits;
  bool more = left.events > 0;
  while (more && status.ok()) {
    status = refill(upstream, left.events);
    if (!status.ok()) {
      break;
    }
    LaneBook::Take take = context_.book.take(upstream, absl::ToUnixMicros(now), left);
    const size_t leased_before = leased.size();
    const size_t taken = take.taken.size();
    status = load(upstream, std::move(take.taken), leased);
    if (status.ok()) {
      status = sortOut(upstream, leased_before, leased, waiting);
    }
    for (size_t i = leased_before; i < leased.size(); ++i) {
      left.retries_max -= left.retries_max > 0 && queueOf(leased[i].state) == Queue::Retry;
    }
    left.events = limits.events - leased.size();
    // Those that were parked, or could not be read, leave room for others.
    more = (take.unsure || leased.size() - leased_before < taken) && left.events > 0 &&
           waiting.size() < kParkedMax;
  }
  if (status.ok()) {
    status = park(upstream, waiting);
  }
  if (!status.ok()) {
    std::vector<EventId> ids;
    for (const auto* const taken : {&leased, &waiting}) {
      for (const LeasedEvent& one : *taken) {
        ids.push_back(one.event->id);
      }
    }
    context_.book.giveBack(upstream, ids);
    return status;
  }
  ids_.clear();
  for (const LeasedEvent& one : leased) {
    ids_.push_back(one.event->id);
  }
  context_.in_flight.add(ids_);
  return leased;
}

absl::StatusOr<bool> DueQueue::mustWait(std::string_view upstream, const LeasedEvent& leased) {
  const OrderKey key{upstream, leased.state.order_key()};
  if (context_.book.keyHolder(key.upstream, key.key).has_value()) {
    return true;
  }
  const absl::StatusOr<std::optional<Waiter>> older =
      context_.order.olderHolder(*context_.database, key, leased.event->id);
  if (!older.ok()) {
    return older.status();
  }
  return older->has_value();
}

absl::Status DueQueue::sortOut(std::string_view upstream, size_t begin,
                               std::vector<LeasedEvent>& leased,
                               std::vector<LeasedEvent>& waiting) {
  size_t kept = begin;
  absl::Status status;
  for (size_t i = begin; i < leased.size(); ++i) {
    if (status.ok() && !leased[i].state.order_key().empty()) {
      const absl::StatusOr<bool> wait = mustWait(upstream, leased[i]);
      status = wait.status();
      if (wait.ok() && *wait) {
        waiting.push_back(std::move(leased[i]));
        continue;
      }
      context_.book.holdKey(leased[i].event->id);
    }
    if (kept != i) {
      leased[kept] = std::move(leased[i]);
    }
    ++kept;
  }
  leased.resize(kept);
  return status;
}

absl::Status DueQueue::park(std::string_view upstream, absl::Span<const LeasedEvent> waiting) {
  if (waiting.empty()) {
    return absl::OkStatus();
  }
  TransitionBatch batch(context_, *context_.database);
  v1::EventState parked;
  for (const LeasedEvent& one : waiting) {
    parked = one.state;
    parked.set_parked(true);
    batch.move(upstream, one.event->id, placementOf(one.state), parked, true);
  }
  return batch.commit(false, "park");
}

absl::Status DueQueue::load(std::string_view upstream, std::vector<Taken>&& taken,
                            std::vector<LeasedEvent>& leased) {
  std::vector<EventId> unread;
  for (const Taken& one : taken) {
    if (one.fresh.event == nullptr) {
      unread.push_back(one.key.id);
    }
  }
  std::vector<absl::StatusOr<v1::EventState>> states;
  std::vector<absl::StatusOr<EventPtr>> events;
  if (!unread.empty()) {
    states = readStates(*context_.database, unread);
    events = readEvents(*context_.database, unread);
  }

  const size_t before = leased.size();
  leased.reserve(before + taken.size());
  std::vector<LeasedEvent> corrupt;
  size_t next = 0;
  for (Taken& one : taken) {
    LeasedEvent& lease = leased.emplace_back();
    if (one.fresh.event != nullptr) {
      capturedState(one.fresh.event->record, one.fresh.sequence, lease.state);
      lease.event = std::move(one.fresh.event);
      continue;
    }
    absl::StatusOr<v1::EventState>& state = states[next];
    absl::StatusOr<EventPtr>& event = events[next++];
    if (state.ok()) {
      lease.state = *std::move(state);
      context_.book.describe(one.key.id, lease.state);
    }
    if (state.ok() && event.ok()) {
      lease.event = *std::move(event);
      continue;
    }
    context_.log.error(cat("lane ", printable(upstream), ": ",
                           std::string((event.ok() ? state.status() : event.status()).message()),
                           "; it is dead now"));
    // Whatever is known of it is kept; the rest is what a lane needs.
    auto named = std::make_shared<Event>();
    named->id = one.key.id;
    if (event.ok() && !state.ok()) {
      lease.state.set_source((*event)->record.source());
      lease.state.set_order_key((*event)->record.order_key());
    }
    lease.event = std::move(named);
    lease.state.set_upstream(std::string(upstream));
    corrupt.push_back(std::move(lease));
    leased.pop_back();
  }
  const absl::Status status = buryCorrupt(upstream, corrupt);
  if (!status.ok()) {
    std::vector<EventId> ids;
    for (const Taken& one : taken) {
      ids.push_back(one.key.id);
    }
    context_.book.giveBack(upstream, ids);
    leased.resize(before);
  }
  return status;
}

absl::Status DueQueue::buryCorrupt(std::string_view upstream,
                                   absl::Span<const LeasedEvent> corrupt) {
  if (corrupt.empty()) {
    return absl::OkStatus();
  }
  TransitionBatch batch(context_, *context_.database);
  for (const LeasedEvent& one : corrupt) {
    const std::optional<Lease> lease = context_.book.lease(one.event->id);
    Placement from = lease->placement;
    if (lease->order_key.empty() && !one.state.order_key().empty()) {
      from.order = OrderPlace::Holds;  // if at all: its state is lost, and it was not parked
    }
    batch.move(lease->upstream, one.event->id, from, corruptState(one.state), true);
  }
  const absl::Status status = batch.commit(false, "bury corrupt events");
  if (status.ok()) {
    context_.stats.add(Counter::Dead, {upstream, "corrupt"}, corrupt.size());
  }
  return status;
}

absl::Time DueQueue::nextDue(std::string_view upstream) {
  LaneBook::First first = context_.book.first(upstream);
  if (!first.known) {
    absl::ReaderMutexLock opening(&context_.opening);
    if (context_.database != nullptr) {
      absl::MutexLock transitions(&context_.transitions);
      const absl::Status status = refill(upstream, 1);
      if (!status.ok()) {
        context_.log.error(std::string(status.message()));
      }
      first = context_.book.first(upstream);
    }
  }
  return first.due;
}

void DueQueue::release(std::string_view upstream, absl::Span<const EventId> ids) {
  absl::ReaderMutexLock opening(&context_.opening);
  absl::MutexLock transitions(&context_.transitions);
  giveBack(upstream, ids);
}

void DueQueue::giveBack(std::string_view upstream, absl::Span<const EventId> ids) {
  std::vector<std::optional<Lease>> leases = context_.book.leases(ids);
  context_.book.giveBack(upstream, ids);
  context_.in_flight.remove(ids);
  std::erase_if(leases, [&](const std::optional<Lease>& lease) {
    return !lease.has_value() || lease->order_key.empty() || lease->upstream != upstream;
  });
  if (leases.empty() || context_.database == nullptr) {
    return;
  }
  TransitionBatch batch(context_, *context_.database);
  for (const std::optional<Lease>& lease : leases) {
    batch.ended({upstream, lease->order_key});
  }
  const absl::Status status = batch.commit(false, "release");
  if (!status.ok()) {
    // Those that wait for an event given back go on when it is leased again.
    context_.log.warn(std::string(status.message()));
  }
}

void DueQueue::releaseAll() {
  absl::MutexLock transitions(&context_.transitions);
  const std::vector<EventId> ids = context_.book.leased();
  const std::vector<std::optional<Lease>> leases = context_.book.leases(ids);
  std::map<std::string_view, std::vector<EventId>> by_lane;
  for (size_t i = 0; i < ids.size(); ++i) {
    by_lane[leases[i]->upstream].push_back(ids[i]);
  }
  for (const auto& [upstream, of_lane] : by_lane) {
    giveBack(upstream, of_lane);
  }
  context_.in_flight.end();
}

void DueQueue::refreshLeases() {
  const std::vector<EventId> ids = context_.book.leased();
  const std::vector<absl::StatusOr<v1::EventState>> states = readStates(*context_.database, ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (states[i].ok()) {
      context_.book.describe(ids[i], *states[i]);
    }
  }
}

}  // namespace forebay::rocks
