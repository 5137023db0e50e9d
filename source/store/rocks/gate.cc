#include "source/store/rocks/gate.h"

#include "absl/strings/str_cat.h"

namespace forebay::rocks {

Gate::Gate(std::string path, StatsSink& stats, Log& log)
    : path_(std::move(path)), stats_(stats), log_(log) {
  stats_.set(Gauge::StoreReadOnly, {}, 0);
}

absl::Status Gate::admit() const {
  if (open_.load(std::memory_order_acquire)) {
    return absl::OkStatus();
  }
  absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::UnavailableError("the store is closed");
  }
  if (!broken_.empty()) {
    return absl::UnavailableError(broken_);
  }
  return full_.empty() ? absl::OkStatus() : absl::ResourceExhaustedError(full_);
}

absl::Status Gate::admitChange() const {
  const absl::Status status = admit();
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

void Gate::breakDown(const std::string& reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (!broken_.empty()) {
      return;
    }
    broken_ = reason;
    publish();
  }
  log_.error(absl::StrCat("store ", path_, " is read only: ", reason));
  if (on_broken_) {
    on_broken_();
  }
}

void Gate::stillBroken(const std::string& reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (broken_ == reason) {
      return;
    }
    broken_ = reason;
  }
  log_.error(absl::StrCat("store ", path_, " is still read only: ", reason));
}

void Gate::mend() {
  log_.info(absl::StrCat("store ", path_, " was reopened and is writable again"));
  absl::MutexLock lock(&mutex_);
  broken_.clear();
  publish();
}

bool Gate::broken() const {
  if (open_.load(std::memory_order_acquire)) {
    return false;
  }
  absl::MutexLock lock(&mutex_);
  return !broken_.empty();
}

void Gate::setFull(const std::string& reason) {
  bool changed = false;
  {
    absl::MutexLock lock(&mutex_);
    changed = full_.empty() != reason.empty();
    full_ = reason;
    publish();
  }
  if (changed) {
    log_.warn(reason.empty() ? absl::StrCat("store ", path_, " has room again")
                             : absl::StrCat("store ", path_, " refuses new events: ", reason));
  }
}

void Gate::close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  publish();
}

std::string Gate::reason() const {
  absl::MutexLock lock(&mutex_);
  return closed_ ? "closed" : (broken_.empty() ? full_ : broken_);
}

void Gate::publish() {
  const bool open = !closed_ && broken_.empty() && full_.empty();
  open_.store(open, std::memory_order_release);
  stats_.set(Gauge::StoreReadOnly, {}, open ? 0 : 1);
}

}  // namespace forebay::rocks
