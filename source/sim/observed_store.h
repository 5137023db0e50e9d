#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/sim/observer.h"
#include "source/store/memory/memory_store.h"

namespace forebay::sim {

// A memory store that tells an observer what passes through it.
class ObservedStore final : public EventStore {
public:
  ObservedStore(const Clock& clock, Random& random, Observer& observer)
      : store_(clock, random), observer_(observer) {}

  MemoryStore& memory() { return store_; }

  void append(Event&& event, AppendSink& sink, uint64_t token) override {
    store_.append(std::move(event), sink, token);
  }
  absl::StatusOr<std::vector<LeasedEvent>> leaseDue(std::string_view upstream, absl::Time now,
                                                    const LeaseLimits& limits) override;
  absl::Time nextDue(std::string_view upstream) override { return store_.nextDue(upstream); }
  absl::Status settle(absl::Span<const Settlement> settlements) override;
  void release(std::string_view upstream, absl::Span<const EventId> ids) override;
  absl::StatusOr<StoredEvent> read(const EventId& id) override { return store_.read(id); }
  absl::StatusOr<std::vector<v1::AttemptRecord>> attempts(const EventId& id) override {
    return store_.attempts(id);
  }
  absl::StatusOr<ScanPage> scan(const EventFilter& filter, std::optional<EventId> before,
                                size_t limit) override {
    return store_.scan(filter, before, limit);
  }
  absl::StatusOr<size_t> markDue(absl::Span<const ReplayMark> marks) override;
  absl::flat_hash_map<std::string, LaneTotals> totals() override { return store_.totals(); }
  std::optional<absl::Time> oldestWaiting(std::string_view upstream) override {
    return store_.oldestWaiting(upstream);
  }
  absl::Time latestCapture() override { return store_.latestCapture(); }
  StoreHealth health() override { return store_.health(); }
  absl::Status saveLane(std::string_view upstream, const v1::LaneRecord& record,
                        bool sync) override {
    return store_.saveLane(upstream, record, sync);
  }
  absl::StatusOr<v1::LaneRecord> loadLane(std::string_view upstream) override {
    return store_.loadLane(upstream);
  }
  void onNewWork(std::function<void()> wake) override { store_.onNewWork(std::move(wake)); }
  void close() override { store_.close(); }

private:
  MemoryStore store_;
  Observer& observer_;
};

}  // namespace forebay::sim
