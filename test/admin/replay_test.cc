// What a replay makes due, when, and what it says about it.

#include "test/admin/fixture.h"

namespace forebay {
namespace {

class ReplayTest : public AdminTest {
protected:
  void deliver(const EventId& id, const std::string& upstream) {
    settle(id, upstream, [](v1::EventState& state) {
      state.set_state(v1::STATE_DELIVERED);
      state.set_attempts(1);
      state.set_due_at_us(0);
    });
  }
  absl::Time dueAt(const EventId& id) {
    return absl::FromUnixMicros(store_.read(id)->state.due_at_us());
  }
  static std::string field(const std::string& json, const std::string& name) {
    const std::string key = cat("\"", name, "\":");
    const size_t at = json.find(key);
    return at == std::string::npos
               ? ""
               : json.substr(at + key.size(), json.find_first_of(",}", at) - at - key.size());
  }

  // A store that holds `count` events and nothing but their ids.
  void pretendEvents(size_t count) {
    store_.scan_override = [count](std::optional<EventId> before, size_t limit) {
      ScanPage page;
      size_t next = count;
      if (before) {
        next = absl::ToUnixMillis(before->time());
      }
      while (next > 0 && page.events.size() < limit) {
        auto event = std::make_shared<Event>();
        event->id = EventId::firstAt(absl::FromUnixMillis(static_cast<int64_t>(--next)));
        StoredEvent stored{event, {}};
        stored.state.set_upstream(next % 2 == 0 ? "billing" : "mail");
        page.events.push_back(std::move(stored));
      }
      if (next > 0) {
        page.next = page.events.back().event->id;
      }
      return page;
    };
  }
};

TEST_F(ReplayTest, IdsAreDueEvenlyInTheOrderOfTheirCapture) {
  const EventId first = capture();
  const EventId second = capture(makeRecord("mail"));
  const EventId third = capture();
  deliver(first, "billing");
  deliver(second, "mail");
  deliver(third, "billing");
  const absl::Time now = clock_.wallNow();
  const AdminResponse response =
      post("/forebay/replay",
           cat("{\"ids\":[\"", third.toString(), "\",\"", first.toString(), "\",\"",
               second.toString(), "\",\"", first.toString(), "\"],\"rate_per_minute\":6}"));
  const std::string job = store_.read(first)->state.replay();
  EXPECT_EQ(job.size(), EventId::kTextLength);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            cat(R"({"id":")", job,
                R"(","state":"running","matched":3,"sent":0,"delivered":0,"failed":0,)"
                R"("rate_per_minute":6,"created_at":"2026-03-01T12:00:00.003000Z",)"
                R"("estimated_end":"2026-03-01T12:00:20.003000Z"})",
                "\n"));
  EXPECT_EQ(dueAt(first), now);
  EXPECT_EQ(dueAt(second), now + absl::Seconds(10));
  EXPECT_EQ(dueAt(third), now + absl::Seconds(20));
  EXPECT_EQ(stats_.added, (std::vector<std::string>{"replayed[billing] 2", "replayed[mail] 1"}));
  EXPECT_EQ(log_.lines,
            (std::vector<std::string>{cat("admin: replay job=", job,
                                          " of 4 ids rate_per_minute=6 matched=3 made_due=3")}));
}

TEST_F(ReplayTest, ADryRunChangesNothing) {
  const EventId id = capture();
  deliver(id, "billing");
  const AdminResponse response = post(
      "/forebay/replay", R"({"filter":{"state":"delivered","upstream":"billing"},"dry_run":true})");
  EXPECT_EQ(field(response.body, "state"), "\"planned\"");
  EXPECT_EQ(field(response.body, "matched"), "1");
  EXPECT_EQ(field(response.body, "rate_per_minute"), "100");
  EXPECT_TRUE(store_.mark_chunks.empty());
  EXPECT_TRUE(stats_.added.empty());
  EXPECT_TRUE(log_.lines.empty());
  EXPECT_EQ(store_.read(id)->state.state(), v1::STATE_DELIVERED);
}

TEST_F(ReplayTest, AFilterTakesWhatMatchesAndNothingElse) {
  const EventId dead = capture();
  const EventId delivered = capture();
  deliver(delivered, "billing");
  settle(dead, "billing", [](v1::EventState& state) {
    state.set_state(v1::STATE_DEAD);
    state.set_reason(v1::DEAD_REASON_PERMANENT);
    state.set_due_at_us(0);
  });
  const AdminResponse response =
      post("/forebay/replay",
           R"({"filter":{"state":"dead","source":"shop","since":"-1h","until":"-0s","q":"hel"}})");
  EXPECT_EQ(field(response.body, "matched"), "1") << response.body;
  EXPECT_NE(store_.read(dead)->state.state(), v1::STATE_DEAD);
  EXPECT_EQ(store_.read(delivered)->state.state(), v1::STATE_DELIVERED);
  ASSERT_EQ(log_.lines.size(), 1u);
  EXPECT_NE(log_.lines[0].find("of state=dead source=\"shop\" since=2026-03-01T11:00:00.002000Z "
                               "until=2026-03-01T12:00:00.002000Z q=\"hel\" rate_per_minute=100"),
            std::string::npos)
      << log_.lines[0];
}

TEST_F(ReplayTest, NothingThatMatchesIsAJobThatIsDone) {
  const AdminResponse response = post("/forebay/replay", R"({"filter":{"state":"dead"}})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(field(response.body, "state"), "\"done\"");
  EXPECT_EQ(field(response.body, "matched"), "0");
  EXPECT_EQ(field(response.body, "estimated_end"), "");
}

TEST_F(ReplayTest, IdsThatAreGoneAreLeftOutUnlessNoneIsLeft) {
  const std::string gone = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const EventId id = capture();
  deliver(id, "billing");
  EXPECT_EQ(post("/forebay/replay", cat("{\"ids\":[\"", gone, "\"]}")).status, 404);
  EXPECT_EQ(post("/forebay/replay", cat("{\"ids\":[\"", gone, "\"],\"dry_run\":true}")).status,
            404);
  const AdminResponse response =
      post("/forebay/replay", cat("{\"ids\":[\"", gone, "\",\"", id.toString(), "\"]}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(field(response.body, "matched"), "1");
}

// What is on its way to the app is not sent twice.
TEST_F(ReplayTest, AnEventInFlightIsNoPartOfTheJob) {
  const EventId id = capture();
  ASSERT_EQ(store_.leaseDue("billing", absl::InfiniteFuture(), {10})->size(), 1u);
  const AdminResponse response =
      post("/forebay/replay", cat("{\"ids\":[\"", id.toString(), "\"]}"));
  EXPECT_EQ(field(response.body, "matched"), "0");
  EXPECT_EQ(field(response.body, "state"), "\"done\"");
  EXPECT_TRUE(stats_.added.empty());
  ASSERT_EQ(log_.lines.size(), 1u);
  EXPECT_NE(log_.lines[0].find("matched=1 made_due=0"), std::string::npos);
}

TEST_F(ReplayTest, ManyEventsAreMarkedAThousandToAWrite) {
  pretendEvents(5000);
  const absl::Time now = clock_.wallNow();
  const AdminResponse response = post("/forebay/replay", R"({"filter":{},"rate_per_minute":1000})");
  EXPECT_EQ(field(response.body, "matched"), "5000");
  EXPECT_EQ(stats_.added,
            (std::vector<std::string>{"replayed[billing] 2500", "replayed[mail] 2500"}));
  std::vector<size_t> sizes;
  std::vector<bool> seen(5000, false);
  for (const std::vector<ReplayMark>& chunk : store_.mark_chunks) {
    sizes.push_back(chunk.size());
    for (const ReplayMark& mark : chunk) {
      const size_t index = absl::ToUnixMillis(mark.id.time());
      EXPECT_FALSE(seen[index]);
      seen[index] = true;
      EXPECT_EQ(mark.due_at, now + absl::Milliseconds(60) * static_cast<int64_t>(index));
    }
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{1000, 1000, 500, 1000, 1000, 500}));
}

TEST_F(ReplayTest, AWriteThatFailsHalfWaySaysHowMuchWasDone) {
  pretendEvents(5000);
  store_.mark_writes_max = 2;
  const AdminResponse response = post("/forebay/replay", R"({"filter":{}})");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("2000 of 5000 events were made due by job "), std::string::npos)
      << response.body;
  EXPECT_NE(response.body.find("the disk is gone"), std::string::npos);
  EXPECT_EQ(stats_.added, (std::vector<std::string>{"replayed[billing] 2000"}));
  ASSERT_EQ(log_.lines.size(), 1u);
  EXPECT_NE(log_.lines[0].find("made_due=2000, then failed"), std::string::npos) << log_.lines[0];
}

// Never a silent part of what was asked for.
TEST_F(ReplayTest, MoreThanTheLimitIsRefusedWhole) {
  pretendEvents(limits::kReplayEventsMax);
  EXPECT_EQ(post("/forebay/replay", R"({"filter":{},"dry_run":true})").status, 200);
  pretendEvents(limits::kReplayEventsMax + 1);
  const AdminResponse response = post("/forebay/replay", R"({"filter":{}})");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("filter: \\\"everything\\\" matches more than 100000 events"),
            std::string::npos)
      << response.body;
  EXPECT_TRUE(store_.mark_chunks.empty());
}

// A store with large bodies ends its pages early: that is progress all the same.
TEST_F(ReplayTest, ShortPagesAreNoReasonToGiveUp) {
  pretendEvents(500);
  store_.scan_override = [full = store_.scan_override](std::optional<EventId> before, size_t) {
    return full(before, 3);
  };
  const AdminResponse response = post("/forebay/replay", R"({"filter":{}})");
  EXPECT_EQ(field(response.body, "matched"), "500") << response.body;
}

TEST_F(ReplayTest, ASearchWithoutAnEndIsGivenUp) {
  int scans = 0;
  store_.scan_override = [&](std::optional<EventId>, size_t) {
    ++scans;
    ScanPage page;
    page.next = EventId::firstAt(absl::UnixEpoch());
    return page;
  };
  const AdminResponse response = post("/forebay/replay", R"({"filter":{"q":"x"}})");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("given up before its end"), std::string::npos) << response.body;
  EXPECT_EQ(scans, static_cast<int>(limits::kReplayEmptyPagesMax));
}

}  // namespace
}  // namespace forebay
