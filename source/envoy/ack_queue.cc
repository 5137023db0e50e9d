#include "source/envoy/ack_queue.h"

#include <utility>

namespace forebay {

AckQueue& AckQueue::ofThisThread() {
  static thread_local AckQueue* const queue = new AckQueue;
  return *queue;
}

uint64_t AckQueue::add(WaitingStream& stream) {
  const uint64_t token = next_token_++;
  streams_.emplace(token, &stream);
  if (herald_token_ == 0 && !delivering_) {
    appoint(token);
  }
  return token;
}

void AckQueue::remove(uint64_t token) {
  streams_.erase(token);
  if (token != herald_token_) {
    return;
  }
  dismiss();
  if (!delivering_ && !streams_.empty()) {
    appoint(streams_.begin()->first);
  }
}

void AckQueue::deliver() {
  std::vector<AppendResult> results;
  {
    absl::MutexLock lock(&mutex_);
    results.swap(results_);
  }
  delivering_ = true;
  for (const AppendResult& result : results) {
    const auto found = streams_.find(result.token);
    if (found == streams_.end()) {
      continue;
    }
    WaitingStream& stream = *found->second;
    streams_.erase(found);
    if (result.token == herald_token_) {
      dismiss();
    }
    stream.onAppended(result.status);
  }
  delivering_ = false;
  if (herald_token_ == 0 && !streams_.empty()) {
    appoint(streams_.begin()->first);
  }
}

void AckQueue::onAppended(absl::Span<const AppendResult> results) {
  absl::MutexLock lock(&mutex_);
  const bool first = results_.empty();
  results_.insert(results_.end(), results.begin(), results.end());
  if (first && herald_ != nullptr) {
    herald_->commit(0);
  }
}

void AckQueue::appoint(uint64_t token) {
  herald_token_ = token;
  auto scheduler = std::make_unique<StreamScheduler>(streams_.at(token)->envoyFilter());
  absl::MutexLock lock(&mutex_);
  herald_ = std::move(scheduler);
  // Whoever was to be woken for these is gone.
  if (!results_.empty()) {
    herald_->commit(0);
  }
}

void AckQueue::dismiss() {
  herald_token_ = 0;
  absl::MutexLock lock(&mutex_);
  herald_.reset();
}

}  // namespace forebay
