#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "source/sim/observer.h"
#include "source/sim/simulation.h"
#include "test/sim/lane_model.h"

namespace forebay::sim {

// Holds a simulation against what delivery promises, at every step. What it compares with is a
// model of its own, made only from what it saw.
class Checks final : public Observer {
public:
  // From `calm_from` on every app is well and nothing new happens.
  Checks(const Script& script, absl::Duration calm_from);

  // What was wrong, the first things first; empty when nothing was.
  const std::vector<std::string>& failures() const { return failures_; }
  // To be called once the simulation has ended.
  void atEnd(Simulation& simulation, const Result& result);

  // The simulation that is watched; before it runs.
  void watch(Simulation& simulation) { simulation_ = &simulation; }

  void onCapture(const Event& event) override;
  void onTurn() override;
  void onLease(const LeasedEvent& leased) override;
  void onAttempt(const AttemptStart& start) override;
  void onOutcome(uint64_t serial, const Outcome& outcome) override;
  void onSettle(const Settlement& settlement) override;
  void onRelease(const EventId& id) override;
  void onReplay(const ReplayMark& mark) override;
  void onAction(const OperatorAction& action) override;
  void onClockStep(absl::Duration by) override;
  void onDown(Restart::Kind kind) override;
  void onUp() override;
  void afterStep(Simulation& simulation) override;
  bool wantsMore() const override { return failures_.size() < kFailuresMax; }

private:
  // What follows from a mistake is of little interest, and may never end.
  static constexpr size_t kFailuresMax = 5;

  struct Lane {
    explicit Lane(const UpstreamConfig& config) : model(config) {}

    LaneModel model;
    LaneTotals totals;
    // By key: the events that later ones of the key must wait for, and which is under way.
    absl::flat_hash_map<std::string, std::set<EventId>> holders;
    absl::flat_hash_map<std::string, EventId> under_way;
    // First attempts that wait, by due time; of events without a key, since others may be parked.
    std::set<std::pair<int64_t, EventId>> firsts_waiting;
    // Of the turns since first attempts were last left waiting: what was leased, and the retries
    // among what was sent.
    uint64_t leased_in_run = 0;
    uint64_t retries_in_run = 0;
  };
  // An event as it should be.
  struct Known {
    size_t lane = 0;
    v1::EventState state;  // as last captured, settled or replayed
    bool leased = false;
    bool in_flight = false;
    uint32_t sent = 0;               // the latest attempt's number
    bool may_repeat = false;         // that number, since it did not count
    std::optional<Outcome> outcome;  // of the attempt under way, once it is there
  };

  Moment now() const;
  void fail(const std::string& what);
  void fail(const EventId& id, const std::string& what);
  Known* find(const EventId& id, const char* doing);
  // Counts an event in or out of its state, the order of its key, and the first attempts.
  void count(const Known& known, const EventId& id, int64_t by);
  void move(Known& known, const EventId& id, const v1::EventState& to);
  void setLeased(Known& known, const EventId& id, bool leased);
  void checkShare();
  void checkStatus(Simulation& simulation);
  void checkTotals(Simulation& simulation);
  void checkWakes(Simulation& simulation);
  void recount(Simulation& simulation);
  absl::Duration drainBound() const;

  const absl::Duration calm_from_;
  Simulation* simulation_ = nullptr;
  std::vector<Lane> lanes_;
  absl::flat_hash_map<std::string, size_t> lane_by_name_;
  absl::flat_hash_map<EventId, Known> events_;  // all but forgotten ones
  absl::flat_hash_map<uint64_t, EventId> by_serial_;
  absl::flat_hash_set<EventId> leased_;
  // By which due times are meant: as the wall, but it goes on by itself when the wall is set back.
  absl::Time due_now_ = absl::InfinitePast();
  absl::Duration due_as_of_;
  absl::Time latest_capture_ = absl::InfinitePast();
  bool forgets_;
  bool turned_ = false;  // in this step
  std::optional<absl::Duration> stepped_at_;
  std::optional<absl::Duration> drained_by_;
  std::vector<std::string> failures_;
};

}  // namespace forebay::sim
