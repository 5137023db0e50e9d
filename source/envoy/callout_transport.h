#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/delivery/transport.h"
#include "source/envoy/abi_types.h"

namespace forebay {

// Sends through Envoy's clusters. Envoy only starts callouts on its main thread: send() leaves the
// requests and wakes it.
class CalloutTransport final : public Transport {
public:
  // `wake` makes Envoy call sendWaiting() on the main thread. Any thread.
  CalloutTransport(void* envoy_config, const Clock& clock, std::function<void()> wake)
      : envoy_config_(envoy_config), clock_(clock), wake_(std::move(wake)) {}

  void send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) override;

  // --- main thread only
  void sendWaiting();
  void onDone(uint64_t callout_id, FbCalloutResult result, absl::Span<const FbHeader> headers,
              absl::Span<const FbBuffer> body);
  // Starts nothing more: what waits and what is still in flight is abandoned. Envoy crashes on a
  // callout that is started while it tears its clusters down.
  void stop();

private:
  struct Waiting {
    OutgoingRequest request;
    OutcomeSink* sink;
  };
  struct Started {
    uint64_t token;
    OutcomeSink* sink;
    absl::Duration timeout;
    MonotonicTime at;
  };

  void start(Waiting&& waiting);

  void* const envoy_config_;
  const Clock& clock_;
  const std::function<void()> wake_;

  // Main thread only.
  absl::flat_hash_map<uint64_t, Started> in_flight_;
  // Envoy may report the end of a callout before the call that starts it returns, when nobody
  // knows its id yet. Then it is this one.
  Started* starting_ = nullptr;
  bool stopped_ = false;

  absl::Mutex mutex_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace forebay
