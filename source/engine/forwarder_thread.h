#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/delivery/forwarder.h"

namespace forebay {

// Turns a forwarder: whenever it is woken, and when the forwarder asked to be turned.
class ForwarderThread {
public:
  explicit ForwarderThread(const Clock& clock) : clock_(clock) {}
  ~ForwarderThread() { stop(); }

  void start(Forwarder& forwarder);
  // Any thread, at any time, also before start() and after stop().
  void wake();
  // Sends nothing more, and calls `done` on the thread once every attempt is settled or
  // limits::kShutdownGrace has passed. At most once.
  void drain(std::function<void()> done);
  // Turns once more without sending, for what has come back by now, and joins. Idempotent.
  void stop();

private:
  void run(Forwarder& forwarder);

  const Clock& clock_;
  std::thread thread_;
  Forwarder* forwarder_ = nullptr;

  absl::Mutex mutex_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> drained_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime drain_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace forebay
