#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/delivery/due_clock.h"
#include "source/delivery/lane.h"
#include "source/delivery/lane_control.h"
#include "source/delivery/transport.h"
#include "source/store/event_store.h"

namespace forebay {

// Takes due events from the store, sends them through their lanes, and settles what comes back.
// Has no thread and no timer of its own: whoever drives it calls tick(), a thread in production,
// the simulator in virtual time.
//
// INVARIANT: a leased event is in flight in exactly one lane until its settlement is written.
class Forwarder final : public OutcomeSink, public LaneControl {
public:
  struct Dependencies {
    EventStore& store;
    Transport& transport;
    const Clock& clock;
    Random& random;
    StatsSink& stats;
    Log& log;
    // Called, on any thread, when tick() should run sooner than it asked for.
    std::function<void()> wake;
  };

  // Reads what the store remembers of the lanes.
  Forwarder(const std::vector<UpstreamConfig>& upstreams, Dependencies dependencies);

  // One turn: settles outcomes, leases what is due, sends it. Returns when to turn again, unless
  // the wall clock steps or it is woken: possibly never. Always on one thread.
  MonotonicTime tick();
  // Sets the gauges. On the same thread; limits::kStatsFlushInterval apart is often enough.
  void publish();

  // From now on nothing new is sent; outcomes are still settled. Any thread.
  void stopSending();
  // Whether every attempt is settled; meaningful after stopSending(). Any thread.
  bool idle() const { return in_flight_total_.load(std::memory_order_acquire) == 0; }

  void onOutcome(uint64_t token, Outcome&& outcome) override;

  std::vector<LaneStatus> lanes() override;
  absl::Status pause(std::string_view upstream, std::string_view reason) override;
  absl::Status resume(std::string_view upstream) override;

private:
  struct Arrived {
    uint64_t token;
    Outcome outcome;
  };

  void settleArrived();
  void writeSettlements();
  // Leases and starts what this lane may; appends to `requests`.
  void fill(Lane& lane, std::vector<OutgoingRequest>& requests);
  void applyPauses();
  // Pauses a lane whose outcomes said so, and writes down what changed of the lanes.
  void keepRecords();
  void updateStatus();
  MonotonicTime nextTurn();
  absl::Status setPaused(std::string_view upstream, bool paused, std::string_view reason);
  void showPaused(size_t lane, bool paused, std::string_view reason);

  const Dependencies deps_;
  DueClock due_clock_;
  // Lanes never move: requests in flight name them by index.
  std::vector<std::unique_ptr<Lane>> lanes_;
  absl::flat_hash_map<uint64_t, Lane*> lane_of_token_;
  uint64_t next_token_ = 1;
  // Decided but not written yet: kept until the store takes them.
  std::vector<Settlement> unwritten_;
  std::vector<std::pair<Lane*, uint64_t>> unwritten_tokens_;
  MonotonicTime settle_again_at_;
  MonotonicTime lease_again_at_;  // after an error of the store
  MonotonicTime save_again_at_;
  std::vector<bool> unsaved_;  // by lane: its record on disk is behind
  std::atomic<size_t> in_flight_total_{0};
  std::atomic<bool> sending_{true};

  // Of these locks no two are ever held together, but for `records_mutex_`, which is taken first
  // and held while a record is written.
  absl::Mutex inbox_mutex_;
  std::vector<Arrived> inbox_ ABSL_GUARDED_BY(inbox_mutex_);
  absl::Mutex records_mutex_ ABSL_ACQUIRED_BEFORE(status_mutex_);
  std::vector<v1::LaneRecord> records_ ABSL_GUARDED_BY(records_mutex_);
  absl::Mutex status_mutex_;
  std::vector<LaneStatus> status_ ABSL_GUARDED_BY(status_mutex_);
};

}  // namespace forebay
