// The hooks of the bootstrap extension: each hands over to Process, none lets an exception out.

#include <string>

#include "absl/strings/str_split.h"
#include "source/base/strings.h"
#include "source/envoy/abi_types.h"
#include "source/envoy/envoy_log.h"
#include "source/envoy/process.h"

namespace forebay {
namespace {

Process* processOf(const void* pointer) {
  return const_cast<Process*>(static_cast<const Process*>(pointer));
}

void logUnexpected(std::string_view where) {
  envoyLog().error(cat("unexpected exception in ", where));
}

template <typename Fn>
void run(std::string_view where, Fn&& fn) noexcept {
  guarded(fn, [where] { logUnexpected(where); });
}

const void* newProcess(void* envoy_config, std::string_view name, std::string_view json) {
  absl::StatusOr<std::unique_ptr<Process>> process =
      name == "forebay"
          ? Process::create(envoy_config, json)
          : absl::InvalidArgumentError(
                cat("extension_name: must be \"forebay\" (got \"", printable(name), "\")"));
  if (!process.ok()) {
    for (const absl::string_view line : absl::StrSplit(process.status().message(), '\n')) {
      envoyLog().error(toStd(line));
    }
    return nullptr;
  }
  // The store is recovered: listeners may open as far as we are concerned.
  envoy_dynamic_module_callback_bootstrap_extension_config_signal_init_complete(envoy_config);
  return process->release();
}

}  // namespace
}  // namespace forebay

using forebay::fromAbi;
using forebay::Process;

extern "C" {

const char* envoy_dynamic_module_on_program_init() {
  // Envoy warns of a module made for another ABI than its own.
  return envoy_dynamic_module_callback_bootstrap_extension_get_active_resource_names != nullptr
             ? "v0.2.0"
             : "v0.1.0";
}

const void* envoy_dynamic_module_on_bootstrap_extension_config_new(void* envoy_config,
                                                                   FbBuffer name, FbBuffer config) {
  return forebay::guarded(
      [&] { return forebay::newProcess(envoy_config, fromAbi(name), fromAbi(config)); },
      []() -> const void* {
        forebay::logUnexpected("the configuration");
        return nullptr;
      });
}

void envoy_dynamic_module_on_bootstrap_extension_config_destroy(const void* config) {
  forebay::run("the shutdown", [&] { delete forebay::processOf(config); });
}

const void* envoy_dynamic_module_on_bootstrap_extension_new(const void* config, void*) {
  return config;
}

void envoy_dynamic_module_on_bootstrap_extension_server_initialized(void*, const void* extension) {
  forebay::run("the start", [&] { forebay::processOf(extension)->onServerInitialized(); });
}

void envoy_dynamic_module_on_bootstrap_extension_worker_thread_initialized(void*, const void*) {}

void envoy_dynamic_module_on_bootstrap_extension_drain_started(void*, const void*) {}

void envoy_dynamic_module_on_bootstrap_extension_shutdown(void*, const void* extension,
                                                          FbEventCallback completed,
                                                          void* context) {
  forebay::run("the drain", [&] { forebay::processOf(extension)->onShutdown(completed, context); });
}

void envoy_dynamic_module_on_bootstrap_extension_destroy(const void*) {}

void envoy_dynamic_module_on_bootstrap_extension_config_scheduled(void*, const void* config,
                                                                  uint64_t event) {
  forebay::run("a wake-up", [&] { forebay::processOf(config)->onScheduled(event); });
}

void envoy_dynamic_module_on_bootstrap_extension_http_callout_done(
    void*, const void* config, uint64_t callout_id, FbCalloutResult result, FbHeader* headers,
    size_t headers_size, FbBuffer* body_chunks, size_t body_chunks_size) {
  forebay::run("an answer", [&] {
    forebay::processOf(config)->onCalloutDone(callout_id, result, {headers, headers_size},
                                              {body_chunks, body_chunks_size});
  });
}

void envoy_dynamic_module_on_bootstrap_extension_timer_fired(void*, const void* config, void*) {
  forebay::run("the timer", [&] { forebay::processOf(config)->onTimer(); });
}

uint32_t envoy_dynamic_module_on_bootstrap_extension_admin_request(void*, const void* config,
                                                                   FbBuffer method, FbBuffer path,
                                                                   FbBuffer body) {
  return forebay::guarded(
      [&] {
        return forebay::processOf(config)->onAdminRequest(fromAbi(method), fromAbi(path),
                                                          fromAbi(body));
      },
      [] {
        forebay::logUnexpected("the admin");
        return 500u;
      });
}

void envoy_dynamic_module_on_bootstrap_extension_file_changed(void*, const void*, FbBuffer,
                                                              uint32_t) {}
void envoy_dynamic_module_on_bootstrap_extension_cluster_add_or_update(void*, const void*,
                                                                       FbBuffer) {}
void envoy_dynamic_module_on_bootstrap_extension_cluster_removal(void*, const void*, FbBuffer) {}
void envoy_dynamic_module_on_bootstrap_extension_listener_add_or_update(void*, const void*,
                                                                        FbBuffer) {}
void envoy_dynamic_module_on_bootstrap_extension_listener_removal(void*, const void*, FbBuffer) {}

}  // extern "C"
