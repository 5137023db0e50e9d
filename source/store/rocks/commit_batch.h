#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "rocksdb/write_batch.h"
#include "source/base/random.h"
#include "source/event/event.h"
#include "source/store/event_store.h"
#include "source/store/rocks/database.h"
#include "source/store/rocks/keys.h"
#include "source/store/rocks/lane_book.h"

namespace forebay::rocks {

// An event on its way to the disk.
struct Waiting {
  std::shared_ptr<Event> event;
  AppendSink* sink = nullptr;
  uint64_t token = 0;
  uint64_t bytes = 0;  // of the serialised record
};

// Turns events into one write: numbers them, and lays out record, state, index entries and sums.
// Belongs to one thread; keeps its buffers from batch to batch.
class CommitBatch {
public:
  explicit CommitBatch(Random& random) : ids_(random) {}

  // The next batch follows this position.
  void continueFrom(const Position& position, const std::map<std::string, LaneSums>& lanes);

  // Gives the events their ids. Until accept(), nothing is taken as written.
  void build(absl::Span<Waiting> waiting, Database& database);
  rocksdb::WriteBatch& batch() { return batch_; }
  // The batch is on disk: what to tell the lanes.
  absl::Span<Committed> accept();
  // The sequence number of the newest event that is on disk.
  uint64_t sequence() const { return position_.sequence; }

private:
  struct LaneCount {
    uint64_t accepted = 0;
    uint64_t added = 0;  // by the present batch
  };

  void add(Waiting& waiting, uint64_t sequence, Database& database);
  char* scratch(size_t bytes);

  EventIdGenerator ids_;
  Position position_;
  Position next_;
  std::map<std::string, LaneCount, std::less<>> lanes_;

  rocksdb::WriteBatch batch_;
  std::vector<Committed> committed_;
  std::unique_ptr<char[]> scratch_;
  size_t scratch_bytes_ = 0;
  std::string key_;
  v1::EventState state_;
  std::map<std::string, LaneCount, std::less<>>::value_type* lane_ = nullptr;
};

}  // namespace forebay::rocks
