#include "source/event/headers.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace forebay {
namespace {

v1::EventRecord recordWith(const std::vector<std::pair<std::string, std::string>>& headers) {
  v1::EventRecord record;
  for (const auto& [name, value] : headers) {
    v1::Header* const header = record.add_headers();
    header->set_name(name);
    header->set_value(value);
  }
  return record;
}

ForwardedHeaders withConnection(const std::string& value) {
  return ForwardedHeaders(recordWith({{"connection", value}}));
}

// What a provider sends and an app needs goes on.
TEST(ForwardedHeadersTest, ForwardsOrdinaryHeaders) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name :
       {"content-type", "content-encoding", "user-agent", "accept", "authorization", "cookie",
        "stripe-signature", "x-hub-signature-256", "x-github-delivery", "webhook-id",
        "x-forwarded-for", "x-request-id", "traceparent", "date", "via", "x-shop-id"}) {
    EXPECT_TRUE(headers.allows(name)) << name;
  }
}

// Hop-by-hop headers, RFC 9110's and those that history added, end with us.
TEST(ForwardedHeadersTest, DropsHopByHop) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name :
       {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"}) {
    EXPECT_FALSE(headers.allows(name)) << name;
  }
}

// Framing is made anew for each attempt, and nobody waits for a 100.
TEST(ForwardedHeadersTest, DropsFraming) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name : {"content-length", "host", "expect"}) {
    EXPECT_FALSE(headers.allows(name)) << name;
  }
}

// Envoy obeys x-envoy-* and the app trusts forebay-*: a stranger may set neither.
TEST(ForwardedHeadersTest, DropsWhatWouldBeObeyed) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name :
       {"x-envoy-retry-on", "x-envoy-upstream-rq-timeout-ms", "x-envoy-original-path", "x-envoy-",
        "forebay-event-id", "forebay-attempt", "forebay-source", "forebay-received-at",
        "forebay-verified", "forebay-replay", "forebay-anything", "forebay-"}) {
    EXPECT_FALSE(headers.allows(name)) << name;
  }
}

// Names that only look alike are the app's own.
TEST(ForwardedHeadersTest, ForwardsLookalikes) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name : {"x-envoy", "forebay", "x-forebay-event-id", "my-x-envoy-retry-on",
                                 "tea", "hostname", "connections", "x-upgrade"}) {
    EXPECT_TRUE(headers.allows(name)) << name;
  }
}

// Pseudo headers are ours to write, known ones or not.
TEST(ForwardedHeadersTest, DropsPseudoHeaders) {
  const ForwardedHeaders headers{v1::EventRecord()};
  for (const char* const name :
       {":method", ":path", ":authority", ":scheme", ":status", ":protocol", ":", ":x", ""}) {
    EXPECT_FALSE(headers.allows(name)) << name;
  }
}

// Whatever `connection` names is hop-by-hop too.
TEST(ForwardedHeadersTest, DropsWhatConnectionNames) {
  const ForwardedHeaders headers = withConnection("keep-alive, x-hop");
  EXPECT_FALSE(headers.allows("x-hop"));
  EXPECT_FALSE(headers.allows("keep-alive"));
  EXPECT_TRUE(headers.allows("x-hop-2"));
  EXPECT_TRUE(headers.allows("content-type"));
}

// Tokens are split at commas, trimmed, and lower-cased; empty ones mean nothing.
TEST(ForwardedHeadersTest, ReadsConnectionLeniently) {
  const ForwardedHeaders headers = withConnection(" ,X-One,,\tx-Two\t ,x-three,");
  EXPECT_FALSE(headers.allows("x-one"));
  EXPECT_FALSE(headers.allows("x-two"));
  EXPECT_FALSE(headers.allows("x-three"));
  EXPECT_TRUE(headers.allows("x-four"));
}

// Every `connection` header counts, not only the first.
TEST(ForwardedHeadersTest, ReadsAllConnectionHeaders) {
  const ForwardedHeaders headers(recordWith(
      {{"connection", "x-one"}, {"content-type", "x-not-this"}, {"connection", "x-two"}}));
  EXPECT_FALSE(headers.allows("x-one"));
  EXPECT_FALSE(headers.allows("x-two"));
  EXPECT_TRUE(headers.allows("x-not-this"));
}

// Bytes that are no header name in `connection` harm nothing.
TEST(ForwardedHeadersTest, SurvivesHostileConnection) {
  const ForwardedHeaders headers = withConnection(std::string("\0\xff,;=,\"a,b\"", 10));
  EXPECT_TRUE(headers.allows("content-type"));
  EXPECT_FALSE(headers.allows("connection"));
}

// Credentials are never shown to an operator.
TEST(IsSecretHeaderTest, KnowsCredentials) {
  for (const char* const name : {"authorization", "proxy-authorization", "cookie", "set-cookie",
                                 "x-api-key", "x-gitlab-token"}) {
    EXPECT_TRUE(isSecretHeader(name)) << name;
  }
  for (const char* const name : {"content-type", "stripe-signature", "x-api-key-id", ""}) {
    EXPECT_FALSE(isSecretHeader(name)) << name;
  }
}

}  // namespace
}  // namespace forebay
