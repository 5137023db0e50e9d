#pragma once

#include <cstddef>
#include <cstdint>

// Envoy's dynamic-module ABI, as far as Forebay uses it: the names, argument types and numbers of
// Envoy 1.39 and 1.40, declared by ourselves since no registry carries Envoy's header.
// test/integration/test_abi.py holds every name against what both binaries export.

extern "C" {

// --- values. A buffer from Envoy is valid during the call that hands it over.
struct FbBuffer {
  const char* ptr;
  size_t length;
};
struct FbHeader {
  const char* key_ptr;
  size_t key_length;
  const char* value_ptr;
  size_t value_length;
};

enum FbLogLevel : uint32_t { FbLogTrace, FbLogDebug, FbLogInfo, FbLogWarn, FbLogError };
enum FbHeaderType : uint32_t { FbRequestHeaders = 0 };
enum FbBodyType : uint32_t { FbReceivedRequestBody = 0, FbBufferedRequestBody = 1 };
enum FbAttribute : uint32_t { FbSourceAddress = 24 };
enum FbCalloutInit : uint32_t {
  FbCalloutStarted,
  FbCalloutMissingHeaders,
  FbCalloutClusterNotFound,
  FbCalloutDuplicateId,
  FbCalloutCannotCreate,
};
enum FbCalloutResult : uint32_t { FbCalloutSuccess, FbCalloutReset, FbCalloutTooLarge };
enum FbHeadersStatus : uint32_t { FbHeadersContinue = 0, FbHeadersStop = 1 };
enum FbBodyStatus : uint32_t { FbBodyContinue = 0, FbBodyStopNoBuffer = 3 };
enum FbTrailersStatus : uint32_t { FbTrailersContinue = 0, FbTrailersStop = 1 };

using FbEventCallback = void (*)(void* context);

// --- what Envoy offers to any module
void envoy_dynamic_module_callback_log(FbLogLevel level, FbBuffer message);
bool envoy_dynamic_module_callback_is_validation_mode();

// --- to a bootstrap extension. Main thread only, but for the scheduler's commit.
void envoy_dynamic_module_callback_bootstrap_extension_config_signal_init_complete(void* config);
void* envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_new(void* config);
void envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_commit(void* scheduler,
                                                                               uint64_t event);
void envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_delete(void* scheduler);
FbCalloutInit envoy_dynamic_module_callback_bootstrap_extension_http_callout(
    void* config, uint64_t* callout_id, FbBuffer cluster, FbHeader* headers, size_t headers_size,
    FbBuffer body, uint64_t timeout_milliseconds);
void* envoy_dynamic_module_callback_bootstrap_extension_timer_new(void* config);
void envoy_dynamic_module_callback_bootstrap_extension_timer_enable(void* timer,
                                                                    uint64_t milliseconds);
void envoy_dynamic_module_callback_bootstrap_extension_timer_delete(void* timer);
bool envoy_dynamic_module_callback_bootstrap_extension_register_admin_handler(
    void* config, FbBuffer path, FbBuffer help, bool removable, bool mutates_server_state);
void envoy_dynamic_module_callback_bootstrap_extension_admin_set_response(void* config,
                                                                          FbBuffer body);
// Metrics; all of them answer 0 when it worked.
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_define_counter(
    void* config, FbBuffer name, FbBuffer* label_names, size_t labels, size_t* id);
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_increment_counter(
    void* config, size_t id, FbBuffer* label_values, size_t labels, uint64_t amount);
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_define_gauge(
    void* config, FbBuffer name, FbBuffer* label_names, size_t labels, size_t* id);
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_set_gauge(void* config, size_t id,
                                                                            FbBuffer* label_values,
                                                                            size_t labels,
                                                                            uint64_t value);
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_define_histogram(
    void* config, FbBuffer name, FbBuffer* label_names, size_t labels, size_t* id);
uint32_t envoy_dynamic_module_callback_bootstrap_extension_config_record_histogram_value(
    void* config, size_t id, FbBuffer* label_values, size_t labels, uint64_t value);

// --- to an HTTP filter. On the stream's worker only, but for the scheduler's commit.
size_t envoy_dynamic_module_callback_http_get_headers_size(void* filter, FbHeaderType type);
bool envoy_dynamic_module_callback_http_get_headers(void* filter, FbHeaderType type,
                                                    FbHeader* headers);
size_t envoy_dynamic_module_callback_http_get_body_chunks_size(void* filter, FbBodyType type);
bool envoy_dynamic_module_callback_http_get_body_chunks(void* filter, FbBodyType type,
                                                        FbBuffer* chunks);
bool envoy_dynamic_module_callback_http_filter_get_attribute_string(void* filter,
                                                                    FbAttribute attribute,
                                                                    FbBuffer* value);
const void* envoy_dynamic_module_callback_get_most_specific_route_config(void* filter);
void envoy_dynamic_module_callback_http_send_response(void* filter, uint32_t status,
                                                      FbHeader* headers, size_t headers_size,
                                                      FbBuffer body, FbBuffer details);
void* envoy_dynamic_module_callback_http_filter_scheduler_new(void* filter);
void envoy_dynamic_module_callback_http_filter_scheduler_commit(void* scheduler, uint64_t event);
void envoy_dynamic_module_callback_http_filter_scheduler_delete(void* scheduler);

// Only in 1.40: never called, its presence tells the two apart.
__attribute__((weak)) void
envoy_dynamic_module_callback_bootstrap_extension_get_active_resource_names();

// --- the hooks that Envoy calls. All of an extension kind's must exist, used or not.
const char* envoy_dynamic_module_on_program_init();

const void* envoy_dynamic_module_on_bootstrap_extension_config_new(void* envoy_config,
                                                                   FbBuffer name, FbBuffer config);
void envoy_dynamic_module_on_bootstrap_extension_config_destroy(const void* config);
const void* envoy_dynamic_module_on_bootstrap_extension_new(const void* config,
                                                            void* envoy_extension);
void envoy_dynamic_module_on_bootstrap_extension_server_initialized(void* envoy_extension,
                                                                    const void* extension);
void envoy_dynamic_module_on_bootstrap_extension_worker_thread_initialized(void* envoy_extension,
                                                                           const void* extension);
void envoy_dynamic_module_on_bootstrap_extension_drain_started(void* envoy_extension,
                                                               const void* extension);
void envoy_dynamic_module_on_bootstrap_extension_shutdown(void* envoy_extension,
                                                          const void* extension,
                                                          FbEventCallback completed, void* context);
void envoy_dynamic_module_on_bootstrap_extension_destroy(const void* extension);
void envoy_dynamic_module_on_bootstrap_extension_config_scheduled(void* envoy_config,
                                                                  const void* config,
                                                                  uint64_t event);
void envoy_dynamic_module_on_bootstrap_extension_http_callout_done(
    void* envoy_config, const void* config, uint64_t callout_id, FbCalloutResult result,
    FbHeader* headers, size_t headers_size, FbBuffer* body_chunks, size_t body_chunks_size);
void envoy_dynamic_module_on_bootstrap_extension_timer_fired(void* envoy_config, const void* config,
                                                             void* timer);
void envoy_dynamic_module_on_bootstrap_extension_file_changed(void* envoy_config,
                                                              const void* config, FbBuffer path,
                                                              uint32_t events);
uint32_t envoy_dynamic_module_on_bootstrap_extension_admin_request(void* envoy_config,
                                                                   const void* config,
                                                                   FbBuffer method, FbBuffer path,
                                                                   FbBuffer body);
void envoy_dynamic_module_on_bootstrap_extension_cluster_add_or_update(void* envoy_config,
                                                                       const void* config,
                                                                       FbBuffer name);
void envoy_dynamic_module_on_bootstrap_extension_cluster_removal(void* envoy_config,
                                                                 const void* config, FbBuffer name);
void envoy_dynamic_module_on_bootstrap_extension_listener_add_or_update(void* envoy_config,
                                                                        const void* config,
                                                                        FbBuffer name);
void envoy_dynamic_module_on_bootstrap_extension_listener_removal(void* envoy_config,
                                                                  const void* config,
                                                                  FbBuffer name);

const void* envoy_dynamic_module_on_http_filter_config_new(void* envoy_config, FbBuffer name,
                                                           FbBuffer config);
void envoy_dynamic_module_on_http_filter_config_destroy(const void* config);
const void* envoy_dynamic_module_on_http_filter_per_route_config_new(FbBuffer name,
                                                                     FbBuffer config);
void envoy_dynamic_module_on_http_filter_per_route_config_destroy(const void* config);
const void* envoy_dynamic_module_on_http_filter_new(const void* config, void* envoy_filter);
void envoy_dynamic_module_on_http_filter_destroy(const void* filter);
FbHeadersStatus envoy_dynamic_module_on_http_filter_request_headers(void* envoy_filter,
                                                                    const void* filter,
                                                                    bool end_of_stream);
FbBodyStatus envoy_dynamic_module_on_http_filter_request_body(void* envoy_filter,
                                                              const void* filter,
                                                              bool end_of_stream);
FbTrailersStatus envoy_dynamic_module_on_http_filter_request_trailers(void* envoy_filter,
                                                                      const void* filter);
FbHeadersStatus envoy_dynamic_module_on_http_filter_response_headers(void* envoy_filter,
                                                                     const void* filter,
                                                                     bool end_of_stream);
FbBodyStatus envoy_dynamic_module_on_http_filter_response_body(void* envoy_filter,
                                                               const void* filter,
                                                               bool end_of_stream);
FbTrailersStatus envoy_dynamic_module_on_http_filter_response_trailers(void* envoy_filter,
                                                                       const void* filter);
void envoy_dynamic_module_on_http_filter_stream_complete(void* envoy_filter, const void* filter);
void envoy_dynamic_module_on_http_filter_scheduled(void* envoy_filter, const void* filter,
                                                   uint64_t event);
void envoy_dynamic_module_on_http_filter_config_scheduled(void* envoy_config, const void* config,
                                                          uint64_t event);
void envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(
    void* envoy_filter, const void* filter);
void envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(
    void* envoy_filter, const void* filter);
// Callouts and streams of a filter: Forebay starts none there, so none of these is ever called.
void envoy_dynamic_module_on_http_filter_http_callout_done(
    void* envoy_filter, const void* filter, uint64_t callout_id, FbCalloutResult result,
    FbHeader* headers, size_t headers_size, FbBuffer* body_chunks, size_t body_chunks_size);
void envoy_dynamic_module_on_http_filter_http_stream_headers(void* envoy_filter, const void* filter,
                                                             uint64_t stream, FbHeader* headers,
                                                             size_t headers_size, bool end);
void envoy_dynamic_module_on_http_filter_http_stream_data(void* envoy_filter, const void* filter,
                                                          uint64_t stream, const FbBuffer* data,
                                                          size_t count, bool end);
void envoy_dynamic_module_on_http_filter_http_stream_trailers(void* envoy_filter,
                                                              const void* filter, uint64_t stream,
                                                              FbHeader* trailers, size_t size);
void envoy_dynamic_module_on_http_filter_http_stream_complete(void* envoy_filter,
                                                              const void* filter, uint64_t stream);
void envoy_dynamic_module_on_http_filter_http_stream_reset(void* envoy_filter, const void* filter,
                                                           uint64_t stream, uint32_t reason);

}  // extern "C"
