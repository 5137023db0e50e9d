#pragma once

#include <optional>
#include <vector>

#include "api/forebay/v1/config.pb.h"
#include "source/config/config.h"
#include "source/config/section.h"

namespace forebay {

// From messages, which hold the right types, to our own structs, which hold the right values. Each
// adds every mistake to the errors behind its section; its result is only to be used when there
// are none.

EngineConfig validateEngine(Section bootstrap);

// `retry` is an upstream's; it reads as all defaults when it was left out.
RetryConfig validateRetry(Section retry);
std::vector<ClassifyRule> validateClassify(const Section& upstream);
BreakerConfig validateBreaker(Section circuit_breaker);
// None where `upstream` has none.
std::optional<OrderBy> validateOrderBy(const Section& upstream);

CaptureConfig validateCapture(Section capture, const EngineConfig& engine);

// `max` of a backoff must not be below its `initial`. Both as they hold, given or default.
void checkMaxNotBelowInitial(Section& section, absl::Duration initial, absl::Duration max);

}  // namespace forebay
