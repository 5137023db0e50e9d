#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "source/base/clock.h"
#include "source/base/limits.h"
#include "source/store/rocks/context.h"
#include "source/store/rocks/high_water_mark.h"
#include "source/store/rocks/space_guard.h"

namespace forebay::rocks {

// What a store does beside the path of events, on a thread of its own, every second: looks at the
// space left, moves the high-water mark, and reopens a database that broke down.
class Maintenance {
public:
  struct Hooks {
    std::function<uint64_t()> acknowledged;  // the sequence that the mark may say
    std::function<absl::Status()> reopen;
  };
  // The first look at the space happens here. `context` must outlive it.
  Maintenance(StoreContext& context, const SpaceGuard& guard, Hooks hooks);
  ~Maintenance() { stop(); }

  void start();
  void stop();
  // Does a round now rather than within a second.
  void kick();

  uint64_t storeBytes() const;
  // Writes the high-water mark, if it changed.
  void saveMark();

private:
  void run();
  void lookAtSpace();
  // Tries to reopen, unless it is too early after the last try.
  void repair();

  StoreContext& context_;
  const HighWaterMark mark_;
  SpaceGuard guard_;
  const Hooks hooks_;
  uint64_t marked_ = 0;
  absl::Duration backoff_;
  MonotonicTime next_try_;

  mutable absl::Mutex mutex_;
  uint64_t store_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool kicked_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace forebay::rocks
