#include "source/envoy/process.h"

#include <utility>

#include "absl/synchronization/mutex.h"
#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/base/version.h"
#include "source/envoy/envoy_log.h"

namespace forebay {
namespace {

// What the main thread is woken for.
constexpr uint64_t kSendWaiting = 1;
constexpr uint64_t kDrained = 2;

// Changes on the main thread, while no worker runs.
Process* the_process = nullptr;

}  // namespace

Process* Process::current() { return the_process; }

absl::StatusOr<std::unique_ptr<Process>> Process::create(void* envoy_config,
                                                         std::string_view json) {
  if (the_process != nullptr) {
    return absl::AlreadyExistsError("the bootstrap extension is configured twice");
  }
  absl::StatusOr<EngineConfig> config = parseEngineConfig(json);
  if (!config.ok()) {
    return config.status();
  }
  std::unique_ptr<Process> process(new Process(envoy_config, *std::move(config)));
  if (!envoy_dynamic_module_callback_is_validation_mode()) {
    if (const absl::Status opened = process->open(); !opened.ok()) {
      return opened;
    }
  }
  return process;
}

Process::Process(void* envoy_config, EngineConfig config)
    : envoy_config_(envoy_config), config_(std::move(config)) {
  the_process = this;
}

Process::~Process() {
  if (engine_ != nullptr) {
    transport_->stop();
    engine_->stop();
  }
  if (timer_ != nullptr) {
    envoy_dynamic_module_callback_bootstrap_extension_timer_delete(timer_);
  }
  the_process = nullptr;
}

absl::Status Process::open() {
  // Debian's Abseil watches every lock for cycles and aborts on one. Envoy must not go down for a
  // suspicion, and the watching costs time on every request.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  envoy_stats_ = std::make_unique<EnvoyStats>(envoy_config_);
  scheduler_ = std::make_unique<MainScheduler>(envoy_config_);
  transport_ = std::make_unique<CalloutTransport>(envoy_config_, clock(),
                                                  [this] { scheduler_->commit(kSendWaiting); });
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::open(config_, {*transport_, stats_, envoyLog(), clock()});
  if (!engine.ok()) {
    return engine.status();
  }
  engine_ = *std::move(engine);
  registerAdminRoutes();
  envoyLog().info(
      cat(kVersion, " serves ", config_.upstreams.size(), " upstreams from ", config_.store.path));
  return absl::OkStatus();
}

void Process::registerAdminRoutes() {
  for (const Admin::Route& route : Admin::routes()) {
    if (!envoy_dynamic_module_callback_bootstrap_extension_register_admin_handler(
            envoy_config_, toAbi(route.path), toAbi(route.help), /*removable=*/true,
            route.mutating)) {
      envoyLog().warn(cat("Envoy's admin does not serve ", route.path));
    }
  }
}

void Process::onServerInitialized() {
  if (engine_ == nullptr) {
    return;
  }
  timer_ = envoy_dynamic_module_callback_bootstrap_extension_timer_new(envoy_config_);
  onTimer();
  engine_->startDelivery();
}

void Process::onShutdown(FbEventCallback completed, void* context) {
  if (engine_ == nullptr) {
    completed(context);
    return;
  }
  shutdown_completed_ = completed;
  shutdown_context_ = context;
  engine_->drain([this] { scheduler_->commit(kDrained); });
}

void Process::onScheduled(uint64_t event) {
  if (event == kSendWaiting) {
    transport_->sendWaiting();
  } else if (event == kDrained && shutdown_completed_ != nullptr) {
    // From here on Envoy takes its clusters down, and then this extension: if the forwarder were
    // still inside Envoy's scheduler, it would be the one to destroy us.
    transport_->stop();
    engine_->stopDelivery();
    flushStats();
    std::exchange(shutdown_completed_, nullptr)(shutdown_context_);
  }
}

void Process::onTimer() {
  flushStats();
  envoy_dynamic_module_callback_bootstrap_extension_timer_enable(
      timer_, absl::ToInt64Milliseconds(limits::kStatsFlushInterval));
}

void Process::flushStats() { stats_.flushTo(*envoy_stats_); }

void Process::onCalloutDone(uint64_t callout_id, FbCalloutResult result,
                            absl::Span<const FbHeader> headers, absl::Span<const FbBuffer> body) {
  if (transport_ != nullptr) {
    transport_->onDone(callout_id, result, headers, body);
  }
}

uint32_t Process::onAdminRequest(std::string_view method, std::string_view path,
                                 std::string_view body) {
  const AdminResponse response =
      engine_->admin().handle({std::string(method), std::string(path), std::string(body)});
  envoy_dynamic_module_callback_bootstrap_extension_admin_set_response(envoy_config_,
                                                                       toAbi(response.body));
  return static_cast<uint32_t>(response.status);
}

}  // namespace forebay
