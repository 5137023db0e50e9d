#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/forebay/v1/event.pb.h"
#include "source/event/event.h"

namespace forebay {

struct AppendResult {
  uint64_t token = 0;  // as given to append()
  absl::Status status;
  EventId id;  // when status is ok
};

// Told what became of appends, many at a time. Called on the store's own thread (or inside
// append() when the event is refused at once); must not block, and must outlive the store.
class AppendSink {
public:
  virtual ~AppendSink() = default;
  virtual void onAppended(absl::Span<const AppendResult> results) = 0;
};

// An event whose next attempt is due, held by the caller until it is settled or released. Nobody
// else is given it meanwhile.
struct LeasedEvent {
  EventPtr event;
  v1::EventState state;
};

// The three queues of a lane. Which one an event waits in follows from its state.
enum class Queue { First, Retry, Replay };
inline constexpr size_t kQueues = 3;

// How many events to lease, and of what.
struct LeaseLimits {
  size_t events = 0;
  // At most so many retries, as long as a first attempt is due in their place.
  size_t retries_max = std::numeric_limits<size_t>::max();
};

// How an event goes on after an attempt. `state` replaces the stored one whole; a non-zero
// `due_at_us` in it schedules the next attempt, zero means there is none.
struct Settlement {
  EventId id;
  v1::EventState state;
  std::optional<v1::AttemptRecord> attempt;
};

struct StoredEvent {
  EventPtr event;
  v1::EventState state;
};

// Empty fields match everything.
struct EventFilter {
  std::optional<v1::State> state;
  std::string source;
  std::string upstream;
  absl::Time since = absl::InfinitePast();    // inclusive
  absl::Time until = absl::InfiniteFuture();  // exclusive
  std::string text;  // somewhere in the path, a header's value or the body; bytes as they are
};

struct ScanPage {
  std::vector<StoredEvent> events;  // newest first
  std::optional<EventId> next;      // pass it as `before` for more; none at the end
};

struct ReplayMark {
  EventId id;
  absl::Time due_at;
  std::string job;
};

struct LaneTotals {
  uint64_t accepted = 0;
  uint64_t pending = 0;
  uint64_t retrying = 0;
  uint64_t delivered = 0;
  uint64_t dead = 0;
  uint64_t quarantined = 0;

  uint64_t backlog() const { return pending + retrying; }
};

struct StoreHealth {
  std::string path;
  uint64_t bytes = 0;
  uint64_t bytes_max = 0;
  bool read_only = false;
  std::string reason;  // why, while read only
};

// Where events live. Works in batches and hands out leases, and does not assume to be the only
// writer, so that a shared database can stand behind it. Every method is safe from any thread.
// All but append() may block on the disk: never call them on an Envoy worker.
//
// INVARIANT: an append reported ok survives a crash of the process and of the machine.
class EventStore {
public:
  virtual ~EventStore() = default;

  // Takes the event, gives it an id, and tells `sink` once it is on disk or refused: Unavailable
  // (the store can't write now) or ResourceExhausted (too much waits, or the disk is full). An
  // event whose append failed may all the same be found later, never the reverse. `event` is
  // consumed even on failure. Never blocks.
  virtual void append(Event&& event, AppendSink& sink, uint64_t token) = 0;

  // Events of `upstream` that are due at `now`. Each queue gives its earliest due first; between
  // the heads of First and Retry the older event goes first, within `limits`; Replay gives only
  // what the others leave. An event with an order key is leased only when no other event of its
  // key is leased or waits before it; one that must wait is parked (see EventState) until the one
  // before it is settled, so that asking again costs nothing. A record that can't be read becomes
  // dead (corrupt) here and is not returned.
  virtual absl::StatusOr<std::vector<LeasedEvent>> leaseDue(std::string_view upstream,
                                                            absl::Time now,
                                                            const LeaseLimits& limits) = 0;
  // When the next event of `upstream` that nobody holds and that is not parked is due;
  // InfiniteFuture if there is none.
  virtual absl::Time nextDue(std::string_view upstream) = 0;
  // Ends leases with a new state, all in one write that the next synced one makes durable. On an
  // error nothing has changed and the leases are still held.
  virtual absl::Status settle(absl::Span<const Settlement> settlements) = 0;
  // Gives leases back as they were.
  virtual void release(std::string_view upstream, absl::Span<const EventId> ids) = 0;

  // NotFound when there is no such event; DataLoss when its record can't be read.
  virtual absl::StatusOr<StoredEvent> read(const EventId& id) = 0;
  virtual absl::StatusOr<std::vector<v1::AttemptRecord>> attempts(const EventId& id) = 0;
  // Events older than `before` (or the newest). Looks at no more than limits::kScanRecordsMax
  // records: a page may hold fewer than `limit` events, even none, and still have a next one.
  virtual absl::StatusOr<ScanPage> scan(const EventFilter& filter, std::optional<EventId> before,
                                        size_t limit) = 0;
  // Makes stored events due again with a fresh budget, in whatever state they are; all in one
  // synced write. Skips what is leased (it is being delivered) and what is not there. Returns
  // how many were marked.
  virtual absl::StatusOr<size_t> markDue(absl::Span<const ReplayMark> marks) = 0;

  // By upstream; every upstream that ever had an event, configured or not.
  virtual absl::flat_hash_map<std::string, LaneTotals> totals() = 0;
  // Capture time of the oldest waiting event known without a search (the lane's window).
  virtual std::optional<absl::Time> oldestWaiting(std::string_view upstream) = 0;
  // The time in the newest event's id, which never runs back; InfinitePast when there is none.
  virtual absl::Time latestCapture() = 0;
  virtual StoreHealth health() = 0;

  // What outlives a restart about lanes. What is not synced survives the end of the process, and
  // that of the machine once anything after it was synced.
  virtual absl::Status saveLane(std::string_view upstream, const v1::LaneRecord& record,
                                bool sync) = 0;
  virtual absl::StatusOr<v1::LaneRecord> loadLane(std::string_view upstream) = 0;  // default if new

  // `wake` is called, on any thread, whenever an event may have become due sooner than nextDue()
  // said: after appends, replays and a reopening. Set once, before the first append.
  virtual void onNewWork(std::function<void()> wake) = 0;

  // Refuses appends from now on, writes what waits, and closes. Idempotent.
  virtual void close() = 0;
};

}  // namespace forebay
