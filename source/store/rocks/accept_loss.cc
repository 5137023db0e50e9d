#include "source/store/rocks/accept_loss.h"

#include <algorithm>
#include <map>

#include "source/base/strings.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/database.h"
#include "source/store/rocks/high_water_mark.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/records.h"
#include "source/store/rocks/recovery.h"

namespace forebay {
namespace {

using namespace rocks;

constexpr size_t kBatchBytesMax = 1 << 20;

// Rebuilds what follows from the events and their states.
class Rebuild {
public:
  explicit Rebuild(Database& database) : database_(database) {}

  absl::Status run() {
    batch_.Put(toSlice(kRepairingKey), "1");
    for (const Family family : {Family::Due, Family::SetAside, Family::Order}) {
      batch_.DeleteRange(database_.family(family), rocksdb::Slice(), std::string(512, '\xff'));
    }
    absl::Status status = flush();
    status.Update(highestSequence());
    Records records(database_);
    for (; status.ok() && records.valid(); records.next()) {
      add(records);
      if (batch_.GetDataSize() > kBatchBytesMax) {
        status = flush();
      }
    }
    if (!status.ok()) {
      return status;
    }
    writeSums();
    batch_.Put(toSlice(kFormatKey), std::to_string(kStoreFormat));
    batch_.Put(toSlice(kSequenceKey), encodePosition(position_));
    batch_.Delete(toSlice(kRepairingKey));
    return flush();
  }

  uint64_t kept() const { return kept_; }
  uint64_t revived() const { return revived_; }
  const Position& position() const { return position_; }

private:
  // Those whose state was lost are numbered after all others.
  absl::Status highestSequence() {
    const absl::StatusOr<Position> stored = readPosition(database_);
    if (stored.ok()) {
      position_.sequence = stored->sequence;
    }
    Records records(database_);
    for (; records.valid(); records.next()) {
      if (records.hasState()) {
        position_.sequence = std::max(position_.sequence, records.state().sequence());
      }
    }
    return absl::OkStatus();
  }

  void add(const Records& records) {
    const EventId& id = records.id();
    if (!records.hasEvent()) {
      batch_.Delete(database_.family(Family::State), toSlice(id.bytes()));
      batch_.Delete(database_.family(Family::Events), toSlice(id.bytes()));
      return;
    }
    v1::EventState state = records.state();
    if (!records.hasState()) {
      capturedState(records.event(), ++position_.sequence, state);
      batch_.Put(database_.family(Family::State), toSlice(id.bytes()), state.SerializeAsString());
      ++revived_;
    }
    if (state.parked()) {
      // Whom it waited for may be lost. Where that is not so it is parked again when its turn
      // comes.
      state.set_parked(false);
      batch_.Put(database_.family(Family::State), toSlice(id.bytes()), state.SerializeAsString());
    }
    ++kept_;
    position_.newest = id;
    LaneSums& lane = lanes_[state.upstream()];
    ++lane.accepted;
    moveCount(lane.settled, v1::STATE_PENDING, state.state());
    if (isQueued(state)) {
      std::string key;
      encodeDueKey(state.upstream(), queueOf(state), {state.due_at_us(), id}, key);
      batch_.Put(database_.family(Family::Due), key, {});
    }
    if (orderPlace(state) != OrderPlace::None) {
      std::string key;
      encodeOrderKey(state.upstream(), orderPlace(state), state.order_key(), id, key);
      batch_.Put(database_.family(Family::Order), key, {});
    }
    if (isSetAside(state.state())) {
      batch_.Put(database_.family(Family::SetAside),
                 setAsideKey(static_cast<uint8_t>(state.state()), id), {});
    }
  }

  void writeSums() {
    for (const std::string_view prefix : {kAcceptedPrefix, kSettledPrefix}) {
      batch_.DeleteRange(toSlice(prefix), metaKey(prefix, std::string(256, '\xff')));
    }
    for (const auto& [upstream, sums] : lanes_) {
      v1::LaneCounts accepted;
      accepted.set_accepted(sums.accepted);
      batch_.Put(metaKey(kAcceptedPrefix, upstream), accepted.SerializeAsString());
      batch_.Put(metaKey(kSettledPrefix, upstream), sums.settled.SerializeAsString());
    }
  }

  absl::Status flush() {
    rocksdb::WriteOptions options = syncedWrite();
    options.no_slowdown = false;  // nobody waits
    const rocksdb::Status status = database_.db().Write(options, &batch_);
    batch_.Clear();
    return toStatus(status, "rebuild");
  }

  Database& database_;
  rocksdb::WriteBatch batch_;
  std::map<std::string, LaneSums> lanes_;
  Position position_;
  uint64_t kept_ = 0;
  uint64_t revived_ = 0;
};

}  // namespace

absl::StatusOr<AcceptedLoss> acceptLoss(const std::string& path, Log& log) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  absl::Status status = checkNotLocked(path, env);
  if (status.ok()) {
    status = checkFormatIfReadable(path, env);
  }
  // What another version wrote is refused. A damage that hides the format is why we are here.
  if (!status.ok() && !absl::IsDataLoss(status)) {
    return status;
  }
  absl::StatusOr<std::unique_ptr<Database>> database = Database::open(path, env, OpenMode::Salvage);
  if (!database.ok()) {
    return database.status();
  }
  Rebuild rebuild(**database);
  status = rebuild.run();
  if (!status.ok()) {
    return status;
  }
  const HighWaterMark mark(path);
  const absl::StatusOr<std::optional<uint64_t>> promised = mark.read();
  status = mark.write(rebuild.position().sequence);
  if (!status.ok()) {
    return status;
  }
  AcceptedLoss loss;
  loss.kept = rebuild.kept();
  loss.revived = rebuild.revived();
  const uint64_t expected =
      std::max(rebuild.position().sequence, promised.ok() ? promised->value_or(0) : 0);
  loss.missing = expected - std::min(expected, loss.kept);
  log.warn(cat("store ", path, ": ", loss.missing, " acknowledged events were given up, ",
               loss.kept, " are kept"));
  return loss;
}

}  // namespace forebay
