#include "source/store/rocks/lane_book.h"

#include <algorithm>

#include "source/base/strings.h"
#include "source/store/lifecycle.h"

namespace forebay::rocks {

Placement placementOf(const v1::EventState& state) {
  return {state.state(), queueOf(state), isQueued(state) ? state.due_at_us() : 0,
          orderPlace(state)};
}

LaneBook::Lanes::value_type& LaneBook::lane(std::string_view upstream) {
  const auto found = lanes_.find(upstream);
  if (found != lanes_.end()) {
    return *found;
  }
  // Only first attempts are kept with their events: the others were read from disk at least once,
  // and wait for longer.
  Lane added{
      {DueWindow(limits_.entries(Queue::First), limits_.lane_fresh_bytes_max),
       DueWindow(limits_.entries(Queue::Retry), 0), DueWindow(limits_.entries(Queue::Replay), 0)},
      {}};
  // load() made every lane that has something on disk.
  for (DueWindow& window : added.windows) {
    window.markComplete();
  }
  return *lanes_.emplace(std::string(upstream), std::move(added)).first;
}

const LaneBook::Lane* LaneBook::find(std::string_view upstream) const {
  const auto found = lanes_.find(upstream);
  return found == lanes_.end() ? nullptr : &found->second;
}

void LaneBook::load(const std::map<std::string, LaneSums>& lanes, const EventId& newest) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [upstream, sums] : lanes) {
    Lane& loaded = lane(upstream).second;
    loaded.accepted = sums.accepted;
    loaded.settled = sums.settled;
  }
  for (auto& [upstream, known] : lanes_) {
    for (DueWindow& window : known.windows) {
      window.reset();
    }
  }
  fresh_bytes_ = 0;
  newest_ = newest;
}

void LaneBook::addCommitted(absl::Span<Committed> events) {
  absl::MutexLock lock(&mutex_);
  Lanes::value_type* to = nullptr;
  for (Committed& committed : events) {
    const std::string& upstream = committed.fresh.event->record.upstream();
    if (to == nullptr || to->first != upstream) {
      to = &lane(upstream);
    }
    if (fresh_bytes_ + committed.fresh.bytes > limits_.fresh_bytes_max) {
      committed.fresh = {};
    }
    insert(to->second, Queue::First, committed.key, std::move(committed.fresh));
    ++to->second.accepted;
    newest_ = committed.key.id;
  }
}

void LaneBook::insert(Lane& lane, Queue queue, const DueKey& key, Fresh&& fresh) {
  DueWindow& window = lane.windows[static_cast<size_t>(queue)];
  const uint64_t before = window.freshBytes();
  window.insert(key, std::move(fresh));
  fresh_bytes_ += window.freshBytes() - before;
}

bool LaneBook::isAdded(const EventId& id) const {
  absl::MutexLock lock(&mutex_);
  return id <= newest_;
}

EventId LaneBook::newestAdded() const {
  absl::MutexLock lock(&mutex_);
  return newest_;
}

std::optional<LaneBook::Refill> LaneBook::beginRefill(std::string_view upstream, size_t wanted) {
  absl::MutexLock lock(&mutex_);
  const auto found = lanes_.find(upstream);
  if (found == lanes_.end()) {
    return std::nullopt;
  }
  for (const Queue queue : {Queue::First, Queue::Retry, Queue::Replay}) {
    DueWindow& window = found->second.windows[static_cast<size_t>(queue)];
    if (!window.complete() && window.size() < std::min(wanted, limits_.entries(queue))) {
      window.beginRefill();
      return Refill{queue, window.end(), window.room()};
    }
  }
  return std::nullopt;
}

void LaneBook::endRefill(std::string_view upstream, Queue queue, std::vector<DueKey> found,
                         const DueKey& next) {
  absl::MutexLock lock(&mutex_);
  const auto not_ours = [this](const DueKey& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return key.id > newest_ || leases_.contains(key.id);
  };
  std::erase_if(found, not_ours);
  DueWindow& window = lane(upstream).second.windows[static_cast<size_t>(queue)];
  const uint64_t before = window.freshBytes();
  window.endRefill(found, next);
  fresh_bytes_ += window.freshBytes() - before;
}

void LaneBook::abandonRefill(std::string_view upstream, Queue queue) {
  absl::MutexLock lock(&mutex_);
  DueWindow& window = lane(upstream).second.windows[static_cast<size_t>(queue)];
  const uint64_t before = window.freshBytes();
  window.abandonRefill();
  fresh_bytes_ += window.freshBytes() - before;
}

LaneBook::Take LaneBook::take(std::string_view upstream, int64_t now_us,
                              const LeaseLimits& limits) {
  Take result;
  std::vector<Taken>& taken = result.taken;
  absl::MutexLock lock(&mutex_);
  const auto found = lanes_.find(upstream);
  if (found == lanes_.end()) {
    return result;
  }
  auto& windows = found->second.windows;
  size_t retries_left = limits.retries_max;
  while (taken.size() < limits.events) {
    std::array<std::optional<QueueHead>, kQueues> heads;
    for (size_t i = 0; i < kQueues; ++i) {
      if (!windows[i].empty()) {
        heads[i] = QueueHead{windows[i].first().due_us, windows[i].first().id};
      } else if (windows[i].end().due_us <= now_us) {
        result.unsure = true;
        return result;
      }
    }
    const std::optional<Queue> queue = chooseQueue(heads, now_us, retries_left);
    if (!queue.has_value()) {
      break;
    }
    auto [key, fresh] = windows[static_cast<size_t>(*queue)].popFirst();
    fresh_bytes_ -= fresh.bytes;
    if (*queue == Queue::Retry && retries_left > 0) {
      --retries_left;
    }
    Lease& lease = leases_[key.id];
    lease = Lease{found->first, fresh.sequence, {v1::STATE_PENDING, *queue, key.due_us}, {}};
    if (fresh.event != nullptr && !fresh.event->record.order_key().empty()) {
      lease.placement.order = OrderPlace::Holds;
      lease.order_key = fresh.event->record.order_key();
    }
    taken.push_back({*queue, key, std::move(fresh)});
  }
  return result;
}

void LaneBook::describe(const EventId& id, const v1::EventState& state) {
  absl::MutexLock lock(&mutex_);
  const auto found = leases_.find(id);
  if (found != leases_.end()) {
    found->second.sequence = state.sequence();
    found->second.placement = placementOf(state);
    found->second.order_key = state.order_key();
  }
}

void LaneBook::giveBack(std::string_view upstream, absl::Span<const EventId> ids) {
  absl::MutexLock lock(&mutex_);
  for (const EventId& id : ids) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || found->second.upstream != upstream) {
      continue;
    }
    const Placement& placement = found->second.placement;
    if (placement.due_us > 0) {
      insert(lane(upstream).second, placement.queue, {placement.due_us, id}, {});
    }
    endLease(found);
  }
}

void LaneBook::endLease(absl::flat_hash_map<EventId, Lease>::iterator lease) {
  if (!lease->second.order_key.empty()) {
    auto& holders = lane(lease->second.upstream).second.key_holders;
    const auto held = holders.find(lease->second.order_key);
    if (held != holders.end() && held->second == lease->first) {
      holders.erase(held);
    }
  }
  leases_.erase(lease);
}

void LaneBook::holdKey(const EventId& id) {
  absl::MutexLock lock(&mutex_);
  const auto found = leases_.find(id);
  if (found != leases_.end()) {
    lane(found->second.upstream).second.key_holders[found->second.order_key] = id;
  }
}

std::optional<EventId> LaneBook::keyHolder(std::string_view upstream,
                                           std::string_view order_key) const {
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  if (known == nullptr) {
    return std::nullopt;
  }
  const auto held = known->key_holders.find(toAbsl(order_key));
  return held == known->key_holders.end() ? std::nullopt : std::optional<EventId>(held->second);
}

std::optional<Lease> LaneBook::lease(const EventId& id) const { return leases({&id, 1}).front(); }

std::vector<std::optional<Lease>> LaneBook::leases(absl::Span<const EventId> ids) const {
  std::vector<std::optional<Lease>> leases(ids.size());
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto found = leases_.find(ids[i]);
    if (found != leases_.end()) {
      leases[i] = found->second;
    }
  }
  return leases;
}

std::vector<EventId> LaneBook::leased() const {
  absl::MutexLock lock(&mutex_);
  std::vector<EventId> ids;
  for (const auto& [id, lease] : leases_) {
    ids.push_back(id);
  }
  return ids;
}

v1::LaneCounts LaneBook::settledCounts(std::string_view upstream) const {
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  return known == nullptr ? v1::LaneCounts() : known->settled;
}

void LaneBook::apply(absl::Span<const Change> changes,
                     const std::map<std::string_view, v1::LaneCounts>& settled) {
  absl::MutexLock lock(&mutex_);
  for (const Change& change : changes) {
    Lane& changed = lane(change.upstream).second;
    if (change.from.due_us > 0) {
      DueWindow& window = changed.windows[static_cast<size_t>(change.from.queue)];
      const uint64_t before = window.freshBytes();
      window.erase({change.from.due_us, change.id});
      fresh_bytes_ += window.freshBytes() - before;
    }
    if (change.to.due_us > 0) {
      insert(changed, change.to.queue, {change.to.due_us, change.id}, {});
    }
    const auto lease = change.ends_lease ? leases_.find(change.id) : leases_.end();
    if (lease != leases_.end()) {
      endLease(lease);
    }
  }
  for (const auto& [upstream, counts] : settled) {
    lane(upstream).second.settled = counts;
  }
}

LaneBook::First LaneBook::first(std::string_view upstream) const {
  First first;
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  if (known == nullptr) {
    return first;
  }
  for (const DueWindow& window : known->windows) {
    if (!window.empty()) {
      first.due = std::min(first.due, absl::FromUnixMicros(window.first().due_us));
    }
    first.known = first.known && (!window.empty() || window.complete());
  }
  return first;
}

std::optional<absl::Time> LaneBook::oldest(std::string_view upstream) const {
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  std::optional<EventId> oldest;
  for (size_t i = 0; known != nullptr && i < kQueues; ++i) {
    const std::optional<EventId> of_queue = known->windows[i].oldest();
    if (of_queue.has_value() && (!oldest.has_value() || *of_queue < *oldest)) {
      oldest = of_queue;
    }
  }
  for (const auto& [id, lease] : leases_) {
    if (lease.upstream == upstream && (!oldest.has_value() || id < *oldest)) {
      oldest = id;
    }
  }
  return oldest.has_value() ? std::optional<absl::Time>(oldest->time()) : std::nullopt;
}

absl::Time LaneBook::latestCapture() const {
  absl::MutexLock lock(&mutex_);
  return newest_ == EventId() ? absl::InfinitePast() : newest_.time();
}

size_t LaneBook::entries() const {
  absl::MutexLock lock(&mutex_);
  size_t entries = leases_.size();
  for (const auto& [upstream, known] : lanes_) {
    entries += known.key_holders.size();
    for (const DueWindow& window : known.windows) {
      entries += window.size();
    }
  }
  return entries;
}

absl::flat_hash_map<std::string, LaneTotals> LaneBook::totals() const {
  absl::MutexLock lock(&mutex_);
  absl::flat_hash_map<std::string, LaneTotals> totals;
  for (const auto& [upstream, known] : lanes_) {
    if (known.accepted > 0) {
      totals[upstream] = makeTotals(known.accepted, known.settled);
    }
  }
  return totals;
}

}  // namespace forebay::rocks
