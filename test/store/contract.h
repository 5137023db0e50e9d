#pragma once

#include <memory>
#include <string>

#include "source/base/random.h"
#include "source/store/event_store.h"
#include "source/store/rocks/rocks_store.h"
#include "test/store/store_testing.h"

namespace forebay {

enum class Kind { Memory, Rocks };

// A store of the kind that the test is run with. What every store must do is tested against all.
class StoreContractTest : public testing::TestWithParam<Kind> {
protected:
  void SetUp() override;
  // Closes the store and opens it again, where that means anything: memory forgets.
  void reopen();
  bool persists() const { return GetParam() == Kind::Rocks; }

  EventId append(std::string_view body, std::string_view upstream = kLane,
                 std::string_view source = "stripe");
  EventId appendOrdered(std::string_view body, std::string_view order_key);
  std::vector<LeasedEvent> lease(size_t limit, std::string_view upstream = kLane);
  void settle(const LeasedEvent& leased, v1::State state,
              absl::Time due_at = absl::InfiniteFuture());

  TestClock clock_;
  SeededRandom random_{1};
  CollectingStats stats_;
  CollectingLog log_;
  TemporaryDirectory directory_;
  std::unique_ptr<EventStore> store_;
};

std::string kindName(const testing::TestParamInfo<Kind>& kind);

#define FOREBAY_RUN_AGAINST_ALL_STORES(Suite) \
  INSTANTIATE_TEST_SUITE_P(Stores, Suite, testing::Values(Kind::Memory, Kind::Rocks), &kindName)

}  // namespace forebay
