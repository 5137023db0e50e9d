#include "source/store/lifecycle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "source/base/limits.h"
#include "source/base/log.h"

namespace forebay {
namespace {

void add(v1::LaneCounts& settled, v1::State state, uint64_t amount) {
  switch (state) {
    case v1::STATE_RETRYING:
      settled.set_retrying(settled.retrying() + amount);
      break;
    case v1::STATE_DELIVERED:
      settled.set_delivered(settled.delivered() + amount);
      break;
    case v1::STATE_DEAD:
      settled.set_dead(settled.dead() + amount);
      break;
    case v1::STATE_QUARANTINED:
      settled.set_quarantined(settled.quarantined() + amount);
      break;
    default:
      break;
  }
}

}  // namespace

void capturedState(const v1::EventRecord& record, uint64_t sequence, v1::EventState& state) {
  state.Clear();
  state.set_format(kRecordFormat);
  state.set_sequence(sequence);
  state.set_state(v1::STATE_PENDING);
  state.set_source(record.source());
  state.set_upstream(record.upstream());
  // Zero would mean that there is no next attempt.
  state.set_due_at_us(std::max<int64_t>(
      record.received_at_us() + std::max<int64_t>(record.first_delay_us(), 0), 1));
  state.set_budget_from_us(record.received_at_us());
  state.set_order_key(record.order_key());
}

v1::EventState replayedState(const v1::EventState& state, const ReplayMark& mark) {
  v1::EventState next = state;
  next.set_state(state.attempts() == 0 ? v1::STATE_PENDING : v1::STATE_RETRYING);
  next.set_reason(v1::DEAD_REASON_NONE);
  const int64_t due_at_us = std::max<int64_t>(absl::ToUnixMicros(mark.due_at), 1);
  next.set_due_at_us(due_at_us);
  next.set_due_because("replay");
  next.set_parked(false);
  next.set_crashes(0);
  next.set_not_found(0);
  next.set_last_delay_us(0);
  next.set_replay(mark.job);
  next.set_budget_attempts(state.attempts());
  // From when it is due, not from now: a slow replay must not eat its own deadline.
  next.set_budget_from_us(due_at_us);
  return next;
}

v1::EventState corruptState(const v1::EventState& state) {
  v1::EventState next = state;
  next.set_format(kRecordFormat);
  next.set_state(v1::STATE_DEAD);
  next.set_reason(v1::DEAD_REASON_CORRUPT);
  next.set_parked(false);
  next.set_due_at_us(0);
  next.clear_due_because();
  return next;
}

v1::EventState crashedState(const v1::EventState& state) {
  v1::EventState next = state;
  next.set_crashes(state.crashes() + 1);
  if (next.crashes() >= limits::kPoisonCrashes) {
    next.set_state(v1::STATE_DEAD);
    next.set_reason(v1::DEAD_REASON_POISON);
    next.set_due_at_us(0);
    next.clear_due_because();
  }
  return next;
}

Queue queueOf(const v1::EventState& state) {
  if (!state.replay().empty()) {
    return Queue::Replay;
  }
  return state.attempts() == 0 ? Queue::First : Queue::Retry;
}

bool isQueued(const v1::EventState& state) { return state.due_at_us() > 0 && !state.parked(); }

OrderPlace orderPlace(const v1::EventState& state) {
  if (state.order_key().empty() || state.due_at_us() == 0) {
    return OrderPlace::None;
  }
  if (state.replay().empty() || state.attempts() > state.budget_attempts()) {
    return OrderPlace::Holds;
  }
  return state.parked() ? OrderPlace::Behind : OrderPlace::None;
}

std::optional<Queue> chooseQueue(const std::array<std::optional<QueueHead>, kQueues>& heads,
                                 int64_t now_us, size_t retries_left) {
  const auto due = [&](Queue queue) {
    const auto& head = heads[static_cast<size_t>(queue)];
    return head.has_value() && head->due_us <= now_us;
  };
  const bool first = due(Queue::First);
  const bool retry = due(Queue::Retry);
  if (first && retry) {
    const bool retry_is_older =
        heads[static_cast<size_t>(Queue::Retry)]->id < heads[static_cast<size_t>(Queue::First)]->id;
    return retry_is_older && retries_left > 0 ? Queue::Retry : Queue::First;
  }
  if (first || retry) {
    return first ? Queue::First : Queue::Retry;
  }
  return due(Queue::Replay) ? std::optional<Queue>(Queue::Replay) : std::nullopt;
}

absl::Status checkSettlement(const Settlement& settlement, std::string_view upstream,
                             uint64_t sequence) {
  const v1::EventState& state = settlement.state;
  const bool waits = state.state() == v1::STATE_PENDING || state.state() == v1::STATE_RETRYING;
  if (waits == (state.due_at_us() > 0) && state.upstream() == upstream &&
      state.sequence() == sequence) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "event ", settlement.id.toString(), " (", printable(upstream), ", sequence ", sequence,
      ") can't become ", v1::State_Name(state.state()), " with due time ", state.due_at_us(),
      ", lane \"", state.upstream(), "\", sequence ", state.sequence()));
}

bool isSetAside(v1::State state) {
  return state == v1::STATE_DEAD || state == v1::STATE_QUARANTINED;
}

void moveCount(v1::LaneCounts& settled, v1::State from, v1::State to) {
  add(settled, from, ~uint64_t{0});  // minus one
  add(settled, to, 1);
}

LaneTotals makeTotals(uint64_t accepted, const v1::LaneCounts& settled) {
  LaneTotals totals;
  totals.accepted = accepted;
  totals.retrying = settled.retrying();
  totals.delivered = settled.delivered();
  totals.dead = settled.dead();
  totals.quarantined = settled.quarantined();
  totals.pending = accepted - settled.retrying() - settled.delivered() - settled.dead() -
                   settled.quarantined() - settled.deleted();
  return totals;
}

}  // namespace forebay
