#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rocksdb/write_batch.h"
#include "source/store/event_store.h"
#include "source/store/rocks/context.h"

namespace forebay::rocks {

// One write that moves events to new states: state, indexes and sums, together or not at all. With
// them goes whoever's turn it is then in the order of a key that an event of the batch has, so that
// a crash leaves nobody parked for good. Used under StoreContext::transitions.
//
// INVARIANT: of every order key that has parked events, at least one event is leased or in a queue.
class TransitionBatch {
public:
  TransitionBatch(StoreContext& context, Database& database)
      : context_(context), database_(database) {}

  // `upstream` must stay valid for as long as the batch. The event's order key is `to`'s.
  void move(std::string_view upstream, const EventId& id, const Placement& from,
            const v1::EventState& to, bool ends_lease)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  // A lease of an event with this order key has ended, and nothing else about it changed.
  void ended(const OrderKey& key) { touch(key); }
  void addAttempt(const EventId& id, const v1::AttemptRecord& attempt);
  bool empty() const { return changes_.empty() && touched_.empty(); }
  // Writes, and then tells the book.
  absl::Status commit(bool sync, const char* what) ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);

private:
  // An order key, and what the batch makes of those of its events that it moves.
  struct Touched {
    std::string upstream;
    std::string key;
    struct Moved {
      OrderPlace place;
      bool ends_lease;
    };
    absl::flat_hash_map<EventId, Moved> moved;
    // Once it is written nobody is below these: of Holds and of Behind. None: not looked at.
    std::array<std::optional<EventId>, 2> low;
  };
  Touched& touch(const OrderKey& key);
  void moveInOrder(std::string_view upstream, const EventId& id, OrderPlace from,
                   const v1::EventState& to, bool ends_lease)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  // Takes the first of the key out of its parking place, unless somebody has the key.
  absl::Status unparkFirst(Touched& touched) ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);
  absl::Status write(bool sync, const char* what) ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);

  StoreContext& context_;
  Database& database_;
  rocksdb::WriteBatch batch_;
  std::vector<Change> changes_;
  std::map<std::string_view, v1::LaneCounts> settled_;
  std::map<std::string, Touched> touched_;
  std::string key_;
  std::string value_;
};

// As in EventStore. Safe from any thread.
absl::Status settle(StoreContext& context, absl::Span<const Settlement> settlements);
// When a store was opened: what was in flight as the process died has one crash more, and what has
// too many is dead. A death between this and InFlight::begin() counts twice. What waited for such
// an event in the order of its key goes on.
void recordCrashes(StoreContext& context) ABSL_SHARED_LOCKS_REQUIRED(context.opening)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(context.transitions);
absl::StatusOr<size_t> markDue(StoreContext& context, absl::Span<const ReplayMark> marks);

}  // namespace forebay::rocks
