#pragma once

#include <memory>
#include <optional>
#include <string>

#include "source/base/clock.h"
#include "source/config/config.h"
#include "source/envoy/ack_queue.h"
#include "source/envoy/process.h"
#include "source/event/event.h"
#include "source/ingest/receiver.h"

namespace forebay {

// What a listener's filter chain, or a route, was configured with.
struct CaptureFilterConfig {
  std::shared_ptr<const CaptureConfig> capture;
  Process* process = nullptr;
  absl::Duration first_delay;         // of the upstream's schedule
  const OrderBy* order_by = nullptr;  // the upstream's, in the process's config; null: no order
};

// One request on its way to the log. On its worker's thread; never touches the disk.
class CaptureFilter final : public WaitingStream {
public:
  CaptureFilter(const CaptureFilterConfig& config, void* envoy_filter)
      : capture_(config.capture),
        process_(config.process),
        first_delay_(config.first_delay),
        order_by_(config.order_by),
        envoy_filter_(envoy_filter) {}
  ~CaptureFilter() override;

  FbHeadersStatus onHeaders(bool end_of_stream);
  FbBodyStatus onBody(bool end_of_stream);
  FbTrailersStatus onTrailers();

  // Answers 503: something in our own code failed.
  void failClosed();

  void onAppended(const absl::Status& status) override;
  void* envoyFilter() override { return envoy_filter_; }

private:
  enum class Phase { Deciding, PassingThrough, Receiving, Waiting, Answered };

  void readHead();
  // False when the body has grown too large; then it is answered already.
  bool takeBody();
  void submit();
  void answer(const Answer& answer);

  std::shared_ptr<const CaptureConfig> capture_;
  Process* const process_;
  absl::Duration first_delay_;
  const OrderBy* order_by_;
  bool order_key_missing_ = false;
  void* const envoy_filter_;
  Phase phase_ = Phase::Deciding;
  Event event_;
  std::string content_length_;
  uint64_t token_ = 0;
  MonotonicTime submitted_at_;
};

}  // namespace forebay
