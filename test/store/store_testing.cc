#include "test/store/store_testing.h"

#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"

namespace forebay {

absl::Time TestClock::wallNow() const {
  absl::MutexLock lock(&mutex_);
  return now_;
}

void TestClock::advance(absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  now_ += by;
}

void CollectingSink::onAppended(absl::Span<const AppendResult> results) {
  absl::MutexLock lock(&mutex_);
  results_.insert(results_.end(), results.begin(), results.end());
  ++calls_;
}

std::vector<AppendResult> CollectingSink::await(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]()
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return results_.size() >= count; };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60))) {
    ADD_FAILURE() << "only " << results_.size() << " of " << count << " appends were answered";
  }
  return std::exchange(results_, {});
}

size_t CollectingSink::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_;
}

void CollectingLog::write(LogLevel, std::string_view message) {
  absl::MutexLock lock(&mutex_);
  text_.append(message.data(), message.size());
  text_.push_back('\n');
}

bool CollectingLog::contains(std::string_view text) const {
  absl::MutexLock lock(&mutex_);
  return text_.find(text) != std::string::npos;
}

void CollectingStats::add(Counter counter, Labels, uint64_t amount) {
  absl::MutexLock lock(&mutex_);
  counters_[static_cast<size_t>(counter)] += amount;
}

void CollectingStats::set(Gauge gauge, Labels, uint64_t value) {
  absl::MutexLock lock(&mutex_);
  gauges_[static_cast<size_t>(gauge)] = value;
}

void CollectingStats::record(Histogram histogram, Labels, absl::Span<const uint64_t> values) {
  absl::MutexLock lock(&mutex_);
  histograms_[static_cast<size_t>(histogram)] += values.size();
}

uint64_t CollectingStats::counter(Counter counter) const {
  absl::MutexLock lock(&mutex_);
  return counters_[static_cast<size_t>(counter)];
}

uint64_t CollectingStats::gauge(Gauge gauge) const {
  absl::MutexLock lock(&mutex_);
  return gauges_[static_cast<size_t>(gauge)];
}

uint64_t CollectingStats::recorded(Histogram histogram) const {
  absl::MutexLock lock(&mutex_);
  return histograms_[static_cast<size_t>(histogram)];
}

void CollectingStats::awaitGauge(Gauge gauge, uint64_t value) {
  absl::MutexLock lock(&mutex_);
  const auto reached = [this, gauge, value]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return gauges_[static_cast<size_t>(gauge)] == value;
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&reached), absl::Seconds(60))) {
    ADD_FAILURE() << "the gauge never became " << value;
  }
}

TemporaryDirectory::TemporaryDirectory() {
  const char* const base = std::getenv("TEST_TMPDIR");
  path_ = absl::StrCat(base == nullptr ? "/tmp" : base, "/storeXXXXXX");
  if (mkdtemp(path_.data()) == nullptr) {
    ADD_FAILURE() << "mkdtemp " << path_;
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Event makeEvent(std::string_view body, absl::Time received_at, std::string_view upstream,
                std::string_view source) {
  Event event;
  event.record.set_source(std::string(source));
  event.record.set_upstream(std::string(upstream));
  event.record.set_received_at_us(absl::ToUnixMicros(received_at));
  event.record.set_method("POST");
  event.record.set_path("/hooks?kind=test");
  event.record.set_body(std::string(body));
  v1::Header* const header = event.record.add_headers();
  header->set_name("content-type");
  header->set_value("application/json");
  return event;
}

absl::StatusOr<EventId> appendOne(EventStore& store, Event&& event) {
  CollectingSink sink;
  store.append(std::move(event), sink, 7);
  const std::vector<AppendResult> results = sink.await(1);
  if (results.size() != 1 || results[0].token != 7) {
    return absl::InternalError("not exactly one answer with the token");
  }
  if (!results[0].status.ok()) {
    return results[0].status;
  }
  return results[0].id;
}

Settlement settlementTo(const LeasedEvent& leased, v1::State state, absl::Time due_at) {
  Settlement settlement{leased.event->id, leased.state, v1::AttemptRecord()};
  const bool waits = state == v1::STATE_PENDING || state == v1::STATE_RETRYING;
  settlement.state.set_state(state);
  settlement.state.set_due_at_us(waits ? absl::ToUnixMicros(due_at) : 0);
  settlement.state.set_attempts(leased.state.attempts() + 1);
  settlement.state.set_last_status(state == v1::STATE_DELIVERED ? 200 : 500);
  if (state == v1::STATE_DEAD) {
    settlement.state.set_reason(v1::DEAD_REASON_PERMANENT);
  }
  settlement.attempt->set_attempt(leased.state.attempts() + 1);
  settlement.attempt->set_status(settlement.state.last_status());
  return settlement;
}

void expectCountsMatchScan(EventStore& store) {
  std::map<std::string, std::map<v1::State, uint64_t>> found;
  std::optional<EventId> before;
  do {
    absl::StatusOr<ScanPage> page = store.scan({}, before, 1000);
    ASSERT_OK(page.status());
    for (const StoredEvent& stored : page->events) {
      ++found[stored.state.upstream()][stored.state.state()];
    }
    before = page->next;
  } while (before.has_value());

  const auto totals = store.totals();
  EXPECT_EQ(totals.size(), found.size());
  for (const auto& [upstream, lane] : totals) {
    std::map<v1::State, uint64_t>& counts = found[upstream];
    EXPECT_EQ(lane.pending, counts[v1::STATE_PENDING]) << upstream;
    EXPECT_EQ(lane.retrying, counts[v1::STATE_RETRYING]) << upstream;
    EXPECT_EQ(lane.delivered, counts[v1::STATE_DELIVERED]) << upstream;
    EXPECT_EQ(lane.dead, counts[v1::STATE_DEAD]) << upstream;
    EXPECT_EQ(lane.quarantined, counts[v1::STATE_QUARANTINED]) << upstream;
    EXPECT_EQ(lane.accepted,
              lane.pending + lane.retrying + lane.delivered + lane.dead + lane.quarantined);
  }
}

std::vector<std::string> bodies(absl::Span<const LeasedEvent> events) {
  std::vector<std::string> bodies;
  for (const LeasedEvent& leased : events) {
    bodies.push_back(leased.event->record.body());
  }
  return bodies;
}

std::vector<std::string> bodies(const ScanPage& page) {
  std::vector<std::string> bodies;
  for (const StoredEvent& stored : page.events) {
    bodies.push_back(stored.event->record.body());
  }
  return bodies;
}

}  // namespace forebay
