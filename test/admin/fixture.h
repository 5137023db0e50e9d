#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "source/admin/admin.h"
#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/store/memory/memory_store.h"

namespace forebay {

// 2026-03-01T12:00:00Z, until a test moves it.
class ManualClock final : public Clock {
public:
  absl::Time wallNow() const override { return absl::FromUnixSeconds(1772366400) + passed_; }
  MonotonicTime monotonicNow() const override { return MonotonicTime::fromOrigin(passed_); }
  void advance(absl::Duration by) { passed_ += by; }

private:
  absl::Duration passed_;
};

class RecordingLog final : public Log {
public:
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
  std::vector<std::string> lines;
};

class RecordingStats final : public StatsSink {
public:
  void add(Counter counter, Labels labels, uint64_t amount) override {
    added.push_back(
        cat(kCounters[static_cast<int>(counter)].name, "[", join(labels, ","), "] ", amount));
  }
  void set(Gauge, Labels, uint64_t) override {}
  using StatsSink::record;
  void record(Histogram, Labels, absl::Span<const uint64_t>) override {}
  std::vector<std::string> added;
};

// Two upstreams, `billing` and `mail`.
class ScriptedLanes final : public LaneControl {
public:
  ScriptedLanes() : state{makeLane("billing"), makeLane("mail")} {}

  std::vector<LaneStatus> lanes() override { return state; }
  absl::Status pause(std::string_view upstream, std::string_view reason) override {
    return change(upstream, true, reason);
  }
  absl::Status resume(std::string_view upstream) override { return change(upstream, false, ""); }

  std::vector<LaneStatus> state;
  absl::Status failure;

private:
  static LaneStatus makeLane(const std::string& name) {
    LaneStatus lane;
    lane.name = name;
    lane.cluster = name + "_app";
    return lane;
  }
  absl::Status change(std::string_view upstream, bool paused, std::string_view reason) {
    if (!failure.ok()) {
      return failure;
    }
    for (LaneStatus& lane : state) {
      if (lane.name == upstream) {
        lane.paused = paused;
        lane.pause_reason = std::string(reason);
        return absl::OkStatus();
      }
    }
    return absl::NotFoundError(cat("upstream \"", upstream, "\" is not configured"));
  }
};

// A MemoryStore whose calls can be watched and made to fail.
class WatchedStore final : public EventStore {
public:
  WatchedStore(const Clock& clock, Random& random) : store_(clock, random) {}

  void append(Event&& event, AppendSink& sink, uint64_t token) override {
    store_.append(std::move(event), sink, token);
  }
  absl::StatusOr<std::vector<LeasedEvent>> leaseDue(std::string_view upstream, absl::Time now,
                                                    const LeaseLimits& limits) override {
    return store_.leaseDue(upstream, now, limits);
  }
  absl::Time nextDue(std::string_view upstream) override { return store_.nextDue(upstream); }
  absl::Status settle(absl::Span<const Settlement> settlements) override {
    return store_.settle(settlements);
  }
  void release(std::string_view upstream, absl::Span<const EventId> ids) override {
    store_.release(upstream, ids);
  }
  absl::StatusOr<StoredEvent> read(const EventId& id) override {
    if (!failure.ok()) {
      return failure;
    }
    return store_.read(id);
  }
  absl::StatusOr<std::vector<v1::AttemptRecord>> attempts(const EventId& id) override {
    return store_.attempts(id);
  }
  absl::StatusOr<ScanPage> scan(const EventFilter& filter, std::optional<EventId> before,
                                size_t limit) override {
    if (!failure.ok()) {
      return failure;
    }
    if (scan_override) {
      return scan_override(before, limit);
    }
    return store_.scan(filter, before, limit);
  }
  absl::StatusOr<size_t> markDue(absl::Span<const ReplayMark> marks) override {
    if (mark_chunks.size() >= mark_writes_max) {
      return mark_failure;
    }
    mark_chunks.push_back({marks.begin(), marks.end()});
    return scan_override ? marks.size() : store_.markDue(marks);
  }
  absl::flat_hash_map<std::string, LaneTotals> totals() override { return store_.totals(); }
  std::optional<absl::Time> oldestWaiting(std::string_view upstream) override {
    return store_.oldestWaiting(upstream);
  }
  absl::Time latestCapture() override { return store_.latestCapture(); }
  StoreHealth health() override { return health_now; }
  absl::Status saveLane(std::string_view upstream, const v1::LaneRecord& record,
                        bool sync) override {
    return store_.saveLane(upstream, record, sync);
  }
  absl::StatusOr<v1::LaneRecord> loadLane(std::string_view upstream) override {
    return store_.loadLane(upstream);
  }
  void onNewWork(std::function<void()> wake) override { store_.onNewWork(std::move(wake)); }
  void close() override { store_.close(); }

  absl::Status failure;  // of reading, while it is not ok
  // Instead of the events that are there; marks are then taken for done.
  std::function<ScanPage(std::optional<EventId> before, size_t limit)> scan_override;
  size_t mark_writes_max = 1000;
  absl::Status mark_failure = absl::UnavailableError("the disk is gone");
  std::vector<std::vector<ReplayMark>> mark_chunks;
  StoreHealth health_now{"/var/lib/forebay", 4096, 1000000, false, ""};

private:
  MemoryStore store_;
};

class AdminTest : public testing::Test, private AppendSink {
protected:
  static v1::EventRecord makeRecord(std::string upstream = "billing") {
    v1::EventRecord record;
    record.set_format(kRecordFormat);
    record.set_source("shop");
    record.set_upstream(std::move(upstream));
    record.set_method("POST");
    record.set_path("/hooks?a=1");
    record.set_body("hello");
    return record;
  }

  // Captures an event now, and lets a millisecond pass.
  EventId capture(v1::EventRecord record = makeRecord()) {
    record.set_received_at_us(absl::ToUnixMicros(clock_.wallNow()));
    Event event;
    event.record = std::move(record);
    store_.append(std::move(event), *this, 0);
    clock_.advance(absl::Milliseconds(1));
    return last_appended_;
  }

  // Settles `id` of `upstream` as `change` says.
  void settle(const EventId& id, const std::string& upstream,
              const std::function<void(v1::EventState&)>& change,
              std::optional<v1::AttemptRecord> attempt = std::nullopt) {
    const auto leased = store_.leaseDue(upstream, absl::InfiniteFuture(), {1'000'000});
    ASSERT_TRUE(leased.ok());
    std::vector<EventId> others;
    for (const LeasedEvent& lease : *leased) {
      if (lease.event->id != id) {
        others.push_back(lease.event->id);
        continue;
      }
      Settlement settlement{id, lease.state, attempt};
      change(settlement.state);
      const absl::Status status = store_.settle({&settlement, 1});
      ASSERT_TRUE(status.ok()) << status;
    }
    store_.release(upstream, others);
  }

  AdminResponse get(const std::string& target) { return admin_.handle({"GET", target, ""}); }
  AdminResponse post(const std::string& target, const std::string& body = "") {
    return admin_.handle({"POST", target, body});
  }

  ManualClock clock_;
  SeededRandom store_random_{1};
  SeededRandom job_random_{2};
  WatchedStore store_{clock_, store_random_};
  ScriptedLanes lanes_;
  RecordingLog log_;
  RecordingStats stats_;
  Admin admin_{AdminDeps{store_, lanes_, clock_, stats_, log_, job_random_, ""}};

private:
  void onAppended(absl::Span<const AppendResult> results) override {
    ASSERT_TRUE(results.back().status.ok()) << results.back().status;
    last_appended_ = results.back().id;
  }
  EventId last_appended_;
};

}  // namespace forebay
