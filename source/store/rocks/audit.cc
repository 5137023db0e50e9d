#include "source/store/rocks/audit.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "source/base/strings.h"
#include "source/event/names.h"
#include "source/store/lifecycle.h"
#include "source/store/rocks/database.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/records.h"
#include "source/store/rocks/recovery.h"

namespace forebay {
namespace {

using namespace rocks;

constexpr size_t kMessagesMax = 50;

class Auditor {
public:
  explicit Auditor(Database& database) : database_(database) {}

  StoreAudit run() {
    const absl::StatusOr<Position> position = readPosition(database_);
    const absl::StatusOr<std::map<std::string, LaneSums>> sums = readSums(database_);
    if (!position.ok() || !sums.ok()) {
      problem(std::string((position.ok() ? sums.status() : position.status()).message()));
      return audit_;
    }
    audit_.sequence = position->sequence;
    seen_.resize(position->sequence + 1);
    checkRecords();
    checkSequence(*position);
    checkSums(*sums);
    checkIndexSize(Family::Due, queued_, "the due index");
    checkIndexSize(Family::Order, in_order_, "the order index");
    checkParked();
    checkIndexSize(Family::SetAside, set_aside_, "the index of what is set aside");
    return audit_;
  }

private:
  void problem(std::string text) {
    ++audit_.problems;
    if (audit_.messages.size() < kMessagesMax) {
      audit_.messages.push_back(std::move(text));
    }
  }

  void checkRecords() {
    Records records(database_);
    for (; records.valid(); records.next()) {
      const std::string name = cat("event ", records.id().toString(), ": ");
      if (!records.hasEvent()) {
        problem(cat(name, "no record that can be read"));
      }
      if (!records.hasState()) {
        problem(cat(name, "no state that can be read"));
        continue;
      }
      ++audit_.events;
      newest_ = records.id();
      checkState(name, records.id(), records.state());
      if (records.hasEvent() && records.event().upstream() != records.state().upstream()) {
        problem(cat(name, "its record and its state name different lanes"));
      }
    }
  }

  void checkState(const std::string& name, const EventId& id, const v1::EventState& state) {
    const uint64_t sequence = state.sequence();
    if (sequence == 0 || sequence >= seen_.size() || seen_[sequence]) {
      problem(cat(name, "sequence ", sequence, " is out of range or taken twice"));
    } else {
      seen_[sequence] = true;
    }
    LaneSums& lane = lanes_[state.upstream()];
    ++lane.accepted;
    moveCount(lane.settled, v1::STATE_PENDING, state.state());
    audit_.waiting += state.due_at_us() > 0;
    if (isQueued(state)) {
      ++queued_;
      std::string key;
      encodeDueKey(state.upstream(), queueOf(state), {state.due_at_us(), id}, key);
      expectPresent(Family::Due, key, cat(name, "waits but is not in the due index"));
    } else if (!state.parked() &&
               (state.state() == v1::STATE_PENDING || state.state() == v1::STATE_RETRYING)) {
      problem(cat(name, stateName(state.state()), " without a due time"));
    }
    if (state.parked() && (state.order_key().empty() || state.due_at_us() == 0)) {
      problem(cat(name, "parked without an order key or a due time"));
    }
    if (!state.order_key().empty()) {
      checkOrder(name, id, state);
    }
    if (isSetAside(state.state())) {
      ++set_aside_;
      expectPresent(Family::SetAside, setAsideKey(static_cast<uint8_t>(state.state()), id),
                    cat(name, stateName(state.state()), " but not in the index of these"));
    }
  }

  void checkOrder(const std::string& name, const EventId& id, const v1::EventState& state) {
    std::string key;
    const OrderPlace place = orderPlace(state);
    if (place != OrderPlace::None) {
      ++in_order_;
      encodeOrderKey(state.upstream(), place, state.order_key(), id, key);
      expectPresent(Family::Order, key, cat(name, "waits but is not in the order index"));
    }
    encodeOrderKey(state.upstream(), OrderPlace::None, state.order_key(), EventId(), key);
    const size_t hash = absl::HashOf(key);
    if (isQueued(state)) {
      queued_keys_.insert(hash);
    } else if (state.due_at_us() > 0) {
      parked_.try_emplace(hash, id);
    }
  }

  void checkParked() {
    for (const auto& [key, id] : parked_) {
      if (!queued_keys_.contains(key)) {
        problem(cat("event ", id.toString(), ": parked, and no event of its key is in a queue"));
      }
    }
  }

  void expectPresent(Family family, const std::string& key, const std::string& otherwise) {
    std::string value;
    if (!database_.get(family, key, &value).ok()) {
      problem(otherwise);
    }
  }

  void checkSequence(const Position& position) {
    for (uint64_t sequence = 1; sequence < seen_.size(); ++sequence) {
      if (!seen_[sequence]) {
        problem(cat("sequence ", sequence, " of ", position.sequence, " is missing"));
      }
    }
    if (newest_ != position.newest) {
      problem(
          cat("the newest event is ", newest_.toString(), ", not ", position.newest.toString()));
    }
  }

  void checkSums(const std::map<std::string, LaneSums>& sums) {
    for (const auto& [upstream, lane] : lanes_) {
      const auto stored = sums.find(upstream);
      if (stored == sums.end() || stored->second.accepted != lane.accepted ||
          stored->second.settled.SerializeAsString() != lane.settled.SerializeAsString()) {
        problem(cat("lane ", printable(upstream), ": its sums are not what is stored: ",
                    stored == sums.end() ? "none" : stored->second.settled.ShortDebugString(),
                    " for ", lane.settled.ShortDebugString()));
      }
    }
    for (const auto& [upstream, stored] : sums) {
      if (stored.accepted > 0 && !lanes_.contains(upstream)) {
        problem(cat("lane ", printable(upstream), ": sums without events"));
      }
    }
  }

  // Every entry that must be there was found; as many entries as that means no others.
  void checkIndexSize(Family family, uint64_t expected, const char* name) {
    uint64_t entries = 0;
    const auto iterator = database_.iterate(family, nullptr, nullptr, false);
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      ++entries;
    }
    if (!iterator->status().ok()) {
      problem(cat(name, " can't be read: ", iterator->status().ToString()));
    } else if (entries != expected) {
      problem(cat(name, " has ", entries, " entries, not ", expected));
    }
  }

  Database& database_;
  StoreAudit audit_;
  uint64_t queued_ = 0;
  uint64_t set_aside_ = 0;
  uint64_t in_order_ = 0;
  // By a hash of lane and order key.
  absl::flat_hash_set<size_t> queued_keys_;
  absl::flat_hash_map<size_t, EventId> parked_;  // one of the key
  EventId newest_;
  std::vector<bool> seen_;
  std::map<std::string, LaneSums> lanes_;
};

}  // namespace

absl::StatusOr<StoreAudit> auditStore(const std::string& path) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  absl::Status status = checkNotLocked(path, env);
  if (status.ok()) {
    status = checkFormatIfReadable(path, env);
  }
  if (!status.ok()) {
    return status;
  }
  absl::StatusOr<std::unique_ptr<Database>> database =
      Database::open(path, env, OpenMode::ReadOnly);
  if (!database.ok()) {
    return database.status();
  }
  return Auditor(**database).run();
}

}  // namespace forebay
