#include "source/policy/ramp.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

// So that a rate is never zero, and the first attempt does not wait for ever.
constexpr double kRateFactorMin = 0.01;

}  // namespace

void Ramp::begin(MonotonicTime now, absl::Duration elapsed) {
  began_ = now + -std::max(elapsed, absl::ZeroDuration());
  set_back_at_ = now;
}

void Ramp::onFailure(MonotonicTime started, MonotonicTime now) {
  if (!active(now) || started < set_back_at_) {
    return;
  }
  began_ = now + -(now - *began_) / 2;
  set_back_at_ = now;
}

double Ramp::position(MonotonicTime now) const {
  return active(now) ? absl::FDivDuration(now - *began_, length_) : 1;
}

std::optional<MonotonicTime> Ramp::began(MonotonicTime now) const {
  return active(now) ? began_ : std::nullopt;
}

uint32_t Ramp::concurrency(uint32_t max, MonotonicTime now) const {
  if (!active(now)) {
    return max;
  }
  // In whole grains of time rather than in fractions, so that grows() can name the very instant.
  absl::Duration into_step;
  return 1 + static_cast<uint32_t>(absl::IDivDuration(
                 (now - *began_) * static_cast<int64_t>(max - 1), length_, &into_step));
}

double Ramp::rateFactor(MonotonicTime now) const { return std::max(position(now), kRateFactorMin); }

std::optional<double> Ramp::ownRate(uint32_t concurrency_max, MonotonicTime now) const {
  if (!active(now)) {
    return std::nullopt;
  }
  return concurrency_max * std::exp2(position(now) * kRampDoublings);
}

MonotonicTime Ramp::grows(uint32_t concurrency_max, MonotonicTime now) const {
  if (!active(now)) {
    return MonotonicTime::infiniteFuture();
  }
  if (concurrency_max <= 1) {
    return *began_ + length_;
  }
  // The n-th slot beside the first is there after n of concurrency_max - 1 parts of the ramp.
  const int64_t parts = concurrency_max - 1;
  const absl::Duration needed = length_ * static_cast<int64_t>(concurrency(concurrency_max, now));
  const absl::Duration after = needed / parts;
  const absl::Duration grain = absl::Nanoseconds(1) / 4;  // a Duration's own
  return *began_ + (after * parts < needed ? after + grain : after);
}

}  // namespace forebay
