#include "source/envoy/ack_tally.h"

#include <utility>

namespace forebay {

AckTally& AckTally::ofThisThread() {
  static thread_local AckTally tally;
  return tally;
}

void AckTally::add(const std::string& source, bool accepted, uint64_t ack_ms) {
  ack_ms_.push_back(ack_ms);
  if (!accepted) {
    return;
  }
  if (source != source_) {
    if (accepted_ > 0) {
      others_.emplace_back(source_, accepted_);
    }
    source_ = source;
    accepted_ = 0;
  }
  ++accepted_;
}

void AckTally::flushTo(StatsSink& stats) {
  if (accepted_ > 0) {
    stats.add(Counter::Accepted, {source_}, accepted_);
    accepted_ = 0;
  }
  for (const auto& [source, accepted] : others_) {
    stats.add(Counter::Accepted, {source}, accepted);
  }
  others_.clear();
  if (!ack_ms_.empty()) {
    stats.record(Histogram::AckMs, {}, ack_ms_);
    ack_ms_.clear();
  }
}

}  // namespace forebay
