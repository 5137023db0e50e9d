#include "source/store/rocks/due_queue.h"

#include "source/base/strings.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"
#include "source/store/rocks/settler.h"

namespace forebay::rocks {
namespace {

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
  LeaseLimits left = limits;
  bool more = left.events > 0;
  while (more) {
    absl::Status status = refill(upstream, left.events);
    if (status.ok()) {
      LaneBook::Take take = context_.book.take(upstream, absl::ToUnixMicros(now), left);
      left.events -= take.taken.size();
      for (const Taken& one : take.taken) {
        left.retries_max -= one.queue == Queue::Retry && left.retries_max > 0;
      }
      more = take.unsure;
      status = load(upstream, std::move(take.taken), leased);
    }
    if (!status.ok()) {
      std::vector<EventId> ids;
      for (const LeasedEvent& one : leased) {
        ids.push_back(one.event->id);
      }
      context_.book.giveBack(upstream, ids);
      return status;
    }
  }
  return leased;
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
    if (event.ok() && lease.state.source().empty()) {
      lease.state.set_source((*event)->record.source());
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
    batch.move(lease->upstream, one.event->id, lease->placement, corruptState(one.state), true);
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
  absl::MutexLock transitions(&context_.transitions);
  context_.book.giveBack(upstream, ids);
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
