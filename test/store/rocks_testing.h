#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "source/store/rocks/store.h"
#include "test/store/store_testing.h"

namespace forebay {

// A RocksDB store in a directory of its own, which tests may close, damage and open again.
class RocksTest : public testing::Test {
protected:
  RocksTest();

  absl::Status tryOpen();
  void open() { ASSERT_OK(tryOpen()); }
  void close() { store_.reset(); }

  EventId append(std::string_view body, std::string_view upstream = kLane);
  EventId appendOrdered(std::string_view body, std::string_view order_key);
  std::vector<LeasedEvent> lease(size_t limit);
  // Settles and expects success.
  void settle(const LeasedEvent& leased, v1::State state,
              absl::Time due_at = absl::InfiniteFuture());

  // Changes the closed store with RocksDB itself.
  void edit(const std::function<void(rocks::Database&)>& change);
  // Closes the store; the first problem that its audit finds, or nothing.
  std::string audit();

  // The file whose name ends so and, among several, is the largest. Empty when there is none.
  std::string largestFile(std::string_view ending) const;
  // Every file with its content, but for LOCK.
  std::map<std::string, std::string> contents() const;
  static std::string readFile(const std::string& path);
  static void writeFile(const std::string& path, const std::string& content);

  TestClock clock_;
  CollectingStats stats_;
  CollectingLog log_;
  TemporaryDirectory directory_;
  RocksStoreConfig config_;
  rocks::StoreHooks hooks_;
  std::unique_ptr<rocks::RocksStore> store_;
};

}  // namespace forebay
