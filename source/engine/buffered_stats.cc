#include "source/engine/buffered_stats.h"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

template <typename Fn>
void withLabels(const std::string (&labels)[2], size_t count, Fn fn) {
  const std::string_view views[2] = {labels[0], labels[1]};
  fn(StatsSink::Labels(views, count));
}

}  // namespace

BufferedStats::Key::Key(int the_metric, Labels given)
    : metric(the_metric), label_count(static_cast<uint8_t>(std::min<size_t>(given.size(), 2))) {
  for (size_t i = 0; i < label_count; ++i) {
    labels[i] = std::string(given[i]);
  }
}

void BufferedStats::add(Counter counter, Labels labels, uint64_t amount) {
  Key key(static_cast<int>(counter), labels);
  absl::MutexLock lock(&mutex_);
  contents_.counters[std::move(key)] += amount;
}

void BufferedStats::set(Gauge gauge, Labels labels, uint64_t value) {
  Key key(static_cast<int>(gauge), labels);
  absl::MutexLock lock(&mutex_);
  contents_.gauges[std::move(key)] = value;
}

void BufferedStats::record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) {
  Key key(static_cast<int>(histogram), labels);
  absl::MutexLock lock(&mutex_);
  std::vector<uint64_t>& samples = contents_.samples[std::move(key)];
  const size_t room = kSamplesMax - samples.size();
  samples.insert(samples.end(), values.begin(), values.begin() + std::min(room, values.size()));
}

void BufferedStats::flushTo(StatsSink& sink) {
  Contents contents;
  {
    absl::MutexLock lock(&mutex_);
    std::swap(contents, contents_);
  }
  for (const auto& [key, amount] : contents.counters) {
    withLabels(key.labels, key.label_count, [&, metric = key.metric, n = amount](Labels labels) {
      sink.add(static_cast<Counter>(metric), labels, n);
    });
  }
  for (const auto& [key, value] : contents.gauges) {
    withLabels(key.labels, key.label_count, [&, metric = key.metric, v = value](Labels labels) {
      sink.set(static_cast<Gauge>(metric), labels, v);
    });
  }
  for (const auto& [key, samples] : contents.samples) {
    withLabels(key.labels, key.label_count,
               [&, metric = key.metric, &values = samples](Labels labels) {
                 sink.record(static_cast<Histogram>(metric), labels, values);
               });
  }
}

}  // namespace forebay
