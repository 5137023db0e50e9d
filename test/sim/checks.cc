#include "test/sim/checks.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/policy/backoff.h"
#include "source/policy/retry_after.h"

namespace forebay::sim {
namespace {

constexpr size_t kFailuresMax = 5;
constexpr uint64_t kRecountEvery = 5000;
constexpr uint32_t kNotFoundAttemptsMax = 5;

bool isLive(const v1::EventState& state) {
  return state.state() == v1::STATE_PENDING || state.state() == v1::STATE_RETRYING;
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

// The longest wait that the policy may ask for, the app's wishes apart.
absl::Duration longestDelay(const RetryConfig& retry) {
  absl::Duration longest;
  if (const auto* exponential = std::get_if<ExponentialBackoff>(&retry.backoff)) {
    longest = exponential->max;
  } else if (const auto* schedule = std::get_if<ScheduleBackoff>(&retry.backoff)) {
    longest = *std::max_element(schedule->delays.begin(), schedule->delays.end());
  } else if (const auto* linear = std::get_if<LinearBackoff>(&retry.backoff)) {
    longest = linear->max;
  } else {
    longest = std::get<FixedBackoff>(retry.backoff).interval;
  }
  const double stretched =
      retry.jitter.kind == JitterKind::Proportional ? 1 + retry.jitter.ratio : 1;
  return longest * stretched * 2;  // a 404 or a 429 doubles it
}

std::string describe(const LaneTotals& totals) {
  return cat(totals.accepted, " accepted, ", totals.pending, " pending, ", totals.retrying,
             " retrying, ", totals.delivered, " delivered, ", totals.dead, " dead, ",
             totals.quarantined, " quarantined");
}

bool operator==(const LaneTotals& a, const LaneTotals& b) {
  return a.accepted == b.accepted && a.pending == b.pending && a.retrying == b.retrying &&
         a.delivered == b.delivered && a.dead == b.dead && a.quarantined == b.quarantined;
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
  known->leased = true;
  leased_.insert(id);
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
  checkDecision(id, *known, settlement);
  Lane& lane = lanes_[known->lane];
  if (known->in_flight && known->outcome.has_value()) {
    lane.model.onOutcome(id, *known->outcome, now());
    known->may_repeat = meaningOf(*known->outcome) == Meaning::NoAttempt;
  }
  if (known->in_flight && !known->state.order_key().empty()) {
    lane.under_way.erase(known->state.order_key());
  }
  known->in_flight = false;
  known->leased = false;
  leased_.erase(id);
  move(*known, id, settlement.state);
  if (forgets_ && settlement.state.state() == v1::STATE_DELIVERED) {
    events_.erase(id);
  }
}

void Checks::checkDecision(const EventId& id, const Known& known, const Settlement& settlement) {
  const v1::EventState& next = settlement.state;
  const RetryConfig& retry = lanes_[known.lane].model.config().retry;
  if (!known.in_flight) {
    const absl::Time deadline =
        absl::FromUnixMicros(known.state.budget_from_us()) + retry.give_up_after;
    if (next.state() != v1::STATE_DEAD || next.reason() != v1::DEAD_REASON_EXPIRED ||
        now().wall <= deadline) {
      fail(id, cat("settled without an attempt: ", next.ShortDebugString()));
    }
    return;
  }
  if (!known.outcome.has_value()) {
    fail(id, "settled before its outcome");
    return;
  }
  const Meaning meaning = meaningOf(*known.outcome);
  const uint32_t cost = meaning == Meaning::NoAttempt ? 0 : 1;
  if (next.attempts() != known.state.attempts() + cost || settlement.attempt.has_value() != cost) {
    fail(id, cat("attempts ", known.state.attempts(), " became ", next.attempts(), " after ",
                 outcomeName(*known.outcome)));
  }
  switch (meaning) {
    case Meaning::Success:
      if (next.state() != v1::STATE_DELIVERED) {
        fail(id, cat("taken by the app, but ", v1::State_Name(next.state())));
      }
      break;
    case Meaning::Permanent:
      if (next.state() != v1::STATE_DEAD || next.reason() != v1::DEAD_REASON_PERMANENT) {
        fail(id, cat("refused for good, but ", next.ShortDebugString()));
      }
      break;
    case Meaning::NoAttempt:
      if (next.state() != known.state.state()) {
        fail(id, cat("an error of our own made it ", next.ShortDebugString()));
      }
      break;
    case Meaning::Retry:
    case Meaning::RetryNotFound:
      checkRetry(id, known, next);
      break;
  }
}

void Checks::checkRetry(const EventId& id, const Known& known, const v1::EventState& next) {
  const RetryConfig& retry = lanes_[known.lane].model.config().retry;
  const Outcome& outcome = *known.outcome;
  const uint32_t attempts_max = meaningOf(outcome) == Meaning::RetryNotFound
                                    ? std::min(retry.attempts_max, kNotFoundAttemptsMax)
                                    : retry.attempts_max;
  const bool exhausted = next.attempts() - next.budget_attempts() >= attempts_max;
  const bool dead_exhausted =
      next.state() == v1::STATE_DEAD && next.reason() == v1::DEAD_REASON_EXHAUSTED;
  if (exhausted != dead_exhausted) {
    fail(id, cat("after ", next.attempts() - next.budget_attempts(), " of at most ", attempts_max,
                 " attempts: ", next.ShortDebugString()));
    return;
  }
  const absl::Time wall = now().wall;
  absl::Duration asked;
  if (outcome.retry_after.has_value() && (outcome.status == 429 || outcome.status == 503)) {
    asked = parseRetryAfter(*outcome.retry_after, wall).value_or(absl::ZeroDuration());
  }
  const absl::Duration longest = std::max(asked, longestDelay(retry));
  if (next.state() == v1::STATE_RETRYING) {
    const absl::Duration wait = absl::FromUnixMicros(next.due_at_us()) - due_now_;
    if (wait < asked - absl::Microseconds(1) || wait < -absl::Microseconds(1) || wait > longest) {
      fail(id, cat("tried again in ", absl::FormatDuration(wait), "; asked for ",
                   absl::FormatDuration(asked), ", at most ", absl::FormatDuration(longest)));
    }
  } else if (!exhausted) {
    const absl::Time deadline = absl::FromUnixMicros(next.budget_from_us()) + retry.give_up_after;
    if (next.reason() != v1::DEAD_REASON_EXPIRED || wall + longest <= deadline) {
      fail(id, cat("given up too soon: ", next.ShortDebugString()));
    }
  }
}

void Checks::onRelease(const EventId& id) {
  const auto found = events_.find(id);
  if (found != events_.end()) {
    found->second.leased = false;
    found->second.in_flight = false;
    found->second.may_repeat = true;
    leased_.erase(id);
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
    move(known, id, next);
    known.leased = false;
    known.in_flight = false;
    known.may_repeat = true;
  }
  leased_.clear();
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

void Checks::afterStep(Simulation& simulation) {
  checkTotals(simulation);
  if (simulation.sending()) {
    checkWakes(simulation);
  }
  if (simulation.steps() % kRecountEvery == 0) {
    recount(simulation);
  }
  if (!drained_by_.has_value() && simulation.now() >= calm_from_ && simulation.scriptEnded()) {
    drained_by_ = simulation.now() + drainBound();
  }
}

void Checks::checkTotals(Simulation& simulation) {
  for (const auto& [name, totals] : simulation.store().totals()) {
    const LaneTotals& expected = lanes_[lane_by_name_.at(name)].totals;
    if (!(totals == expected) || totals.accepted != totals.pending + totals.retrying +
                                                        totals.delivered + totals.dead +
                                                        totals.quarantined) {
      fail(
          cat("upstream ", name, " counts ", describe(totals), "; there are ", describe(expected)));
    }
  }
}

// Nobody turns a forwarder that has not asked for it: whatever is due must have a turn coming.
void Checks::checkWakes(Simulation& simulation) {
  const Moment moment = now();
  if (simulation.turnAt() <= moment.at) {
    return;
  }
  const bool notices_later =
      stepped_at_.has_value() && moment.at <= *stepped_at_ + limits::kStatsFlushInterval;
  for (const LaneStatus& status : simulation.forwarder()->lanes()) {
    LaneModel& model = lanes_[lane_by_name_.at(status.name)].model;
    const std::string wrong = model.compare(status, moment);
    if (!wrong.empty()) {
      fail(cat("upstream ", status.name, " ", wrong));
    }
    const absl::Time due = simulation.store().nextDue(status.name);
    if (due == absl::InfiniteFuture() || model.paused() || notices_later) {
      continue;
    }
    const absl::Duration due_in =
        std::max(due - due_now_ - (moment.at - due_as_of_), absl::ZeroDuration());
    absl::Duration allowed = due_in + absl::Microseconds(1);
    if (!model.isFree(status, moment)) {
      if (model.inFlight() > 0) {
        continue;  // an outcome will turn it
      }
      allowed += model.patience();
    }
    if (simulation.turnAt() - moment.at > allowed) {
      fail(cat("upstream ", status.name, " has an event due in ", absl::FormatDuration(due_in),
               ", but the next turn is in ",
               absl::FormatDuration(simulation.turnAt() - moment.at)));
    }
  }
}

void Checks::recount(Simulation& simulation) {
  size_t found = 0;
  std::optional<EventId> before;
  do {
    const absl::StatusOr<ScanPage> page = simulation.store().scan({}, before, 1000);
    for (const StoredEvent& stored : page->events) {
      ++found;
      const Known* const known = find(stored.event->id, "stored");
      if (known == nullptr) {
        continue;
      }
      if (stored.state.state() != known->state.state() ||
          stored.state.attempts() != known->state.attempts() ||
          (isLive(stored.state) && stored.state.due_at_us() != known->state.due_at_us())) {
        fail(stored.event->id, cat("stored as ", stored.state.ShortDebugString(), "; it is ",
                                   known->state.ShortDebugString()));
      }
    }
    before = page->next;
  } while (before.has_value());
  if (found != events_.size()) {
    fail(cat(found, " events are stored; there are ", events_.size()));
  }
}

// With every app well, what waits needs its due time, a probe, a ramp, and its turn.
absl::Duration Checks::drainBound() const {
  absl::Duration bound;
  for (const Lane& lane : lanes_) {
    const UpstreamConfig& config = lane.model.config();
    absl::Duration needed = lane.model.patience() + longestDelay(config.retry) + config.timeout * 2;
    const auto waiting = static_cast<double>(lane.totals.backlog());
    needed += (config.timeout + absl::Seconds(1)) * waiting;
    if (config.rate_limit.has_value()) {
      needed += config.rate_limit->per * waiting / config.rate_limit->events;
    }
    bound = std::max(bound, needed);
  }
  absl::Duration due_in;
  for (const auto& [id, known] : events_) {
    if (isLive(known.state)) {
      due_in = std::max(due_in, absl::FromUnixMicros(known.state.due_at_us()) - due_now_);
    }
  }
  return bound + due_in;
}

void Checks::atEnd(Simulation& simulation, const Result& result) {
  checkTotals(simulation);
  recount(simulation);
  if (!result.error.empty()) {
    fail(result.error);
  }
  bool paused = false;
  for (const Lane& lane : lanes_) {
    paused |= lane.model.paused() && lane.totals.backlog() > 0;
  }
  if (!result.drained && !paused) {
    fail(cat("never drained: ", describe(result.totals)));
  } else if (drained_by_.has_value() && result.ended_at > *drained_by_ && !paused) {
    fail(cat("drained only at ", absl::FormatDuration(result.ended_at), ", not by ",
             absl::FormatDuration(*drained_by_)));
  }
}

}  // namespace forebay::sim
