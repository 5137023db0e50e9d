// How many events of 1 KiB the store acknowledges in a second, with and without delivery beside.
//   append_benchmark [--dir=DIR] [--seconds=N] [--in_flight=N] [--producers=N] [--order_keys=N]
//   [--deliver]

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "source/store/rocks/rocks_store.h"
#include "test/store/store_testing.h"

namespace forebay {
namespace {

struct Flags {
  std::string dir;
  int seconds = 5;
  int in_flight = 64;
  int producers = 1;
  int order_keys = 0;  // events take turns with so many; 0: no order
  bool deliver = false;
};

class StandardErrorLog final : public Log {
public:
  void write(LogLevel, std::string_view message) override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  }
};

// Keeps `in_flight` appends under way from one thread, and remembers how long each took.
class Producer final : public AppendSink {
public:
  Producer(EventStore& store, int in_flight, int order_keys)
      : store_(store), order_keys_(order_keys), begun_(in_flight) {
    for (int slot = 0; slot < in_flight; ++slot) {
      free_.push_back(slot);
    }
  }

  void onAppended(absl::Span<const AppendResult> results) override {
    const MonotonicTime now = systemClock().monotonicNow();
    absl::MutexLock lock(&mutex_);
    for (const AppendResult& result : results) {
      if (result.status.ok()) {
        // One in sixteen is enough for percentiles, and leaves the memory to the store.
        if (acknowledged_++ % 16 == 0) {
          took_us_.push_back(absl::ToInt64Microseconds(now - begun_[result.token]));
        }
      } else {
        ++refused_;
      }
      free_.push_back(static_cast<int>(result.token));
    }
  }

  void run(MonotonicTime until) {
    const std::string body(1024, 'x');
    std::vector<int> slots;
    uint64_t sent = 0;
    while (systemClock().monotonicNow() < until) {
      take(slots);
      const absl::Time now = systemClock().wallNow();
      for (const int slot : slots) {
        begun_[slot] = systemClock().monotonicNow();
        Event event = makeEvent(body, now);
        if (order_keys_ > 0) {
          event.record.set_order_key(std::to_string(sent++ % static_cast<uint64_t>(order_keys_)));
        }
        store_.append(std::move(event), *this, static_cast<uint64_t>(slot));
      }
      slots.clear();
    }
    absl::MutexLock lock(&mutex_);
    const auto all_back = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return free_.size() == begun_.size();
    };
    mutex_.Await(absl::Condition(&all_back));
  }

  std::vector<int64_t> tookUs() {
    absl::MutexLock lock(&mutex_);
    return took_us_;
  }
  uint64_t acknowledged() {
    absl::MutexLock lock(&mutex_);
    return acknowledged_;
  }
  uint64_t refused() {
    absl::MutexLock lock(&mutex_);
    return refused_;
  }

private:
  void take(std::vector<int>& slots) {
    absl::MutexLock lock(&mutex_);
    const auto any = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !free_.empty(); };
    mutex_.Await(absl::Condition(&any));
    slots.swap(free_);
  }

  EventStore& store_;
  const int order_keys_;
  std::vector<MonotonicTime> begun_;
  absl::Mutex mutex_;
  std::vector<int> free_ ABSL_GUARDED_BY(mutex_);
  std::vector<int64_t> took_us_ ABSL_GUARDED_BY(mutex_);
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Leases and settles as fast as it can, as if the app answered at once.
uint64_t deliver(EventStore& store, const std::atomic<bool>& stop) {
  absl::Mutex mutex;
  bool work = false;
  store.onNewWork([&] {
    absl::MutexLock lock(&mutex);
    work = true;
  });
  uint64_t delivered = 0;
  std::vector<Settlement> settlements;
  while (!stop) {
    const auto leased = store.leaseDue(kLane, systemClock().wallNow(), {256});
    if (!leased.ok() || leased->empty()) {
      absl::MutexLock lock(&mutex);
      mutex.AwaitWithTimeout(absl::Condition(&work), absl::Milliseconds(10));
      work = false;
      continue;
    }
    settlements.clear();
    for (const LeasedEvent& one : *leased) {
      settlements.push_back(settlementTo(one, v1::STATE_DELIVERED));
    }
    const absl::Status status = store.settle(settlements);
    if (!status.ok()) {
      std::fprintf(stderr, "settle: %s\n", status.ToString().c_str());
      std::exit(1);
    }
    delivered += settlements.size();
  }
  store.onNewWork([] {});
  return delivered;
}

int64_t peakMemoryKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int run(const Flags& flags) {
  TemporaryDirectory temporary;
  RocksStoreConfig config;
  config.path = flags.dir.empty() ? temporary.path() + "/data" : flags.dir;
  StandardErrorLog log;
  CollectingStats stats;
  auto store = openRocksStore(config, systemClock(), stats, log);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    return 1;
  }
  std::atomic<bool> stop{false};
  uint64_t delivered = 0;
  std::thread consumer;
  if (flags.deliver) {
    consumer = std::thread([&] { delivered = deliver(**store, stop); });
  }
  const double cpu = cpuSeconds();
  const MonotonicTime begin = systemClock().monotonicNow();
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::thread> threads;
  for (int i = 0; i < flags.producers; ++i) {
    producers.push_back(
        std::make_unique<Producer>(**store, flags.in_flight / flags.producers, flags.order_keys));
    threads.emplace_back([&, i] { producers[i]->run(begin + absl::Seconds(flags.seconds)); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const double took = absl::ToDoubleSeconds(systemClock().monotonicNow() - begin);
  stop = true;
  if (consumer.joinable()) {
    consumer.join();
  }
  std::vector<int64_t> us;
  uint64_t acknowledged = 0;
  uint64_t refused = 0;
  for (const auto& producer : producers) {
    const std::vector<int64_t> some = producer->tookUs();
    us.insert(us.end(), some.begin(), some.end());
    acknowledged += producer->acknowledged();
    refused += producer->refused();
  }
  std::sort(us.begin(), us.end());
  const auto at = [&](double part) {
    return us.empty() ? 0.0
                      : static_cast<double>(
                            us[static_cast<size_t>(part * static_cast<double>(us.size() - 1))]) /
                            1000;
  };
  std::printf(
      "in flight %4d%s: %7.0f acknowledged/s, p50 %.2f ms, p99 %.2f ms, max %.2f ms; refused %lu; "
      "delivered %.0f/s; %.0f events a commit; %.1f us CPU an event; peak %ld MiB\n",
      flags.in_flight, flags.deliver ? " + delivery" : "", static_cast<double>(acknowledged) / took,
      at(0.5), at(0.99), at(1), refused, static_cast<double>(delivered) / took,
      static_cast<double>(acknowledged) /
          static_cast<double>(stats.recorded(Histogram::CommitEvents)),
      (cpuSeconds() - cpu) * 1e6 / static_cast<double>(std::max<uint64_t>(acknowledged, 1)),
      peakMemoryKib() / 1024);
  (*store)->close();
  return 0;
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  forebay::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument(argv[i]);
    const absl::string_view value =
        argument.substr(std::min(argument.find('='), argument.size() - 1) + 1);
    if (absl::StartsWith(argument, "--dir=")) {
      flags.dir = std::string(value);
    } else if (absl::StartsWith(argument, "--seconds=") &&
               absl::SimpleAtoi(value, &flags.seconds)) {
    } else if (absl::StartsWith(argument, "--in_flight=") &&
               absl::SimpleAtoi(value, &flags.in_flight)) {
    } else if (absl::StartsWith(argument, "--producers=") &&
               absl::SimpleAtoi(value, &flags.producers)) {
    } else if (absl::StartsWith(argument, "--order_keys=") &&
               absl::SimpleAtoi(value, &flags.order_keys)) {
    } else if (argument == "--deliver") {
      flags.deliver = true;
    } else {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  return forebay::run(flags);
}
