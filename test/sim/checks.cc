#include "test/sim/checks.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "test/sim/decisions.h"

namespace forebay::sim {
namespace {

bool isLive(const v1::EventState& state) {
  return state.state() == v1::STATE_PENDING || state.state() == v1::STATE_RETRYING;
}

bool isFirst(const v1::EventState& state) {
  return isLive(state) && state.replay().empty() && state.attempts() == 0;
}

bool holdsKey(const v1::EventState& state) {
  const bool begun = state.replay().empty() || state.attempts() > state.budget_attempts();
  return !state.order_key().empty() && isLive(state) && begun;
}

uint64_t& sumOf(LaneTotals& totals, v1::State state) {
  switch (state) {
    case v1::STATE_RETRYING:
      return totals.retrying;
    case v1::STATE_DELIVERED:
      return totals.delivered;
    case v1::STATE_DEAD:
      return totals.dead;
    case v1::STATE_QUARANTINED:
      return totals.quarantined;
    default:
      return totals.pending;
  }
}

}  // namespace

Checks::Checks(const Script& script, absl::Duration calm_from)
    : calm_from_(calm_from), forgets_(script.forget_delivered) {
  for (const UpstreamConfig& upstream : script.upstreams) {
    lane_by_name_[upstream.name] = lanes_.size();
    lanes_.emplace_back(upstream);
  }
}

Moment Checks::now() const { return {simulation_->now(), simulation_->clock().wallNow()}; }

void Checks::fail(const std::string& what) {
  if (failures_.size() < kFailuresMax) {
    failures_.push_back(cat("at ", absl::FormatDuration(simulation_->now()), ", step ",
                            simulation_->steps(), ": ", what));
  }
}

void Checks::fail(const EventId& id, const std::string& what) {
  fail(cat("event ", id.toString(), ": ", what));
}

Checks::Known* Checks::find(const EventId& id, const char* doing) {
  const auto found = events_.find(id);
  if (found == events_.end()) {
    fail(id, cat(doing, ", though it was never captured or is delivered and forgotten"));
    return nullptr;
  }
  return &found->second;
}

void Checks::count(const Known& known, const EventId& id, int64_t by) {
  Lane& lane = lanes_[known.lane];
  sumOf(lane.totals, known.state.state()) += by;
  if (holdsKey(known.state)) {
    std::set<EventId>& holders = lane.holders[known.state.order_key()];
    if (by > 0) {
      holders.insert(id);
    } else {
      holders.erase(id);
    }
  }
  if (isFirst(known.state) && !known.leased && known.state.order_key().empty()) {
    if (by > 0) {
      lane.firsts_waiting.emplace(known.state.due_at_us(), id);
    } else {
      lane.firsts_waiting.erase({known.state.due_at_us(), id});
    }
  }
}

void Checks::setLeased(Known& known, const EventId& id, bool leased) {
  count(known, id, -1);
  known.leased = leased;
  count(known, id, 1);
  if (leased) {
    leased_.insert(id);
  } else {
    leased_.erase(id);
  }
}

void Checks::move(Known& known, const EventId& id, const v1::EventState& to) {
  count(known, id, -1);
  known.state = to;
  count(known, id, 1);
}

void Checks::onTurn() {
  const Moment moment = now();
  due_now_ = std::max(moment.wall, due_now_ + (moment.at - due_as_of_));
  due_as_of_ = moment.at;
  turned_ = true;
}

void Checks::onCapture(const Event& event) {
  latest_capture_ = event.id.time();
  Known& known = events_[event.id];
  known.lane = lane_by_name_.at(event.record.upstream());
  known.state.set_upstream(event.record.upstream());
  known.state.set_order_key(event.record.order_key());
  known.state.set_due_at_us(event.record.received_at_us() + event.record.first_delay_us());
  known.state.set_budget_from_us(event.record.received_at_us());
  ++lanes_[known.lane].totals.accepted;
  count(known, event.id, 1);
}

void Checks::onLease(const LeasedEvent& leased) {
  const EventId& id = leased.event->id;
  Known* const known = find(id, "leased");
  if (known == nullptr) {
    return;
  }
  if (known->leased) {
    fail(id, "leased twice");
  }
  setLeased(*known, id, true);
  ++lanes_[known->lane].leased_in_run;
  const v1::EventState& state = leased.state;
  if (!isLive(known->state)) {
    fail(id, cat("leased, though it is ", v1::State_Name(known->state.state())));
  }
  if (absl::FromUnixMicros(state.due_at_us()) > due_now_) {
    fail(id,
         cat("leased ", absl::FormatDuration(absl::FromUnixMicros(state.due_at_us()) - due_now_),
             " before it was due"));
  }
  if (state.due_at_us() != known->state.due_at_us() ||
      state.attempts() != known->state.attempts() ||
      state.budget_attempts() != known->state.budget_attempts() ||
      state.budget_from_us() != known->state.budget_from_us() ||
      state.crashes() != known->state.crashes()) {
    fail(id,
         cat("leased as ", state.ShortDebugString(), "; it is ", known->state.ShortDebugString()));
  }
}

void Checks::onAttempt(const AttemptStart& start) {
  const EventId& id = start.event->id;
  Known* const known = find(id, "sent");
  if (known == nullptr) {
    return;
  }
  Lane& lane = lanes_[known->lane];
  const v1::EventState& state = known->state;
  if (!known->leased || known->in_flight) {
    fail(id, known->in_flight ? "sent twice at once" : "sent without a lease");
  }
  const RetryConfig& retry = lane.model.config().retry;
  const absl::Time deadline = absl::FromUnixMicros(state.budget_from_us()) + retry.give_up_after;
  if (start.wall > deadline) {
    fail(id, cat("sent ", absl::FormatDuration(start.wall - deadline), " after its deadline"));
  }
  if (start.number != state.attempts() + 1 ||
      (start.number != known->sent + 1 && !(known->may_repeat && start.number == known->sent))) {
    fail(id, cat("sent as attempt ", start.number, "; ", state.attempts(),
                 " counted so far, the latest sent was ", known->sent));
  }
  if (state.attempts() - state.budget_attempts() >= retry.attempts_max) {
    fail(id, cat("attempt ", start.number - state.budget_attempts(), " of at most ",
                 retry.attempts_max));
  }
  if (!state.order_key().empty()) {
    const std::set<EventId>& holders = lane.holders[state.order_key()];
    if (!holders.empty() && *holders.begin() < id) {
      fail(id, cat("sent before ", holders.begin()->toString(), " of the same key"));
    }
    if (!lane.under_way.try_emplace(state.order_key(), id).second) {
      fail(id,
           cat("sent beside ", lane.under_way[state.order_key()].toString(), " of the same key"));
    }
  }
  const std::string wrong = lane.model.onStart(id, now());
  if (!wrong.empty()) {
    fail(id, cat("upstream ", lane.model.config().name, ": ", wrong));
  }
  lane.retries_in_run += state.replay().empty() && state.attempts() > 0;
  known->in_flight = true;
  known->sent = start.number;
  known->may_repeat = false;
  known->outcome.reset();
  by_serial_[start.serial] = id;
}

void Checks::onOutcome(uint64_t serial, const Outcome& outcome) {
  const auto found = by_serial_.find(serial);
  if (Known* const known = find(found->second, "answered")) {
    known->outcome = outcome;
  }
  by_serial_.erase(found);
}

void Checks::onSettle(const Settlement& settlement) {
  const EventId& id = settlement.id;
  Known* const known = find(id, "settled");
  if (known == nullptr) {
    return;
  }
  if (!known->leased) {
    fail(id, "settled without a lease");
  }
  if (known->in_flight && !known->outcome.has_value()) {
    fail(id, "settled before its outcome");
    return;
  }
  Lane& lane = lanes_[known->lane];
  const Outcome* const outcome = known->in_flight ? &*known->outcome : nullptr;
  const std::string wrong =
      wrongDecision({lane.model.config(), known->state, outcome, now().wall, due_now_}, settlement);
  if (!wrong.empty()) {
    fail(id, wrong);
  }
  if (outcome != nullptr) {
    lane.model.onOutcome(id, *outcome, now());
    known->may_repeat = meaningOf(*outcome) == Meaning::NoAttempt;
  }
  if (known->in_flight && !known->state.order_key().empty()) {
    lane.under_way.erase(known->state.order_key());
  }
  known->in_flight = false;
  setLeased(*known, id, false);
  move(*known, id, settlement.state);
  if (forgets_ && settlement.state.state() == v1::STATE_DELIVERED) {
    events_.erase(id);
  }
}

void Checks::onRelease(const EventId& id) {
  const auto found = events_.find(id);
  if (found != events_.end()) {
    setLeased(found->second, id, false);
    found->second.in_flight = false;
    found->second.may_repeat = true;
  }
}

void Checks::onReplay(const ReplayMark& mark) {
  const auto found = events_.find(mark.id);
  if (found == events_.end() || found->second.leased) {
    return;
  }
  Known& known = found->second;
  v1::EventState next = known.state;
  next.set_state(known.state.attempts() == 0 ? v1::STATE_PENDING : v1::STATE_RETRYING);
  next.set_due_at_us(absl::ToUnixMicros(mark.due_at));
  next.set_budget_from_us(next.due_at_us());
  next.set_budget_attempts(next.attempts());
  next.set_replay(mark.job);
  next.set_crashes(0);
  next.set_not_found(0);
  move(known, mark.id, next);
}

void Checks::onAction(const OperatorAction& action) {
  if (action.kind == OperatorAction::Kind::Pause) {
    lanes_[lane_by_name_.at(action.upstream)].model.pause();
  } else if (action.kind == OperatorAction::Kind::Resume) {
    lanes_[lane_by_name_.at(action.upstream)].model.resume(now());
  }
}

void Checks::onClockStep(absl::Duration) {
  stepped_at_ = now().at;
  for (Lane& lane : lanes_) {
    lane.model.onClockStep();
  }
}

void Checks::onDown(Restart::Kind kind) {
  std::vector<EventId> leased(leased_.begin(), leased_.end());
  for (const EventId& id : leased) {
    Known& known = events_.at(id);
    if (kind == Restart::Kind::Clean) {
      fail(id, "still leased after a clean end");
    }
    v1::EventState next = known.state;
    next.set_crashes(next.crashes() + 1);
    if (next.crashes() >= limits::kPoisonCrashes) {
      next.set_state(v1::STATE_DEAD);
    }
    setLeased(known, id, false);
    move(known, id, next);
    known.in_flight = false;
    known.may_repeat = true;
  }
  by_serial_.clear();
  for (Lane& lane : lanes_) {
    lane.under_way.clear();
    lane.model.onDown();
  }
}

void Checks::onUp() {
  due_now_ = std::max(latest_capture_, now().wall);
  due_as_of_ = now().at;
  for (Lane& lane : lanes_) {
    lane.model.onUp(now());
  }
}

}  // namespace forebay::sim
