#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source/base/stats.h"

namespace forebay {

// What one worker has answered since it last told the stats, so that a batch of answers costs one
// update and not one each. Worker only.
class AckTally {
public:
  static AckTally& ofThisThread();

  void add(const std::string& source, bool accepted, uint64_t ack_ms);
  void flushTo(StatsSink& stats);

private:
  std::string source_;
  uint64_t accepted_ = 0;
  std::vector<uint64_t> ack_ms_;
  // Of sources other than the latest, until the flush.
  std::vector<std::pair<std::string, uint64_t>> others_;
};

}  // namespace forebay
