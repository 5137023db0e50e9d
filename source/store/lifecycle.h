#pragma once

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "api/forebay/v1/event.pb.h"
#include "source/store/event_store.h"

namespace forebay {

// How an event's state moves, the same in every store. Pure.

// The state of an event that was just captured: pending, and due when its record says, which
// is at once unless the upstream's schedule begins with a wait. Overwrites `state`, whose memory is
// reused.
void capturedState(const v1::EventRecord& record, uint64_t sequence, v1::EventState& state);

// The state of an event that an operator made due again: its attempts so far no longer count.
v1::EventState replayedState(const v1::EventState& state, const ReplayMark& mark);

// The state of an event whose record can't be read.
v1::EventState corruptState(const v1::EventState& state);

// The state of an event that was leased when the process died: as it was, or dead (poison) when
// that has happened limits::kPoisonCrashes times in a row.
v1::EventState crashedState(const v1::EventState& state);

// Where an event that waits, and is not parked, is queued.
Queue queueOf(const v1::EventState& state);

// Whether the event is in a queue: it waits, and is not parked.
bool isQueued(const v1::EventState& state);

// An event's place in the order of its key. An event is leased when no other of its key is leased
// and none that holds the key is older. At the end of a lease the first holder of the key is
// unparked; where nobody holds it, the first one behind.
enum class OrderPlace {
  None,    // it has no key, or does not wait, or is a replay whose time has not come
  Holds,   // later events of its key wait for it
  Behind,  // a replay that was parked before its first attempt: live events need not wait for it
};
OrderPlace orderPlace(const v1::EventState& state);

// The head of a queue, as far as choosing needs to know.
struct QueueHead {
  int64_t due_us = 0;
  EventId id;
};
// Which queue gives the next event at `now_us`; none when nothing is due. `retries_left` as in
// LeaseLimits. Indexed by Queue.
std::optional<Queue> chooseQueue(const std::array<std::optional<QueueHead>, kQueues>& heads,
                                 int64_t now_us, size_t retries_left);

// InvalidArgument when a settlement would lose something: exactly those events that wait (pending,
// retrying) have a due time, and neither the lane nor the sequence number of a stored event
// changes.
absl::Status checkSettlement(const Settlement& settlement, std::string_view upstream,
                             uint64_t sequence);

// Whether an index lists the events in this state, so that finding them never looks at the rest.
bool isSetAside(v1::State state);

// Moves one event between the sums. Pending has no sum of its own: it is what remains of the
// accepted ones.
void moveCount(v1::LaneCounts& settled, v1::State from, v1::State to);

LaneTotals makeTotals(uint64_t accepted, const v1::LaneCounts& settled);

}  // namespace forebay
