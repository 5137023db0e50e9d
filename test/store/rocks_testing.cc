#include "test/store/rocks_testing.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "source/store/rocks/audit.h"

namespace forebay {

RocksTest::RocksTest() {
  config_.path = directory_.path() + "/data";
  config_.free_disk_min_bytes = 0;
}

absl::Status RocksTest::tryOpen() {
  absl::StatusOr<std::unique_ptr<rocks::RocksStore>> store =
      rocks::openStore(config_, clock_, stats_, log_, hooks_);
  if (store.ok()) {
    store_ = *std::move(store);
  }
  return store.status();
}

EventId RocksTest::append(std::string_view body, std::string_view upstream) {
  const absl::StatusOr<EventId> id =
      appendOne(*store_, makeEvent(body, clock_.wallNow(), upstream));
  EXPECT_OK(id.status());
  return id.ok() ? *id : EventId();
}

EventId RocksTest::appendOrdered(std::string_view body, std::string_view order_key) {
  Event event = makeEvent(body, clock_.wallNow());
  event.record.set_order_key(std::string(order_key));
  const absl::StatusOr<EventId> id = appendOne(*store_, std::move(event));
  EXPECT_OK(id.status());
  return id.ok() ? *id : EventId();
}

void RocksTest::edit(const std::function<void(rocks::Database&)>& change) {
  close();
  auto database =
      rocks::Database::open(config_.path, rocksdb::Env::Default(), rocks::OpenMode::Existing);
  ASSERT_OK(database.status());
  change(**database);
}

std::string RocksTest::audit() {
  close();
  const absl::StatusOr<StoreAudit> audit = auditStore(config_.path);
  EXPECT_OK(audit.status());
  return audit.ok() && !audit->clean() ? audit->messages.front() : "";
}

std::vector<LeasedEvent> RocksTest::lease(size_t limit) {
  absl::StatusOr<std::vector<LeasedEvent>> leased =
      store_->leaseDue(kLane, clock_.wallNow(), {limit});
  EXPECT_OK(leased.status());
  return leased.ok() ? *std::move(leased) : std::vector<LeasedEvent>();
}

void RocksTest::settle(const LeasedEvent& leased, v1::State state, absl::Time due_at) {
  const Settlement settlement = settlementTo(leased, state, due_at);
  EXPECT_OK(store_->settle({&settlement, 1}));
}

std::string RocksTest::largestFile(std::string_view ending) const {
  std::string largest;
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config_.path)) {
    if (entry.path().string().ends_with(ending) && entry.file_size() >= bytes) {
      bytes = entry.file_size();
      largest = entry.path().string();
    }
  }
  return largest;
}

std::map<std::string, std::string> RocksTest::contents() const {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(config_.path)) {
    if (entry.path().filename() != "LOCK") {
      files[entry.path().string()] = readFile(entry.path().string());
    }
  }
  return files;
}

std::string RocksTest::readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void RocksTest::writeFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace forebay
