#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace forebay {

// One table for code and docs (docs/metrics.md is held against it by a test).
struct StatSpec {
  std::string_view name;      // below the prefix `forebay.`
  std::string_view label[2];  // names of the labels, in order; empty where there is none
  std::string_view help;

  constexpr size_t labelCount() const { return label[1].empty() ? (label[0].empty() ? 0 : 1) : 2; }
};

enum class Counter {
  Accepted,
  Rejected,
  Duplicates,
  Attempts,
  Delivered,
  Dead,
  Replayed,
  CommitFailures,
  OwnErrors,
  RetryAfterIgnored,
  OrderKeyMissing,
};
inline constexpr StatSpec kCounters[] = {
    {"accepted", {"source"}, "events on disk and acknowledged"},
    {"rejected", {"source", "reason"}, "requests that were not captured"},
    {"duplicates", {"source"}, "events acknowledged but not stored again"},
    {"attempts", {"upstream", "outcome"}, "deliveries tried, by what came back"},
    {"delivered", {"upstream"}, "events that the app took"},
    {"dead", {"upstream", "reason"}, "events given up on; they are kept"},
    {"replayed", {"upstream"}, "events made due again by an operator"},
    {"commit_failures", {}, "batches that did not reach the disk"},
    {"own_errors", {"upstream", "reason"}, "tries that never left us and cost no attempt"},
    {"retry_after_ignored", {"upstream"}, "Retry-After values that made no sense"},
    {"order_key_missing", {"upstream"}, "events of an ordered upstream that name no key"},
};

enum class Gauge {
  Backlog,
  Retrying,
  InFlight,
  OldestPendingSeconds,
  BreakerOpen,
  Paused,
  RetryRatio,
  Storm,
  StoreBytes,
  StoreReadOnly,
};
inline constexpr StatSpec kGauges[] = {
    {"backlog", {"upstream"}, "events waiting, tried or not"},
    {"retrying", {"upstream"}, "events waiting that were tried at least once"},
    {"in_flight", {"upstream"}, "attempts under way"},
    {"oldest_pending_seconds", {"upstream"}, "age of the oldest event that waits"},
    {"breaker_open", {"upstream"}, "1 while the breaker is open or half open"},
    {"paused", {"upstream"}, "1 while the lane is paused"},
    {"retry_ratio", {"upstream"}, "attempts per 100 events over 15 minutes"},
    {"storm", {"upstream"}, "1 while retry_ratio is above 500"},
    {"store_bytes", {}, "bytes on disk"},
    {"store_read_only", {}, "1 while new events are refused"},
};

enum class Histogram { AckMs, CommitMs, CommitEvents, DeliveryDelayMs, AttemptsToSuccess };
inline constexpr StatSpec kHistograms[] = {
    {"ack_ms", {}, "from the end of a request to its answer"},
    {"commit_ms", {}, "one write and sync"},
    {"commit_events", {}, "events in one write"},
    {"delivery_delay_ms", {"upstream"}, "from capture to the app's success"},
    {"attempts_to_success", {"upstream"}, "attempts that a delivered event took"},
};

// Where numbers go. Safe from any thread; cheap, never blocks on Envoy. Label values are given in
// the order of the table.
class StatsSink {
public:
  using Labels = absl::Span<const std::string_view>;

  virtual ~StatsSink() = default;
  virtual void add(Counter counter, Labels labels, uint64_t amount) = 0;
  virtual void set(Gauge gauge, Labels labels, uint64_t value) = 0;
  virtual void record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) = 0;

  void record(Histogram histogram, Labels labels, uint64_t value) {
    record(histogram, labels, absl::MakeConstSpan(&value, 1));
  }
};

// For tests and tools.
class NullStats final : public StatsSink {
public:
  void add(Counter, Labels, uint64_t) override {}
  void set(Gauge, Labels, uint64_t) override {}
  using StatsSink::record;
  void record(Histogram, Labels, absl::Span<const uint64_t>) override {}
};

}  // namespace forebay
