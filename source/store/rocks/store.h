#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/store/rocks/committer.h"
#include "source/store/rocks/context.h"
#include "source/store/rocks/due_queue.h"
#include "source/store/rocks/maintenance.h"
#include "source/store/rocks/recovery.h"
#include "source/store/rocks/rocks_store.h"

namespace forebay::rocks {

// What tests may change.
struct StoreHooks {
  rocksdb::Env* env = nullptr;  // RocksDB's own by default; must outlive the store
  BookLimits limits;
  std::string boot;  // of the machine; its own by default
};

// EventStore on RocksDB: puts the parts together.
class RocksStore final : public EventStore {
public:
  RocksStore(const RocksStoreConfig& config, const Clock& clock, StatsSink& stats, Log& log,
             const StoreHooks& hooks);
  ~RocksStore() override { close(); }

  // Recovers and starts the threads. Called once, before all else.
  absl::Status open();

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
  absl::Time latestCapture() override { return context_.book.latestCapture(); }
  StoreHealth health() override;
  absl::Status saveLane(std::string_view upstream, const v1::LaneRecord& record,
                        bool sync) override;
  absl::StatusOr<v1::LaneRecord> loadLane(std::string_view upstream) override;
  void onNewWork(std::function<void()> wake) override;
  void close() override;

  // For tests: looks at the space, moves the mark and repairs now rather than within a second.
  void maintainNow() { maintenance_->kick(); }
  // For tests: how many events and order keys are known in memory.
  size_t entriesInMemory();

private:
  absl::Status reopen();
  void install(Recovered&& recovered) ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.opening);

  const RocksStoreConfig config_;
  const StoreHooks hooks_;
  StoreContext context_;
  Committer committer_;
  DueQueue due_queue_;
  std::unique_ptr<Maintenance> maintenance_;
  absl::Mutex closing_;  // before all others
  bool closed_ ABSL_GUARDED_BY(closing_) = false;
};

// As openRocksStore().
absl::StatusOr<std::unique_ptr<RocksStore>> openStore(const RocksStoreConfig& config,
                                                      const Clock& clock, StatsSink& stats,
                                                      Log& log, const StoreHooks& hooks);

}  // namespace forebay::rocks
