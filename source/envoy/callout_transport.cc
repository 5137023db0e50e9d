#include "source/envoy/callout_transport.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "source/envoy/callout_outcome.h"

namespace forebay {
namespace {

Outcome abandoned() {
  Outcome outcome;
  outcome.kind = OutcomeKind::Abandoned;
  outcome.error = "Envoy is shutting down";
  return outcome;
}

}  // namespace

void CalloutTransport::send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) {
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    first = waiting_.empty();
    for (OutgoingRequest& request : requests) {
      waiting_.push_back({std::move(request), &sink});
    }
  }
  if (first) {
    wake_();
  }
}

void CalloutTransport::sendWaiting() {
  std::vector<Waiting> waiting;
  {
    absl::MutexLock lock(&mutex_);
    waiting.swap(waiting_);
  }
  for (Waiting& item : waiting) {
    if (stopped_) {
      item.sink->onOutcome(item.request.token, abandoned());
    } else {
      start(std::move(item));
    }
  }
}

void CalloutTransport::start(Waiting&& waiting) {
  const OutgoingRequest& request = waiting.request;
  absl::InlinedVector<FbHeader, 48> headers;
  headers.reserve(request.headers.size());
  for (const auto& [name, value] : request.headers) {
    headers.push_back(toAbi(name, value));
  }
  Started started{request.token, waiting.sink, request.timeout, clock_.monotonicNow()};
  starting_ = &started;
  uint64_t callout_id = 0;
  const FbCalloutInit result = envoy_dynamic_module_callback_bootstrap_extension_http_callout(
      envoy_config_, &callout_id, toAbi(request.cluster), headers.data(), headers.size(),
      toAbi(request.event->record.body()),
      std::max<int64_t>(absl::ToInt64Milliseconds(request.timeout), 1));
  const bool done_inline = starting_ == nullptr;
  starting_ = nullptr;
  if (done_inline) {
    return;
  }
  if (result == FbCalloutStarted) {
    in_flight_.emplace(callout_id, started);
  } else {
    waiting.sink->onOutcome(request.token, translateRefusedCallout(result, request.cluster));
  }
}

void CalloutTransport::onDone(uint64_t callout_id, FbCalloutResult result,
                              absl::Span<const FbHeader> headers, absl::Span<const FbBuffer> body) {
  Started started;
  const auto found = in_flight_.find(callout_id);
  if (found != in_flight_.end()) {
    started = found->second;
    in_flight_.erase(found);
  } else if (starting_ != nullptr) {
    started = *std::exchange(starting_, nullptr);
  } else {
    return;  // abandoned before
  }
  started.sink->onOutcome(
      started.token,
      translateCallout(result, headers, body, clock_.monotonicNow() - started.at, started.timeout));
}

void CalloutTransport::stop() {
  stopped_ = true;
  for (const auto& [id, started] : std::exchange(in_flight_, {})) {
    started.sink->onOutcome(started.token, abandoned());
  }
  sendWaiting();
}

}  // namespace forebay
