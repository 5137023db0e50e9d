// The hooks of the HTTP filters. `capture` is the only one so far.

#include <memory>
#include <string>

#include "absl/strings/str_split.h"
#include "source/base/strings.h"
#include "source/envoy/abi_types.h"
#include "source/envoy/ack_tally.h"
#include "source/envoy/capture_filter.h"
#include "source/envoy/envoy_log.h"
#include "source/envoy/process.h"

namespace forebay {
namespace {

CaptureFilter* filterOf(const void* pointer) {
  return const_cast<CaptureFilter*>(static_cast<const CaptureFilter*>(pointer));
}

absl::StatusOr<std::unique_ptr<CaptureFilterConfig>> makeConfig(std::string_view name,
                                                                std::string_view json) {
  if (name != "capture") {
    return absl::InvalidArgumentError(
        cat("filter_name: must be \"capture\" (got \"", printable(name), "\")"));
  }
  Process* const process = Process::current();
  if (process == nullptr) {
    return absl::FailedPreconditionError(
        "filter capture: the bootstrap extension \"forebay\" is not configured "
        "(bootstrap_extensions, extension_name: forebay)");
  }
  absl::StatusOr<CaptureConfig> capture = parseCaptureConfig(json, process->config());
  if (!capture.ok()) {
    return capture.status();
  }
  const UpstreamConfig& upstream = *process->config().findUpstream(capture->upstream);
  auto config = std::make_unique<CaptureFilterConfig>();
  config->first_delay = Backoff(upstream.retry.backoff, upstream.retry.jitter).beforeFirst();
  config->order_by = upstream.order_by.has_value() ? &*upstream.order_by : nullptr;
  config->capture = std::make_shared<const CaptureConfig>(*std::move(capture));
  config->process = process;
  return config;
}

const void* newConfig(FbBuffer name, FbBuffer json) noexcept {
  return guarded(
      [&]() -> const void* {
        auto config = makeConfig(fromAbi(name), fromAbi(json));
        if (config.ok()) {
          return config->release();
        }
        for (const absl::string_view line : absl::StrSplit(config.status().message(), '\n')) {
          envoyLog().error(toStd(line));
        }
        return nullptr;
      },
      []() -> const void* { return nullptr; });
}

// When our own code fails in the middle of a request, the sender is told to come again.
template <typename Status, typename Fn>
Status guardStream(const void* filter, Status stop, Fn&& fn) noexcept {
  return guarded(fn, [&] {
    guarded([&] { filterOf(filter)->failClosed(); }, [] {});
    return stop;
  });
}

}  // namespace
}  // namespace forebay

using forebay::CaptureFilter;
using forebay::CaptureFilterConfig;
using forebay::filterOf;
using forebay::guardStream;

extern "C" {

const void* envoy_dynamic_module_on_http_filter_config_new(void*, FbBuffer name, FbBuffer config) {
  return forebay::newConfig(name, config);
}

void envoy_dynamic_module_on_http_filter_config_destroy(const void* config) {
  delete static_cast<const CaptureFilterConfig*>(config);
}

const void* envoy_dynamic_module_on_http_filter_per_route_config_new(FbBuffer name,
                                                                     FbBuffer config) {
  return forebay::newConfig(name, config);
}

void envoy_dynamic_module_on_http_filter_per_route_config_destroy(const void* config) {
  delete static_cast<const CaptureFilterConfig*>(config);
}

const void* envoy_dynamic_module_on_http_filter_new(const void* config, void* envoy_filter) {
  return forebay::guarded(
      [&]() -> const void* {
        return new CaptureFilter(*static_cast<const CaptureFilterConfig*>(config), envoy_filter);
      },
      []() -> const void* { return nullptr; });
}

void envoy_dynamic_module_on_http_filter_destroy(const void* filter) {
  forebay::guarded([&] { delete filterOf(filter); }, [] {});
}

FbHeadersStatus envoy_dynamic_module_on_http_filter_request_headers(void*, const void* filter,
                                                                    bool end_of_stream) {
  return guardStream(filter, FbHeadersStop,
                     [&] { return filterOf(filter)->onHeaders(end_of_stream); });
}

FbBodyStatus envoy_dynamic_module_on_http_filter_request_body(void*, const void* filter,
                                                              bool end_of_stream) {
  return guardStream(filter, FbBodyStopNoBuffer,
                     [&] { return filterOf(filter)->onBody(end_of_stream); });
}

FbTrailersStatus envoy_dynamic_module_on_http_filter_request_trailers(void*, const void* filter) {
  return guardStream(filter, FbTrailersStop, [&] { return filterOf(filter)->onTrailers(); });
}

void envoy_dynamic_module_on_http_filter_scheduled(void*, const void*, uint64_t) {
  forebay::guarded(
      [] {
        forebay::AckQueue::ofThisThread().deliver();
        forebay::AckTally::ofThisThread().flushTo(forebay::Process::current()->stats());
      },
      [] {});
}

// Answers pass as they are.
FbHeadersStatus envoy_dynamic_module_on_http_filter_response_headers(void*, const void*, bool) {
  return FbHeadersContinue;
}
FbBodyStatus envoy_dynamic_module_on_http_filter_response_body(void*, const void*, bool) {
  return FbBodyContinue;
}
FbTrailersStatus envoy_dynamic_module_on_http_filter_response_trailers(void*, const void*) {
  return FbTrailersContinue;
}

// Envoy wants these to exist.
void envoy_dynamic_module_on_http_filter_stream_complete(void*, const void*) {}
void envoy_dynamic_module_on_http_filter_config_scheduled(void*, const void*, uint64_t) {}
void envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(void*,
                                                                                      const void*) {
}
void envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(void*,
                                                                                     const void*) {}
void envoy_dynamic_module_on_http_filter_http_callout_done(void*, const void*, uint64_t,
                                                           FbCalloutResult, FbHeader*, size_t,
                                                           FbBuffer*, size_t) {}
void envoy_dynamic_module_on_http_filter_http_stream_headers(void*, const void*, uint64_t,
                                                             FbHeader*, size_t, bool) {}
void envoy_dynamic_module_on_http_filter_http_stream_data(void*, const void*, uint64_t,
                                                          const FbBuffer*, size_t, bool) {}
void envoy_dynamic_module_on_http_filter_http_stream_trailers(void*, const void*, uint64_t,
                                                              FbHeader*, size_t) {}
void envoy_dynamic_module_on_http_filter_http_stream_complete(void*, const void*, uint64_t) {}
void envoy_dynamic_module_on_http_filter_http_stream_reset(void*, const void*, uint64_t, uint32_t) {
}

}  // extern "C"
