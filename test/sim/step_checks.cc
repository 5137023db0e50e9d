// What Checks looks at after each step, now and then, and at the end.
#include <algorithm>
#include <utility>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "test/sim/checks.h"
#include "test/sim/decisions.h"

namespace forebay::sim {
namespace {

constexpr uint64_t kRecountEvery = 5000;

bool isLive(const v1::EventState& state) {
  return state.state() == v1::STATE_PENDING || state.state() == v1::STATE_RETRYING;
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

// Over turns that left first attempts waiting, no more than the share of what went are retries.
void Checks::checkShare() {
  for (Lane& lane : lanes_) {
    const auto first = lane.firsts_waiting.begin();
    const bool waits =
        first != lane.firsts_waiting.end() && absl::FromUnixMicros(first->first) <= due_now_;
    // A probe is whatever is oldest.
    if (!waits || lane.model.probes()) {
      lane.leased_in_run = 0;
      lane.retries_in_run = 0;
      continue;
    }
    const double share = lane.model.config().retry.share_max_percent / 100;
    const double allowed = share * static_cast<double>(lane.leased_in_run) + 1;
    if (static_cast<double>(lane.retries_in_run) > allowed + 1e-6) {
      fail(cat("upstream ", lane.model.config().name, ": ", lane.retries_in_run, " retries of ",
               lane.leased_in_run, " attempts while first attempts wait; share ", share));
    }
  }
}

void Checks::afterStep(Simulation& simulation) {
  if (std::exchange(turned_, false)) {
    checkShare();
    checkStatus(simulation);
  }
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

// Right after the turn, so that what the model takes over happened at this very moment.
void Checks::checkStatus(Simulation& simulation) {
  if (simulation.forwarder() == nullptr) {
    return;
  }
  for (const LaneStatus& status : simulation.forwarder()->lanes()) {
    const std::string wrong = lanes_[lane_by_name_.at(status.name)].model.compare(status, now());
    if (!wrong.empty()) {
      fail(cat("upstream ", status.name, " ", wrong));
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
    const LaneModel& model = lanes_[lane_by_name_.at(status.name)].model;
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
