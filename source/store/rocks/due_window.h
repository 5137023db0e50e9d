#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/container/btree_map.h"
#include "absl/types/span.h"
#include "source/event/event.h"

namespace forebay::rocks {

// Where an event stands in its lane's queue: by due time, then by capture.
struct DueKey {
  int64_t due_us = 0;
  EventId id;

  static DueKey before() { return {std::numeric_limits<int64_t>::min(), EventId()}; }
  static DueKey after() {
    return {std::numeric_limits<int64_t>::max(), EventId::lastAt(absl::InfiniteFuture())};
  }

  friend auto operator<=>(const DueKey&, const DueKey&) = default;
};

// What is known in memory of an event in the queue. `event` is null when it must be read.
struct Fresh {
  EventPtr event;
  uint64_t sequence = 0;
  uint64_t bytes = 0;
};

// The part of a lane's on-disk due index that is held in memory, so that a backlog of any length
// costs no more than `capacity` entries and `fresh_bytes_max` bytes of events.
//
// INVARIANT: outside a refill, the window holds exactly those entries on disk below end() that
// nobody has leased.
//
// The caller keeps its half: it inserts what it has written, when it has written it, and takes
// out what it leases. Pure data: no lock, no I/O.
class DueWindow {
public:
  // Knows nothing of the disk yet: end() is before every key.
  DueWindow(size_t capacity, uint64_t fresh_bytes_max);

  // The disk holds no entry (a new lane): the window is complete.
  void markComplete() { end_ = DueKey::after(); }
  // Forgets everything, as after construction.
  void reset();

  // An entry that is now on disk and not leased. One beyond the end is left to a later refill.
  // Entries that push the window over its capacity are forgotten, the last ones first.
  void insert(const DueKey& key, Fresh fresh = {});
  // Takes an entry out, if it is there.
  void erase(const DueKey& key);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The entry due first; the window must not be empty.
  const DueKey& first() const { return entries_.begin()->first; }
  std::pair<DueKey, Fresh> popFirst();
  // The earliest id in the window, which is not that of the entry due first.
  std::optional<EventId> oldest() const;

  // Keys from here on are on disk only. DueKey::after() when there are none.
  const DueKey& end() const { return end_; }
  bool complete() const { return end_ == DueKey::after(); }
  uint64_t freshBytes() const { return fresh_bytes_; }
  size_t room() const { return capacity_ - entries_.size(); }

  // A refill: beginRefill(), then a read of the disk from end() on (at the latest begun after
  // this call), then endRefill() with the unleased entries found and the first key not looked at
  // (DueKey::after() at the end of the lane), or abandonRefill(). In between, only insert() may
  // be called: what it adds may be missing from the read, so all of it is kept until the end.
  void beginRefill();
  void endRefill(absl::Span<const DueKey> found, const DueKey& next);
  void abandonRefill();

private:
  void put(const DueKey& key, Fresh&& fresh);
  void forgetFrom(const DueKey& key);

  const size_t capacity_;
  const uint64_t fresh_bytes_max_;
  absl::btree_map<DueKey, Fresh> entries_;
  DueKey end_ = DueKey::before();
  bool refilling_ = false;
  DueKey refill_end_ = DueKey::after();  // the first key forgotten during a refill
  uint64_t fresh_bytes_ = 0;
};

}  // namespace forebay::rocks
