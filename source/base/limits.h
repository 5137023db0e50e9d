#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

// Every limit that is not the user's to set, in one place.
namespace forebay::limits {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;

// --- what waits for the disk; beyond either bound a sender gets 503 at once
inline constexpr size_t kCommitQueueEventsMax = 10'000;
inline constexpr uint64_t kCommitQueueBytesMax = 64 * kMiB;

// --- one event
inline constexpr uint64_t kBodyBytesMaxDefault = 25 * kMiB;  // GitHub's cap
inline constexpr uint64_t kBodyBytesMaxCeiling = 48 * kMiB;
inline constexpr uint64_t kAnswerBytesMax = 4 * kKiB;  // kept of an app's answer, for the operator
inline constexpr size_t kNameBytesMax = 128;           // sources, upstreams, clusters
inline constexpr size_t kOrderKeyBytesMax = 200;       // a longer one is shortened to a digest
static_assert(kBodyBytesMaxDefault <= kBodyBytesMaxCeiling);
static_assert(kBodyBytesMaxCeiling < kCommitQueueBytesMax, "the largest event must fit the queue");

// --- what a lane keeps in memory of a backlog that is on disk
inline constexpr size_t kLaneWindowEntries = 4096;
inline constexpr size_t kLaneSideWindowEntries = 1024;    // of retries, and of replays
inline constexpr uint64_t kLaneFreshBytesMax = 4 * kMiB;  // events not yet forgotten since commit
inline constexpr size_t kOrderHintsMax = 16'384;          // order keys remembered, over all lanes
// Events remembered to be in flight when the process dies.
inline constexpr size_t kInFlightSlots = 65'536;
// An event in flight at so many deaths of the process in a row is taken for their cause.
inline constexpr uint32_t kPoisonCrashes = 3;
inline constexpr size_t kUpstreamsMax = 256;
inline constexpr uint32_t kConcurrencyMaxCeiling = 10'000;

// --- the admin API
inline constexpr size_t kPageEventsMax = 1000;
inline constexpr size_t kPageEventsDefault = 100;
inline constexpr size_t kScanRecordsMax = 200'000;  // looked at for one page
inline constexpr size_t kReplayEventsMax = 100'000;
inline constexpr size_t kAdminBodyBytesMax = 4 * kMiB;
inline constexpr size_t kSearchTextBytesMax = 1024;
// Events held at once while a longer list is made: each may carry a body of the largest size.
inline constexpr size_t kScanStepEvents = 100;
static_assert(kPageEventsDefault <= kPageEventsMax);

// --- replays
inline constexpr uint32_t kReplayRateDefault = 100;  // events a minute
inline constexpr uint32_t kReplayRateMax = 1'000'000;
inline constexpr size_t kReplayMarksPerWrite = 1000;
// Pages of a scan that find nothing before a search is called too wide: up to 10 million records.
inline constexpr size_t kReplayEmptyPagesMax = 50;

// --- time
inline constexpr absl::Duration kStatsFlushInterval = absl::Milliseconds(200);
inline constexpr absl::Duration kMaintenanceInterval = absl::Seconds(1);
inline constexpr absl::Duration kShutdownGrace = absl::Seconds(5);
inline constexpr absl::Duration kOwnErrorBackoffMin = absl::Seconds(1);
inline constexpr absl::Duration kOwnErrorBackoffMax = absl::Seconds(30);
inline constexpr int kRetryAfterSeconds = 5;  // told to a sender with every 503

}  // namespace forebay::limits
