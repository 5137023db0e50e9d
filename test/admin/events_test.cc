// Lists, single events and bodies: the shapes to the letter, hostile bytes, and pages.

#include "absl/strings/ascii.h"
#include "test/admin/fixture.h"

namespace forebay {
namespace {

using EventsTest = AdminTest;

TEST_F(EventsTest, AFreshEventHasNoReasonAndNoOutcome) {
  const EventId id = capture();
  EXPECT_EQ(get("/forebay/events").body,
            cat(R"({"events":[{"id":")", id.toString(),
                R"(","state":"pending","source":"shop","upstream":"billing","verified":"none",)"
                R"("received_at":"2026-03-01T12:00:00.000000Z","method":"POST",)"
                R"("path":"/hooks?a=1","body_bytes":5,"attempts":0,)"
                R"("next_attempt_at":"2026-03-01T12:00:00.000000Z"}]})",
                "\n"));
}

TEST_F(EventsTest, ADeadEventShowsItsReasonHeadersAndAttempts) {
  v1::EventRecord record = makeRecord();
  record.set_verified(v1::VERIFIED_TRUE);
  const std::pair<const char*, const char*> headers[] = {
      {"content-type", "text/plain"}, {"authorization", "Bearer s3cret"}, {"cookie", "s3cret"}};
  for (const auto& [name, value] : headers) {
    v1::Header& header = *record.add_headers();
    header.set_name(name);
    header.set_value(value);
  }
  const EventId id = capture(record);
  v1::AttemptRecord attempt;
  attempt.set_at_us(absl::ToUnixMicros(clock_.wallNow()));
  attempt.set_attempt(1);
  attempt.set_outcome("timeout");
  attempt.set_error("no answer within 30s");
  attempt.set_duration_us(30'000'999);
  attempt.set_next_at_us(absl::ToUnixMicros(clock_.wallNow() + absl::Minutes(1)));
  attempt.set_next_because("exponential backoff");
  settle(
      id, "billing",
      [](v1::EventState& state) {
        state.set_state(v1::STATE_RETRYING);
        state.set_attempts(1);
        state.set_last_outcome("timeout");
      },
      attempt);
  v1::AttemptRecord last;
  last.set_at_us(absl::ToUnixMicros(clock_.wallNow() + absl::Minutes(1)));
  last.set_attempt(2);
  last.set_outcome("4xx");
  last.set_status(410);
  last.set_duration_us(1500);
  last.set_answer("gone\n");
  settle(
      id, "billing",
      [](v1::EventState& state) {
        state.set_state(v1::STATE_DEAD);
        state.set_reason(v1::DEAD_REASON_PERMANENT);
        state.set_attempts(2);
        state.set_due_at_us(0);
        state.set_last_outcome("4xx");
        state.set_last_status(410);
        state.set_replay("01ARZ3NDEKTSV4RRFFQ69G5FAV");
      },
      last);

  EXPECT_EQ(get(cat("/forebay/event?id=", id.toString())).body,
            cat(R"({"id":")", id.toString(),
                R"(","state":"dead","reason":"permanent","source":"shop","upstream":"billing",)"
                R"("verified":"true","received_at":"2026-03-01T12:00:00.000000Z","method":"POST",)"
                R"("path":"/hooks?a=1","body_bytes":5,"attempts":2,"last_outcome":"4xx",)"
                R"("last_status":410,"headers":[{"name":"content-type","value":"text/plain"},)"
                R"({"name":"authorization","value":"[redacted]"},)"
                R"({"name":"cookie","value":"[redacted]"}],"attempt_log":[)"
                R"({"at":"2026-03-01T12:00:00.001000Z","attempt":1,"outcome":"timeout",)"
                R"("error":"no answer within 30s","duration_ms":30000,)"
                R"("next_at":"2026-03-01T12:01:00.001000Z","next_because":"exponential backoff"},)"
                R"({"at":"2026-03-01T12:01:00.001000Z","attempt":2,"outcome":"4xx","status":410,)"
                R"("duration_ms":1,"answer":"gone\n"}],"replay":"01ARZ3NDEKTSV4RRFFQ69G5FAV"})",
                "\n"));
}

TEST_F(EventsTest, HostileBytesStayInTheirStrings) {
  v1::EventRecord record = makeRecord();
  record.set_path("/\"}],<script>\xff\u2028");
  v1::Header& header = *record.add_headers();
  header.set_name("x-evil");
  header.set_value(std::string("\0\x1b[2J\xc3(", 7));
  record.set_body(std::string("\0\xff</script>", 11));
  const EventId id = capture(record);
  const AdminResponse response = get(cat("/forebay/event?id=", id.toString()));
  EXPECT_NE(response.body.find("\"path\":\"/\\\"}],\\u003cscript\\u003e\uFFFD\\u2028\","),
            std::string::npos)
      << response.body;
  EXPECT_NE(response.body.find("{\"name\":\"x-evil\",\"value\":\"\\u0000\\u001b[2J\uFFFD(\"}"),
            std::string::npos)
      << response.body;

  const AdminResponse body = get(cat("/forebay/event/body?id=", id.toString()));
  EXPECT_EQ(body.status, 200);
  EXPECT_EQ(body.content_type, "application/octet-stream");
  EXPECT_EQ(body.body, std::string("\0\xff</script>", 11));
}

TEST_F(EventsTest, AnIdIsReadInEitherCaseAndAMissingEventIsNotFound) {
  const std::string id = capture().toString();
  EXPECT_EQ(get(cat("/forebay/event?id=", absl::AsciiStrToLower(id))).status, 200);
  EXPECT_EQ(get("/forebay/event?id=01ARZ3NDEKTSV4RRFFQ69G5FAV").status, 404);
  EXPECT_EQ(get("/forebay/event/body?id=01ARZ3NDEKTSV4RRFFQ69G5FAV").status, 404);
}

// The ids in a list, in its order.
std::vector<std::string> idsIn(const std::string& json) {
  std::vector<std::string> ids;
  constexpr std::string_view kBefore = "{\"id\":\"";
  for (size_t at = json.find(kBefore); at != std::string::npos; at = json.find(kBefore, at + 1)) {
    ids.push_back(json.substr(at + kBefore.size(), EventId::kTextLength));
  }
  return ids;
}

std::string cursorIn(const std::string& json) {
  constexpr std::string_view kBefore = "\"next_cursor\":\"";
  const size_t at = json.find(kBefore);
  return at == std::string::npos ? "" : json.substr(at + kBefore.size(), EventId::kTextLength);
}

TEST_F(EventsTest, PagesCoverEveryEventOnceAndNewestFirst) {
  std::vector<std::string> captured;
  for (int i = 0; i < 1234; ++i) {
    captured.insert(captured.begin(), capture().toString());
  }
  for (const size_t limit : {1u, 7u, 99u, 100u, 101u, 250u, 1000u}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const AdminResponse page =
          get(cat("/forebay/events?limit=", limit, cursor.empty() ? "" : "&cursor=", cursor));
      ASSERT_EQ(page.status, 200) << page.body;
      const std::vector<std::string> ids = idsIn(page.body);
      ASSERT_LE(ids.size(), limit);
      seen.insert(seen.end(), ids.begin(), ids.end());
      cursor = cursorIn(page.body);
      // A page is full unless it is the last.
      ASSERT_TRUE(cursor.empty() || ids.size() == limit);
    } while (!cursor.empty());
    EXPECT_EQ(seen, captured) << "limit " << limit;
  }
  EXPECT_EQ(idsIn(get("/forebay/events").body).size(), limits::kPageEventsDefault);
}

// A store that stops early answers less than was asked for; what it says to go on from is passed
// on.
TEST_F(EventsTest, AShortPageStillHasACursor) {
  const EventId next = capture();
  int scans = 0;
  store_.scan_override = [&](std::optional<EventId>, size_t) {
    ++scans;
    ScanPage page;
    page.next = next;
    return page;
  };
  EXPECT_EQ(get("/forebay/events?limit=1000").body,
            cat(R"({"events":[],"next_cursor":")", next.toString(), "\"}\n"));
  EXPECT_EQ(scans, 1);
}

TEST_F(EventsTest, FiltersReachTheStore) {
  v1::EventRecord other = makeRecord("mail");
  other.set_source("lists & more");
  other.set_body("needle+100%");
  const std::string first = capture().toString();
  clock_.advance(absl::Hours(3));
  const std::string second = capture(other).toString();
  const struct {
    std::string query;
    std::vector<std::string> expected;
  } cases[] = {
      {"", {second, first}},
      {"?state=pending", {second, first}},
      {"?state=dead", {}},
      {"?upstream=mail", {second}},
      {"?upstream=nobody", {}},
      {"?source=lists%20%26%20more", {second}},
      {"?source=lists+%26+more", {}},  // a plus is a plus
      {"?q=needle%2B100%25", {second}},
      {"?q=needle+100%25", {second}},
      {"?since=-1h", {second}},
      {"?until=-1h", {first}},
      {"?since=2026-03-01T13:00:00+01:00&until=2026-03-01T12:00:01Z&state=pending", {first}},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(idsIn(get("/forebay/events" + test.query).body), test.expected) << test.query;
  }
}

}  // namespace
}  // namespace forebay
