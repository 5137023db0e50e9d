// What a right configuration becomes, field by field.

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "source/config/config.h"
#include "test/config/test_data.h"

namespace forebay::test {
namespace {

constexpr char kMinimal[] =
    R"({"store": {"path": "/var/lib/forebay"}, "upstreams": [{"name": "a", "cluster": "b"}]})";

EngineConfig parse(const std::string& json) {
  const absl::StatusOr<EngineConfig> config = parseEngineConfig(json);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : EngineConfig{{}, {UpstreamConfig{}}};
}

CaptureConfig parseCapture(const std::string& json) {
  const absl::StatusOr<CaptureConfig> config = parseCaptureConfig(json, engineOfTests());
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : CaptureConfig{};
}

UpstreamConfig parseUpstream(const std::string& fields) {
  return parse(absl::StrCat(R"({"store": {"path": "/x"}, "upstreams": [{"name": "a",
                                "cluster": "b", )",
                            fields, "}]}"))
      .upstreams[0];
}

void expectDefaults(const UpstreamConfig& upstream) {
  EXPECT_EQ(upstream.timeout, absl::Seconds(30));
  EXPECT_EQ(upstream.concurrency_max, 10u);
  const auto& backoff = std::get<ExponentialBackoff>(upstream.retry.backoff);
  EXPECT_EQ(backoff.initial, absl::Seconds(30));
  EXPECT_EQ(backoff.multiplier, 2);
  EXPECT_EQ(backoff.max, absl::Seconds(3600));
  EXPECT_EQ(upstream.retry.jitter.kind, JitterKind::Full);
  EXPECT_EQ(upstream.retry.attempts_max, 16u);
  EXPECT_EQ(upstream.retry.give_up_after, absl::Seconds(259200));
  EXPECT_TRUE(upstream.classify.empty());
  EXPECT_EQ(upstream.breaker.consecutive_failures, 20u);
  EXPECT_EQ(upstream.breaker.open_initial, absl::Seconds(10));
  EXPECT_EQ(upstream.breaker.open_multiplier, 2);
  EXPECT_EQ(upstream.breaker.open_max, absl::Seconds(300));
  EXPECT_FALSE(upstream.breaker.failure_rate.has_value());
  EXPECT_EQ(upstream.ramp, absl::Seconds(60));
  EXPECT_FALSE(upstream.rate_limit.has_value());
  EXPECT_EQ(upstream.retry.share_max_percent, 80);
  EXPECT_EQ(upstream.pause_after_permanent_failures, 100u);
  EXPECT_FALSE(upstream.order_by.has_value());
}

TEST(GoodConfigsTest, MinimalBootstrapHasTheContractsDefaults) {
  const EngineConfig config = parse(kMinimal);
  EXPECT_EQ(config.store.path, "/var/lib/forebay");
  EXPECT_EQ(config.store.size_max_bytes, 10'737'418'240u);
  EXPECT_EQ(config.store.free_disk_min_bytes, 1'073'741'824u);
  ASSERT_EQ(config.upstreams.size(), 1u);
  EXPECT_EQ(config.upstreams[0].name, "a");
  EXPECT_EQ(config.upstreams[0].cluster, "b");
  expectDefaults(config.upstreams[0]);
}

// Empty mappings and `key:` without a value are what remains when somebody comments things out.
TEST(GoodConfigsTest, EmptyMappingsAndNullsAreDefaults) {
  expectDefaults(parseUpstream(R"("retry": {"exponential": {}, "jitter": {}}, "classify": [],
                                  "circuit_breaker": {"open": {}})"));
  expectDefaults(parseUpstream(R"("retry": {"exponential": null, "fixed": null, "jitter": null,
                                            "attempts_max": null}, "classify": null,
                                  "timeout": null, "circuit_breaker": null, "sign": null,
                                  "rate_limit": null, "order_by": null,
                                  "pause_after_permanent_failures": null)"));
  expectDefaults(parseUpstream(R"("circuit_breaker": {"failure_rate": null, "ramp": null},
                                  "retry": {"share_max_percent": null})"));
}

TEST(GoodConfigsTest, FullBootstrap) {
  const EngineConfig config = parse(R"({
    "store": {"path": "/x", "size_max_bytes": 67108864, "free_disk_min_bytes": 0},
    "upstreams": [
      {"name": "first", "cluster": "one"},
      {"name": "A-b_c.9", "cluster": "outbound|80||app.svc", "timeout": "0.5s",
       "concurrency_max": 10000, "rate_limit": {"events": 100000, "per": "0.001s"},
       "pause_after_permanent_failures": 0, "order_by": {"header": "x-shop-id"},
       "retry": {"exponential": {"initial": "0.01s", "multiplier": 1.5, "max": "0.02s"},
                 "jitter": {"kind": "PROPORTIONAL", "ratio": 1},
                 "attempts_max": 1000, "give_up_after": "2592000s", "share_max_percent": 0},
       "classify": [{"match": "404", "as": "RETRY"}, {"match": "500-599", "as": "PERMANENT"},
                    {"match": "3xx", "as": "SUCCESS"}, {"match": "timeout", "as": "PERMANENT"}],
       "circuit_breaker": {"consecutive_failures": 1,
                           "open": {"initial": "1s", "multiplier": 1, "max": "1s"},
                           "failure_rate": {"percent": 0.5, "window": "1s", "requests_min": 1},
                           "ramp": "0s"}}]})");
  EXPECT_EQ(config.store.size_max_bytes, 64 * limits::kMiB);
  EXPECT_EQ(config.store.free_disk_min_bytes, 0u);
  ASSERT_EQ(config.upstreams.size(), 2u);
  expectDefaults(config.upstreams[0]);
  const UpstreamConfig& upstream = config.upstreams[1];
  EXPECT_EQ(upstream.name, "A-b_c.9");
  EXPECT_EQ(upstream.cluster, "outbound|80||app.svc");
  EXPECT_EQ(upstream.timeout, absl::Milliseconds(500));
  EXPECT_EQ(upstream.concurrency_max, 10'000u);
  const auto& backoff = std::get<ExponentialBackoff>(upstream.retry.backoff);
  EXPECT_EQ(backoff.initial, absl::Milliseconds(10));
  EXPECT_EQ(backoff.multiplier, 1.5);
  EXPECT_EQ(backoff.max, absl::Milliseconds(20));
  EXPECT_EQ(upstream.retry.jitter.kind, JitterKind::Proportional);
  EXPECT_EQ(upstream.retry.jitter.ratio, 1);
  EXPECT_EQ(upstream.retry.attempts_max, 1000u);
  EXPECT_EQ(upstream.retry.give_up_after, absl::Hours(30 * 24));
  EXPECT_EQ(upstream.breaker.consecutive_failures, 1u);
  EXPECT_EQ(upstream.breaker.open_initial, absl::Seconds(1));
  EXPECT_EQ(upstream.breaker.open_multiplier, 1);
  EXPECT_EQ(upstream.breaker.open_max, absl::Seconds(1));
  ASSERT_TRUE(upstream.breaker.failure_rate.has_value());
  EXPECT_EQ(upstream.breaker.failure_rate->percent, 0.5);
  EXPECT_EQ(upstream.breaker.failure_rate->window, absl::Seconds(1));
  EXPECT_EQ(upstream.breaker.failure_rate->requests_min, 1u);
  EXPECT_EQ(upstream.ramp, absl::ZeroDuration());
  ASSERT_TRUE(upstream.rate_limit.has_value());
  EXPECT_EQ(upstream.rate_limit->events, 100'000u);
  EXPECT_EQ(upstream.rate_limit->per, absl::Milliseconds(1));
  EXPECT_EQ(upstream.retry.share_max_percent, 0);
  EXPECT_EQ(upstream.pause_after_permanent_failures, 0u);
  ASSERT_TRUE(upstream.order_by.has_value());
  EXPECT_EQ(upstream.order_by->header, "x-shop-id");
  EXPECT_EQ(upstream.order_by->json_pointer, "");
  ASSERT_EQ(upstream.classify.size(), 4u);
  EXPECT_EQ(upstream.classify[0].verdict, Verdict::Retry);
  EXPECT_EQ(upstream.classify[0].status_min, 404u);
  EXPECT_EQ(upstream.classify[0].status_max, 404u);
  EXPECT_EQ(upstream.classify[1].verdict, Verdict::Permanent);
  EXPECT_EQ(upstream.classify[1].status_max, 599u);
  EXPECT_EQ(upstream.classify[2].verdict, Verdict::Success);
  EXPECT_EQ(upstream.classify[2].status_min, 300u);
  EXPECT_EQ(upstream.classify[3].kind, OutcomeKind::Timeout);
}

// The other ends of what is allowed.
TEST(GoodConfigsTest, PaceAndOrderAtTheirLimits) {
  const UpstreamConfig upstream = parseUpstream(
      R"("rate_limit": {"events": 1, "per": "3600s"}, "retry": {"share_max_percent": 100},
         "circuit_breaker": {"failure_rate": {"percent": 100, "window": "3600s",
                                              "requests_min": 1000000}, "ramp": "3600s"},
         "pause_after_permanent_failures": 1000000,
         "order_by": {"json_pointer": "/data/a~1b~0/0"})");
  EXPECT_EQ(upstream.rate_limit->events, 1u);
  EXPECT_EQ(upstream.rate_limit->per, absl::Hours(1));
  EXPECT_EQ(upstream.retry.share_max_percent, 100);
  EXPECT_EQ(upstream.breaker.failure_rate->percent, 100);
  EXPECT_EQ(upstream.breaker.failure_rate->window, absl::Hours(1));
  EXPECT_EQ(upstream.breaker.failure_rate->requests_min, 1'000'000u);
  EXPECT_EQ(upstream.ramp, absl::Hours(1));
  EXPECT_EQ(upstream.pause_after_permanent_failures, 1'000'000u);
  EXPECT_EQ(upstream.order_by->header, "");
  EXPECT_EQ(upstream.order_by->json_pointer, "/data/a~1b~0/0");
}

TEST(GoodConfigsTest, FailureRateHasDefaults) {
  const BreakerConfig breaker =
      parseUpstream(R"("circuit_breaker": {"failure_rate": {"percent": 50}})").breaker;
  ASSERT_TRUE(breaker.failure_rate.has_value());
  EXPECT_EQ(breaker.failure_rate->percent, 50);
  EXPECT_EQ(breaker.failure_rate->window, absl::Seconds(60));
  EXPECT_EQ(breaker.failure_rate->requests_min, 20u);
}

// Every mark of an RFC 9110 token, and the longest names.
TEST(GoodConfigsTest, OrderKeysOfEveryKind) {
  for (const std::string& header :
       {std::string("x"), std::string("!#$%&'*+-.^_`|~09az"), std::string(128, 'h')}) {
    EXPECT_EQ(
        parseUpstream(absl::StrCat(R"("order_by": {"header": ")", header, "\"}")).order_by->header,
        header);
  }
  for (const std::string& pointer :
       {std::string("/"), std::string("//"), std::string("/~01"), "/" + std::string(511, 'p')}) {
    EXPECT_EQ(parseUpstream(absl::StrCat(R"("order_by": {"json_pointer": ")", pointer, "\"}"))
                  .order_by->json_pointer,
              pointer);
  }
}

// Decorrelated jitter needs a first wait, and room above it; nothing else.
TEST(GoodConfigsTest, DecorrelatedJitterGoesWithWhatGrows) {
  for (const char* const shape :
       {R"("exponential": {})", R"("exponential": {"multiplier": 1})", R"("linear": {})",
        R"("schedule": {"delays": ["0s", "10s", "60s"]})",
        R"("schedule": {"delays": ["60s", "10s"]})"}) {
    EXPECT_EQ(
        parseUpstream(absl::StrCat(R"("retry": {"jitter": {"kind": "DECORRELATED"}, )", shape, "}"))
            .retry.jitter.kind,
        JitterKind::Decorrelated)
        << shape;
  }
}

// Envoy prints large numbers of a Struct so.
TEST(GoodConfigsTest, NumbersMayHaveAnExponent) {
  const EngineConfig config = parse(
      R"({"store": {"path": "/x", "size_max_bytes": 1.073741824e+10, "free_disk_min_bytes": 1e9},
          "upstreams": [{"name": "a", "cluster": "b", "concurrency_max": 2e1}]})");
  EXPECT_EQ(config.store.size_max_bytes, 10'737'418'240u);
  EXPECT_EQ(config.store.free_disk_min_bytes, 1'000'000'000u);
  EXPECT_EQ(config.upstreams[0].concurrency_max, 20u);
}

TEST(GoodConfigsTest, OtherBackoffsHaveTheirDefaults) {
  const auto linear =
      std::get<LinearBackoff>(parseUpstream(R"("retry": {"linear": {}})").retry.backoff);
  EXPECT_EQ(linear.initial, absl::Seconds(30));
  EXPECT_EQ(linear.step, absl::Seconds(30));
  EXPECT_EQ(linear.max, absl::Seconds(3600));
  const auto fixed =
      std::get<FixedBackoff>(parseUpstream(R"("retry": {"fixed": {}})").retry.backoff);
  EXPECT_EQ(fixed.interval, absl::Seconds(60));
}

// A zero delay is fine where it doesn't repeat.
TEST(GoodConfigsTest, AScheduleMayBeginAtOnce) {
  const auto schedule = std::get<ScheduleBackoff>(
      parseUpstream(R"("retry": {"schedule": {"delays": ["0s", "0s", "0.01s"]}})").retry.backoff);
  EXPECT_EQ(schedule.delays,
            (std::vector<absl::Duration>{absl::ZeroDuration(), absl::ZeroDuration(),
                                         absl::Milliseconds(10)}));
}

// Without retries there is no first retry that a short give_up_after could miss.
TEST(GoodConfigsTest, OneAttemptMayBeGivenUpSoon) {
  EXPECT_EQ(
      parseUpstream(R"("retry": {"attempts_max": 1, "give_up_after": "5s"})").retry.give_up_after,
      absl::Seconds(5));
}

TEST(GoodConfigsTest, EveryKindOfJitter) {
  const std::pair<const char*, JitterKind> kinds[] = {{"FULL", JitterKind::Full},
                                                      {"EQUAL", JitterKind::Equal},
                                                      {"DECORRELATED", JitterKind::Decorrelated},
                                                      {"PROPORTIONAL", JitterKind::Proportional},
                                                      {"NONE", JitterKind::None}};
  for (const auto& [name, kind] : kinds) {
    const Jitter jitter =
        parseUpstream(absl::StrCat(R"("retry": {"jitter": {"kind": ")", name, "\"}}")).retry.jitter;
    EXPECT_EQ(jitter.kind, kind) << name;
    EXPECT_EQ(jitter.ratio, 0.2);
  }
}

TEST(GoodConfigsTest, FindsUpstreamsByName) {
  const EngineConfig config = engineOfTests();
  EXPECT_EQ(config.findUpstream("crm"), &config.upstreams[1]);
  EXPECT_EQ(config.findUpstream("CRM"), nullptr);
  EXPECT_EQ(config.findUpstream(""), nullptr);
}

TEST(GoodConfigsTest, MinimalCaptureHasTheContractsDefaults) {
  const CaptureConfig config = parseCapture(R"({"source": "stripe", "upstream": "billing"})");
  EXPECT_EQ(config.source, "stripe");
  EXPECT_EQ(config.upstream, "billing");
  EXPECT_EQ(config.acknowledge.status, 200u);
  EXPECT_EQ(config.acknowledge.body, "");
  EXPECT_EQ(config.acknowledge.content_type, "");
  EXPECT_EQ(config.body_bytes_max, 26'214'400u);
  EXPECT_EQ(config.methods, std::vector<std::string>{"POST"});
}

TEST(GoodConfigsTest, FullCapture) {
  const CaptureConfig config = parseCapture(
      R"({"source": "shop-1", "upstream": "crm", "provider": "none", "secrets": [],
          "acknowledge": {"status": 299, "body": "{\"ok\": true}\n",
                          "content_type": "application/json; charset=utf-8"},
          "body_bytes_max": 50331648, "methods": ["POST", "PUT", "GET"]})");
  EXPECT_EQ(config.source, "shop-1");
  EXPECT_EQ(config.upstream, "crm");
  EXPECT_EQ(config.acknowledge.status, 299u);
  EXPECT_EQ(config.acknowledge.body, "{\"ok\": true}\n");
  EXPECT_EQ(config.acknowledge.content_type, "application/json; charset=utf-8");
  EXPECT_EQ(config.body_bytes_max, limits::kBodyBytesMaxCeiling);
  EXPECT_EQ(config.methods, (std::vector<std::string>{"POST", "PUT", "GET"}));
}

}  // namespace
}  // namespace forebay::test
