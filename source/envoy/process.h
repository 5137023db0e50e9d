#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/base/clock.h"
#include "source/base/stats.h"
#include "source/config/config.h"
#include "source/engine/buffered_stats.h"
#include "source/engine/engine.h"
#include "source/envoy/abi_types.h"
#include "source/envoy/callout_transport.h"
#include "source/envoy/envoy_stats.h"

namespace forebay {

// Forebay in this Envoy process: what the bootstrap extension owns and filters feed. One at most.
// Made and destroyed on the main thread, before the first listener and after the last worker.
class Process {
public:
  // Reads the config and, unless Envoy only validates, opens the store. An error says why not.
  static absl::StatusOr<std::unique_ptr<Process>> create(void* envoy_config, std::string_view json);
  // The one that exists, or null.
  static Process* current();
  ~Process();

  const EngineConfig& config() const { return config_; }
  // Not while Envoy only validates.
  Engine& engine() { return *engine_; }
  StatsSink& stats() { return stats_; }
  const Clock& clock() const { return systemClock(); }

  // --- Envoy's hooks; main thread
  void onServerInitialized();
  void onShutdown(FbEventCallback completed, void* context);
  void onScheduled(uint64_t event);
  void onTimer();
  void onCalloutDone(uint64_t callout_id, FbCalloutResult result,
                     absl::Span<const FbHeader> headers, absl::Span<const FbBuffer> body);
  uint32_t onAdminRequest(std::string_view method, std::string_view path, std::string_view body);

private:
  Process(void* envoy_config, EngineConfig config);

  absl::Status open();
  void registerAdminRoutes();
  void flushStats();

  void* const envoy_config_;
  const EngineConfig config_;
  BufferedStats stats_;
  std::unique_ptr<EnvoyStats> envoy_stats_;
  std::unique_ptr<MainScheduler> scheduler_;
  std::unique_ptr<CalloutTransport> transport_;
  std::unique_ptr<Engine> engine_;
  void* timer_ = nullptr;
  FbEventCallback shutdown_completed_ = nullptr;
  void* shutdown_context_ = nullptr;
};

}  // namespace forebay
