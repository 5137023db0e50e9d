// Every malformed request is a 400 that names the parameter or the field, and its value.

#include "test/admin/fixture.h"

namespace forebay {
namespace {

class MalformedTest : public AdminTest {
protected:
  // The message must start with `name`, a colon, and have `value` in it.
  void expectBad(const AdminResponse& response, const std::string& request, const std::string& name,
                 const std::string& value) {
    EXPECT_EQ(response.status, 400) << request;
    EXPECT_EQ(response.content_type, "application/json");
    const std::string start =
        cat("{\"error\":{\"code\":\"invalid_argument\",\"message\":\"", name, ": ");
    EXPECT_EQ(response.body.substr(0, start.size()), start) << request << " -> " << response.body;
    EXPECT_NE(response.body.find(value), std::string::npos) << request << " -> " << response.body;
    EXPECT_TRUE(store_.mark_chunks.empty()) << request;
    EXPECT_TRUE(log_.lines.empty()) << request;
  }
};

struct Case {
  std::string text;   // the query, or the body
  std::string name;   // of what is wrong
  std::string value;  // that the message shows
};

TEST_F(MalformedTest, Queries) {
  const std::string long_name(limits::kNameBytesMax + 1, 'n');
  const std::string long_text(limits::kSearchTextBytesMax + 1, 't');
  const Case cases[] = {
      {"/forebay?verbose=1", "verbose", "unknown parameter"},
      {"/forebay?=1", "", "unknown parameter"},
      {"/forebay/upstreams?name=x", "name", "unknown parameter"},
      {"/forebay/events?stat=dead", "stat", "state, source, upstream"},
      {"/forebay/events?State=dead", "State", "unknown parameter"},
      {"/forebay/events?state=broken", "state", "broken"},
      {"/forebay/events?state=DEAD", "state", "DEAD"},
      {"/forebay/events?state=", "state", "empty"},
      {"/forebay/events?state", "state", "empty"},
      {"/forebay/events?state=dead&state=dead", "state", "twice"},
      {"/forebay/events?state=dead&limit=5&state=pending", "state", "pending"},
      {"/forebay/events?st%61te=dead&state=dead", "state", "twice"},
      {"/forebay/events?source=", "source", "empty"},
      {"/forebay/events?source=" + long_name, "source", "129 bytes"},
      {"/forebay/events?upstream=", "upstream", "empty"},
      {"/forebay/events?upstream=" + long_name, "upstream", "129 bytes"},
      {"/forebay/events?q=", "q", "empty"},
      {"/forebay/events?q=" + long_text, "q", "1025 bytes"},
      {"/forebay/events?limit=0", "limit", "\\\"0\\\""},
      {"/forebay/events?limit=1001", "limit", "1001"},
      {"/forebay/events?limit=-1", "limit", "-1"},
      {"/forebay/events?limit=+5", "limit", "+5"},
      {"/forebay/events?limit=%205", "limit", " 5"},
      {"/forebay/events?limit=5.0", "limit", "5.0"},
      {"/forebay/events?limit=5x", "limit", "5x"},
      {"/forebay/events?limit=0x10", "limit", "0x10"},
      {"/forebay/events?limit=99999999999999999999", "limit", "99999999999999999999"},
      {"/forebay/events?limit=", "limit", "empty"},
      {"/forebay/events?since=yesterday", "since", "yesterday"},
      {"/forebay/events?since=2h", "since", "2h"},
      {"/forebay/events?since=-2", "since", "-2"},
      {"/forebay/events?since=2026-02-30T00:00:00Z", "since", "2026-02-30"},
      {"/forebay/events?until=-1h2h", "until", "-1h2h"},
      {"/forebay/events?until=1772366400", "until", "1772366400"},
      {"/forebay/events?until=", "until", "empty"},
      {"/forebay/events?since=-1h&until=-2h", "until", "2026-03-01T10:00:00.000000Z"},
      {"/forebay/events?since=-1h&until=-1h", "until", "not after since"},
      {"/forebay/events?cursor=abc", "cursor", "abc"},
      {"/forebay/events?cursor=8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "cursor", "8ZZZ"},
      {"/forebay/events?cursor=01ARZ3NDEKTSV4RRFFQ69G5FAU", "cursor", "FAU"},
      {"/forebay/events?q=%", "q", "percent escape"},
      {"/forebay/events?q=%4", "q", "%4"},
      {"/forebay/events?q=a%zz", "q", "a%zz"},
      {"/forebay/events?q=%-1", "q", "%-1"},
      {"/forebay/events?q%=1", "q%", "percent escape"},
      {"/forebay/event", "id", "missing"},
      {"/forebay/event?id=", "id", "empty"},
      {"/forebay/event?id=7", "id", "\\\"7\\\""},
      {"/forebay/event?id=%00", "id", "\\\\x00"},
      {"/forebay/event?id=%3Cscript%3E", "id", "\\u003cscript\\u003e"},
      {"/forebay/event?id=01ARZ3NDEKTSV4RRFFQ69G5FAV&x=1", "x", "unknown parameter"},
      {"/forebay/event?id=01ARZ3NDEKTSV4RRFFQ69G5FAV&id=1", "id", "twice"},
      {"/forebay/event/body", "id", "missing"},
      {"/forebay/event/body?id=01ARZ3NDEKTSV4RRFFQ69G5FAV0", "id", "FAV0"},
      {"/forebay/event/body?id=01ARZ3NDEKTSV4RRFFQ69G5FA%00", "id", "\\\\x00"},
  };
  for (const Case& test : cases) {
    expectBad(get(test.text), test.text, test.name, test.value);
  }
}

TEST_F(MalformedTest, Posts) {
  expectBad(post("/forebay/pause"), "pause", "upstream", "missing");
  expectBad(post("/forebay/resume?upstream="), "resume", "upstream", "empty");
  expectBad(post("/forebay/pause?upstream=billing&for=1h"), "pause", "for", "unknown parameter");
  expectBad(post("/forebay/pause?upstream=billing&upstream=mail"), "pause", "upstream", "mail");
  expectBad(post("/forebay/pause?upstream=billing", "{\"reason\":\"x\"}"), "pause", "reason",
            "unknown field");
  expectBad(post("/forebay/resume?upstream=billing", "now"), "resume", "body", "now");
  expectBad(post("/forebay/replay?dry_run=true", "{\"filter\":{}}"), "replay", "dry_run",
            "unknown parameter");
  EXPECT_FALSE(lanes_.state[0].paused);
}

TEST_F(MalformedTest, ReplayBodies) {
  const std::string id = capture().toString();
  const std::string ids = cat("\"ids\":[\"", id, "\"]");
  std::string too_many = cat("{\"ids\":[\"", id, "\"");
  for (size_t i = 0; i < limits::kReplayEventsMax; ++i) {
    too_many.append(",\"").append(id).append("\"");
  }
  too_many.append("]}");
  const Case cases[] = {
      {"", "body", "not a JSON object"},
      {"ids", "body", "ids"},
      {"[]", "body", "[]"},
      {"\"ids\"", "body", "not a JSON object"},
      {"null", "body", "null"},
      {"7", "body", "7"},
      {"{", "body", "{"},
      {"{\"ids\":[}", "body", "not a JSON object"},
      {cat("{", ids, "} {}"), "body", "not a JSON object"},
      {cat("{", ids, ",", ids, "}"), "body", "not a JSON object"},
      {"{\"filter\":{\"q\":\"\xff\"}}", "body", "not a JSON object"},
      {std::string(10'000, '['), "body", "["},
      {"{\"ids\":" + std::string(10'000, '[') + "}", "body", "not a JSON object"},
      {std::string(limits::kAdminBodyBytesMax + 1, ' '), "body", "4194305"},
      {"{}", "ids", "missing"},
      {"{\"dry_run\":true}", "ids", "missing"},
      {cat("{", ids, ",\"filter\":{}}"), "ids", "together with filter"},
      {"{\"ids\":[]}", "ids", "[]"},
      {"{\"ids\":null}", "ids", "null"},
      {"{\"ids\":{}}", "ids", "{}"},
      {cat("{\"ids\":\"", id, "\"}"), "ids", id},
      {"{\"ids\":[7]}", "ids[0]", "7"},
      {"{\"ids\":[null]}", "ids[0]", "null"},
      {"{\"ids\":[[]]}", "ids[0]", "[]"},
      {"{\"ids\":[\"\"]}", "ids[0]", "\\\"\\\""},
      {cat("{\"ids\":[\"", id, "\",\"nope\"]}"), "ids[1]", "nope"},
      {too_many, "ids", "100001"},
      {"{\"filter\":null}", "filter", "null"},
      {"{\"filter\":[]}", "filter", "[]"},
      {"{\"filter\":\"dead\"}", "filter", "dead"},
      {"{\"filter\":{\"state\":\"gone\"}}", "filter.state", "gone"},
      {"{\"filter\":{\"state\":\"\"}}", "filter.state", "\\\"\\\""},
      {"{\"filter\":{\"state\":3}}", "filter.state", "3"},
      {"{\"filter\":{\"state\":[\"dead\"]}}", "filter.state", "dead"},
      {"{\"filter\":{\"source\":\"\"}}", "filter.source", "empty"},
      {"{\"filter\":{\"upstream\":\"\"}}", "filter.upstream", "empty"},
      {"{\"filter\":{\"upstream\":null}}", "filter.upstream", "null"},
      {"{\"filter\":{\"q\":\"\"}}", "filter.q", "empty"},
      {"{\"filter\":{\"q\":true}}", "filter.q", "true"},
      {"{\"filter\":{\"since\":\"2h\"}}", "filter.since", "2h"},
      {"{\"filter\":{\"since\":-7200}}", "filter.since", "-7200"},
      {"{\"filter\":{\"until\":\"soon\"}}", "filter.until", "soon"},
      {"{\"filter\":{\"since\":\"-1h\",\"until\":\"-2h\"}}", "filter.until", "not after since"},
      {"{\"filter\":{\"limit\":\"5\"}}", "filter.limit", "unknown field"},
      {"{\"filter\":{\"sta\\nte\":\"dead\"}}", "filter.sta\\\\nte", "unknown field"},
      {cat("{", ids, ",\"rate_per_minute\":0}"), "rate_per_minute", "0"},
      {cat("{", ids, ",\"rate_per_minute\":-5}"), "rate_per_minute", "-5"},
      {cat("{", ids, ",\"rate_per_minute\":1.5}"), "rate_per_minute", "1.5"},
      {cat("{", ids, ",\"rate_per_minute\":1000001}"), "rate_per_minute", "1000001"},
      {cat("{", ids, ",\"rate_per_minute\":1e300}"), "rate_per_minute", "1e+300"},
      {cat("{", ids, ",\"rate_per_minute\":\"100\"}"), "rate_per_minute", "\\\"100\\\""},
      {cat("{", ids, ",\"rate_per_minute\":\"NaN\"}"), "rate_per_minute", "NaN"},
      {cat("{", ids, ",\"rate_per_minute\":null}"), "rate_per_minute", "null"},
      {cat("{", ids, ",\"dry_run\":\"true\"}"), "dry_run", "\\\"true\\\""},
      {cat("{", ids, ",\"dry_run\":1}"), "dry_run", "1"},
      {cat("{", ids, ",\"to\":\"mail\"}"), "to", "\\\"mail\\\": not supported yet"},
      {cat("{", ids, ",\"rate\":5}"), "rate", "unknown field"},
      {cat("{", ids, ",\"token\":\"x\"}"), "token", "unknown field"},
      {cat("{", ids, ",\"\":5}"), "", "unknown field"},
  };
  for (const Case& test : cases) {
    expectBad(post("/forebay/replay", test.text), test.text.substr(0, 100), test.name, test.value);
  }
}

}  // namespace
}  // namespace forebay
