#include "test/crash/store_crash_child.h"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "source/base/clock.h"
#include "source/base/limits.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/store/rocks/rocks_store.h"

namespace forebay::crash {
namespace {

constexpr int kWriters = 8;
constexpr char kLane[] = "billing";

void tell(const Report& report) {
  // A pipe takes this at once or not at all.
  if (write(kReportFd, &report, sizeof(report)) != sizeof(report)) {
    std::_Exit(3);
  }
}

// One writer: appends, waits for the answer, reports it, and so on.
class Writer final : public AppendSink {
public:
  Writer(EventStore& store, uint64_t seed) : store_(store), random_(seed) {}

  void onAppended(absl::Span<const AppendResult> results) override {
    for (const AppendResult& result : results) {
      if (result.status.ok()) {
        Report report;
        report.id = result.id;
        report.number = result.token;
        tell(report);
      }
    }
    absl::MutexLock lock(&mutex_);
    answered_ = true;
  }

  void run() {
    while (true) {
      const uint64_t number = random_.next();
      Event event;
      event.record.set_source("source");
      event.record.set_upstream(number % 5 == 0 ? "shipping" : kLane);
      event.record.set_received_at_us(absl::ToUnixMicros(systemClock().wallNow()));
      event.record.set_body(bodyOf(number));
      if (number % 3 == 0) {
        event.record.set_order_key("key " + std::to_string(number / 3 % 4));
      }
      store_.append(std::move(event), *this, number);
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&answered_));
      answered_ = false;
    }
  }

private:
  EventStore& store_;
  SeededRandom random_;
  absl::Mutex mutex_;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
};

Settlement settlementOf(const LeasedEvent& leased, uint64_t chance) {
  Settlement settlement{leased.event->id, leased.state, v1::AttemptRecord()};
  const v1::State states[] = {v1::STATE_DELIVERED, v1::STATE_RETRYING, v1::STATE_DEAD,
                              v1::STATE_QUARANTINED};
  settlement.state.set_state(states[chance % 4]);
  settlement.state.set_due_at_us(
      chance % 4 == 1 ? leased.state.due_at_us() + static_cast<int64_t>(chance >> 8) % 20'000 : 0);
  settlement.state.set_attempts(leased.state.attempts() + 1);
  settlement.state.set_crashes(0);
  settlement.attempt->set_attempt(leased.state.attempts() + 1);
  return settlement;
}

// One in 64 never comes back from its attempt: the process dies with it.
bool isPoisonous(const EventId& id) { return static_cast<uint8_t>(id.bytes().back()) % 64 == 0; }

// Leases and settles; gives some back; now and then replays what it just settled.
void deliver(EventStore& store, SeededRandom random) {
  while (true) {
    const std::string lane = random.next() % 5 == 0 ? "shipping" : kLane;
    const auto leased = store.leaseDue(lane, systemClock().wallNow(), {1 + random.next() % 32});
    if (!leased.ok() || leased->empty()) {
      std::this_thread::yield();
      continue;
    }
    std::vector<Settlement> settlements;
    std::vector<EventId> released;
    std::set<std::string> keys;
    for (const LeasedEvent& one : *leased) {
      const std::string& key = one.state.order_key();
      if (!key.empty() && !keys.insert(key).second) {
        std::fprintf(stderr, "two events of %s were leased at once\n", key.c_str());
        std::_Exit(6);
      }
      if (one.state.crashes() >= limits::kPoisonCrashes) {
        std::fprintf(stderr, "leased after %u deaths\n", one.state.crashes());
        std::_Exit(7);
      }
      if (isPoisonous(one.event->id)) {
        continue;
      }
      if (random.next() % 10 == 0) {
        released.push_back(one.event->id);
      } else {
        settlements.push_back(settlementOf(one, random.next()));
      }
    }
    store.release(lane, released);
    const absl::Status settled = store.settle(settlements);
    if (!settled.ok()) {
      std::fprintf(stderr, "settle: %s\n", settled.ToString().c_str());
      std::_Exit(4);
    }
    std::vector<ReplayMark> marks;
    for (const Settlement& settlement : settlements) {
      const bool replay = random.next() % 100 == 0;
      if (replay) {
        marks.push_back({settlement.id, systemClock().wallNow(), "job"});
        continue;
      }
      Report report;
      report.kind = Report::Settled;
      report.id = settlement.id;
      report.attempts = settlement.state.attempts();
      report.state = settlement.state.state();
      tell(report);
    }
    if (!marks.empty() && !store.markDue(marks).ok()) {
      std::_Exit(5);
    }
  }
}

}  // namespace

std::string bodyOf(uint64_t number) {
  std::string body;
  const size_t size = number % 50 == 0 ? 40'000 : 16 + number % 2000;
  SeededRandom random(number);
  while (body.size() < size) {
    const uint64_t piece = random.next();
    body.append(reinterpret_cast<const char*>(&piece), sizeof(piece));
  }
  return body;
}

void QuietLog::write(LogLevel level, std::string_view message) {
  if (level == LogLevel::Error) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  }
}

int childMain(const std::string& path, uint64_t seed) {
  QuietLog log;
  NullStats stats;
  auto store = openRocksStore({path}, systemClock(), stats, log);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    return 1;
  }
  SeededRandom random(seed);
  std::vector<std::unique_ptr<Writer>> writers;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    Writer& writer = *writers.emplace_back(std::make_unique<Writer>(**store, random.next()));
    threads.emplace_back([&writer] { writer.run(); });
  }
  deliver(**store, SeededRandom(random.next()));
  return 0;
}

}  // namespace forebay::crash
