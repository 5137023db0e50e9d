#include "source/store/memory/memory_store.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "source/base/limits.h"
#include "source/store/filter.h"
#include "source/store/lifecycle.h"

namespace forebay {
namespace {

absl::Status notFound(const EventId& id) {
  return absl::NotFoundError(absl::StrCat("event ", id.toString(), ": not in the store"));
}

}  // namespace

MemoryStore::MemoryStore(const Clock& clock, Random& random) : clock_(clock), ids_(random) {}

absl::StatusOr<EventId> MemoryStore::insert(Event&& event) {
  if (closed_) {
    return absl::UnavailableError("the store is closed");
  }
  auto kept = std::make_shared<Event>(std::move(event));
  const int64_t received_at_us = kept->record.received_at_us();
  const absl::Time made =
      received_at_us > 0 ? absl::FromUnixMicros(received_at_us) : clock_.wallNow();
  kept->id = ids_.next(made);
  latest_capture_ = kept->id.time();
  kept->record.set_format(kRecordFormat);
  bytes_ += kept->record.ByteSizeLong();

  Stored& stored = events_[kept->id];
  capturedState(kept->record, ++sequence_, stored.state);
  ++lanes_[kept->record.upstream()].accepted;
  stored.event = std::move(kept);
  enqueue(stored);
  return stored.event->id;
}

void MemoryStore::append(Event&& event, AppendSink& sink, uint64_t token) {
  AppendResult result{token, absl::OkStatus(), EventId()};
  {
    absl::MutexLock lock(&mutex_);
    absl::StatusOr<EventId> id = insert(std::move(event));
    result.status = id.status();
    if (id.ok()) {
      result.id = *id;
    }
  }
  sink.onAppended(absl::MakeConstSpan(&result, 1));
  if (result.status.ok()) {
    wake();
  }
}

void MemoryStore::enqueue(const Stored& stored) {
  Lane& lane = lanes_[stored.state.upstream()];
  if (isQueued(stored.state)) {
    lane.due[static_cast<size_t>(queueOf(stored.state))].emplace(stored.state.due_at_us(),
                                                                 stored.event->id);
  }
  const OrderPlace place = orderPlace(stored.state);
  if (place != OrderPlace::None) {
    auto& places = place == OrderPlace::Holds ? lane.holders : lane.behind;
    places[stored.state.order_key()].insert(stored.event->id);
  }
}

void MemoryStore::dequeue(const Stored& stored) {
  Lane& lane = lanes_[stored.state.upstream()];
  lane.due[static_cast<size_t>(queueOf(stored.state))].erase(
      {stored.state.due_at_us(), stored.event->id});
  for (auto* const places : {&lane.holders, &lane.behind}) {
    const auto found = places->find(stored.state.order_key());
    if (found != places->end()) {
      found->second.erase(stored.event->id);
      if (found->second.empty()) {
        places->erase(found);
      }
    }
  }
}

bool MemoryStore::mustWait(Lane& lane, const Stored& stored) {
  const std::string& key = stored.state.order_key();
  if (key.empty()) {
    return false;
  }
  const auto holders = lane.holders.find(key);
  return lane.leased_keys.contains(key) ||
         (holders != lane.holders.end() && *holders->second.begin() < stored.event->id);
}

void MemoryStore::unparkFirst(Lane& lane, const std::string& order_key) {
  if (order_key.empty() || lane.leased_keys.contains(order_key)) {
    return;
  }
  for (auto* const places : {&lane.holders, &lane.behind}) {
    const auto found = places->find(order_key);
    if (found == places->end()) {
      continue;
    }
    Stored& first = events_.at(*found->second.begin());
    if (first.state.parked()) {
      dequeue(first);
      first.state.set_parked(false);
      enqueue(first);
    }
    return;
  }
}

absl::StatusOr<std::vector<LeasedEvent>> MemoryStore::leaseDue(std::string_view upstream,
                                                               absl::Time now,
                                                               const LeaseLimits& limits) {
  absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::UnavailableError("the store is closed");
  }
  std::vector<LeasedEvent> leased;
  const auto found = lanes_.find(upstream);
  if (found == lanes_.end()) {
    return leased;
  }
  Lane& lane = found->second;
  size_t retries_left = limits.retries_max;
  while (leased.size() < limits.events) {
    std::array<std::optional<QueueHead>, kQueues> heads;
    for (size_t i = 0; i < kQueues; ++i) {
      if (!lane.due[i].empty()) {
        heads[i] = QueueHead{lane.due[i].begin()->first, lane.due[i].begin()->second};
      }
    }
    const std::optional<Queue> queue = chooseQueue(heads, absl::ToUnixMicros(now), retries_left);
    if (!queue.has_value()) {
      break;
    }
    auto& due = lane.due[static_cast<size_t>(*queue)];
    Stored& stored = events_.at(due.begin()->second);
    due.erase(due.begin());
    if (mustWait(lane, stored)) {
      stored.state.set_parked(true);
      enqueue(stored);
      continue;
    }
    stored.leased = true;
    if (!stored.state.order_key().empty()) {
      lane.leased_keys.insert(stored.state.order_key());
    }
    if (*queue == Queue::Retry && retries_left > 0) {
      --retries_left;
    }
    leased.push_back({stored.event, stored.state});
  }
  return leased;
}

absl::Time MemoryStore::nextDue(std::string_view upstream) {
  absl::MutexLock lock(&mutex_);
  const auto lane = lanes_.find(upstream);
  absl::Time next = absl::InfiniteFuture();
  if (lane != lanes_.end()) {
    for (const auto& due : lane->second.due) {
      if (!due.empty()) {
        next = std::min(next, absl::FromUnixMicros(due.begin()->first));
      }
    }
  }
  return next;
}

void MemoryStore::replaceState(Stored& stored, const v1::EventState& state) {
  Lane& lane = lanes_[stored.event->record.upstream()];
  dequeue(stored);
  moveCount(lane.settled, stored.state.state(), state.state());
  stored.state = state;
  enqueue(stored);
}

void MemoryStore::endLease(Stored& stored) {
  stored.leased = false;
  Lane& lane = lanes_[stored.state.upstream()];
  lane.leased_keys.erase(stored.state.order_key());
  unparkFirst(lane, stored.state.order_key());
}

absl::Status MemoryStore::settle(absl::Span<const Settlement> settlements) {
  absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::UnavailableError("the store is closed");
  }
  absl::flat_hash_set<EventId> seen;
  for (const Settlement& settlement : settlements) {
    const auto found = events_.find(settlement.id);
    if (found == events_.end() || !found->second.leased || !seen.insert(settlement.id).second) {
      return absl::FailedPreconditionError(
          absl::StrCat("event ", settlement.id.toString(), ": settled without a lease"));
    }
    const v1::EventState& held = found->second.state;
    const absl::Status valid = checkSettlement(settlement, held.upstream(), held.sequence());
    if (!valid.ok()) {
      return valid;
    }
  }
  for (const Settlement& settlement : settlements) {
    Stored& stored = events_.at(settlement.id);
    replaceState(stored, settlement.state);
    endLease(stored);
    if (settlement.attempt.has_value()) {
      stored.attempts[settlement.attempt->attempt()] = *settlement.attempt;
    }
    if (forget_delivered_ && stored.state.state() == v1::STATE_DELIVERED) {
      events_.erase(settlement.id);
    }
  }
  return absl::OkStatus();
}

void MemoryStore::release(std::string_view upstream, absl::Span<const EventId> ids) {
  absl::MutexLock lock(&mutex_);
  for (const EventId& id : ids) {
    const auto found = events_.find(id);
    if (found == events_.end() || !found->second.leased ||
        found->second.state.upstream() != upstream) {
      continue;
    }
    enqueue(found->second);
    endLease(found->second);
  }
}

void MemoryStore::crash() {
  absl::MutexLock lock(&mutex_);
  for (auto& [id, stored] : events_) {
    if (stored.leased) {
      replaceState(stored, crashedState(stored.state));
      endLease(stored);
    }
  }
}

absl::StatusOr<StoredEvent> MemoryStore::read(const EventId& id) {
  absl::MutexLock lock(&mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) {
    return notFound(id);
  }
  return StoredEvent{found->second.event, found->second.state};
}

absl::StatusOr<std::vector<v1::AttemptRecord>> MemoryStore::attempts(const EventId& id) {
  absl::MutexLock lock(&mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) {
    return notFound(id);
  }
  std::vector<v1::AttemptRecord> records;
  for (const auto& [number, record] : found->second.attempts) {
    records.push_back(record);
  }
  return records;
}

absl::StatusOr<ScanPage> MemoryStore::scan(const EventFilter& filter, std::optional<EventId> before,
                                           size_t limit) {
  absl::MutexLock lock(&mutex_);
  const IdRange range = idRange(filter, before);
  ScanPage page;
  size_t looked = 0;
  auto it = events_.lower_bound(range.end);
  while (it != events_.begin() && std::prev(it)->first >= range.first) {
    if (page.events.size() == limit || looked == limits::kScanRecordsMax) {
      page.next = it == events_.end() ? range.end : it->first;
      break;
    }
    --it;
    ++looked;
    if (matchesState(filter, it->second.state) && matchesText(filter, it->second.event->record)) {
      page.events.push_back({it->second.event, it->second.state});
    }
  }
  return page;
}

absl::StatusOr<size_t> MemoryStore::markDue(absl::Span<const ReplayMark> marks) {
  size_t marked = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) {
      return absl::UnavailableError("the store is closed");
    }
    absl::flat_hash_set<EventId> seen;
    for (const ReplayMark& mark : marks) {
      const auto found = events_.find(mark.id);
      if (found == events_.end() || found->second.leased || !seen.insert(mark.id).second) {
        continue;
      }
      const std::string order_key = found->second.state.order_key();
      replaceState(found->second, replayedState(found->second.state, mark));
      unparkFirst(lanes_[found->second.state.upstream()], order_key);
      ++marked;
    }
  }
  wake();
  return marked;
}

absl::flat_hash_map<std::string, LaneTotals> MemoryStore::totals() {
  absl::MutexLock lock(&mutex_);
  absl::flat_hash_map<std::string, LaneTotals> totals;
  for (const auto& [upstream, lane] : lanes_) {
    if (lane.accepted > 0) {
      totals[upstream] = makeTotals(lane.accepted, lane.settled);
    }
  }
  return totals;
}

std::optional<absl::Time> MemoryStore::oldestWaiting(std::string_view upstream) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, stored] : events_) {
    if (stored.state.due_at_us() > 0 && stored.state.upstream() == upstream) {
      return id.time();
    }
  }
  return std::nullopt;
}

absl::Time MemoryStore::latestCapture() {
  absl::MutexLock lock(&mutex_);
  return latest_capture_;
}

StoreHealth MemoryStore::health() {
  absl::MutexLock lock(&mutex_);
  StoreHealth health;
  health.path = "memory";
  health.bytes = bytes_;
  health.read_only = closed_;
  health.reason = closed_ ? "closed" : "";
  return health;
}

absl::Status MemoryStore::saveLane(std::string_view upstream, const v1::LaneRecord& record, bool) {
  absl::MutexLock lock(&mutex_);
  lanes_[std::string(upstream)].record = record;
  return absl::OkStatus();
}

absl::StatusOr<v1::LaneRecord> MemoryStore::loadLane(std::string_view upstream) {
  absl::MutexLock lock(&mutex_);
  const auto lane = lanes_.find(upstream);
  return lane == lanes_.end() ? v1::LaneRecord() : lane->second.record;
}

void MemoryStore::onNewWork(std::function<void()> wake) { wake_ = std::move(wake); }

void MemoryStore::wake() {
  if (wake_) {
    wake_();
  }
}

void MemoryStore::close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

}  // namespace forebay
