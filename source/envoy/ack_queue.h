#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "source/envoy/abi_types.h"
#include "source/store/event_store.h"

namespace forebay {

// A stream that waits for its event to be on disk.
class WaitingStream {
public:
  virtual ~WaitingStream() = default;
  // On the stream's worker. May destroy the stream.
  virtual void onAppended(const absl::Status& status) = 0;
  virtual void* envoyFilter() = 0;
};

// Brings the store's answers back to one worker's streams. Envoy lets another thread reach a
// worker only through a stream's scheduler, and a wake-up per stream costs more than the answer:
// so one stream, the herald, is woken for all that wait on its worker.
//
// INVARIANT: while answers wait and streams wait, a wake-up is under way to the herald, and the
// herald is a living stream.
class AckQueue final : public AppendSink {
public:
  // This worker's. Lives for ever: the store may still speak to it when the worker is gone.
  static AckQueue& ofThisThread();

  // --- on the worker
  uint64_t add(WaitingStream& stream);
  // Forgets a stream that is being destroyed; its answer, if one comes, is dropped.
  void remove(uint64_t token);
  // The herald was woken: answers everybody.
  void deliver();

  // --- on any thread
  void onAppended(absl::Span<const AppendResult> results) override;

private:
  void appoint(uint64_t token);
  void dismiss();

  // Worker only.
  absl::flat_hash_map<uint64_t, WaitingStream*> streams_;
  uint64_t next_token_ = 1;
  uint64_t herald_token_ = 0;  // 0: none
  bool delivering_ = false;

  absl::Mutex mutex_;
  std::vector<AppendResult> results_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<StreamScheduler> herald_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace forebay
