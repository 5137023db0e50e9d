#pragma once

#include <cstddef>

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay {

// A token bucket whose rate may change at every call: starts are spread evenly, and a turn that
// came late may catch up on no more than kPacerCatchUp. Time is passed in and never runs back.
// Belongs to one thread.
class Pacer {
public:
  // How many may start now at `per_second`, which is more than zero and finite. One at first.
  size_t available(MonotonicTime now, double per_second) const;
  // When available() is at least one, if the rate stays: `now` or later.
  MonotonicTime availableAt(MonotonicTime now, double per_second) const;
  // `count` starts; at most available().
  void take(MonotonicTime now, double per_second, size_t count);

private:
  // Tokens at `now`.
  double level(MonotonicTime now, double per_second) const;

  double tokens_ = 1;
  MonotonicTime as_of_;
  bool used_ = false;
};

inline constexpr absl::Duration kPacerCatchUp = absl::Milliseconds(20);

}  // namespace forebay
