#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "source/envoy/abi.h"
#include "source/policy/outcome.h"

namespace forebay {

// What Envoy reported of a callout, in the policy's words. Envoy answers for an app that it can't
// reach, with statuses of its own: those are told from the app's by what only a real answer has
// (the upstream's service time) and by what Envoy's own say. `error` explains it to an operator.
Outcome translateCallout(FbCalloutResult result, absl::Span<const FbHeader> headers,
                         absl::Span<const FbBuffer> body, absl::Duration elapsed,
                         absl::Duration timeout);

// Why a callout did not even start.
Outcome translateRefusedCallout(FbCalloutInit refusal, std::string_view cluster);

}  // namespace forebay
