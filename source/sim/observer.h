#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "source/delivery/lane_control.h"
#include "source/sim/script.h"
#include "source/store/event_store.h"

namespace forebay::sim {

class Simulation;

// An attempt as the app sees it begin.
struct AttemptStart {
  uint64_t serial = 0;  // 1, 2, 3… over the whole simulation
  uint32_t number = 0;  // as told to the app
  absl::Duration at;    // since the simulation's start
  absl::Time wall;
  const Event* event = nullptr;  // valid during the call
};

// Sees everything that happens, as it happens. Whatever a call hands over is valid until it
// returns. An observer may look at the simulation, and stop() it, but not change it.
class Observer {
public:
  virtual ~Observer() = default;

  virtual void onCapture(const Event&) {}
  // The process is down, so the sender got an error and the event is not ours.
  virtual void onRefused(const ArrivalScript&) {}
  // The forwarder is about to take a turn.
  virtual void onTurn() {}
  virtual void onLease(const LeasedEvent&) {}
  virtual void onAttempt(const AttemptStart&) {}
  // Called before the forwarder learns of it.
  virtual void onOutcome(uint64_t /*serial*/, const Outcome&) {}
  virtual void onSettle(const Settlement&) {}
  virtual void onRelease(const EventId&) {}
  // An operator made stored events due again; those that are leased at this moment are skipped.
  virtual void onReplay(const ReplayMark&) {}
  virtual void onAction(const OperatorAction&) {}
  virtual void onClockStep(absl::Duration /*by*/) {}
  // The process is gone; what was under way has been given up.
  virtual void onDown(Restart::Kind) {}
  virtual void onUp() {}
  // After each event, and after each turn of the forwarder.
  virtual void afterStep(Simulation&) {}
  // Asked after each step. An observer that has seen enough ends the simulation.
  virtual bool wantsMore() const { return true; }
};

}  // namespace forebay::sim
