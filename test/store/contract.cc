#include "test/store/contract.h"

#include "source/store/memory/memory_store.h"

namespace forebay {

std::string kindName(const testing::TestParamInfo<Kind>& kind) {
  return kind.param == Kind::Memory ? "Memory" : "Rocks";
}

void StoreContractTest::SetUp() {
  if (GetParam() == Kind::Memory) {
    store_ = std::make_unique<MemoryStore>(clock_, random_);
    return;
  }
  RocksStoreConfig config;
  config.path = directory_.path() + "/data";
  config.free_disk_min_bytes = 0;
  absl::StatusOr<std::unique_ptr<EventStore>> store = openRocksStore(config, clock_, stats_, log_);
  ASSERT_OK(store.status());
  store_ = *std::move(store);
}

void StoreContractTest::reopen() {
  if (persists()) {
    store_.reset();
    SetUp();
  }
}

EventId StoreContractTest::append(std::string_view body, std::string_view upstream,
                                  std::string_view source) {
  const absl::StatusOr<EventId> id =
      appendOne(*store_, makeEvent(body, clock_.wallNow(), upstream, source));
  EXPECT_OK(id.status());
  return id.ok() ? *id : EventId();
}

EventId StoreContractTest::appendOrdered(std::string_view body, std::string_view order_key) {
  Event event = makeEvent(body, clock_.wallNow());
  event.record.set_order_key(std::string(order_key));
  const absl::StatusOr<EventId> id = appendOne(*store_, std::move(event));
  EXPECT_OK(id.status());
  return id.ok() ? *id : EventId();
}

std::vector<LeasedEvent> StoreContractTest::lease(size_t limit, std::string_view upstream) {
  absl::StatusOr<std::vector<LeasedEvent>> leased =
      store_->leaseDue(upstream, clock_.wallNow(), {limit});
  EXPECT_OK(leased.status());
  return leased.ok() ? *std::move(leased) : std::vector<LeasedEvent>();
}

void StoreContractTest::settle(const LeasedEvent& leased, v1::State state, absl::Time due_at) {
  const Settlement settlement = settlementTo(leased, state, due_at);
  EXPECT_OK(store_->settle({&settlement, 1}));
}

}  // namespace forebay
