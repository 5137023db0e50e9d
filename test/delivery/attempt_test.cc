#include "source/delivery/attempt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/delivery/world.h"

namespace forebay {
namespace {

LeasedEvent leased() {
  Event event;
  event.id = *EventId::parse("01HZXW3V5T0000000000000000");
  v1::EventRecord& record = event.record;
  record.set_source("shop");
  record.set_method("PUT");
  record.set_path("/a%2Fb?q=%20&q=2");
  record.set_authority("hooks.example:8443");
  record.set_scheme("https");
  record.set_received_at_us(1'700'000'000'123'456);
  record.set_body(std::string("\0\xff raw", 6));
  LeasedEvent result;
  result.event = std::make_shared<Event>(event);
  return result;
}

void addHeader(LeasedEvent& event, const std::string& name, const std::string& value) {
  auto copy = std::make_shared<Event>(*event.event);
  v1::Header& header = *copy->record.add_headers();
  header.set_name(name);
  header.set_value(value);
  event.event = copy;
}

std::vector<std::string> valuesOf(const OutgoingRequest& request, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [key, value] : request.headers) {
    if (key == name) {
      values.push_back(value);
    }
  }
  return values;
}

using Values = std::vector<std::string>;

// The app gets the sender's own method, path, query, host, headers and bytes.
TEST(AttemptTest, RequestIsTheSendersOwn) {
  LeasedEvent event = leased();
  addHeader(event, "content-type", "application/json");
  addHeader(event, "x-twice", "one");
  addHeader(event, "x-twice", "two");
  const OutgoingRequest request = buildRequest(event, upstream("app"), 1, 7);
  EXPECT_EQ(request.token, 7u);
  EXPECT_EQ(request.cluster, "app_cluster");
  EXPECT_EQ(valuesOf(request, ":method"), Values({"PUT"}));
  EXPECT_EQ(valuesOf(request, ":path"), Values({"/a%2Fb?q=%20&q=2"}));
  EXPECT_EQ(valuesOf(request, ":authority"), Values({"hooks.example:8443"}));
  EXPECT_EQ(valuesOf(request, ":scheme"), Values({"https"}));
  EXPECT_EQ(valuesOf(request, "content-type"), Values({"application/json"}));
  EXPECT_EQ(valuesOf(request, "x-twice"), Values({"one", "two"}));
  EXPECT_EQ(request.event->record.body(), std::string("\0\xff raw", 6));
}

// Forebay adds what the contract names, and nothing else.
TEST(AttemptTest, AddsTheContractsHeaders) {
  LeasedEvent event = leased();
  const OutgoingRequest request = buildRequest(event, upstream("app"), 3, 1);
  EXPECT_EQ(valuesOf(request, "content-length"), Values({"6"}));
  EXPECT_EQ(valuesOf(request, "forebay-event-id"), Values({"01HZXW3V5T0000000000000000"}));
  EXPECT_EQ(valuesOf(request, "forebay-attempt"), Values({"3"}));
  EXPECT_EQ(valuesOf(request, "forebay-source"), Values({"shop"}));
  EXPECT_EQ(valuesOf(request, "forebay-received-at"), Values({"2023-11-14T22:13:20.123456Z"}));
  EXPECT_EQ(valuesOf(request, "forebay-verified"), Values({"none"}));
  EXPECT_EQ(valuesOf(request, "forebay-replay"), Values());
  EXPECT_EQ(request.headers.size(), 10u);
}

// A replay says which job it belongs to.
TEST(AttemptTest, ReplayCarriesItsJob) {
  LeasedEvent event = leased();
  event.state.set_replay("01JOB");
  EXPECT_EQ(valuesOf(buildRequest(event, upstream("app"), 1, 1), "forebay-replay"),
            Values({"01JOB"}));
}

// Nothing that a stranger wrote reaches Envoy's router or passes for Forebay's word.
TEST(AttemptTest, HostileHeadersAreRemoved) {
  LeasedEvent event = leased();
  addHeader(event, "connection", "close, X-Smuggled");
  for (const char* name :
       {"x-smuggled", "x-envoy-upstream-rq-timeout-ms", "x-envoy-retry-on", "forebay-event-id",
        "forebay-verified", "expect", "transfer-encoding", "content-length", "te", "upgrade",
        "keep-alive", "trailer", "proxy-authorization", "host"}) {
    addHeader(event, name, "stranger");
  }
  const OutgoingRequest request = buildRequest(event, upstream("app"), 1, 1);
  EXPECT_TRUE(std::none_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    return header.second == "stranger" || header.first == "connection";
  }));
}

// Envoy sends nothing without a host: an HTTP/1.0 sender that gave none gets the cluster's name.
TEST(AttemptTest, MissingHostIsFilledIn) {
  LeasedEvent event = leased();
  auto copy = std::make_shared<Event>(*event.event);
  copy->record.clear_authority();
  event.event = copy;
  EXPECT_EQ(valuesOf(buildRequest(event, upstream("app"), 1, 1), ":authority"),
            Values({"app_cluster"}));
}

}  // namespace
}  // namespace forebay
