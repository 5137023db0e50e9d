#include "source/store/rocks/due_window.h"

#include <algorithm>

namespace forebay::rocks {

DueWindow::DueWindow(size_t capacity, uint64_t fresh_bytes_max)
    : capacity_(capacity), fresh_bytes_max_(fresh_bytes_max) {}

void DueWindow::reset() {
  entries_.clear();
  fresh_bytes_ = 0;
  end_ = DueKey::before();
  refilling_ = false;
}

void DueWindow::put(const DueKey& key, Fresh&& fresh) {
  if (fresh_bytes_ + fresh.bytes > fresh_bytes_max_) {
    fresh = {};
  }
  const uint64_t bytes = fresh.bytes;
  if (entries_.try_emplace(key, std::move(fresh)).second) {
    fresh_bytes_ += bytes;
  }
}

void DueWindow::insert(const DueKey& key, Fresh fresh) {
  if (key >= end_ && !refilling_) {
    return;
  }
  put(key, std::move(fresh));
  if (entries_.size() > capacity_) {
    const auto last = std::prev(entries_.end());
    if (refilling_) {
      refill_end_ = std::min(refill_end_, last->first);
    }
    end_ = std::min(end_, last->first);
    fresh_bytes_ -= last->second.bytes;
    entries_.erase(last);
  }
}

void DueWindow::erase(const DueKey& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    fresh_bytes_ -= found->second.bytes;
    entries_.erase(found);
  }
}

std::pair<DueKey, Fresh> DueWindow::popFirst() {
  const auto first = entries_.begin();
  std::pair<DueKey, Fresh> taken(first->first, std::move(first->second));
  fresh_bytes_ -= taken.second.bytes;
  entries_.erase(first);
  return taken;
}

std::optional<EventId> DueWindow::oldest() const {
  std::optional<EventId> oldest;
  for (const auto& [key, fresh] : entries_) {
    if (!oldest.has_value() || key.id < *oldest) {
      oldest = key.id;
    }
  }
  return oldest;
}

void DueWindow::beginRefill() {
  refilling_ = true;
  refill_end_ = DueKey::after();
}

void DueWindow::endRefill(absl::Span<const DueKey> found, const DueKey& next) {
  refilling_ = false;
  end_ = std::min(next, refill_end_);
  forgetFrom(end_);
  for (const DueKey& key : found) {
    insert(key);
  }
}

void DueWindow::abandonRefill() {
  refilling_ = false;
  forgetFrom(end_);
}

void DueWindow::forgetFrom(const DueKey& key) {
  const auto from = entries_.lower_bound(key);
  for (auto it = from; it != entries_.end(); ++it) {
    fresh_bytes_ -= it->second.bytes;
  }
  entries_.erase(from, entries_.end());
}

}  // namespace forebay::rocks
