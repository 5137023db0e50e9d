#pragma once

#include <iterator>

#include "source/base/stats.h"

namespace forebay {

// Envoy's own counters, gauges and histograms, under the prefix `forebay.`. Main thread only.
// Must be made while Envoy creates the bootstrap extension's config: later it defines no metric.
class EnvoyStats final : public StatsSink {
public:
  explicit EnvoyStats(void* envoy_config);

  void add(Counter counter, Labels labels, uint64_t amount) override;
  void set(Gauge gauge, Labels labels, uint64_t value) override;
  using StatsSink::record;
  void record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) override;

private:
  void* const envoy_config_;
  size_t counters_[std::size(kCounters)] = {};
  size_t gauges_[std::size(kGauges)] = {};
  size_t histograms_[std::size(kHistograms)] = {};
};

}  // namespace forebay
