#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "source/store/rocks/accept_loss.h"
#include "source/store/rocks/audit.h"
#include "source/store/rocks/high_water_mark.h"
#include "test/store/rocks_testing.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KnownErrorsTest : public RocksTest {
protected:
  // A store with ten events, closed.
  void makeStore() {
    open();
    for (int i = 0; i < 10; ++i) {
      ids_.push_back(append(std::to_string(i)));
    }
    close();
  }

  void flip(const std::string& path, size_t at) {
    std::string content = readFile(path);
    ASSERT_LT(at, content.size());
    content[at] = static_cast<char>(content[at] ^ 0x10);
    writeFile(path, content);
  }

  // Refuses to open, saying which store and why.
  void expectRefused(absl::StatusCode code, const std::string& why) {
    const absl::Status status = tryOpen();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_THAT(std::string(status.message()), HasSubstr(config_.path));
  }

  std::vector<EventId> ids_;
};

TEST_F(KnownErrorsTest, DirectoryIsPrivate) {
  open();
  struct stat info {};
  ASSERT_EQ(stat(config_.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700);
}

TEST_F(KnownErrorsTest, PathThatIsNoDirectoryIsNamed) {
  writeFile(config_.path, "a file");
  const absl::Status status = tryOpen();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(config_.path + ": not a directory"));
}

TEST_F(KnownErrorsTest, PathThatCannotBeWrittenIsNamed) {
  config_.path = "/proc/forebay";
  const absl::Status status = tryOpen();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr("/proc/forebay"));
}

// Two stores on one directory would destroy each other.
TEST_F(KnownErrorsTest, SecondOpenerInTheSameProcessIsRefused) {
  open();
  const absl::Status status = rocks::openStore(config_, clock_, stats_, log_, hooks_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("in use"));
  append("the first goes on");
}

TEST_F(KnownErrorsTest, DirectoryLockedByAnotherProcessIsRefused) {
  makeStore();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Only system calls: RocksDB's threads are not here.
    const int fd = ::open((config_.path + "/LOCK").c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    const char result = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (write(ready[1], &result, 1) == 1) {
      pause();
    }
    _exit(0);
  }
  char locked = 0;
  ASSERT_EQ(read(ready[0], &locked, 1), 1);
  ASSERT_EQ(locked, 'y');
  expectRefused(absl::StatusCode::kFailedPrecondition, "in use by another process");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  open();
}

// A store that a newer version wrote is left exactly as it is.
TEST_F(KnownErrorsTest, NewerFormatIsRefusedUntouched) {
  makeStore();
  {
    auto database =
        rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
    ASSERT_OK(database.status());
    ASSERT_TRUE((*database)->db().Put({}, rocks::toSlice(rocks::kFormatKey), "3").ok());
  }
  const std::map<std::string, std::string> before = contents();
  expectRefused(absl::StatusCode::kFailedPrecondition, "format 3 by a newer version");
  EXPECT_EQ(before, contents());
  EXPECT_THAT(std::string(tryOpen().message()), HasSubstr("reads format 2"));
  EXPECT_TRUE(absl::IsFailedPrecondition(acceptLoss(config_.path, log_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(auditStore(config_.path).status()));
}

// So is one of format 1, which had no queues and not every family.
TEST_F(KnownErrorsTest, OlderFormatIsRefusedUntouched) {
  makeStore();
  {
    auto database =
        rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
    ASSERT_OK(database.status());
    ASSERT_TRUE((*database)->db().Put({}, rocks::toSlice(rocks::kFormatKey), "1").ok());
    ASSERT_TRUE(
        (*database)->db().DropColumnFamily((*database)->family(rocks::Family::SetAside)).ok());
  }
  const std::map<std::string, std::string> before = contents();
  expectRefused(absl::StatusCode::kFailedPrecondition, "format 1");
  EXPECT_EQ(before, contents());
  EXPECT_TRUE(absl::IsFailedPrecondition(acceptLoss(config_.path, log_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(auditStore(config_.path).status()));
  EXPECT_EQ(before, contents());
}

// RocksDB opens without a word when its log is gone. The mark knows better.
TEST_F(KnownErrorsTest, DeletedLogIsRefused) {
  makeStore();
  std::filesystem::remove(largestFile(".log"));
  expectRefused(absl::StatusCode::kDataLoss, "10 acknowledged events are missing");
  expectRefused(absl::StatusCode::kDataLoss, "forebay store accept-loss " + config_.path);

  const absl::StatusOr<AcceptedLoss> loss = acceptLoss(config_.path, log_);
  ASSERT_OK(loss.status());
  EXPECT_EQ(loss->kept, 0);
  EXPECT_EQ(loss->missing, 10);
  open();
  append("and on it goes");
  expectCountsMatchScan(*store_);
}

// A log that was lost after some of its families were flushed leaves them in disagreement.
TEST_F(KnownErrorsTest, LogLostBetweenFamiliesIsRefusedAndRepaired) {
  makeStore();
  {
    auto database =
        rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
    ASSERT_OK(database.status());
    // As if the newest event's state had been in the lost log.
    ASSERT_TRUE((*database)
                    ->db()
                    .Delete({}, (*database)->family(rocks::Family::State),
                            rocks::toSlice(ids_.back().bytes()))
                    .ok());
  }
  expectRefused(absl::StatusCode::kDataLoss, "disagree");
  const absl::StatusOr<AcceptedLoss> loss = acceptLoss(config_.path, log_);
  ASSERT_OK(loss.status());
  EXPECT_EQ(loss->kept, 10);
  EXPECT_EQ(loss->revived, 1);
  open();
  expectCountsMatchScan(*store_);
  EXPECT_EQ(lease(100).size(), 10);
}

// Damage in the middle of the log is refused, not skipped; accepting the loss keeps the rest.
TEST_F(KnownErrorsTest, FlippedByteInTheLogIsRefused) {
  makeStore();
  const std::string path = largestFile(".log");
  flip(path, readFile(path).size() / 2);
  expectRefused(absl::StatusCode::kDataLoss, "accept-loss");
  const absl::StatusOr<AcceptedLoss> loss = acceptLoss(config_.path, log_);
  ASSERT_OK(loss.status());
  EXPECT_GT(loss->kept, 0);
  EXPECT_LT(loss->kept, 10);
  open();
  EXPECT_EQ(lease(100).size(), loss->kept);
}

// A cut within the last write, which was never synced, loses that write and nothing else.
TEST_F(KnownErrorsTest, CutTailOfAnUnsyncedWriteIsForgiven) {
  open();
  const EventId id = append("x");
  settle(lease(1)[0], v1::STATE_DELIVERED);
  close();
  const std::string path = largestFile(".log");
  const std::string log = readFile(path);
  for (const size_t cut : {size_t{1}, size_t{20}, size_t{60}}) {
    writeFile(path, log.substr(0, log.size() - cut));
    // A copy is opened, so that each cut starts from the same store.
    const std::string original = config_.path;
    config_.path = original + std::to_string(cut);
    std::filesystem::copy(original, config_.path);
    open();
    EXPECT_EQ(store_->read(id)->state.state(), v1::STATE_PENDING);
    expectCountsMatchScan(*store_);
    close();
    EXPECT_TRUE(auditStore(config_.path)->clean());
    config_.path = original;
  }
}

// A cut that takes an acknowledged event is refused.
TEST_F(KnownErrorsTest, CutOfAnAcknowledgedEventIsRefused) {
  makeStore();
  const std::string path = largestFile(".log");
  const std::string log = readFile(path);
  writeFile(path, log.substr(0, log.size() - 20));
  expectRefused(absl::StatusCode::kDataLoss, "1 acknowledged events are missing");
}

TEST_F(KnownErrorsTest, MissingCurrentIsRefused) {
  makeStore();
  std::filesystem::remove(config_.path + "/CURRENT");
  expectRefused(absl::StatusCode::kDataLoss, "CURRENT is missing");
  std::filesystem::remove(config_.path + "/HIGH_WATER_MARK");
  expectRefused(absl::StatusCode::kDataLoss, "CURRENT is missing");
}

TEST_F(KnownErrorsTest, EmptyManifestIsRefused) {
  makeStore();
  std::string current = readFile(config_.path + "/CURRENT");
  current.pop_back();
  writeFile(config_.path + "/" + current, "");
  expectRefused(absl::StatusCode::kDataLoss, "accept-loss");
}

// The mark only guards; without it the store opens, and says that it could not be checked.
TEST_F(KnownErrorsTest, DamagedMarkIsWarnedOf) {
  makeStore();
  writeFile(config_.path + "/HIGH_WATER_MARK", "nonsense");
  open();
  EXPECT_TRUE(log_.contains("can't check for lost events"));
  EXPECT_EQ(lease(100).size(), 10);
}

TEST_F(KnownErrorsTest, InterruptedRepairIsRefused) {
  makeStore();
  {
    auto database =
        rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
    ASSERT_OK(database.status());
    ASSERT_TRUE((*database)->db().Put({}, rocks::toSlice(rocks::kRepairingKey), "1").ok());
  }
  expectRefused(absl::StatusCode::kDataLoss, "repair was interrupted");
  ASSERT_OK(acceptLoss(config_.path, log_).status());
  open();
}

// A record that can't be read becomes dead, with its reason; the lane goes on with the others.
TEST_F(KnownErrorsTest, CorruptRecordIsBuriedAndTheRestGoesOn) {
  makeStore();
  {
    auto database =
        rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
    ASSERT_OK(database.status());
    rocksdb::ColumnFamilyHandle* const events = (*database)->family(rocks::Family::Events);
    ASSERT_TRUE((*database)->db().Put({}, events, rocks::toSlice(ids_[3].bytes()), "junk").ok());
    ASSERT_TRUE((*database)->db().Delete({}, events, rocks::toSlice(ids_[4].bytes())).ok());
  }
  open();
  EXPECT_THAT(bodies(lease(100)), ElementsAre("0", "1", "2", "5", "6", "7", "8", "9"));
  EXPECT_EQ(stats_.counter(Counter::Dead), 2);
  EXPECT_TRUE(absl::IsDataLoss(store_->read(ids_[3]).status()));
  EXPECT_TRUE(absl::IsDataLoss(store_->read(ids_[4]).status()));
  EventFilter filter;
  filter.state = v1::STATE_DEAD;
  const absl::StatusOr<ScanPage> page = store_->scan(filter, std::nullopt, 10);
  ASSERT_OK(page.status());
  ASSERT_EQ(page->events.size(), 2);
  EXPECT_EQ(page->events[0].event->id, ids_[4]);
  EXPECT_EQ(page->events[0].state.reason(), v1::DEAD_REASON_CORRUPT);
  EXPECT_EQ(page->events[0].state.source(), "stripe");
  expectCountsMatchScan(*store_);
}

// Damage in a table file reaches only the events in it.
TEST_F(KnownErrorsTest, DamagedTableBuriesOnlyItsEvents) {
  open();
  SeededRandom random(1);
  for (int i = 0; i < 200; ++i) {
    std::string body;
    while (body.size() < 4000) {
      body.push_back(static_cast<char>(random.next()));
    }
    append(body);
  }
  close();
  open();  // recovery writes the log's events into tables
  close();
  const std::string table = largestFile(".sst");
  ASSERT_GT(readFile(table).size(), 500'000u);
  flip(table, 300'000);
  open();
  const size_t leased = lease(1000).size();
  EXPECT_GE(leased, 190u);
  EXPECT_EQ(stats_.counter(Counter::Dead), 200 - leased);
  EXPECT_LT(leased, 200u);
  expectCountsMatchScan(*store_);
}

TEST_F(KnownErrorsTest, ClosedStoreRefusesEverything) {
  open();
  const EventId id = append("x");
  store_->close();
  store_->close();
  EXPECT_TRUE(absl::IsUnavailable(appendOne(*store_, makeEvent("y", clock_.wallNow())).status()));
  EXPECT_TRUE(absl::IsUnavailable(store_->read(id).status()));
  EXPECT_TRUE(absl::IsUnavailable(store_->leaseDue(kLane, clock_.wallNow(), {1}).status()));
  EXPECT_TRUE(store_->health().read_only);
}

// Our own mistakes are answered, and change nothing.
TEST_F(KnownErrorsTest, MistakenSettlementsAreRefused) {
  open();
  const EventId id = append("x");
  const LeasedEvent leased = lease(1)[0];
  Settlement settlement = settlementTo(leased, v1::STATE_DELIVERED);
  settlement.state.set_due_at_us(1);
  EXPECT_TRUE(absl::IsInvalidArgument(store_->settle({&settlement, 1})));
  settlement = settlementTo(leased, v1::STATE_DELIVERED);
  settlement.state.set_sequence(9);
  EXPECT_TRUE(absl::IsInvalidArgument(store_->settle({&settlement, 1})));
  const std::vector<Settlement> twice = {settlementTo(leased, v1::STATE_DELIVERED),
                                         settlementTo(leased, v1::STATE_DEAD)};
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->settle(twice)));
  settle(leased, v1::STATE_DELIVERED);
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->settle({twice.data(), 1})));
  EXPECT_TRUE(absl::IsNotFound(store_->read(EventId()).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->attempts(EventId()).status()));
  EXPECT_EQ(store_->read(id)->state.state(), v1::STATE_DELIVERED);
  expectCountsMatchScan(*store_);
}

}  // namespace
}  // namespace forebay
