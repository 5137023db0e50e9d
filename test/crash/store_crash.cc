// Kills a process that uses the store at random moments, and holds what is found afterwards against
// a ledger that only the survivor writes.
//   store_crash [--loops=N] [--seed=N]
// Prints the seed and the totals. Exits 1 on the first loss.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "source/base/clock.h"
#include "source/base/random.h"
#include "source/base/strings.h"
#include "source/store/rocks/audit.h"
#include "source/store/rocks/rocks_store.h"
#include "test/crash/store_crash_child.h"

extern char** environ;

namespace forebay::crash {
namespace {

// A store is used for this many kills, then a new one begun: recovery of old and of young ones.
constexpr int kKillsPerStore = 10;
// Side by side, each with stores of its own: most of a child's life is waiting.
constexpr int kLines = 3;

struct Totals {
  uint64_t kills = 0;
  uint64_t killed_while_opening = 0;
  uint64_t acknowledged = 0;
  uint64_t settled = 0;
  uint64_t stored = 0;
  uint64_t ordered = 0;   // looked at for their order
  uint64_t poisoned = 0;  // found dead, for they were in flight at too many deaths

  void add(const Totals& other) {
    kills += other.kills;
    killed_while_opening += other.killed_while_opening;
    acknowledged += other.acknowledged;
    settled += other.settled;
    stored += other.stored;
    ordered += other.ordered;
    poisoned += other.poisoned;
  }
};

// What the child was told, by id.
struct Promise {
  std::optional<uint64_t> body;  // an event may be settled before its writer heard of it
  uint32_t attempts = 0;         // as settled
  v1::State state = v1::STATE_PENDING;
};
using Ledger = std::map<EventId, Promise>;

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

class Child {
public:
  Child(const std::string& path, uint64_t seed) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      fail("pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kReportFd);
    const std::string seed_text = std::to_string(seed);
    // A new program rather than a bare fork: RocksDB's threads don't survive a fork.
    const char* const arguments[] = {"store_crash", "--child", path.c_str(), seed_text.c_str(),
                                     nullptr};
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, const_cast<char* const*>(arguments),
                    environ) != 0) {
      fail("spawn");
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    reports_ = ends[0];
  }

  ~Child() { close(reports_); }

  // Reads reports until `until`, or until `enough` of them are there. False when the child ended.
  bool listen(MonotonicTime until, size_t enough, std::vector<Report>& reports) {
    while (reports.size() < enough) {
      const absl::Duration left = until - systemClock().monotonicNow();
      if (left <= absl::ZeroDuration()) {
        return true;
      }
      pollfd ready{reports_, POLLIN, 0};
      const timespec timeout = absl::ToTimespec(left);
      if (ppoll(&ready, 1, &timeout, nullptr) > 0 && !readSome(reports)) {
        return false;
      }
    }
    return true;
  }

  void killAndDrain(std::vector<Report>& reports) {
    kill(pid_, SIGKILL);
    while (readSome(reports)) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      fail(cat("the child ended by itself, status ", status));
    }
  }

private:
  bool readSome(std::vector<Report>& reports) {
    Report buffer[256];
    const ssize_t bytes = read(reports_, buffer, sizeof(buffer));
    if (bytes <= 0) {
      return false;
    }
    // Writers write whole reports, which are shorter than what a pipe takes at once.
    reports.insert(reports.end(), buffer, buffer + bytes / static_cast<ssize_t>(sizeof(Report)));
    return true;
  }

  pid_t pid_ = 0;
  int reports_ = -1;
};

// Adds to the ledger; what was added or changed.
std::set<EventId> enter(const std::vector<Report>& reports, Ledger& ledger, Totals& totals) {
  std::set<EventId> touched;
  for (const Report& report : reports) {
    touched.insert(report.id);
    Promise& promise = ledger[report.id];
    if (report.kind == Report::Acknowledged) {
      promise.body = report.number;
      ++totals.acknowledged;
    } else if (report.attempts >= promise.attempts) {
      promise.attempts = report.attempts;
      promise.state = report.state;
      ++totals.settled;
    }
  }
  return touched;
}

void checkPromises(EventStore& store, const Ledger& ledger, const std::set<EventId>& ids,
                   Totals& totals) {
  for (const EventId& id : ids) {
    const Promise& promise = ledger.at(id);
    const absl::StatusOr<StoredEvent> stored = store.read(id);
    if (!stored.ok()) {
      fail(cat("acknowledged and lost: ", id.toString(), ": ", stored.status().ToString()));
    }
    if (promise.body.has_value() && stored->event->record.body() != bodyOf(*promise.body)) {
      fail(cat("acknowledged and altered: ", id.toString()));
    }
    // Who was in flight at three deaths in a row is dead, whatever was settled before.
    if (stored->state.reason() == v1::DEAD_REASON_POISON) {
      ++totals.poisoned;
      continue;
    }
    // Only the machine may forget a settlement, not the death of the process.
    if (stored->state.attempts() < promise.attempts ||
        (stored->state.attempts() == promise.attempts && promise.attempts > 0 &&
         stored->state.state() != promise.state)) {
      fail(cat("settled and forgotten: ", id.toString()));
    }
  }
}

// No event was tried while an older one of its key, that nobody replayed, still waits: its turn had
// not come.
void checkOrder(EventStore& store, Totals& totals) {
  std::map<std::pair<std::string, std::string>, EventId> tried;  // the youngest, by lane and key
  std::optional<EventId> before;
  do {
    const absl::StatusOr<ScanPage> page = store.scan({}, before, 1000);
    if (!page.ok()) {
      fail(page.status().ToString());
    }
    for (const StoredEvent& stored : page->events) {  // newest first
      const v1::EventState& state = stored.state;
      if (state.order_key().empty()) {
        continue;
      }
      ++totals.ordered;
      const std::pair<std::string, std::string> key(state.upstream(), state.order_key());
      const auto younger = tried.find(key);
      if (state.due_at_us() > 0 && state.replay().empty() && younger != tried.end()) {
        fail(cat("out of order: ", younger->second.toString(), " before ",
                 stored.event->id.toString(), " of ", state.order_key()));
      }
      if (state.attempts() > 0) {
        tried.emplace(key, stored.event->id);
      }
    }
    before = page->next;
  } while (before.has_value());
}

// Opens and audits the store; how many events it holds.
uint64_t check(const std::string& path, const Ledger& ledger, const std::set<EventId>& ids,
               Totals& totals) {
  {
    QuietLog log;
    NullStats stats;
    const auto store = openRocksStore({path}, systemClock(), stats, log);
    if (!store.ok()) {
      fail(store.status().ToString());
    }
    checkPromises(**store, ledger, ids, totals);
    checkOrder(**store, totals);
  }
  const absl::StatusOr<StoreAudit> audit = auditStore(path);
  if (!audit.ok()) {
    fail(audit.status().ToString());
  }
  if (!audit->clean()) {
    fail(cat(audit->problems, " problems, the first: ", audit->messages.front()));
  }
  if (audit->events < ledger.size()) {
    fail("fewer events than were acknowledged");
  }
  return audit->events;
}

// One life and death of the child. `ledger` is everything that the store at `path` promised.
void killOnce(const std::string& path, SeededRandom& random, Ledger& ledger, Totals& totals) {
  std::vector<Report> reports;
  Child child(path, random.next());
  const MonotonicTime begin = systemClock().monotonicNow();
  // One in eight dies before its store is open, or just then.
  const bool early = random.next() % 8 == 0;
  if (!early && !child.listen(begin + absl::Seconds(30), 1, reports)) {
    fail("the child ended before its first acknowledgement");
  }
  const absl::Duration life = absl::Microseconds(1000 + random.next() % (early ? 30'000 : 89'000));
  if (!child.listen(systemClock().monotonicNow() + life, ~size_t{0}, reports)) {
    child.killAndDrain(reports);  // names its status
  }
  child.killAndDrain(reports);
  ++totals.kills;
  totals.killed_while_opening += reports.empty();
  const std::set<EventId> touched = enter(reports, ledger, totals);
  check(path, ledger, touched, totals);
}

std::set<EventId> idsOf(const Ledger& ledger) {
  std::set<EventId> ids;
  for (const auto& [id, promise] : ledger) {
    ids.insert(id);
  }
  return ids;
}

// Kills `loops` children, one after the other.
Totals killMany(int loops, uint64_t seed, const std::string& directory) {
  SeededRandom random(seed);
  Totals totals;
  for (int i = 0; i < loops;) {
    const std::string path = cat(directory, "/store", i);
    Ledger ledger;
    for (int kill = 0; kill < kKillsPerStore && i < loops; ++kill, ++i) {
      killOnce(path, random, ledger, totals);
    }
    totals.stored += check(path, ledger, idsOf(ledger), totals);
    std::filesystem::remove_all(path);
  }
  return totals;
}

int parent(int loops, uint64_t seed, const std::string& directory) {
  std::printf("seed %" PRIu64 "\n", seed);
  std::fflush(stdout);
  const MonotonicTime begin = systemClock().monotonicNow();
  std::vector<Totals> of_line(kLines);
  std::vector<std::thread> lines;
  for (int line = 0; line < kLines; ++line) {
    lines.emplace_back([&, line] {
      const std::string own = cat(directory, "/", line);
      std::filesystem::create_directory(own);
      const int share = loops / kLines + (line < loops % kLines ? 1 : 0);
      of_line[line] = killMany(share, seed + static_cast<uint64_t>(line), own);
    });
  }
  Totals totals;
  for (int line = 0; line < kLines; ++line) {
    lines[line].join();
    totals.add(of_line[line]);
  }
  std::printf("%" PRIu64 " kills (%" PRIu64 " while opening), %" PRIu64 " acknowledged, %" PRIu64
              " settled, %" PRIu64 " stored, %" PRIu64 " looked at for their order, %" PRIu64
              " poisoned, 0 lost, %.1f s\n",
              totals.kills, totals.killed_while_opening, totals.acknowledged, totals.settled,
              totals.stored, totals.ordered, totals.poisoned,
              absl::ToDoubleSeconds(systemClock().monotonicNow() - begin));
  return 0;
}

}  // namespace
}  // namespace forebay::crash

int main(int argc, char** argv) {
  using forebay::crash::childMain;
  uint64_t seed = forebay::randomSeed();
  if (argc == 4 && std::string(argv[1]) == "--child" && absl::SimpleAtoi(argv[3], &seed)) {
    return childMain(argv[2], seed);
  }
  int loops = 500;
  const char* const base = std::getenv("TEST_TMPDIR");
  std::string directory = std::string(base == nullptr ? "/tmp" : base) + "/crashXXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    return 1;
  }
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument(argv[i]);
    if (!(absl::ConsumePrefix(&argument, "--loops=") && absl::SimpleAtoi(argument, &loops)) &&
        !(absl::ConsumePrefix(&argument, "--seed=") && absl::SimpleAtoi(argument, &seed))) {
      std::fprintf(stderr, "usage: store_crash [--loops=N] [--seed=N]\n");
      return 2;
    }
  }
  const int result = forebay::crash::parent(loops, seed, directory);
  std::filesystem::remove_all(directory);
  return result;
}
