#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/base/random.h"
#include "source/store/event_store.h"

namespace forebay {

// Events in memory, for tests and simulation: the same calls give the same answers, and append()
// reports before it returns. Nothing survives the object.
class MemoryStore final : public EventStore {
public:
  // Both must outlive the store. `random` is used under the store's lock only.
  MemoryStore(const Clock& clock, Random& random);

  void append(Event&& event, AppendSink& sink, uint64_t token) override;
  absl::StatusOr<std::vector<LeasedEvent>> leaseDue(std::string_view upstream, absl::Time now,
                                                    const LeaseLimits& limits) override;
  absl::Time nextDue(std::string_view upstream) override;
  absl::Status settle(absl::Span<const Settlement> settlements) override;
  void release(std::string_view upstream, absl::Span<const EventId> ids) override;
  absl::StatusOr<StoredEvent> read(const EventId& id) override;
  absl::StatusOr<std::vector<v1::AttemptRecord>> attempts(const EventId& id) override;
  absl::StatusOr<ScanPage> scan(const EventFilter& filter, std::optional<EventId> before,
                                size_t limit) override;
  absl::StatusOr<size_t> markDue(absl::Span<const ReplayMark> marks) override;
  absl::flat_hash_map<std::string, LaneTotals> totals() override;
  std::optional<absl::Time> oldestWaiting(std::string_view upstream) override;
  absl::Time latestCapture() override;
  StoreHealth health() override;
  absl::Status saveLane(std::string_view upstream, const v1::LaneRecord& record,
                        bool sync) override;
  absl::StatusOr<v1::LaneRecord> loadLane(std::string_view upstream) override;
  void onNewWork(std::function<void()> wake) override;
  void close() override;

  // What a store finds when it is opened after the process died: nothing is leased, and what was
  // has one crash more.
  void crash();
  // Drops events that are delivered, as they are settled; they stay counted. For simulations of
  // more events than fit in memory.
  void forgetDelivered() { forget_delivered_ = true; }

private:
  struct Stored {
    EventPtr event;
    v1::EventState state;
    std::map<uint32_t, v1::AttemptRecord> attempts;
    bool leased = false;
  };
  struct Lane {
    // That nobody holds, by queue.
    std::array<std::set<std::pair<int64_t, EventId>>, kQueues> due;
    // By order key, as orderPlace() says.
    std::map<std::string, std::set<EventId>> holders;
    std::map<std::string, std::set<EventId>> behind;
    std::set<std::string> leased_keys;
    uint64_t accepted = 0;
    v1::LaneCounts settled;
    v1::LaneRecord record;
  };

  absl::StatusOr<EventId> insert(Event&& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void replaceState(Stored& stored, const v1::EventState& state)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void enqueue(const Stored& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void dequeue(const Stored& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void endLease(Stored& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether another event of its key is leased or waits before it.
  bool mustWait(Lane& lane, const Stored& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whose turn it is of the key, if nobody has it: in a queue from now on.
  void unparkFirst(Lane& lane, const std::string& order_key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void wake();

  const Clock& clock_;
  absl::Mutex mutex_;
  EventIdGenerator ids_ ABSL_GUARDED_BY(mutex_);
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time latest_capture_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<EventId, Stored> events_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Lane, std::less<>> lanes_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool forget_delivered_ = false;
  std::function<void()> wake_;  // set once, before the first append
};

}  // namespace forebay
