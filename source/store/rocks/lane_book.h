#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "api/forebay/v1/event.pb.h"
#include "source/base/limits.h"
#include "source/store/event_store.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/due_window.h"

namespace forebay::rocks {

// What is written with every batch about a lane.
struct LaneSums {
  uint64_t accepted = 0;
  v1::LaneCounts settled;
};

// Where the indexes on disk list an event, as its state there says.
struct Placement {
  v1::State state = v1::STATE_PENDING;
  Queue queue = Queue::First;
  int64_t due_us = 0;  // 0: it is in no queue
  OrderPlace order = OrderPlace::None;
};
Placement placementOf(const v1::EventState& state);

// An event that somebody holds, as far as settling it needs to know.
struct Lease {
  std::string_view upstream;  // valid as long as the book
  uint64_t sequence = 0;
  Placement placement;
  std::string order_key;
};

// An event that was just committed.
struct Committed {
  DueKey key;
  Fresh fresh;
};

// An event that was just taken from the queue and is leased now.
struct Taken {
  Queue queue = Queue::First;
  DueKey key;
  Fresh fresh;
};

// A change of state that is on disk now.
struct Change {
  std::string_view upstream;
  EventId id;
  Placement from;
  Placement to;
  bool ends_lease = false;
};

struct BookLimits {
  size_t window_entries = limits::kLaneWindowEntries;
  size_t side_window_entries = limits::kLaneSideWindowEntries;

  size_t entries(Queue queue) const {
    return queue == Queue::First ? window_entries : side_window_entries;
  }
  uint64_t lane_fresh_bytes_max = limits::kLaneFreshBytesMax;
  // Over all lanes: 256 lanes with a window full of events each would be a gigabyte.
  uint64_t fresh_bytes_max = 8 * limits::kLaneFreshBytesMax;
};

// What is in memory of all lanes: a window over each queue of the due index, leases, sums. Never
// reads the disk;
// every call is short. Safe from any thread, but whoever moves events between states
// (all but addCommitted) does so under StoreContext::transitions, one at a time.
class LaneBook {
public:
  explicit LaneBook(const BookLimits& limits) : limits_(limits) {}

  // What a database just opened says. Windows begin anew, leases are kept.
  void load(const std::map<std::string, LaneSums>& lanes, const EventId& newest);

  // Moves the events in, in the order of their ids. Counts them as accepted.
  void addCommitted(absl::Span<Committed> events);
  // Whether the event, found on disk, was added. Between the write of a batch and addCommitted its
  // events must be left alone: one that was delivered meanwhile would come back.
  bool isAdded(const EventId& id) const;
  EventId newestAdded() const;

  // A queue whose window holds fewer than `wanted` entries while there are more on disk: from
  // which key to read on. Ended by endRefill or abandonRefill.
  struct Refill {
    Queue queue = Queue::First;
    DueKey from;
    size_t room = 0;
  };
  std::optional<Refill> beginRefill(std::string_view upstream, size_t wanted);
  void endRefill(std::string_view upstream, Queue queue, std::vector<DueKey> found,
                 const DueKey& next);
  void abandonRefill(std::string_view upstream, Queue queue);

  // Leases what is due, as chooseQueue() says. Ends early, with `unsure`, where a window has run
  // out and the disk may hold more that is due: the choice can be made after a refill.
  struct Take {
    std::vector<Taken> taken;
    bool unsure = false;
  };
  Take take(std::string_view upstream, int64_t now_us, const LeaseLimits& limits);
  // What the lease's record on disk says.
  void describe(const EventId& id, const v1::EventState& state);
  void giveBack(std::string_view upstream, absl::Span<const EventId> ids);
  // The leased event has its order key to itself, until its lease ends.
  void holdKey(const EventId& id);
  // The leased event that has the order key to itself.
  std::optional<EventId> keyHolder(std::string_view upstream, std::string_view order_key) const;
  std::optional<Lease> lease(const EventId& id) const;
  // In the order of the ids.
  std::vector<std::optional<Lease>> leases(absl::Span<const EventId> ids) const;
  std::vector<EventId> leased() const;

  v1::LaneCounts settledCounts(std::string_view upstream) const;
  void apply(absl::Span<const Change> changes,
             const std::map<std::string_view, v1::LaneCounts>& settled);

  // When the first event that nobody holds is due; `known` is false while a window is empty and
  // the disk may hold more.
  struct First {
    absl::Time due = absl::InfiniteFuture();
    bool known = true;
  };
  First first(std::string_view upstream) const;
  // Of what is in the windows or leased. A parked event is left out: it is younger than the one it
  // waits for, unless that is a replay, or it is one itself.
  std::optional<absl::Time> oldest(std::string_view upstream) const;
  // As in EventStore.
  absl::Time latestCapture() const;
  absl::flat_hash_map<std::string, LaneTotals> totals() const;
  // In all windows, and leased, with the order keys these hold.
  size_t entries() const;

private:
  struct Lane {
    std::array<DueWindow, kQueues> windows;
    absl::flat_hash_map<std::string, EventId> key_holders;  // by order key; no more than leases
    uint64_t accepted = 0;
    v1::LaneCounts settled;
  };
  using Lanes = std::map<std::string, Lane, std::less<>>;

  Lanes::value_type& lane(std::string_view upstream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Lane* find(std::string_view upstream) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void endLease(absl::flat_hash_map<EventId, Lease>::iterator lease)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts an entry that is on disk and not leased into its window.
  void insert(Lane& lane, Queue queue, const DueKey& key, Fresh&& fresh)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BookLimits limits_;
  mutable absl::Mutex mutex_;
  Lanes lanes_ ABSL_GUARDED_BY(mutex_);  // never shrinks
  absl::flat_hash_map<EventId, Lease> leases_ ABSL_GUARDED_BY(mutex_);
  uint64_t fresh_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  EventId newest_ ABSL_GUARDED_BY(mutex_);  // that was added; ids only grow
};

}  // namespace forebay::rocks
