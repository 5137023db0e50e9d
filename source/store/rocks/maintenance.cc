#include "source/store/rocks/maintenance.h"

#include <pthread.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace forebay::rocks {
namespace {

constexpr absl::Duration kReopenBackoffMin = absl::Seconds(1);
constexpr absl::Duration kReopenBackoffMax = absl::Seconds(10);

}  // namespace

Maintenance::Maintenance(StoreContext& context, const SpaceGuard& guard, Hooks hooks)
    : context_(context), mark_(context.path), guard_(guard), hooks_(std::move(hooks)) {
  lookAtSpace();
}

void Maintenance::start() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "forebay:store");
}

void Maintenance::stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Maintenance::kick() {
  absl::MutexLock lock(&mutex_);
  kicked_ = true;
}

uint64_t Maintenance::storeBytes() const {
  absl::MutexLock lock(&mutex_);
  return store_bytes_;
}

void Maintenance::run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const auto due = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_ || kicked_; };
      mutex_.AwaitWithTimeout(absl::Condition(&due), limits::kMaintenanceInterval);
      if (stopping_) {
        return;
      }
      kicked_ = false;
    }
    if (context_.gate.broken()) {
      repair();
    }
    lookAtSpace();
    saveMark();
  }
}

void Maintenance::lookAtSpace() {
  const absl::StatusOr<Space> space = measureSpace(context_.path);
  if (!space.ok()) {
    context_.log.warn(std::string(space.status().message()));
    return;
  }
  {
    absl::MutexLock lock(&mutex_);
    store_bytes_ = space->store_bytes;
  }
  context_.stats.set(Gauge::StoreBytes, {}, space->store_bytes);
  context_.gate.setFull(guard_.look(*space));
}

void Maintenance::saveMark() {
  const uint64_t acknowledged = hooks_.acknowledged();
  if (acknowledged == marked_) {
    return;
  }
  const absl::Status status = mark_.write(acknowledged);
  if (status.ok()) {
    marked_ = acknowledged;
  } else {
    // The old mark stays: it still says nothing that is not true.
    context_.log.warn(std::string(status.message()));
  }
}

void Maintenance::repair() {
  const MonotonicTime now = context_.clock.monotonicNow();
  if (backoff_ > absl::ZeroDuration() && now < next_try_) {
    return;
  }
  const absl::Status status = hooks_.reopen();
  if (status.ok()) {
    backoff_ = absl::ZeroDuration();
    return;
  }
  backoff_ = std::clamp(backoff_ * 2, kReopenBackoffMin, kReopenBackoffMax);
  next_try_ = now + backoff_;
  context_.gate.stillBroken(std::string(status.message()));
}

}  // namespace forebay::rocks
