#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "source/base/random.h"
#include "source/event/event.h"
#include "source/store/event_store.h"
#include "source/store/rocks/commit_batch.h"
#include "source/store/rocks/context.h"
#include "source/store/rocks/keys.h"

namespace forebay::rocks {

// Puts events on disk, many with one sync: while one batch is written, the next one gathers. There
// is no timer, so a lone event waits for nobody.
class Committer {
public:
  // `context` must outlive it.
  explicit Committer(StoreContext& context);
  ~Committer() { stop(); }

  void start();
  // Commits what waits, then ends the thread. Nothing may be appended any more. Idempotent.
  void stop();

  // As EventStore::append().
  void append(Event&& event, AppendSink& sink, uint64_t token);

  // Where a database just opened stands. The thread must not run, or find the database closed.
  void continueFrom(const Position& position, const std::map<std::string, LaneSums>& lanes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.opening);

  // The sequence number of the newest event that was acknowledged, all before it included.
  uint64_t acknowledged() const { return acknowledged_.load(std::memory_order_acquire); }

private:
  absl::Status enqueue(Waiting&& waiting);
  void run();
  // Takes what waits, in `taken_`; false when stopped and nothing is left.
  bool take();
  void commit(absl::Span<Waiting> waiting);
  void report(absl::Span<Waiting> waiting, const absl::Status& status);

  StoreContext& context_;
  SeededRandom random_;
  CommitBatch batch_;
  std::atomic<uint64_t> acknowledged_{0};
  std::vector<Waiting> taken_;
  struct Told {
    AppendSink* sink;
    std::vector<AppendResult> results;
  };
  std::vector<Told> told_;

  absl::Mutex mutex_;
  absl::CondVar arrived_;
  std::vector<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  size_t held_events_ ABSL_GUARDED_BY(mutex_) = 0;  // queued, or in the batch being written
  uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool idle_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace forebay::rocks
