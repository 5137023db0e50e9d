#pragma once

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
