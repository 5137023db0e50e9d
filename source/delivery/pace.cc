#include "source/delivery/pace.h"

#include <algorithm>

namespace forebay {

Pace::Pace(const UpstreamConfig& config)
    : concurrency_max_(config.concurrency_max), ramp_(config.ramp) {
  if (config.rate_limit.has_value()) {
    rate_limit_.emplace(*config.rate_limit);
  }
}

size_t Pace::room(size_t in_flight, MonotonicTime now) const {
  const size_t slots = ramp_.concurrency(concurrency_max_, now);
  if (in_flight >= slots) {
    return 0;
  }
  size_t allowed = slots - in_flight;
  if (rate_limit_.has_value()) {
    allowed = std::min(allowed, rate_limit_->available(now, ramp_.rateFactor(now)));
  } else if (const std::optional<double> rate = ramp_.ownRate(concurrency_max_, now)) {
    allowed = std::min(allowed, ramp_pacer_.available(now, *rate));
  }
  return allowed;
}

MonotonicTime Pace::roomAt(size_t in_flight, MonotonicTime now) const {
  if (in_flight >= concurrency_max_) {
    return MonotonicTime::infiniteFuture();
  }
  if (in_flight >= ramp_.concurrency(concurrency_max_, now)) {
    return ramp_.grows(concurrency_max_, now);
  }
  MonotonicTime at = now;
  if (rate_limit_.has_value()) {
    at = rate_limit_->availableAt(now, ramp_.rateFactor(now));
  } else if (const std::optional<double> rate = ramp_.ownRate(concurrency_max_, now)) {
    at = ramp_pacer_.availableAt(now, *rate);
  }
  // The rate grows as the ramp does: look again at its next step.
  return std::min(at, ramp_.grows(concurrency_max_, now));
}

void Pace::onStarted(MonotonicTime now) {
  if (rate_limit_.has_value()) {
    rate_limit_->take(now, ramp_.rateFactor(now), 1);
  } else if (const std::optional<double> rate = ramp_.ownRate(concurrency_max_, now)) {
    ramp_pacer_.take(now, *rate, 1);
  }
}

}  // namespace forebay
