#include "source/engine/engine.h"

#include <utility>

#include "source/base/strings.h"
#include "source/store/rocks/rocks_store.h"

namespace forebay {

absl::StatusOr<std::unique_ptr<Engine>> Engine::open(const EngineConfig& config,
                                                     const Dependencies& dependencies) {
  RocksStoreConfig store_config;
  store_config.path = config.store.path;
  store_config.size_max_bytes = config.store.size_max_bytes;
  store_config.free_disk_min_bytes = config.store.free_disk_min_bytes;
  absl::StatusOr<std::unique_ptr<EventStore>> store =
      openRocksStore(store_config, dependencies.clock, dependencies.stats, dependencies.log);
  if (!store.ok()) {
    return store.status();
  }
  return std::unique_ptr<Engine>(new Engine(config, dependencies, *std::move(store)));
}

Engine::Engine(const EngineConfig& config, const Dependencies& dependencies,
               std::unique_ptr<EventStore> store)
    : config_(config),
      deps_(dependencies),
      jitter_random_(randomSeed()),
      job_random_(randomSeed()),
      store_(std::move(store)),
      thread_(dependencies.clock) {
  const auto wake = [this] { thread_.wake(); };
  forwarder_ = std::make_unique<Forwarder>(
      config_.upstreams, Forwarder::Dependencies{*store_, deps_.transport, deps_.clock,
                                                 jitter_random_, deps_.stats, deps_.log, wake});
  admin_ = std::make_unique<Admin>(AdminDeps{*store_, *forwarder_, deps_.clock, deps_.stats,
                                             deps_.log, job_random_, /*envoy_version=*/""});
  store_->onNewWork(wake);
  warnOfOrphans();
}

Engine::~Engine() { stop(); }

void Engine::warnOfOrphans() {
  for (const auto& [name, totals] : store_->totals()) {
    if (totals.backlog() > 0 && config_.findUpstream(name) == nullptr) {
      deps_.log.warn(cat(totals.backlog(), " events wait for upstream \"", printable(name),
                         "\", which the config does not name; they are ", "kept until it does"));
    }
  }
}

void Engine::startDelivery() { thread_.start(*forwarder_); }

void Engine::drain(std::function<void()> done) { thread_.drain(std::move(done)); }

void Engine::stopDelivery() { thread_.stop(); }

void Engine::stop() {
  stopDelivery();
  store_->close();
}

}  // namespace forebay
