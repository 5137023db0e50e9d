#pragma once

#include "absl/time/time.h"
#include "source/base/clock.h"

namespace forebay::sim {

// Time that moves when the simulation says so. The wall may step on its own. Unlike other clocks it
// belongs to one thread: a simulation has no other.
class VirtualClock final : public Clock {
public:
  explicit VirtualClock(absl::Time wall) : wall_(wall) {}

  absl::Time wallNow() const override { return wall_; }
  MonotonicTime monotonicNow() const override { return monotonic_; }

  // Both clocks move on; never back.
  void advanceTo(MonotonicTime at) {
    if (monotonic_ < at) {
      wall_ += at - monotonic_;
      monotonic_ = at;
    }
  }
  void stepWall(absl::Duration by) { wall_ += by; }

private:
  absl::Time wall_;
  // Not zero, as on a machine that has been up for a while.
  MonotonicTime monotonic_ = MonotonicTime::fromOrigin(absl::Hours(1));
};

}  // namespace forebay::sim
