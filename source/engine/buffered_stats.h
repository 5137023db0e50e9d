#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "source/base/stats.h"

namespace forebay {

// Gathers numbers from every thread until the one thread that may touch Envoy's stats takes them.
// Counters and gauges lose nothing. Of each histogram at most kSamplesMax values are kept between
// two flushes, which at the usual flush interval is 20,000 a second.
class BufferedStats final : public StatsSink {
public:
  static constexpr size_t kSamplesMax = 4096;

  void add(Counter counter, Labels labels, uint64_t amount) override;
  void set(Gauge gauge, Labels labels, uint64_t value) override;
  using StatsSink::record;
  void record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) override;

  // Hands over what came since the last flush.
  void flushTo(StatsSink& sink);

private:
  struct Key {
    int metric = 0;
    std::string labels[2];
    uint8_t label_count = 0;

    Key(int metric, Labels given);
    friend bool operator==(const Key& a, const Key& b) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.metric, key.labels[0], key.labels[1]);
    }
  };
  struct Contents {
    absl::flat_hash_map<Key, uint64_t> counters;
    absl::flat_hash_map<Key, uint64_t> gauges;
    absl::flat_hash_map<Key, std::vector<uint64_t>> samples;
  };

  absl::Mutex mutex_;
  Contents contents_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace forebay
