#include "source/delivery/forwarder.h"

#include <algorithm>
#include <utility>

#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

// A wall clock that steps forward is noticed within this time.
constexpr absl::Duration kTurnAtLeastEvery = absl::Seconds(1);
constexpr size_t kLeaseMax = 256;

}  // namespace

Forwarder::Forwarder(const std::vector<UpstreamConfig>& upstreams, Dependencies dependencies)
    : deps_(std::move(dependencies)) {
  for (const UpstreamConfig& upstream : upstreams) {
    lanes_.push_back(std::make_unique<Lane>(upstream, deps_.stats, deps_.log));
    LaneStatus status;
    status.name = upstream.name;
    status.cluster = upstream.cluster;
    const absl::StatusOr<v1::LaneRecord> record = deps_.store.loadLane(upstream.name);
    if (record.ok()) {
      status.paused = record->paused();
      status.pause_reason = record->pause_reason();
    } else {
      deps_.log.error(cat("upstream ", upstream.name,
                          ": can't read whether it was paused: ", record.status().message()));
    }
    absl::MutexLock lock(&status_mutex_);
    status_.push_back(std::move(status));
  }
}

MonotonicTime Forwarder::tick() {
  applyPauses();
  settleArrived();
  if (sending_.load(std::memory_order_acquire)) {
    std::vector<OutgoingRequest> requests;
    for (const auto& lane : lanes_) {
      fill(*lane, requests);
    }
    writeSettlements();  // what expired while it waited
    in_flight_total_.store(lane_of_token_.size(), std::memory_order_release);
    if (!requests.empty()) {
      deps_.transport.send(std::move(requests), *this);
    }
  }
  publish();
  return nextTurn();
}

void Forwarder::settleArrived() {
  std::vector<Arrived> arrived;
  {
    absl::MutexLock lock(&inbox_mutex_);
    arrived.swap(inbox_);
  }
  const absl::Time wall_now = deps_.clock.wallNow();
  const MonotonicTime now = deps_.clock.monotonicNow();
  for (Arrived& item : arrived) {
    const auto found = lane_of_token_.find(item.token);
    if (found == lane_of_token_.end()) {
      continue;
    }
    Lane& lane = *found->second;
    // Envoy is going down: nobody knows whether the app got it. It is tried again after the
    // restart, under the same attempt number.
    if (item.outcome.kind == OutcomeKind::Abandoned) {
      lane.close(item.token);
      lane_of_token_.erase(found);
      continue;
    }
    unwritten_.push_back(lane.finish(item.token, item.outcome, wall_now, now, deps_.random));
    unwritten_tokens_.emplace_back(&lane, item.token);
  }
  writeSettlements();
  in_flight_total_.store(lane_of_token_.size(), std::memory_order_release);
}

void Forwarder::writeSettlements() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  if (unwritten_.empty() || now < settle_again_at_) {
    return;
  }
  const absl::Status written = deps_.store.settle(unwritten_);
  if (!written.ok()) {
    // The lane keeps its slot, so a store that stays down stops the sending by itself.
    settle_again_at_ = now + absl::Seconds(1);
    deps_.log.warn(cat(unwritten_.size(), " outcomes wait to be written: ", written.message()));
    return;
  }
  for (const auto& [lane, token] : unwritten_tokens_) {
    lane->close(token);
    lane_of_token_.erase(token);
  }
  unwritten_.clear();
  unwritten_tokens_.clear();
}

void Forwarder::fill(Lane& lane, std::vector<OutgoingRequest>& requests) {
  const MonotonicTime now = deps_.clock.monotonicNow();
  while (const size_t room = std::min(lane.room(now), kLeaseMax)) {
    const absl::Time wall_now = deps_.clock.wallNow();
    absl::StatusOr<std::vector<LeasedEvent>> leased =
        deps_.store.leaseDue(lane.name(), wall_now, {room});
    // A store that can't be read now says so itself, and wakes us when it can.
    if (!leased.ok() || leased->empty()) {
      return;
    }
    for (LeasedEvent& event : *leased) {
      if (lane.isExpired(event, wall_now)) {
        deps_.stats.add(Counter::Dead, {lane.name(), "expired"}, 1);
        unwritten_.push_back(settleExpired(event));
        continue;
      }
      const uint64_t token = next_token_++;
      lane_of_token_[token] = &lane;
      requests.push_back(lane.start(std::move(event), token, wall_now, now));
    }
    if (leased->size() < room) {
      return;
    }
  }
}

void Forwarder::applyPauses() {
  absl::MutexLock lock(&status_mutex_);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->setPaused(status_[i].paused);
  }
}

void Forwarder::publish() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  const absl::Time wall_now = deps_.clock.wallNow();
  {
    absl::MutexLock lock(&status_mutex_);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const CircuitBreaker& breaker = lanes_[i]->breaker();
      status_[i].in_flight = lanes_[i]->inFlight();
      status_[i].breaker = breaker.state(now);
      status_[i].next_probe_at.reset();
      if (status_[i].breaker == BreakerState::Open) {
        status_[i].next_probe_at = wall_now + (breaker.probeAt() - now);
      }
    }
  }
  if (now - published_at_ < limits::kStatsFlushInterval) {
    return;
  }
  published_at_ = now;
  for (const LaneStatus& status : lanes()) {
    const std::string_view name = status.name;
    const std::optional<absl::Time> oldest = deps_.store.oldestWaiting(name);
    const int64_t age = oldest ? absl::ToInt64Seconds(wall_now - *oldest) : 0;
    deps_.stats.set(Gauge::InFlight, {name}, status.in_flight);
    deps_.stats.set(Gauge::BreakerOpen, {name}, status.breaker != BreakerState::Closed);
    deps_.stats.set(Gauge::Paused, {name}, status.paused);
    deps_.stats.set(Gauge::OldestPendingSeconds, {name}, std::max<int64_t>(age, 0));
  }
  for (const auto& [name, totals] : deps_.store.totals()) {
    deps_.stats.set(Gauge::Backlog, {name}, totals.backlog());
    deps_.stats.set(Gauge::Retrying, {name}, totals.retrying);
  }
}

MonotonicTime Forwarder::nextTurn() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  const absl::Time wall_now = deps_.clock.wallNow();
  MonotonicTime next = now + kTurnAtLeastEvery;
  // The gauges of a lane that fell silent are brought up to date once more.
  next = std::min(next, published_at_ + limits::kStatsFlushInterval);
  if (next < now) {
    next = now;
  }
  if (!unwritten_.empty()) {
    next = std::min(next, std::max(now, settle_again_at_));
  }
  if (!sending_.load(std::memory_order_acquire)) {
    return next;
  }
  for (const auto& lane : lanes_) {
    const MonotonicTime room_at = lane->roomAt(now);
    if (room_at >= next) {
      continue;
    }
    const absl::Duration until_due = deps_.store.nextDue(lane->name()) - wall_now;
    next = std::min(next, std::max(room_at, now + std::max(until_due, absl::ZeroDuration())));
  }
  return next;
}

void Forwarder::stopSending() {
  sending_.store(false, std::memory_order_release);
  deps_.wake();
}

void Forwarder::onOutcome(uint64_t token, Outcome&& outcome) {
  bool first = false;
  {
    absl::MutexLock lock(&inbox_mutex_);
    first = inbox_.empty();
    inbox_.push_back({token, std::move(outcome)});
  }
  if (first) {
    deps_.wake();
  }
}

std::vector<LaneStatus> Forwarder::lanes() {
  absl::MutexLock lock(&status_mutex_);
  return status_;
}

absl::Status Forwarder::pause(std::string_view upstream, std::string_view reason) {
  return setPaused(upstream, true, reason);
}

absl::Status Forwarder::resume(std::string_view upstream) { return setPaused(upstream, false, ""); }

absl::Status Forwarder::setPaused(std::string_view upstream, bool paused, std::string_view reason) {
  // The names never change, so the search needs no lock beyond the copy's.
  const std::vector<LaneStatus> known = lanes();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const LaneStatus& lane) { return lane.name == upstream; });
  if (found == known.end()) {
    return absl::NotFoundError(
        cat("no upstream is called \"", printable(upstream, limits::kNameBytesMax), "\""));
  }
  v1::LaneRecord record;
  record.set_paused(paused);
  record.set_pause_reason(std::string(reason));
  if (const absl::Status saved = deps_.store.saveLane(upstream, record, true); !saved.ok()) {
    return saved;
  }
  {
    absl::MutexLock lock(&status_mutex_);
    LaneStatus& status = status_[found - known.begin()];
    status.paused = paused;
    status.pause_reason = std::string(reason);
  }
  deps_.wake();
  return absl::OkStatus();
}

}  // namespace forebay
