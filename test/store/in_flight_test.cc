// Kills children that use a store: `in_flight_test --child PATH BOOT EVENTS` leases events and
// waits.

#include "source/store/rocks/in_flight.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "test/store/rocks_testing.h"

extern char** environ;

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kReadyFd = 3;
constexpr char kBoot[] = "6e1c8a2e-boot";

int childMain(const char* path, const char* boot, const char* events) {
  TestClock clock;
  CollectingStats stats;
  CollectingLog log;
  RocksStoreConfig config;
  config.path = path;
  config.free_disk_min_bytes = 0;
  rocks::StoreHooks hooks;
  hooks.boot = boot;
  const auto store = rocks::openStore(config, clock, stats, log, hooks);
  if (!store.ok()) {
    return 1;
  }
  const auto leased = (*store)->leaseDue(kLane, clock.wallNow() + absl::Hours(1),
                                         {static_cast<size_t>(std::atoi(events))});
  const char ready = leased.ok() ? static_cast<char>('0' + leased->size()) : 'x';
  if (write(kReadyFd, &ready, 1) == 1) {
    pause();
  }
  return 1;
}

class InFlightTest : public RocksTest {
protected:
  InFlightTest() { hooks_.boot = kBoot; }

  // A process opens the store, leases `events`, and is killed.
  void die(int events, const std::string& boot = kBoot) {
    close();
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kReadyFd);
    const std::string count = std::to_string(events);
    const char* const arguments[] = {"in_flight_test", "--child",     config_.path.c_str(),
                                     boot.c_str(),     count.c_str(), nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                          const_cast<char* const*>(arguments), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    char ready = 0;
    ASSERT_EQ(read(ends[0], &ready, 1), 1);
    ::close(ends[0]);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_EQ(ready, '0' + events);
  }

  v1::EventState stateOf(const EventId& id) { return store_->read(id)->state; }
};

// An event that is in flight at three deaths in a row is dead before a fourth attempt, is counted
// and named; one that was only queued has nothing to do with it.
TEST_F(InFlightTest, ThreeDeathsInARowAreEnough) {
  open();
  const EventId poison = append("poison");
  const EventId queued = append("queued");
  for (uint32_t deaths = 1; deaths <= 3; ++deaths) {
    die(1);
    open();
    EXPECT_EQ(stateOf(poison).crashes(), deaths);
    EXPECT_EQ(stateOf(poison).state(), deaths < 3 ? v1::STATE_PENDING : v1::STATE_DEAD);
  }
  EXPECT_EQ(stateOf(poison).reason(), v1::DEAD_REASON_POISON);
  EXPECT_EQ(stats_.counter(Counter::Dead), 1);
  EXPECT_TRUE(log_.contains(poison.toString()));
  EXPECT_EQ(stateOf(queued).crashes(), 0);
  EXPECT_THAT(bodies(lease(10)), ElementsAre("queued"));
  expectCountsMatchScan(*store_);
  EXPECT_EQ(audit(), "");
}

// The end of an attempt, with crashes set to none as whoever settles it does, begins the count
// anew.
TEST_F(InFlightTest, CompletedAttemptsBeginAnew) {
  open();
  const EventId id = append("x");
  die(1);
  die(1);
  open();
  Settlement settlement = settlementTo(lease(1)[0], v1::STATE_RETRYING, clock_.wallNow());
  EXPECT_EQ(settlement.state.crashes(), 2);
  settlement.state.set_crashes(0);
  ASSERT_OK(store_->settle({&settlement, 1}));
  die(1);
  open();
  EXPECT_EQ(stateOf(id).crashes(), 1);
  EXPECT_EQ(stateOf(id).state(), v1::STATE_RETRYING);
}

// What is held when the store is closed, or was settled or given back before a death, did not
// crash.
TEST_F(InFlightTest, OnlyWhatIsHeldAtADeathCounts) {
  open();
  const EventId held = append("held");
  ASSERT_THAT(lease(1), SizeIs(1));
  close();
  open();
  EXPECT_EQ(stateOf(held).crashes(), 0);
  ASSERT_THAT(lease(1), SizeIs(1));
  const rocks::InFlight file(config_.path, kBoot, log_);
  EXPECT_THAT(file.read().ids, ElementsAre(held));
  store_->release(kLane, {&held, 1});
  EXPECT_THAT(file.read().ids, IsEmpty());
  settle(lease(1)[0], v1::STATE_DELIVERED);
  EXPECT_THAT(file.read().ids, IsEmpty());
  EXPECT_TRUE(file.read().same_boot);
}

// After a reboot of the machine nothing is known about the events, and nothing is held against
// them; who waited for one of them goes on all the same.
TEST_F(InFlightTest, RebootsDoNotCount) {
  open();
  const EventId a1 = appendOrdered("a1", "a");
  settle(lease(1)[0], v1::STATE_DELIVERED);
  const ReplayMark mark{a1, clock_.wallNow(), "job"};
  ASSERT_OK(store_->markDue({&mark, 1}).status());
  for (int i = 0; i < 4; ++i) {
    die(1, "another boot");
    open();
    EXPECT_EQ(stateOf(a1).crashes(), 0);
  }
}

// A poisonous event releases its order key.
TEST_F(InFlightTest, PoisonReleasesTheKey) {
  open();
  appendOrdered("a1", "a");
  appendOrdered("a2", "a");
  for (int deaths = 0; deaths < 3; ++deaths) {
    die(1);
  }
  open();
  EXPECT_THAT(bodies(lease(10)), ElementsAre("a2"));
  EXPECT_EQ(audit(), "");
}

// A live event that waits for a replay goes on when the process dies with the replay in flight.
TEST_F(InFlightTest, DeathsStrandNobody) {
  open();
  const EventId a1 = appendOrdered("a1", "a");
  settle(lease(1)[0], v1::STATE_DELIVERED);
  const ReplayMark mark{a1, clock_.wallNow(), "job"};
  ASSERT_OK(store_->markDue({&mark, 1}).status());
  for (const char* const boot : {kBoot, "another boot"}) {
    close();
    open();
    ASSERT_THAT(bodies(lease(10)), ElementsAre("a1"));
    appendOrdered("a2", "a");
    ASSERT_THAT(lease(10), IsEmpty());
    // As a death would leave it: the file as it is now, and nothing given back.
    const std::map<std::string, std::string> files = contents();
    close();
    std::filesystem::remove_all(config_.path);
    std::filesystem::create_directory(config_.path);
    for (const auto& [path, content] : files) {
      writeFile(path, content);
    }
    hooks_.boot = boot;
    open();
    const std::vector<LeasedEvent> leased = lease(10);
    ASSERT_THAT(bodies(leased), ElementsAre("a2"));
    settle(leased[0], v1::STATE_DELIVERED);
    hooks_.boot = kBoot;
  }
}

TEST_F(InFlightTest, FileIsPrivate) {
  open();
  struct stat info {};
  ASSERT_EQ(stat((config_.path + "/in_flight").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

// Without a file that can be used the store works, and says what is missing.
TEST_F(InFlightTest, UnusableFileIsAWarning) {
  open();
  append("x");
  close();
  std::filesystem::remove(config_.path + "/in_flight");
  std::filesystem::create_directory(config_.path + "/in_flight");
  open();
  EXPECT_TRUE(log_.contains("not guarded against crashes"));
  settle(lease(1)[0], v1::STATE_DELIVERED);
}

// A file of junk, of any length, is no event's fault.
TEST_F(InFlightTest, JunkIsIgnored) {
  open();
  const EventId id = append("x");
  SeededRandom random(1);
  for (const size_t bytes : {0, 1, 63, 64, 65, 5000}) {
    close();
    std::string junk;
    while (junk.size() < bytes) {
      junk.push_back(static_cast<char>(random.next()));
    }
    writeFile(config_.path + "/in_flight", junk);
    open();
    EXPECT_EQ(stateOf(id).crashes(), 0);
  }
  // A good header, and ids that no event has.
  close();
  const std::string good = readFile(config_.path + "/in_flight");
  ASSERT_THAT(good, SizeIs(64));
  writeFile(config_.path + "/in_flight", good + std::string(100, 'x'));
  open();
  EXPECT_EQ(stateOf(id).crashes(), 0);
}

EventId number(uint64_t number) {
  std::string bytes(EventId::kBytes, '\1');
  memcpy(bytes.data(), &number, sizeof(number));
  return EventId::fromBytes(bytes);
}

// Whatever comes and goes, the file holds what is in flight, up to its slots.
TEST_F(InFlightTest, FileHoldsWhatIsInFlight) {
  const uint64_t seed = randomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  SeededRandom random(seed);
  std::filesystem::create_directory(config_.path);
  rocks::InFlight file(config_.path, kBoot, log_);
  file.begin();
  std::set<EventId> held;
  for (int i = 0; i < 500; ++i) {
    std::vector<EventId> ids;
    const bool add = random.next() % 2 == 0;
    for (uint64_t n = random.next() % 50; n > 0; --n) {
      ids.push_back(number(random.next() % 1000));
    }
    if (add) {
      file.add(ids);
      held.insert(ids.begin(), ids.end());
    } else {
      file.remove(ids);
      for (const EventId& id : ids) {
        held.erase(id);
      }
    }
    const std::vector<EventId> found = file.read().ids;
    ASSERT_EQ(std::set<EventId>(found.begin(), found.end()), held);
    ASSERT_EQ(found.size(), held.size());
  }
  std::vector<EventId> many;
  for (uint64_t n = 0; n <= limits::kInFlightSlots; ++n) {
    many.push_back(number(n));
  }
  file.begin();
  file.add(many);
  EXPECT_EQ(file.read().ids.size(), limits::kInFlightSlots);
  EXPECT_TRUE(log_.contains("full"));
  file.end();
  EXPECT_THAT(file.read().ids, IsEmpty());
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--child") {
    return forebay::childMain(argv[2], argv[3], argv[4]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
