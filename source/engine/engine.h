#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "source/admin/admin.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/config/config.h"
#include "source/delivery/forwarder.h"
#include "source/delivery/transport.h"
#include "source/engine/forwarder_thread.h"
#include "source/store/event_store.h"

namespace forebay {

// Owns everything process-wide and its threads, and knows no Envoy. Order of life: open (the store
// is recovered), startDelivery, drain, stopDelivery, stop.
class Engine {
public:
  struct Dependencies {
    Transport& transport;
    StatsSink& stats;
    Log& log;
    const Clock& clock;
  };

  // Fails when the store can't be opened, saying why. The dependencies must outlive the engine.
  static absl::StatusOr<std::unique_ptr<Engine>> open(const EngineConfig& config,
                                                      const Dependencies& dependencies);
  ~Engine();

  void startDelivery();
  // Sends nothing more; `done` is called, on any thread, when what is in flight has been settled
  // or the grace has passed. Capturing goes on.
  void drain(std::function<void()> done);
  // Settles what has come back and ends the forwarder's thread: it calls nobody after this.
  // Idempotent, and so is stop().
  void stopDelivery();
  // Ends the other threads too, and closes the store.
  void stop();

  const EngineConfig& config() const { return config_; }
  EventStore& store() { return *store_; }
  Admin& admin() { return *admin_; }

private:
  Engine(const EngineConfig& config, const Dependencies& dependencies,
         std::unique_ptr<EventStore> store);
  void warnOfOrphans();

  const EngineConfig config_;
  const Dependencies deps_;
  SeededRandom jitter_random_;
  SeededRandom job_random_;
  std::unique_ptr<EventStore> store_;
  ForwarderThread thread_;
  std::unique_ptr<Forwarder> forwarder_;
  std::unique_ptr<Admin> admin_;
};

}  // namespace forebay
