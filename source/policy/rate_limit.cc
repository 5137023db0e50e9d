#include "source/policy/rate_limit.h"

#include <algorithm>

namespace forebay {

double RateLimit::perSecond(double factor) const {
  return static_cast<double>(config_.events) / absl::ToDoubleSeconds(config_.per) * factor;
}

size_t RateLimit::available(MonotonicTime now, double factor) const {
  // Those still within a window that ends now take up its room.
  const auto expired = std::upper_bound(
      starts_.begin(), starts_.end(), now,
      [&](MonotonicTime at, MonotonicTime start) { return at < start + config_.per; });
  const auto in_window = static_cast<size_t>(starts_.end() - expired);
  return std::min(config_.events - std::min<size_t>(in_window, config_.events),
                  pacer_.available(now, perSecond(factor)));
}

MonotonicTime RateLimit::availableAt(MonotonicTime now, double factor) const {
  MonotonicTime at = pacer_.availableAt(now, perSecond(factor));
  if (starts_.size() >= config_.events) {
    at = std::max(at, starts_[starts_.size() - config_.events] + config_.per);
  }
  return std::max(at, now);
}

void RateLimit::take(MonotonicTime now, double factor, size_t count) {
  pacer_.take(now, perSecond(factor), count);
  while (!starts_.empty() && starts_.front() + config_.per <= now) {
    starts_.pop_front();
  }
  starts_.insert(starts_.end(), count, now);
}

}  // namespace forebay
