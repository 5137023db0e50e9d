#include "source/envoy/capture_filter.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/envoy/abi_types.h"
#include "source/envoy/ack_tally.h"
#include "source/ingest/order_key.h"

namespace forebay {

CaptureFilter::~CaptureFilter() {
  if (phase_ == Phase::Waiting) {
    AckQueue::ofThisThread().remove(token_);
  }
}

FbHeadersStatus CaptureFilter::onHeaders(bool end_of_stream) {
  const void* const route =
      envoy_dynamic_module_callback_get_most_specific_route_config(envoy_filter_);
  if (route != nullptr) {
    const auto& config = *static_cast<const CaptureFilterConfig*>(route);
    capture_ = config.capture;
    first_delay_ = config.first_delay;
    order_by_ = config.order_by;
  }
  readHead();
  switch (admit(*capture_, event_.record.method(), content_length_)) {
    case Admission::PassThrough:
      phase_ = Phase::PassingThrough;
      return FbHeadersContinue;
    case Admission::TooLarge:
      answer(tooLargeAnswer());
      return FbHeadersStop;
    case Admission::Capture:
      break;
  }
  phase_ = Phase::Receiving;
  if (end_of_stream) {
    submit();
  }
  return FbHeadersStop;
}

FbBodyStatus CaptureFilter::onBody(bool end_of_stream) {
  if (phase_ == Phase::PassingThrough) {
    return FbBodyContinue;
  }
  if (phase_ == Phase::Receiving && takeBody() && end_of_stream) {
    submit();
  }
  return FbBodyStopNoBuffer;
}

FbTrailersStatus CaptureFilter::onTrailers() {
  if (phase_ == Phase::PassingThrough) {
    return FbTrailersContinue;
  }
  if (phase_ == Phase::Receiving) {
    submit();
  }
  return FbTrailersStop;
}

void CaptureFilter::readHead() {
  absl::InlinedVector<FbHeader, 48> headers(
      envoy_dynamic_module_callback_http_get_headers_size(envoy_filter_, FbRequestHeaders));
  envoy_dynamic_module_callback_http_get_headers(envoy_filter_, FbRequestHeaders, headers.data());
  v1::EventRecord& record = event_.record;
  record.mutable_headers()->Reserve(static_cast<int>(headers.size()));
  for (const FbHeader& header : headers) {
    const std::string_view name = nameOf(header);
    const std::string_view value = valueOf(header);
    if (name.empty() || name[0] != ':') {
      if (name == "content-length") {
        content_length_ = std::string(value);
      }
      v1::Header& stored = *record.add_headers();
      stored.mutable_name()->assign(name.data(), name.size());
      stored.mutable_value()->assign(value.data(), value.size());
    } else if (name == ":method") {
      record.mutable_method()->assign(value.data(), value.size());
    } else if (name == ":path") {
      record.mutable_path()->assign(value.data(), value.size());
    } else if (name == ":authority") {
      record.mutable_authority()->assign(value.data(), value.size());
    } else if (name == ":scheme") {
      record.mutable_scheme()->assign(value.data(), value.size());
    }
  }
}

bool CaptureFilter::takeBody() {
  absl::InlinedVector<FbBuffer, 16> chunks(envoy_dynamic_module_callback_http_get_body_chunks_size(
      envoy_filter_, FbReceivedRequestBody));
  if (chunks.empty() || !envoy_dynamic_module_callback_http_get_body_chunks(
                            envoy_filter_, FbReceivedRequestBody, chunks.data())) {
    return true;
  }
  std::string& body = *event_.record.mutable_body();
  uint64_t expected = 0;
  if (body.empty() && absl::SimpleAtoi(content_length_, &expected)) {
    // What the sender announced is only trusted as far as it has been checked against the limit.
    body.reserve(std::min<uint64_t>(expected, limits::kMiB));
  }
  for (const FbBuffer& chunk : chunks) {
    if (body.size() + chunk.length > capture_->body_bytes_max) {
      answer(tooLargeAnswer());
      return false;
    }
    body.append(chunk.ptr, chunk.length);
  }
  return true;
}

void CaptureFilter::submit() {
  v1::EventRecord& record = event_.record;
  record.set_format(kRecordFormat);
  record.set_source(capture_->source);
  record.set_upstream(capture_->upstream);
  record.set_received_at_us(absl::ToUnixMicros(process_->clock().wallNow()));
  record.set_first_delay_us(absl::ToInt64Microseconds(first_delay_));
  if (order_by_ != nullptr) {
    record.set_order_key(orderKey(*order_by_, record));
    order_key_missing_ = record.order_key().empty();
  }
  FbBuffer peer{};
  if (envoy_dynamic_module_callback_http_filter_get_attribute_string(envoy_filter_, FbSourceAddress,
                                                                     &peer)) {
    record.mutable_peer()->assign(peer.ptr, peer.length);
  }
  submitted_at_ = process_->clock().monotonicNow();
  AckQueue& queue = AckQueue::ofThisThread();
  phase_ = Phase::Waiting;
  token_ = queue.add(*this);
  process_->engine().store().append(std::move(event_), queue, token_);
}

void CaptureFilter::onAppended(const absl::Status& status) {
  phase_ = Phase::Answered;
  const absl::Duration took = process_->clock().monotonicNow() - submitted_at_;
  AckTally::ofThisThread().add(capture_->source, status.ok(), absl::ToInt64Milliseconds(took));
  if (order_key_missing_ && status.ok()) {
    process_->stats().add(Counter::OrderKeyMissing, {capture_->upstream}, 1);
  }
  answer(appendAnswer(*capture_, status));
}

void CaptureFilter::failClosed() {
  if (phase_ == Phase::Waiting) {
    AckQueue::ofThisThread().remove(token_);
  }
  answer(appendAnswer(*capture_, absl::InternalError("")));
}

void CaptureFilter::answer(const Answer& answer) {
  phase_ = Phase::Answered;
  if (!answer.rejected_reason.empty()) {
    process_->stats().add(Counter::Rejected, {capture_->source, answer.rejected_reason}, 1);
  }
  static const std::string* const retry_after = new std::string(cat(limits::kRetryAfterSeconds));
  FbHeader headers[2];
  size_t count = 0;
  if (!answer.content_type.empty()) {
    headers[count++] = toAbi("content-type", answer.content_type);
  }
  if (answer.retry_after) {
    headers[count++] = toAbi("retry-after", *retry_after);
  }
  // May destroy this filter: nothing after it.
  envoy_dynamic_module_callback_http_send_response(
      envoy_filter_, answer.status, headers, count, toAbi(answer.body),
      toAbi(answer.rejected_reason.empty() ? "forebay_stored" : "forebay_refused"));
}

}  // namespace forebay
