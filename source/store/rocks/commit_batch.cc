#include "source/store/rocks/commit_batch.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/store/lifecycle.h"

namespace forebay::rocks {
namespace {

// Buffers that grew beyond this for one large event are given back after it.
constexpr size_t kKeptBytes = 4 * limits::kMiB;
// Per event, beside the record: up to four keys, the state, and RocksDB's own headers.
constexpr size_t kOverheadBytes = 256;

}  // namespace

void CommitBatch::continueFrom(const Position& position,
                               const std::map<std::string, LaneSums>& lanes) {
  position_ = position;
  ids_.continueAfter(position.newest);
  lanes_.clear();
  for (const auto& [upstream, sums] : lanes) {
    lanes_[upstream].accepted = sums.accepted;
  }
}

char* CommitBatch::scratch(size_t bytes) {
  if (bytes > scratch_bytes_ || scratch_bytes_ > kKeptBytes) {
    scratch_bytes_ = std::max<size_t>(bytes, 64 * limits::kKiB);
    scratch_ = std::make_unique_for_overwrite<char[]>(scratch_bytes_);
  }
  return scratch_.get();
}

void CommitBatch::add(Waiting& waiting, uint64_t sequence, Database& database) {
  Event& event = *waiting.event;
  const v1::EventRecord& record = event.record;
  // The id's time is that of the capture, so that listing by time needs nothing but ids.
  event.id = ids_.next(absl::FromUnixMicros(record.received_at_us()));
  capturedState(record, sequence, state_);
  const DueKey due{state_.due_at_us(), event.id};

  // The record's size was computed, and cached in it, when it was queued.
  char* const bytes = scratch(std::max<size_t>(waiting.bytes, 4 * limits::kKiB));
  record.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(bytes));
  batch_.Put(database.family(Family::Events), toSlice(event.id.bytes()), {bytes, waiting.bytes});
  const size_t state_bytes = state_.ByteSizeLong();
  char* const state_at = scratch(state_bytes);
  state_.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(state_at));
  batch_.Put(database.family(Family::State), toSlice(event.id.bytes()), {state_at, state_bytes});
  encodeDueKey(record.upstream(), Queue::First, due, key_);
  batch_.Put(database.family(Family::Due), key_, {});
  if (!state_.order_key().empty()) {
    encodeOrderKey(record.upstream(), orderPlace(state_), state_.order_key(), event.id, key_);
    batch_.Put(database.family(Family::Order), key_, {});
  }

  if (lane_ == nullptr || lane_->first != record.upstream()) {
    lane_ = &*lanes_.try_emplace(record.upstream()).first;
  }
  ++lane_->second.added;
  committed_.push_back({due, {waiting.event, sequence, waiting.bytes}});
}

void CommitBatch::build(absl::Span<Waiting> waiting, Database& database) {
  size_t bytes = kOverheadBytes;
  for (const Waiting& one : waiting) {
    bytes += one.bytes + kOverheadBytes;
  }
  if (batch_.GetDataSize() > kKeptBytes) {
    batch_ = rocksdb::WriteBatch(bytes);
  }
  batch_.Clear();
  committed_.clear();
  lane_ = nullptr;
  for (auto& [upstream, lane] : lanes_) {
    lane.added = 0;
  }

  next_ = position_;
  for (Waiting& one : waiting) {
    add(one, ++next_.sequence, database);
  }
  next_.newest = waiting.back().event->id;
  v1::LaneCounts counts;
  for (const auto& [upstream, lane] : lanes_) {
    if (lane.added > 0) {
      counts.set_accepted(lane.accepted + lane.added);
      batch_.Put(metaKey(kAcceptedPrefix, upstream), counts.SerializeAsString());
    }
  }
  batch_.Put(toSlice(kSequenceKey), encodePosition(next_));
}

absl::Span<Committed> CommitBatch::accept() {
  position_ = next_;
  for (auto& [upstream, lane] : lanes_) {
    lane.accepted += lane.added;
    lane.added = 0;
  }
  return absl::MakeSpan(committed_);
}

}  // namespace forebay::rocks
