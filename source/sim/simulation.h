#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/delivery/forwarder.h"
#include "source/sim/app.h"
#include "source/sim/arrivals.h"
#include "source/sim/observed_store.h"
#include "source/sim/observer.h"
#include "source/sim/script.h"
#include "source/sim/virtual_clock.h"

namespace forebay::sim {

struct Result {
  absl::Duration ended_at;
  LaneTotals totals;     // over all lanes
  uint64_t refused = 0;  // arrivals while the process was down
  uint64_t attempts = 0;
  uint64_t steps = 0;
  uint64_t digest = 0;   // of every attempt: when, which event, which number, what came back
  bool drained = false;  // nothing waits
  std::string error;     // why it could not go on; empty when it could
};

// The forwarder as it is in production, over a memory store, against scripted apps, in virtual
// time. Jumps from one thing that happens to the next, so idle time costs nothing. The same script
// gives the same run, to the last attempt. Belongs to one thread.
class Simulation final : private Transport, private AppendSink {
public:
  // `observer` and `stats` must outlive the simulation.
  Simulation(Script script, Observer& observer, StatsSink* stats = nullptr);
  ~Simulation() override;

  // To the end: until nothing is left to happen, script.until, or stop(). Once.
  Result run();
  // Ends the run after the present step: the one thing that an observer may do to it.
  void stop() { stopped_ = true; }

  const Script& script() const { return script_; }
  absl::Duration now() const { return clock_.monotonicNow() - origin_; }
  const Clock& clock() const { return clock_; }
  EventStore& store() { return store_; }
  // None while the process is down.
  Forwarder* forwarder() { return forwarder_.get(); }
  // Whether events may still come, or anything else that the script has in store.
  bool scriptEnded() const { return scripted_left_ == 0; }
  // Whether there is a forwarder that may send.
  bool sending() const { return forwarder_ != nullptr && !draining_; }
  // When the forwarder is turned next, should nothing happen before.
  absl::Duration turnAt() const { return woken_ ? now() : next_turn_ - origin_; }
  uint64_t steps() const { return result_.steps; }

private:
  enum class Kind { Arrival, Outcome, Action, ClockStep, Restart, Up, GraceEnds, NoticeClock };
  struct Happening {
    absl::Duration at;
    uint64_t number = 0;  // ties are broken by the order of scheduling
    Kind kind = Kind::Arrival;
    uint64_t index = 0;

    bool operator<(const Happening& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Source {
    Arrivals arrivals;
    uint32_t count = 0;  // at the scheduled time
    int64_t first_delay_us = 0;
    uint64_t captured = 0;
  };
  struct UnderWay {
    uint64_t token = 0;
    OutcomeSink* sink = nullptr;
    EventPtr event;
    Outcome outcome;
  };

  void send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) override;
  void onAppended(absl::Span<const AppendResult> results) override;

  void schedule(absl::Duration at, Kind kind, uint64_t index);
  void scheduleArrival(uint64_t source);
  void happen(const Happening& happening);
  void turn();
  void step();
  bool nothingLeft();

  void arrive(uint64_t source);
  void capture(Source& source);
  void deliverOutcome(uint64_t serial);
  void act(const OperatorAction& action);
  void restart(const Restart& restart);
  void endGrace();
  void goDown(Restart::Kind kind, absl::Duration down_for);
  void start();

  const Script script_;
  Observer& observer_;
  StatsSink& stats_;
  VirtualClock clock_;
  const MonotonicTime origin_;
  // One each, so that a change to one part of a scenario leaves the chance of the others alone.
  SeededRandom arrival_random_;
  SeededRandom app_random_;
  SeededRandom forwarder_random_;
  SeededRandom id_random_;
  ObservedStore store_;
  std::vector<Source> sources_;
  absl::flat_hash_map<std::string, std::unique_ptr<App>> apps_;
  std::unique_ptr<Forwarder> forwarder_;

  std::priority_queue<Happening> queue_;
  uint64_t scheduled_ = 0;
  // Of those that `queue_` holds, how many are the script's: all but outcomes and clock notices.
  uint64_t scripted_left_ = 0;
  absl::flat_hash_map<uint64_t, UnderWay> under_way_;  // by serial
  bool stopped_ = false;
  bool woken_ = false;
  MonotonicTime next_turn_ = MonotonicTime::infiniteFuture();
  uint64_t turns_in_a_row_ = 0;
  bool draining_ = false;
  absl::Duration down_for_;        // after the drain
  absl::Duration up_at_;           // while down
  std::vector<Restart> restarts_;  // the script's, and those that poison caused
  uint64_t replays_ = 0;
  Result result_;
};

}  // namespace forebay::sim
