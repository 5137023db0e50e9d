#include "source/policy/ramp.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

// So that a rate is never zero, and the first attempt does not wait for ever.
constexpr double kRateFactorMin = 0.01;

}  // namespace

void Ramp::begin(MonotonicTime now, absl::Duration elapsed) {
  if (length_ <= absl::ZeroDuration()) {
    return;
  }
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
  if (!began_.has_value()) {
    return 1;
  }
  return std::clamp(absl::FDivDuration(now - *began_, length_), 0.0, 1.0);
}

std::optional<MonotonicTime> Ramp::began(MonotonicTime now) const {
  return active(now) ? began_ : std::nullopt;
}

uint32_t Ramp::concurrency(uint32_t max, MonotonicTime now) const {
  const double position = this->position(now);
  return position >= 1 ? max : 1 + static_cast<uint32_t>(position * (max - 1));
}

double Ramp::rateFactor(MonotonicTime now) const { return std::max(position(now), kRateFactorMin); }

std::optional<double> Ramp::ownRate(uint32_t concurrency_max, MonotonicTime now) const {
  const double position = this->position(now);
  if (position >= 1) {
    return std::nullopt;
  }
  return concurrency_max * std::exp2(position * kRampDoublings);
}

MonotonicTime Ramp::grows(uint32_t concurrency_max, MonotonicTime now) const {
  if (!active(now)) {
    return MonotonicTime::infiniteFuture();
  }
  if (concurrency_max <= 1) {
    return *began_ + length_;
  }
  const uint32_t next = concurrency(concurrency_max, now);  // which is one slot more, less one
  const MonotonicTime at =
      *began_ + absl::Ceil(length_ * (static_cast<double>(next) / (concurrency_max - 1)),
                           absl::Microseconds(1));
  return std::max(at, now + absl::Microseconds(1));
}

}  // namespace forebay
