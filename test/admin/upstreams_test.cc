// Status, upstreams, pause and resume: the shapes to the letter.

#include "test/admin/fixture.h"

namespace forebay {
namespace {

using UpstreamsTest = AdminTest;

constexpr char kIdleMail[] =
    R"({"name":"mail","cluster":"mail_app","breaker":"closed","paused":false,)"
    R"("backlog":0,"retrying":0,"in_flight":0,"oldest_pending_seconds":0})";

TEST_F(UpstreamsTest, UpstreamsShowBreakerBacklogAndAge) {
  capture();
  capture();
  const EventId tried = capture();
  settle(tried, "billing", [&](v1::EventState& state) {
    state.set_state(v1::STATE_RETRYING);
    state.set_due_at_us(absl::ToUnixMicros(clock_.wallNow() + absl::Hours(1)));
  });
  clock_.advance(absl::Seconds(90));
  lanes_.state[0].breaker = BreakerState::Open;
  lanes_.state[0].next_probe_at = clock_.wallNow() + absl::Seconds(10);
  lanes_.state[0].in_flight = 7;
  const AdminResponse response = get("/forebay/upstreams");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body,
            cat(R"({"upstreams":[{"name":"billing","cluster":"billing_app","breaker":"open",)"
                R"("next_probe_at":"2026-03-01T12:01:40.003000Z","paused":false,"backlog":3,)"
                R"("retrying":1,"in_flight":7,"oldest_pending_seconds":90},)",
                kIdleMail, "]}\n"));
}

// An event of an upstream that was taken out of the configuration is still somebody's.
TEST_F(UpstreamsTest, UpstreamsThatOnlyHaveEventsAreListedAfterTheOthers) {
  capture(makeRecord("zoo"));
  capture(makeRecord("attic"));
  clock_.advance(absl::Seconds(5));
  lanes_.state.erase(lanes_.state.begin());
  EXPECT_EQ(get("/forebay/upstreams").body,
            cat(R"({"upstreams":[)", kIdleMail,
                R"(,{"name":"attic","breaker":"closed","paused":false,"backlog":1,"retrying":0,)"
                R"("in_flight":0,"oldest_pending_seconds":5,"orphaned":true},)"
                R"({"name":"zoo","breaker":"closed","paused":false,"backlog":1,"retrying":0,)"
                R"("in_flight":0,"oldest_pending_seconds":5,"orphaned":true}]})",
                "\n"));
}

TEST_F(UpstreamsTest, StatusSumsAllLanes) {
  const EventId delivered = capture();
  const EventId dead = capture(makeRecord("mail"));
  capture(makeRecord("mail"));
  capture(makeRecord("attic"));
  settle(delivered, "billing", [](v1::EventState& state) {
    state.set_state(v1::STATE_DELIVERED);
    state.set_due_at_us(0);
  });
  settle(dead, "mail", [](v1::EventState& state) {
    state.set_state(v1::STATE_DEAD);
    state.set_reason(v1::DEAD_REASON_EXHAUSTED);
    state.set_due_at_us(0);
  });
  clock_.advance(absl::Seconds(61));
  const std::string body = get("/forebay").body;
  EXPECT_EQ(body.substr(0, body.find("\"upstreams\"")),
            R"({"version":"0.1.0","uptime_seconds":61,"store":{"path":"/var/lib/forebay",)"
            R"("bytes":4096,"bytes_max":1000000,"read_only":false},"totals":{"accepted":4,)"
            R"("pending":2,"retrying":0,"delivered":1,"dead":1,"quarantined":0},)");
  const std::string upstreams = get("/forebay/upstreams").body;
  EXPECT_EQ(body.substr(body.find("\"upstreams\"")), upstreams.substr(1));
}

TEST_F(UpstreamsTest, StatusSaysWhyTheStoreIsReadOnlyAndWhichEnvoy) {
  store_.health_now.read_only = true;
  store_.health_now.reason = "no space left";
  Admin admin(AdminDeps{store_, lanes_, clock_, stats_, log_, job_random_, "1.40.0"});
  const std::string body = admin.handle({"GET", "/forebay", ""}).body;
  EXPECT_NE(body.find(R"("read_only":true,"reason":"no space left"})"), std::string::npos) << body;
  EXPECT_NE(body.find(R"({"version":"0.1.0","envoy_version":"1.40.0",)"), std::string::npos);
}

TEST_F(UpstreamsTest, PauseAndResumeAnswerTheUpstreamAndLeaveAnAuditLine) {
  const AdminResponse paused = post("/forebay/pause?upstream=mail");
  EXPECT_EQ(paused.status, 200);
  EXPECT_EQ(paused.body, R"({"name":"mail","cluster":"mail_app","breaker":"closed","paused":true,)"
                         R"("pause_reason":"paused by an operator","backlog":0,"retrying":0,)"
                         R"("in_flight":0,"oldest_pending_seconds":0})"
                         "\n");
  EXPECT_TRUE(lanes_.state[1].paused);
  EXPECT_EQ(post("/forebay/resume?upstream=mail", "{}").body, cat(kIdleMail, "\n"));
  EXPECT_FALSE(lanes_.state[1].paused);
  EXPECT_EQ(log_.lines, (std::vector<std::string>{"admin: pause upstream=\"mail\"",
                                                  "admin: resume upstream=\"mail\""}));
}

TEST_F(UpstreamsTest, AnUnknownUpstreamIsNotFoundAndItsNameCantForgeALine) {
  const AdminResponse response = post("/forebay/pause?upstream=x%0Aadmin:%20pause");
  EXPECT_EQ(response.status, 404);
  ASSERT_EQ(log_.lines.size(), 1u);
  EXPECT_EQ(log_.lines[0].find('\n'), std::string::npos);
  EXPECT_EQ(log_.lines[0].substr(0, 38), "admin: pause upstream=\"x\\nadmin: pause");
}

}  // namespace
}  // namespace forebay
