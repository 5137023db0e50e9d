#include "source/delivery/forwarder.h"

#include <algorithm>
#include <utility>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/store/lifecycle.h"

namespace forebay {
namespace {

// After an error of the store, how long until it is asked again.
constexpr absl::Duration kStorePatience = absl::Seconds(1);
constexpr size_t kLeaseMax = 256;

}  // namespace

Forwarder::Forwarder(const std::vector<UpstreamConfig>& upstreams, Dependencies dependencies)
    : deps_(std::move(dependencies)),
      due_clock_(deps_.clock, deps_.store.latestCapture()),
      unsaved_(upstreams.size()) {
  absl::MutexLock records(&records_mutex_);
  absl::MutexLock statuses(&status_mutex_);
  for (const UpstreamConfig& upstream : upstreams) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(upstream, deps_.stats, deps_.log));
    const absl::StatusOr<v1::LaneRecord> loaded = deps_.store.loadLane(upstream.name);
    if (!loaded.ok()) {
      deps_.log.error(cat("upstream ", upstream.name,
                          ": can't read whether it was paused: ", loaded.status().message()));
    }
    const v1::LaneRecord& record = records_.emplace_back(loaded.ok() ? *loaded : v1::LaneRecord());
    lane.restore(record, deps_.clock.wallNow(), deps_.clock.monotonicNow());
    lane.setPaused(record.paused(), deps_.clock.monotonicNow());
    LaneStatus& status = status_.emplace_back();
    status.name = upstream.name;
    status.cluster = upstream.cluster;
    status.paused = record.paused();
    status.pause_reason = record.pause_reason();
  }
}

MonotonicTime Forwarder::tick() {
  applyPauses();
  settleArrived();
  keepRecords();
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
  updateStatus();
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
  const int64_t ahead_us = absl::ToInt64Microseconds(due_clock_.ahead());
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
    if (v1::EventState& state = unwritten_.back().state; state.due_at_us() > 0) {
      state.set_due_at_us(state.due_at_us() + ahead_us);
    }
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
        deps_.store.leaseDue(lane.name(), due_clock_.now(), lane.leaseLimits(room, now));
    if (!leased.ok()) {
      // The store says itself what is wrong, and wakes us when it is well.
      lease_again_at_ = now + kStorePatience;
      return;
    }
    size_t firsts = 0;
    size_t retries = 0;
    for (LeasedEvent& event : *leased) {
      if (lane.isExpired(event, wall_now)) {
        deps_.stats.add(Counter::Dead, {lane.name(), "expired"}, 1);
        unwritten_.push_back(settleExpired(event));
        continue;
      }
      const Queue queue = queueOf(event.state);
      firsts += queue == Queue::First;
      retries += queue == Queue::Retry;
      const uint64_t token = next_token_++;
      lane_of_token_[token] = &lane;
      requests.push_back(lane.start(std::move(event), token, wall_now, now));
    }
    lane.onStarted(firsts, retries);
    if (leased->size() < room) {
      return;
    }
  }
}

void Forwarder::applyPauses() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  absl::MutexLock lock(&status_mutex_);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->setPaused(status_[i].paused, now);
  }
}

void Forwarder::keepRecords() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    const std::optional<std::string> pause_reason = lane.takePauseReason();
    unsaved_[i] = lane.takeChanged() || pause_reason.has_value() || unsaved_[i];
    if (!unsaved_[i] || (now < save_again_at_ && !pause_reason.has_value())) {
      continue;
    }
    absl::MutexLock lock(&records_mutex_);
    if (pause_reason.has_value()) {
      deps_.log.warn(cat("upstream ", lane.name(), ": paused: ", *pause_reason));
      records_[i].set_paused(true);
      records_[i].set_pause_reason(*pause_reason);
      showPaused(i, true, *pause_reason);
      lane.setPaused(true, now);
    }
    lane.save(records_[i], deps_.clock.wallNow(), now);
    // Unsynced: should it be lost with the machine, the app will say the same again.
    unsaved_[i] = !deps_.store.saveLane(lane.name(), records_[i], false).ok();
    save_again_at_ = unsaved_[i] ? now + kStorePatience : save_again_at_;
  }
}

void Forwarder::updateStatus() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  const absl::Time wall_now = deps_.clock.wallNow();
  absl::MutexLock lock(&status_mutex_);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = *lanes_[i];
    LaneStatus& status = status_[i];
    status.in_flight = lane.inFlight();
    status.breaker = lane.breaker().state(now);
    status.next_probe_at.reset();
    if (status.breaker == BreakerState::Open) {
      status.next_probe_at = wall_now + (lane.breaker().probeAt() - now);
    }
    status.ramp_percent = static_cast<uint64_t>(100 * lane.pace().ramp().position(now));
    status.retry_ratio_percent = lane.stormMeter().ratioPercent(now);
    status.storm = lane.stormMeter().storm(now);
  }
}

void Forwarder::publish() {
  updateStatus();
  const absl::Time wall_now = deps_.clock.wallNow();
  for (const LaneStatus& status : lanes()) {
    const std::string_view name = status.name;
    const std::optional<absl::Time> oldest = deps_.store.oldestWaiting(name);
    const int64_t age = oldest ? absl::ToInt64Seconds(wall_now - *oldest) : 0;
    deps_.stats.set(Gauge::InFlight, {name}, status.in_flight);
    deps_.stats.set(Gauge::BreakerOpen, {name}, status.breaker != BreakerState::Closed);
    deps_.stats.set(Gauge::Paused, {name}, status.paused);
    deps_.stats.set(Gauge::OldestPendingSeconds, {name}, std::max<int64_t>(age, 0));
    deps_.stats.set(Gauge::RetryRatio, {name}, status.retry_ratio_percent);
    deps_.stats.set(Gauge::Storm, {name}, status.storm);
  }
  for (const auto& [name, totals] : deps_.store.totals()) {
    deps_.stats.set(Gauge::Backlog, {name}, totals.backlog());
    deps_.stats.set(Gauge::Retrying, {name}, totals.retrying);
  }
}

MonotonicTime Forwarder::nextTurn() {
  const MonotonicTime now = deps_.clock.monotonicNow();
  const absl::Time due_now = due_clock_.now();
  MonotonicTime next = MonotonicTime::infiniteFuture();
  if (!unwritten_.empty()) {
    next = std::min(next, std::max(now, settle_again_at_));
  }
  if (std::find(unsaved_.begin(), unsaved_.end(), true) != unsaved_.end()) {
    next = std::min(next, std::max(now, save_again_at_));
  }
  if (!sending_.load(std::memory_order_acquire)) {
    return next;
  }
  for (const auto& lane : lanes_) {
    const MonotonicTime room_at = std::max(lane->roomAt(now), lease_again_at_);
    if (room_at >= next) {
      continue;
    }
    const absl::Duration until_due = deps_.store.nextDue(lane->name()) - due_now;
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
  const size_t lane = found - known.begin();
  {
    absl::MutexLock lock(&records_mutex_);
    v1::LaneRecord record = records_[lane];
    record.set_paused(paused);
    record.set_pause_reason(std::string(reason));
    if (const absl::Status saved = deps_.store.saveLane(upstream, record, true); !saved.ok()) {
      return saved;
    }
    records_[lane] = std::move(record);
    showPaused(lane, paused, reason);
  }
  deps_.wake();
  return absl::OkStatus();
}

void Forwarder::showPaused(size_t lane, bool paused, std::string_view reason) {
  absl::MutexLock lock(&status_mutex_);
  status_[lane].paused = paused;
  status_[lane].pause_reason = std::string(reason);
}

}  // namespace forebay
