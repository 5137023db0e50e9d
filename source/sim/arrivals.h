#pragma once

#include <optional>

#include "absl/time/time.h"
#include "source/base/random.h"
#include "source/sim/script.h"

namespace forebay::sim {

// When the events of one source come.
class Arrivals {
public:
  explicit Arrivals(ArrivalScript script) : script_(std::move(script)) {}

  struct Next {
    absl::Duration at;
    uint32_t count = 1;  // at once
  };
  // The next ones, or nothing when the source has ended.
  std::optional<Next> next(Random& random);

  const ArrivalScript& script() const { return script_; }

private:
  const ArrivalScript script_;
  uint64_t made_ = 0;
  absl::Duration at_;  // of the latest, since the script's own start
};

}  // namespace forebay::sim
