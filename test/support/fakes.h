#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/stats.h"

namespace forebay {

// Time that moves when a test says so. The wall may step on its own.
class ManualClock final : public Clock {
public:
  absl::Time wallNow() const override {
    absl::MutexLock lock(&mutex_);
    return wall_;
  }
  MonotonicTime monotonicNow() const override {
    absl::MutexLock lock(&mutex_);
    return MonotonicTime::fromOrigin(monotonic_);
  }

  void advance(absl::Duration by) {
    absl::MutexLock lock(&mutex_);
    wall_ += by;
    monotonic_ += by;
  }
  void stepWall(absl::Duration by) {
    absl::MutexLock lock(&mutex_);
    wall_ += by;
  }

private:
  mutable absl::Mutex mutex_;
  absl::Time wall_ ABSL_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'800'000'000);
  absl::Duration monotonic_ ABSL_GUARDED_BY(mutex_) = absl::Hours(1);
};

class RecordingLog final : public Log {
public:
  void write(LogLevel level, std::string_view message) override {
    absl::MutexLock lock(&mutex_);
    lines_.emplace_back(level, std::string(message));
  }

  // How many lines of at least `level` contain `text`.
  int count(LogLevel level, std::string_view text) const {
    absl::MutexLock lock(&mutex_);
    int found = 0;
    for (const auto& [line_level, line] : lines_) {
      found += line_level >= level && line.find(text) != std::string::npos;
    }
    return found;
  }

private:
  mutable absl::Mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_ ABSL_GUARDED_BY(mutex_);
};

// Numbers by `name[label,label]`.
class RecordingStats final : public StatsSink {
public:
  void add(Counter counter, Labels labels, uint64_t amount) override {
    absl::MutexLock lock(&mutex_);
    values_[key(kCounters[static_cast<size_t>(counter)], labels)] += amount;
  }
  void set(Gauge gauge, Labels labels, uint64_t value) override {
    absl::MutexLock lock(&mutex_);
    values_[key(kGauges[static_cast<size_t>(gauge)], labels)] = value;
  }
  using StatsSink::record;
  void record(Histogram histogram, Labels labels, absl::Span<const uint64_t> values) override {
    absl::MutexLock lock(&mutex_);
    std::vector<uint64_t>& kept =
        samples_[key(kHistograms[static_cast<size_t>(histogram)], labels)];
    kept.insert(kept.end(), values.begin(), values.end());
  }

  uint64_t value(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = values_.find(name);
    return found == values_.end() ? 0 : found->second;
  }
  std::vector<uint64_t> samples(const std::string& name) const {
    absl::MutexLock lock(&mutex_);
    const auto found = samples_.find(name);
    return found == samples_.end() ? std::vector<uint64_t>() : found->second;
  }

private:
  static std::string key(const StatSpec& spec, Labels labels) {
    std::string text(spec.name);
    for (size_t i = 0; i < labels.size(); ++i) {
      text.append(i == 0 ? "[" : ",").append(labels[i]);
    }
    return labels.empty() ? text : text + "]";
  }

  mutable absl::Mutex mutex_;
  std::map<std::string, uint64_t> values_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<uint64_t>> samples_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace forebay
