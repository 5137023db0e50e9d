#pragma once

#include <cmath>

#include "absl/time/time.h"
#include "source/base/random.h"
#include "test/sim/scenario.pb.h"

namespace forebay::sim {

// What chance makes of a scenario's ranges.
class Draw {
public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  double number(double min, double max) { return min + (max - min) * random_.unit(); }
  // Small and large alike; both above zero.
  double scaled(double min, double max) {
    return min * std::exp(std::log(max / min) * random_.unit());
  }
  // Both included.
  uint32_t whole(uint32_t min, uint32_t max) {
    return min + static_cast<uint32_t>(random_.next() % (uint64_t{max} - min + 1));
  }
  bool chance(double probability) { return random_.unit() < probability; }

  double number(const scenario::Range& range) {
    const double max = range.has_max() ? range.max() : range.min();
    return range.log() ? scaled(range.min(), max) : number(range.min(), max);
  }
  uint32_t whole(const scenario::Range& range) {
    return static_cast<uint32_t>(std::lround(number(range)));
  }
  absl::Duration time(const scenario::Range& range) {
    // To the microsecond, as users' durations are.
    return absl::Microseconds(static_cast<int64_t>(number(range) * 1e6));
  }
  // One of a repeated field; `otherwise` when it is empty.
  template <typename Values, typename Value>
  Value one(const Values& values, Value otherwise) {
    return values.empty()
               ? otherwise
               : static_cast<Value>(values[static_cast<int>(random_.next() % values.size())]);
  }

private:
  SeededRandom random_;
};

}  // namespace forebay::sim
