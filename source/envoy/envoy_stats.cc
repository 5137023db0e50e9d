#include "source/envoy/envoy_stats.h"

#include <string>

#include "source/base/strings.h"
#include "source/envoy/abi_types.h"

namespace forebay {
namespace {

using Define = uint32_t (*)(void*, FbBuffer, FbBuffer*, size_t, size_t*);

template <size_t kCount>
void defineAll(void* envoy_config, const StatSpec (&specs)[kCount], size_t (&ids)[kCount],
               Define define) {
  for (size_t i = 0; i < kCount; ++i) {
    const std::string name = cat("forebay.", specs[i].name);
    FbBuffer labels[2] = {toAbi(specs[i].label[0]), toAbi(specs[i].label[1])};
    define(envoy_config, toAbi(name), labels, specs[i].labelCount(), &ids[i]);
  }
}

using Update = uint32_t (*)(void*, size_t, FbBuffer*, size_t, uint64_t);

void update(void* envoy_config, Update function, size_t id, StatsSink::Labels labels,
            uint64_t value) {
  FbBuffer values[2] = {};
  for (size_t i = 0; i < labels.size() && i < 2; ++i) {
    values[i] = toAbi(labels[i]);
  }
  function(envoy_config, id, values, labels.size(), value);
}

}  // namespace

EnvoyStats::EnvoyStats(void* envoy_config) : envoy_config_(envoy_config) {
  defineAll(envoy_config, kCounters, counters_,
            &envoy_dynamic_module_callback_bootstrap_extension_config_define_counter);
  defineAll(envoy_config, kGauges, gauges_,
            &envoy_dynamic_module_callback_bootstrap_extension_config_define_gauge);
  defineAll(envoy_config, kHistograms, histograms_,
            &envoy_dynamic_module_callback_bootstrap_extension_config_define_histogram);
}

void EnvoyStats::add(Counter counter, Labels labels, uint64_t amount) {
  update(envoy_config_, &envoy_dynamic_module_callback_bootstrap_extension_config_increment_counter,
         counters_[static_cast<size_t>(counter)], labels, amount);
}

void EnvoyStats::set(Gauge gauge, Labels labels, uint64_t value) {
  update(envoy_config_, &envoy_dynamic_module_callback_bootstrap_extension_config_set_gauge,
         gauges_[static_cast<size_t>(gauge)], labels, value);
}

void EnvoyStats::record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) {
  for (const uint64_t value : values) {
    update(envoy_config_,
           &envoy_dynamic_module_callback_bootstrap_extension_config_record_histogram_value,
           histograms_[static_cast<size_t>(histogram)], labels, value);
  }
}

}  // namespace forebay
