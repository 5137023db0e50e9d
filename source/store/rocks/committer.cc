#include "source/store/rocks/committer.h"

#include <pthread.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "source/base/limits.h"

namespace forebay::rocks {
namespace {

// One write's worth. More would make those that wait behind it wait longer and sync no cheaper.
constexpr uint64_t kBatchBytesMax = 4 * limits::kMiB;

}  // namespace

Committer::Committer(StoreContext& context)
    : context_(context), random_(randomSeed()), batch_(random_) {}

void Committer::start() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "forebay:commit");
}

void Committer::stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    arrived_.Signal();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Committer::continueFrom(const Position& position,
                             const std::map<std::string, LaneSums>& lanes) {
  batch_.continueFrom(position, lanes);
  acknowledged_.store(position.sequence, std::memory_order_release);
}

void Committer::append(Event&& event, AppendSink& sink, uint64_t token) {
  absl::Status status = context_.gate.admit();
  if (status.ok()) {
    auto waiting = std::make_shared<Event>(std::move(event));
    waiting->record.set_format(kRecordFormat);
    // Here and not before the move, which would forget the sizes that the serialiser will use.
    const uint64_t bytes = waiting->record.ByteSizeLong();
    status = enqueue({std::move(waiting), &sink, token, bytes});
  }
  if (!status.ok()) {
    const AppendResult result{token, std::move(status), EventId()};
    sink.onAppended(absl::MakeConstSpan(&result, 1));
  }
}

absl::Status Committer::enqueue(Waiting&& waiting) {
  if (waiting.event->record.upstream().size() > limits::kNameBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the upstream's name is longer than ", limits::kNameBytesMax, " bytes"));
  }
  if (waiting.event->record.order_key().size() > limits::kOrderKeyBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the order key is longer than ", limits::kOrderKeyBytesMax, " bytes"));
  }
  absl::MutexLock lock(&mutex_);
  if (stopping_) {
    return absl::UnavailableError("the store is closed");
  }
  if (held_events_ >= limits::kCommitQueueEventsMax ||
      held_bytes_ + waiting.bytes > limits::kCommitQueueBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat("too much waits for the disk: ", held_events_,
                                                     " events, ", held_bytes_, " bytes"));
  }
  ++held_events_;
  held_bytes_ += waiting.bytes;
  queue_.push_back(std::move(waiting));
  if (idle_) {
    idle_ = false;
    arrived_.Signal();
  }
  return absl::OkStatus();
}

bool Committer::take() {
  taken_.clear();
  absl::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) {
    idle_ = true;
    arrived_.Wait(&mutex_);
  }
  idle_ = false;
  taken_.swap(queue_);
  return !taken_.empty();
}

void Committer::run() {
  while (take()) {
    size_t from = 0;
    while (from < taken_.size()) {
      uint64_t bytes = 0;
      size_t to = from;
      while (to < taken_.size() && (to == from || bytes + taken_[to].bytes <= kBatchBytesMax)) {
        bytes += taken_[to++].bytes;
      }
      commit(absl::MakeSpan(taken_).subspan(from, to - from));
      from = to;
      absl::MutexLock lock(&mutex_);
      held_bytes_ -= bytes;
    }
    absl::MutexLock lock(&mutex_);
    held_events_ -= taken_.size();
  }
}

void Committer::commit(absl::Span<Waiting> waiting) {
  const MonotonicTime begin = context_.clock.monotonicNow();
  absl::Status status;
  {
    absl::ReaderMutexLock lock(&context_.opening);
    if (context_.database == nullptr) {
      status = context_.notOpen();
    } else {
      batch_.build(waiting, *context_.database);
      status = context_.write(batch_.batch(), true, "commit");
    }
    if (status.ok()) {
      context_.book.addCommitted(batch_.accept());
      acknowledged_.store(batch_.sequence(), std::memory_order_release);
    }
  }
  if (!status.ok()) {
    context_.stats.add(Counter::CommitFailures, {}, 1);
  }
  report(waiting, status);
  if (status.ok()) {
    const absl::Duration took = context_.clock.monotonicNow() - begin;
    context_.stats.record(Histogram::CommitMs, {},
                          static_cast<uint64_t>(absl::ToInt64Milliseconds(took)));
    context_.stats.record(Histogram::CommitEvents, {}, waiting.size());
    context_.wake();
  }
}

void Committer::report(absl::Span<Waiting> waiting, const absl::Status& status) {
  for (Told& told : told_) {
    told.results.clear();
  }
  Told* to = nullptr;
  for (Waiting& one : waiting) {
    if (to == nullptr || to->sink != one.sink) {
      const auto known = std::find_if(told_.begin(), told_.end(),
                                      [&](const Told& told) { return told.sink == one.sink; });
      to = known == told_.end() ? &told_.emplace_back(Told{one.sink, {}}) : &*known;
    }
    to->results.push_back({one.token, status, status.ok() ? one.event->id : EventId()});
    one.event.reset();
  }
  for (Told& told : told_) {
    if (!told.results.empty()) {
      told.sink->onAppended(told.results);
    }
  }
}

}  // namespace forebay::rocks
