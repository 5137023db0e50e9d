#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/stats.h"
#include "source/store/event_store.h"

// What the tests of stores share.
namespace forebay {

// Fails the test with the status' own words.
#define ASSERT_OK(expression)                                  \
  do {                                                         \
    const absl::Status status_of_it = (expression);            \
    ASSERT_TRUE(status_of_it.ok()) << status_of_it.ToString(); \
  } while (false)
#define EXPECT_OK(expression)                                  \
  do {                                                         \
    const absl::Status status_of_it = (expression);            \
    EXPECT_TRUE(status_of_it.ok()) << status_of_it.ToString(); \
  } while (false)

inline constexpr char kLane[] = "billing";

// A wall clock that moves when told; its monotonic clock is the machine's, which threads wait by.
class TestClock final : public Clock {
public:
  absl::Time wallNow() const override;
  MonotonicTime monotonicNow() const override { return systemClock().monotonicNow(); }
  void advance(absl::Duration by);

private:
  mutable absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'790'000'000);
};

// Collects the answers to appends, and lets a test wait for them.
class CollectingSink final : public AppendSink {
public:
  void onAppended(absl::Span<const AppendResult> results) override;

  // The results, once there are at least `count`. Takes them.
  std::vector<AppendResult> await(size_t count);
  size_t calls() const;

private:
  mutable absl::Mutex mutex_;
  std::vector<AppendResult> results_ ABSL_GUARDED_BY(mutex_);
  size_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

class CollectingLog final : public Log {
public:
  void write(LogLevel level, std::string_view message) override;
  bool contains(std::string_view text) const;

private:
  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

// Keeps the latest gauges and the sums of counters.
class CollectingStats final : public StatsSink {
public:
  void add(Counter counter, Labels labels, uint64_t amount) override;
  void set(Gauge gauge, Labels labels, uint64_t value) override;
  using StatsSink::record;
  void record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) override;

  uint64_t counter(Counter counter) const;
  uint64_t gauge(Gauge gauge) const;
  uint64_t recorded(Histogram histogram) const;  // how many values
  void awaitGauge(Gauge gauge, uint64_t value);

private:
  mutable absl::Mutex mutex_;
  std::vector<uint64_t> counters_ ABSL_GUARDED_BY(mutex_) = std::vector<uint64_t>(16);
  std::vector<uint64_t> gauges_ ABSL_GUARDED_BY(mutex_) = std::vector<uint64_t>(16);
  std::vector<uint64_t> histograms_ ABSL_GUARDED_BY(mutex_) = std::vector<uint64_t>(16);
};

// A new directory under TEST_TMPDIR, or in /tmp. It is gone with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

Event makeEvent(std::string_view body, absl::Time received_at, std::string_view upstream = kLane,
                std::string_view source = "stripe");

// Appends and waits; the event's id.
absl::StatusOr<EventId> appendOne(EventStore& store, Event&& event);

// A settlement of `leased` after one more attempt. `due_at` is for those that wait.
Settlement settlementTo(const LeasedEvent& leased, v1::State state,
                        absl::Time due_at = absl::InfiniteFuture());

// accepted = pending + retrying + delivered + dead + quarantined, in each lane; and each sum is
// what a scan of the store counts.
void expectCountsMatchScan(EventStore& store);

std::vector<std::string> bodies(absl::Span<const LeasedEvent> events);
std::vector<std::string> bodies(const ScanPage& page);

}  // namespace forebay
