#include <limits>
#include <map>

#include "absl/strings/ascii.h"
#include "source/base/strings.h"
#include "source/config/config_limits.h"
#include "source/config/config_text.h"
#include "source/config/validators.h"

namespace forebay {

namespace {

bool hasControlCharacter(std::string_view text) {
  for (const char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      return true;
    }
  }
  return false;
}

void checkPath(Section& store, const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    store.fail("path", cat("must not hold a NUL (got ", inQuotes(path), ")"));
  } else if (path.front() != '/') {
    // Relative to whatever folder Envoy happens to be started in: the next start would find
    // another store.
    store.fail("path", cat("must be absolute (got ", inQuotes(path), ")"));
  } else if (path.find_first_not_of('/') == std::string::npos) {
    store.fail("path", cat("must be a folder of its own (got ", inQuotes(path), ")"));
  }
}

StoreConfig validateStore(Section store) {
  StoreConfig config;
  if (store.readRequired("path", limits::kStorePathBytesMax, config.path)) {
    checkPath(store, config.path);
  }
  constexpr uint64_t kNoLimit = std::numeric_limits<int64_t>::max();
  store.readNumber("size_max_bytes", limits::kStoreBytesMin, kNoLimit, config.size_max_bytes);
  store.readNumber("free_disk_min_bytes", uint64_t{0}, kNoLimit, config.free_disk_min_bytes);
  store.refuseUnsupported({"retention"});
  return config;
}

std::optional<RateLimitConfig> validateRateLimit(const Section& upstream) {
  if (!upstream.has("rate_limit")) {
    return std::nullopt;
  }
  RateLimitConfig config;
  Section rate_limit = upstream.inner("rate_limit");
  rate_limit.require("events");
  rate_limit.readNumber("events", uint32_t{1}, limits::kRateLimitEventsMax, config.events);
  rate_limit.require("per");
  rate_limit.readDuration("per", limits::kRateLimitPerMin, limits::kRateLimitPerMax, config.per);
  return config;
}

UpstreamConfig validateUpstream(Section upstream) {
  UpstreamConfig config;
  upstream.readName("name", config.name);
  if (upstream.readRequired("cluster", limits::kNameBytesMax, config.cluster) &&
      hasControlCharacter(config.cluster)) {
    upstream.fail("cluster",
                  cat("must not hold control characters (got ", inQuotes(config.cluster), ")"));
  }
  upstream.readDuration("timeout", limits::kTimeoutMin, limits::kTimeoutMax, config.timeout);
  upstream.readNumber("concurrency_max", uint32_t{1}, limits::kConcurrencyMaxCeiling,
                      config.concurrency_max);
  config.retry = validateRetry(upstream.inner("retry"));
  config.classify = validateClassify(upstream);
  config.breaker = validateBreaker(upstream.inner("circuit_breaker"));
  upstream.inner("circuit_breaker")
      .readDuration("ramp", absl::ZeroDuration(), limits::kRampMax, config.ramp);
  config.rate_limit = validateRateLimit(upstream);
  upstream.readNumber("pause_after_permanent_failures", uint32_t{0}, limits::kPauseAfterMax,
                      config.pause_after_permanent_failures);
  config.order_by = validateOrderBy(upstream);
  upstream.refuseUnsupported({"sign"});
  return config;
}

std::vector<UpstreamConfig> validateUpstreams(Section& bootstrap) {
  std::vector<Section> sections = bootstrap.elements("upstreams");
  if (sections.empty() && bootstrap.isClean("upstreams")) {
    bootstrap.fail("upstreams", "at least one is required");
  }
  if (sections.size() > limits::kUpstreamsMax) {
    bootstrap.fail("upstreams",
                   cat("must be at most ", limits::kUpstreamsMax, " (got ", sections.size(), ")"));
    return {};
  }
  std::vector<UpstreamConfig> upstreams;
  std::map<std::string, size_t> first_with_name;
  for (size_t i = 0; i < sections.size(); ++i) {
    upstreams.push_back(validateUpstream(sections[i]));
    const std::string& name = upstreams.back().name;
    if (!sections[i].isClean("name")) {
      continue;
    }
    const auto [first, is_new] = first_with_name.emplace(name, i);
    if (!is_new) {
      sections[i].fail("name", cat("must be unique (got ", inQuotes(name), ", which is upstreams[",
                                   first->second, "] already)"));
    }
  }
  return upstreams;
}

}  // namespace

EngineConfig validateEngine(Section bootstrap) {
  EngineConfig config;
  config.store = validateStore(bootstrap.inner("store"));
  config.upstreams = validateUpstreams(bootstrap);
  bootstrap.refuseUnsupported({"console", "alerts"});
  return config;
}

}  // namespace forebay
