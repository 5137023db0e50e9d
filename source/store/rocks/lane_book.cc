#include "source/store/rocks/lane_book.h"

#include <algorithm>

#include "source/store/lifecycle.h"

namespace forebay::rocks {

LaneBook::Lanes::value_type& LaneBook::lane(std::string_view upstream) {
  const auto found = lanes_.find(upstream);
  if (found != lanes_.end()) {
    return *found;
  }
  Lane added{DueWindow(limits_.window_entries, limits_.lane_fresh_bytes_max)};
  // load() made every lane that has something on disk.
  added.window.markComplete();
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
    known.window.reset();
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
    DueWindow& window = to->second.window;
    const uint64_t before = window.freshBytes();
    if (fresh_bytes_ + committed.fresh.bytes > limits_.fresh_bytes_max) {
      committed.fresh = {};
    }
    window.insert(committed.key, std::move(committed.fresh));
    fresh_bytes_ += window.freshBytes() - before;
    ++to->second.accepted;
    newest_ = committed.key.id;
  }
}

bool LaneBook::isAdded(const EventId& id) const {
  absl::MutexLock lock(&mutex_);
  return id <= newest_;
}

std::optional<LaneBook::Refill> LaneBook::beginRefill(std::string_view upstream, size_t wanted) {
  absl::MutexLock lock(&mutex_);
  const auto found = lanes_.find(upstream);
  if (found == lanes_.end()) {
    return std::nullopt;
  }
  DueWindow& window = found->second.window;
  if (window.complete() || window.size() >= std::min(wanted, limits_.window_entries)) {
    return std::nullopt;
  }
  window.beginRefill();
  return Refill{window.end(), window.room()};
}

void LaneBook::endRefill(std::string_view upstream, std::vector<DueKey> found, const DueKey& next) {
  absl::MutexLock lock(&mutex_);
  const auto not_ours = [this](const DueKey& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return key.id > newest_ || leases_.contains(key.id);
  };
  std::erase_if(found, not_ours);
  DueWindow& window = lane(upstream).second.window;
  const uint64_t before = window.freshBytes();
  window.endRefill(found, next);
  fresh_bytes_ += window.freshBytes() - before;
}

void LaneBook::abandonRefill(std::string_view upstream) {
  absl::MutexLock lock(&mutex_);
  DueWindow& window = lane(upstream).second.window;
  const uint64_t before = window.freshBytes();
  window.abandonRefill();
  fresh_bytes_ += window.freshBytes() - before;
}

std::vector<Taken> LaneBook::take(std::string_view upstream, int64_t now_us, size_t limit) {
  std::vector<Taken> taken;
  absl::MutexLock lock(&mutex_);
  const auto found = lanes_.find(upstream);
  if (found == lanes_.end()) {
    return taken;
  }
  DueWindow& window = found->second.window;
  while (taken.size() < limit && !window.empty() && window.first().due_us <= now_us) {
    auto [key, fresh] = window.popFirst();
    fresh_bytes_ -= fresh.bytes;
    leases_[key.id] = Lease{found->first, key.due_us, fresh.sequence, v1::STATE_PENDING};
    taken.push_back({key, std::move(fresh)});
  }
  return taken;
}

void LaneBook::describe(const EventId& id, const v1::EventState& state) {
  absl::MutexLock lock(&mutex_);
  const auto found = leases_.find(id);
  if (found != leases_.end()) {
    found->second.due_us = state.due_at_us();
    found->second.sequence = state.sequence();
    found->second.state = state.state();
  }
}

void LaneBook::giveBack(std::string_view upstream, absl::Span<const EventId> ids) {
  absl::MutexLock lock(&mutex_);
  for (const EventId& id : ids) {
    const auto found = leases_.find(id);
    if (found == leases_.end() || found->second.upstream != upstream) {
      continue;
    }
    if (found->second.due_us > 0) {
      DueWindow& window = lane(upstream).second.window;
      const uint64_t before = window.freshBytes();
      window.insert({found->second.due_us, id});
      fresh_bytes_ += window.freshBytes() - before;
    }
    leases_.erase(found);
  }
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
    DueWindow& window = lane(change.upstream).second.window;
    const uint64_t before = window.freshBytes();
    if (change.old_due_us > 0) {
      window.erase({change.old_due_us, change.id});
    }
    if (change.new_due_us > 0) {
      window.insert({change.new_due_us, change.id});
    }
    fresh_bytes_ += window.freshBytes() - before;
    if (change.ends_lease) {
      leases_.erase(change.id);
    }
  }
  for (const auto& [upstream, counts] : settled) {
    lane(upstream).second.settled = counts;
  }
}

std::optional<DueKey> LaneBook::first(std::string_view upstream) const {
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  return known == nullptr || known->window.empty() ? std::nullopt
                                                   : std::optional<DueKey>(known->window.first());
}

std::optional<absl::Time> LaneBook::oldest(std::string_view upstream) const {
  absl::MutexLock lock(&mutex_);
  const Lane* const known = find(upstream);
  std::optional<EventId> oldest = known == nullptr ? std::nullopt : known->window.oldest();
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
