#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "source/base/limits.h"
#include "source/policy/circuit_breaker.h"
#include "source/policy/classifier.h"
#include "source/policy/rate_limit.h"
#include "source/policy/retry_policy.h"

namespace forebay {

// The user's configuration, checked and in our own types. Everything in it is valid.

struct StoreConfig {
  std::string path;
  uint64_t size_max_bytes = 10 * limits::kGiB;
  uint64_t free_disk_min_bytes = 1 * limits::kGiB;
};

// Where the key is found by which events of an upstream are ordered. One of the two is set.
struct OrderBy {
  std::string header;        // lower case
  std::string json_pointer;  // into the body (RFC 6901)
};

struct UpstreamConfig {
  std::string name;
  std::string cluster;
  absl::Duration timeout = absl::Seconds(30);
  uint32_t concurrency_max = 10;
  std::optional<RateLimitConfig> rate_limit;
  RetryConfig retry;
  std::vector<ClassifyRule> classify;
  BreakerConfig breaker;
  absl::Duration ramp = absl::Seconds(60);        // zero: none
  uint32_t pause_after_permanent_failures = 100;  // in a row; 0 is never
  std::optional<OrderBy> order_by;
};

struct EngineConfig {
  StoreConfig store;
  std::vector<UpstreamConfig> upstreams;

  const UpstreamConfig* findUpstream(std::string_view name) const;
};

struct Acknowledgement {
  uint32_t status = 200;
  std::string body;
  std::string content_type;
};

struct CaptureConfig {
  std::string source;
  std::string upstream;
  Acknowledgement acknowledge;
  uint64_t body_bytes_max = limits::kBodyBytesMaxDefault;
  std::vector<std::string> methods = {"POST"};
};

// Both read the JSON that Envoy hands over. An error holds every mistake, one a line, each as
// `path.to[2].field: what is wrong (value)`.
absl::StatusOr<EngineConfig> parseEngineConfig(std::string_view json);
// `engine` is what the bootstrap extension was given: the upstream must be in it.
absl::StatusOr<CaptureConfig> parseCaptureConfig(std::string_view json, const EngineConfig& engine);

}  // namespace forebay
