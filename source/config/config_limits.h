#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "source/base/limits.h"

// How far a user may go with what is the user's to set.
namespace forebay::limits {

inline constexpr size_t kConfigBytesMax = 4 * kMiB;
inline constexpr size_t kConfigDepthMax = 32;    // ours goes to 8
inline constexpr size_t kConfigErrorsMax = 100;  // told at once; the rest is counted

// --- store
inline constexpr size_t kStorePathBytesMax = 1024;
inline constexpr uint64_t kStoreBytesMin = 64 * kMiB;
static_assert(kBodyBytesMaxCeiling < kStoreBytesMin, "the largest event must fit the store");

// --- upstreams
// Envoy counts a callout's timeout in whole milliseconds, and takes zero for none.
inline constexpr absl::Duration kTimeoutMin = absl::Milliseconds(1);
inline constexpr absl::Duration kTimeoutMax = absl::Hours(1);
inline constexpr uint32_t kAttemptsMaxCeiling = 1000;
// The shortest wait that may repeat. It keeps a mistake (`0s`) from becoming a hot loop, and is
// short enough for a test to see several retries in a blink. What is sensible for a real app is
// for its owner to say.
inline constexpr absl::Duration kRepeatedDelayMin = absl::Milliseconds(10);
inline constexpr absl::Duration kConfiguredDelayMax = absl::Hours(7 * 24);
inline constexpr absl::Duration kGiveUpAfterMax = absl::Hours(30 * 24);
static_assert(kConfiguredDelayMax < kGiveUpAfterMax);
inline constexpr size_t kScheduleDelaysMax = 100;
inline constexpr double kMultiplierMax = 1000;
inline constexpr size_t kClassifyRulesMax = 100;
// A limit remembers its latest `events` starts: 1.2 MB a lane at the most.
inline constexpr uint32_t kRateLimitEventsMax = 100'000;
inline constexpr absl::Duration kRateLimitPerMin = absl::Milliseconds(1);
inline constexpr absl::Duration kRateLimitPerMax = absl::Hours(1);
inline constexpr absl::Duration kFailureRateWindowMin = absl::Seconds(1);
inline constexpr absl::Duration kFailureRateWindowMax = absl::Hours(1);
inline constexpr uint32_t kFailureRateRequestsMax = 1'000'000;
inline constexpr absl::Duration kRampMax = absl::Hours(1);
inline constexpr uint32_t kPauseAfterMax = 1'000'000;
inline constexpr size_t kOrderHeaderBytesMax = 128;
inline constexpr size_t kOrderPointerBytesMax = 512;

// --- capture
inline constexpr size_t kAcknowledgeBodyBytesMax = 64 * kKiB;
inline constexpr size_t kContentTypeBytesMax = 256;
inline constexpr size_t kMethodsMax = 16;
inline constexpr size_t kKnownUpstreamsTold = 20;  // in the error about an unknown one

}  // namespace forebay::limits
