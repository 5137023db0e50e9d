#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "source/base/log.h"
#include "source/base/stats.h"

namespace forebay::rocks {

// Whether new events are let in, and if not, why. Safe from any thread.
class Gate {
public:
  Gate(std::string path, StatsSink& stats, Log& log);

  // Ok; Unavailable when broken or closed; ResourceExhausted when full. Without a lock while open.
  absl::Status admit() const;
  // Ok, also when full: what is stored goes on being delivered.
  absl::Status admitChange() const;

  // A write failed, so nothing may be promised until the database was reopened. Only the first
  // reason counts. Calls `onBroken`'s function.
  void breakDown(const std::string& reason);
  // The reason has changed, while broken.
  void stillBroken(const std::string& reason);
  void mend();
  bool broken() const;

  // An empty reason means that there is room.
  void setFull(const std::string& reason);
  void close();

  // Why new events are refused; empty while they are not.
  std::string reason() const;

  // Set once, before the gate is shared.
  void onBroken(std::function<void()> call) { on_broken_ = std::move(call); }

private:
  void publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  StatsSink& stats_;
  Log& log_;
  std::function<void()> on_broken_;
  std::atomic<bool> open_{true};
  mutable absl::Mutex mutex_;
  std::string broken_ ABSL_GUARDED_BY(mutex_);
  std::string full_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace forebay::rocks
