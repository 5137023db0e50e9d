#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rocksdb/write_batch.h"
#include "source/store/event_store.h"
#include "source/store/rocks/context.h"

namespace forebay::rocks {

// One write that moves events to new states: state, due index, index of what is set aside, and
// sums, together or not at all. Used under StoreContext::transitions.
class TransitionBatch {
public:
  TransitionBatch(StoreContext& context, Database& database)
      : context_(context), database_(database) {}

  // `upstream` must stay valid for as long as the batch.
  void move(std::string_view upstream, const EventId& id, const Placement& from,
            const v1::EventState& to, bool ends_lease);
  void addAttempt(const EventId& id, const v1::AttemptRecord& attempt);
  bool empty() const { return changes_.empty(); }
  // Writes, and then tells the book.
  absl::Status commit(bool sync, const char* what) ABSL_SHARED_LOCKS_REQUIRED(context_.opening)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(context_.transitions);

private:
  StoreContext& context_;
  Database& database_;
  rocksdb::WriteBatch batch_;
  std::vector<Change> changes_;
  std::map<std::string_view, v1::LaneCounts> settled_;
  std::string key_;
  std::string value_;
};

// As in EventStore. Safe from any thread.
absl::Status settle(StoreContext& context, absl::Span<const Settlement> settlements);
absl::StatusOr<size_t> markDue(StoreContext& context, absl::Span<const ReplayMark> marks);

}  // namespace forebay::rocks
