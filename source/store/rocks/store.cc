#include "source/store/rocks/store.h"

#include "absl/strings/str_cat.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/reader.h"
#include "source/store/rocks/scan.h"
#include "source/store/rocks/settler.h"

namespace forebay {
namespace rocks {

RocksStore::RocksStore(const RocksStoreConfig& config, const Clock& clock, StatsSink& stats,
                       Log& log, const StoreHooks& hooks)
    : config_(config),
      hooks_(hooks),
      context_(config.path, hooks.boot, clock, stats, log, hooks.limits),
      committer_(context_),
      due_queue_(context_) {}

absl::Status RocksStore::open() {
  absl::StatusOr<Recovered> recovered = recover(config_.path, hooks_.env, context_.log);
  if (!recovered.ok()) {
    absl::MutexLock lock(&closing_);
    closed_ = true;
    return recovered.status();
  }
  {
    absl::MutexLock lock(&context_.opening);
    install(*std::move(recovered));
    absl::MutexLock transitions(&context_.transitions);
    recordCrashes(context_);
    context_.in_flight.begin();
  }
  maintenance_ = std::make_unique<Maintenance>(
      context_, SpaceGuard(config_.size_max_bytes, config_.free_disk_min_bytes),
      Maintenance::Hooks{[this] { return committer_.acknowledged(); },
                         [this] { return reopen(); }});
  context_.gate.onBroken([this] { maintenance_->kick(); });
  committer_.start();
  maintenance_->start();
  return absl::OkStatus();
}

void RocksStore::install(Recovered&& recovered) {
  context_.database = std::move(recovered.database);
  committer_.continueFrom(recovered.position, recovered.lanes);
  context_.book.load(recovered.lanes, recovered.position.newest);
  {
    absl::MutexLock transitions(&context_.transitions);
    context_.order.forget();
  }
  due_queue_.refreshLeases();
}

absl::Status RocksStore::reopen() {
  std::unique_ptr<Database> broken;
  {
    absl::MutexLock lock(&context_.opening);
    broken = std::move(context_.database);
  }
  // Closing and opening take a while, and nobody waits for them: until the new one is there, every
  // call is told that the store is not open.
  broken.reset();
  const uint64_t acknowledged = committer_.acknowledged();
  absl::StatusOr<Recovered> recovered = recover(config_.path, hooks_.env, context_.log);
  if (!recovered.ok()) {
    return recovered.status();
  }
  if (recovered->position.sequence < acknowledged) {
    return absl::DataLossError(
        absl::StrCat("store ", config_.path, ": ", acknowledged - recovered->position.sequence,
                     " acknowledged events are missing after an error of the disk"));
  }
  {
    absl::MutexLock lock(&context_.opening);
    install(*std::move(recovered));
  }
  context_.gate.mend();
  context_.wake();
  return absl::OkStatus();
}

void RocksStore::append(Event&& event, AppendSink& sink, uint64_t token) {
  committer_.append(std::move(event), sink, token);
}

absl::StatusOr<std::vector<LeasedEvent>> RocksStore::leaseDue(std::string_view upstream,
                                                              absl::Time now,
                                                              const LeaseLimits& limits) {
  return due_queue_.leaseDue(upstream, now, limits);
}

absl::Time RocksStore::nextDue(std::string_view upstream) { return due_queue_.nextDue(upstream); }

absl::Status RocksStore::settle(absl::Span<const Settlement> settlements) {
  return rocks::settle(context_, settlements);
}

void RocksStore::release(std::string_view upstream, absl::Span<const EventId> ids) {
  due_queue_.release(upstream, ids);
}

absl::StatusOr<StoredEvent> RocksStore::read(const EventId& id) {
  absl::ReaderMutexLock lock(&context_.opening);
  if (context_.database == nullptr) {
    return context_.notOpen();
  }
  return readStored(*context_.database, id);
}

absl::StatusOr<std::vector<v1::AttemptRecord>> RocksStore::attempts(const EventId& id) {
  absl::ReaderMutexLock lock(&context_.opening);
  if (context_.database == nullptr) {
    return context_.notOpen();
  }
  return readAttempts(*context_.database, id);
}

absl::StatusOr<ScanPage> RocksStore::scan(const EventFilter& filter, std::optional<EventId> before,
                                          size_t limit) {
  absl::ReaderMutexLock lock(&context_.opening);
  if (context_.database == nullptr) {
    return context_.notOpen();
  }
  return rocks::scan(*context_.database, filter, before, limit);
}

absl::StatusOr<size_t> RocksStore::markDue(absl::Span<const ReplayMark> marks) {
  return rocks::markDue(context_, marks);
}

absl::flat_hash_map<std::string, LaneTotals> RocksStore::totals() { return context_.book.totals(); }

std::optional<absl::Time> RocksStore::oldestWaiting(std::string_view upstream) {
  return context_.book.oldest(upstream);
}

StoreHealth RocksStore::health() {
  StoreHealth health;
  health.path = config_.path;
  health.bytes = maintenance_->storeBytes();
  health.bytes_max = config_.size_max_bytes;
  health.reason = context_.gate.reason();
  health.read_only = !health.reason.empty();
  return health;
}

absl::Status RocksStore::saveLane(std::string_view upstream, const v1::LaneRecord& record,
                                  bool sync) {
  absl::ReaderMutexLock lock(&context_.opening);
  rocksdb::WriteBatch batch;
  batch.Put(metaKey(kLanePrefix, upstream), record.SerializeAsString());
  return context_.write(batch, sync, "save the lane");
}

absl::StatusOr<v1::LaneRecord> RocksStore::loadLane(std::string_view upstream) {
  absl::ReaderMutexLock lock(&context_.opening);
  if (context_.database == nullptr) {
    return context_.notOpen();
  }
  v1::LaneRecord record;
  std::string value;
  const rocksdb::Status status =
      context_.database->get(Family::Meta, metaKey(kLanePrefix, upstream), &value);
  if (status.IsNotFound()) {
    return record;
  }
  if (!status.ok() || !record.ParseFromString(value)) {
    return absl::DataLossError(absl::StrCat("lane ", printable(upstream),
                                            ": its record can't be read: ", status.ToString()));
  }
  return record;
}

void RocksStore::onNewWork(std::function<void()> wake) { context_.on_new_work = std::move(wake); }

void RocksStore::close() {
  absl::MutexLock closing(&closing_);
  if (closed_) {
    return;
  }
  closed_ = true;
  context_.gate.close();
  committer_.stop();
  maintenance_->stop();
  maintenance_->saveMark();
  absl::MutexLock lock(&context_.opening);
  due_queue_.releaseAll();
  context_.database.reset();
}

size_t RocksStore::entriesInMemory() {
  absl::MutexLock transitions(&context_.transitions);
  return context_.book.entries() + context_.order.size();
}

absl::StatusOr<std::unique_ptr<RocksStore>> openStore(const RocksStoreConfig& config,
                                                      const Clock& clock, StatsSink& stats,
                                                      Log& log, const StoreHooks& hooks) {
  StoreHooks used = hooks;
  if (used.env == nullptr) {
    used.env = rocksdb::Env::Default();
  }
  if (used.boot.empty()) {
    used.boot = machineBoot();
  }
  auto store = std::make_unique<RocksStore>(config, clock, stats, log, used);
  const absl::Status status = store->open();
  if (!status.ok()) {
    return status;
  }
  return store;
}

}  // namespace rocks

absl::StatusOr<std::unique_ptr<EventStore>> openRocksStore(const RocksStoreConfig& config,
                                                           const Clock& clock, StatsSink& stats,
                                                           Log& log) {
  return rocks::openStore(config, clock, stats, log, rocks::StoreHooks());
}

}  // namespace forebay
