#include "source/policy/pacer.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

// A sum of many small parts falls short of a whole by a hair.
constexpr double kHair = 1e-6;

double capacity(double per_second) {
  return std::max(1.0, per_second * absl::ToDoubleSeconds(kPacerCatchUp));
}

}  // namespace

double Pacer::level(MonotonicTime now, double per_second) const {
  if (!used_) {
    return 1;
  }
  const double gained = absl::ToDoubleSeconds(now - as_of_) * per_second;
  return std::min(tokens_ + std::max(gained, 0.0), capacity(per_second));
}

size_t Pacer::available(MonotonicTime now, double per_second) const {
  return static_cast<size_t>(std::floor(level(now, per_second) + kHair));
}

MonotonicTime Pacer::availableAt(MonotonicTime now, double per_second) const {
  const double missing = 1 - level(now, per_second);
  // Rounded up, by more than a Duration's own grain: at that time the whole one is there.
  return missing <= kHair ? now : now + absl::Seconds(missing / per_second) + absl::Nanoseconds(1);
}

void Pacer::take(MonotonicTime now, double per_second, size_t count) {
  // Below zero by the hair that was lent, so that lending adds up to nothing.
  tokens_ = level(now, per_second) - static_cast<double>(count);
  as_of_ = now;
  used_ = true;
}

}  // namespace forebay
