#include "test/store/contract.h"

namespace forebay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ScanTest : public StoreContractTest {
protected:
  std::vector<std::string> found(const EventFilter& filter) {
    absl::StatusOr<ScanPage> page = store_->scan(filter, std::nullopt, 100);
    EXPECT_OK(page.status());
    EXPECT_EQ(page->next, std::nullopt);
    return bodies(*page);
  }
};
FOREBAY_RUN_AGAINST_ALL_STORES(ScanTest);

TEST_P(ScanTest, NewestFirst) {
  append("a");
  append("b");
  append("c");
  EXPECT_THAT(found({}), ElementsAre("c", "b", "a"));
}

// Pages follow each other without a gap or a repeat, whatever arrives meanwhile.
TEST_P(ScanTest, PagesFollowEachOther) {
  for (int i = 0; i < 10; ++i) {
    append(std::to_string(i));
  }
  std::vector<std::string> all;
  std::optional<EventId> before;
  do {
    const absl::StatusOr<ScanPage> page = store_->scan({}, before, 3);
    ASSERT_OK(page.status());
    EXPECT_LE(page->events.size(), 3);
    for (const std::string& body : bodies(*page)) {
      all.push_back(body);
    }
    append("new");
    before = page->next;
  } while (before.has_value());
  EXPECT_THAT(all, ElementsAre("9", "8", "7", "6", "5", "4", "3", "2", "1", "0"));
}

TEST_P(ScanTest, FiltersBySourceAndUpstream) {
  append("a", "billing", "stripe");
  append("b", "billing", "github");
  append("c", "shipping", "stripe");
  EventFilter filter;
  filter.source = "stripe";
  EXPECT_THAT(found(filter), ElementsAre("c", "a"));
  filter.upstream = "billing";
  EXPECT_THAT(found(filter), ElementsAre("a"));
}

// Each state is found, the dead and quarantined through their index, and only while in it.
TEST_P(ScanTest, FiltersByState) {
  for (const char* body : {"delivered", "dead", "quarantined", "retrying", "pending"}) {
    append(body);
  }
  const std::vector<LeasedEvent> leased = lease(4);
  settle(leased[0], v1::STATE_DELIVERED);
  settle(leased[1], v1::STATE_DEAD);
  settle(leased[2], v1::STATE_QUARANTINED);
  settle(leased[3], v1::STATE_RETRYING, clock_.wallNow());
  reopen();
  EventFilter filter;
  for (const auto& [state, body] :
       std::vector<std::pair<v1::State, std::string>>{{v1::STATE_PENDING, "pending"},
                                                      {v1::STATE_RETRYING, "retrying"},
                                                      {v1::STATE_DELIVERED, "delivered"},
                                                      {v1::STATE_DEAD, "dead"},
                                                      {v1::STATE_QUARANTINED, "quarantined"}}) {
    filter.state = state;
    EXPECT_THAT(found(filter), ElementsAre(body));
  }
  const ReplayMark mark{leased[1].event->id, clock_.wallNow(), "job"};
  ASSERT_OK(store_->markDue({&mark, 1}).status());
  filter.state = v1::STATE_DEAD;
  EXPECT_THAT(found(filter), IsEmpty());
}

// `since` includes its instant, `until` excludes it.
TEST_P(ScanTest, FiltersByTime) {
  const absl::Time begin = clock_.wallNow();
  for (const char* body : {"a", "b", "c", "d"}) {
    append(body);
    clock_.advance(absl::Seconds(1));
  }
  EventFilter filter;
  filter.since = begin + absl::Seconds(1);
  EXPECT_THAT(found(filter), ElementsAre("d", "c", "b"));
  filter.until = begin + absl::Seconds(3);
  EXPECT_THAT(found(filter), ElementsAre("c", "b"));
  filter.until = filter.since;
  EXPECT_THAT(found(filter), IsEmpty());
  // The index of the dead knows times too.
  for (const LeasedEvent& leased : lease(4)) {
    settle(leased, v1::STATE_DEAD);
  }
  filter.state = v1::STATE_DEAD;
  filter.until = begin + absl::Seconds(3);
  EXPECT_THAT(found(filter), ElementsAre("c", "b"));
}

// The text is looked for in the path, in the values of headers and in the body, as bytes.
TEST_P(ScanTest, FiltersByText) {
  append("nothing");
  Event in_path = makeEvent("1", clock_.wallNow());
  in_path.record.set_path("/hooks/needle?x");
  Event in_header = makeEvent("2", clock_.wallNow());
  in_header.record.mutable_headers(0)->set_value("a needle b");
  Event in_name = makeEvent("3", clock_.wallNow());
  in_name.record.mutable_headers(0)->set_name("needle");
  for (Event* const event : {&in_path, &in_header, &in_name}) {
    ASSERT_OK(appendOne(*store_, std::move(*event)).status());
  }
  append(std::string("\0needle\xff", 8));
  EventFilter filter;
  filter.text = "needle";
  const std::vector<std::string> bodies = found(filter);
  ASSERT_THAT(bodies, SizeIs(3));
  EXPECT_EQ(bodies[1], "2");
  EXPECT_EQ(bodies[2], "1");
  filter.text = "needle\xff";
  EXPECT_THAT(found(filter), SizeIs(1));
}

}  // namespace
}  // namespace forebay
