#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/stats.h"
#include "source/store/rocks/database.h"
#include "source/store/rocks/gate.h"
#include "source/store/rocks/in_flight.h"
#include "source/store/rocks/lane_book.h"
#include "source/store/rocks/order_index.h"

namespace forebay::rocks {

// What the parts of a store share.
//
// Order of locks: `opening` (shared by whoever uses the database, exclusive for whoever puts in
// another one), then `transitions` (whoever moves events between states), then those inside
// `book` and `gate`, which call nobody.
struct StoreContext {
  StoreContext(std::string path_in, std::string boot, const Clock& clock_in, StatsSink& stats_in,
               Log& log_in, const BookLimits& limits)
      : path(std::move(path_in)),
        clock(clock_in),
        stats(stats_in),
        log(log_in),
        book(limits),
        order(log_in),
        in_flight(path, std::move(boot), log_in),
        gate(path, stats_in, log_in) {}

  const std::string path;
  const Clock& clock;
  StatsSink& stats;
  Log& log;

  absl::Mutex opening;
  std::unique_ptr<Database> database ABSL_GUARDED_BY(opening);  // null while closed
  absl::Mutex transitions ABSL_ACQUIRED_AFTER(opening);
  LaneBook book;
  OrderIndex order ABSL_GUARDED_BY(transitions);
  InFlight in_flight ABSL_GUARDED_BY(transitions);
  Gate gate;

  std::function<void()> on_new_work;  // set once, before the first append

  void wake() const {
    if (on_new_work) {
      on_new_work();
    }
  }

  // Unavailable with the reason, while the database is not open.
  absl::Status notOpen() const;
  // Writes the batch. Unavailable on failure: with nothing written when RocksDB would have stalled
  // for longer than a quarter of a second; otherwise the outcome is unknown and the store has
  // broken down.
  absl::Status write(rocksdb::WriteBatch& batch, bool sync, const char* what)
      ABSL_SHARED_LOCKS_REQUIRED(opening);
};

}  // namespace forebay::rocks
