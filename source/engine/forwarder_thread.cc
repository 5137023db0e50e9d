#include "source/engine/forwarder_thread.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "source/base/limits.h"

namespace forebay {

void ForwarderThread::start(Forwarder& forwarder) {
  forwarder_ = &forwarder;
  thread_ = std::thread([this, &forwarder] {
    pthread_setname_np(pthread_self(), "forebay:forward");
    run(forwarder);
  });
}

void ForwarderThread::wake() {
  absl::MutexLock lock(&mutex_);
  woken_ = true;
}

void ForwarderThread::drain(std::function<void()> done) {
  if (forwarder_ == nullptr) {
    done();
    return;
  }
  {
    absl::MutexLock lock(&mutex_);
    drained_ = std::move(done);
    drain_until_ = clock_.monotonicNow() + limits::kShutdownGrace;
  }
  forwarder_->stopSending();
}

void ForwarderThread::stop() {
  if (forwarder_ != nullptr) {
    forwarder_->stopSending();
  }
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ForwarderThread::run(Forwarder& forwarder) {
  MonotonicTime publish_at;
  while (true) {
    MonotonicTime next = forwarder.tick();
    const MonotonicTime turned_at = clock_.monotonicNow();
    if (turned_at >= publish_at) {
      forwarder.publish();
      publish_at = turned_at + limits::kStatsFlushInterval;
    }
    // So it turns at least that often, and notices a wall clock that stepped.
    next = std::min(next, publish_at);
    std::function<void()> drained;
    {
      absl::MutexLock lock(&mutex_);
      const auto ready = [this]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return woken_ || stopping_; };
      const MonotonicTime now = clock_.monotonicNow();
      if (drained_ && (forwarder.idle() || now >= drain_until_)) {
        drained = std::exchange(drained_, nullptr);
      } else if (now < next) {
        mutex_.AwaitWithTimeout(absl::Condition(&ready), next - now);
      }
      if (stopping_) {
        break;
      }
      woken_ = false;
    }
    if (drained) {
      drained();
    }
  }
  forwarder.tick();
  forwarder.publish();
}

}  // namespace forebay
