#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "source/base/clock.h"
#include "source/base/limits.h"
#include "source/base/log.h"
#include "source/base/stats.h"
#include "source/store/event_store.h"

namespace forebay {

struct RocksStoreConfig {
  std::string path;
  uint64_t size_max_bytes = 10 * limits::kGiB;
  uint64_t free_disk_min_bytes = 1 * limits::kGiB;
};

// Opens (or creates, mode 0700) the store at `config.path` and recovers it. Fails with a message
// that names the path and the reason: not writable, locked by another process, written by a
// newer version, or fewer events than were acknowledged. The arguments must outlive the store.
absl::StatusOr<std::unique_ptr<EventStore>> openRocksStore(const RocksStoreConfig& config,
                                                           const Clock& clock, StatsSink& stats,
                                                           Log& log);

}  // namespace forebay
