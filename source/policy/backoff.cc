#include "source/policy/backoff.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

absl::Duration bounded(absl::Duration delay) {
  return std::clamp(delay, absl::ZeroDuration(), kDelayMax);
}

struct BaseDelay {
  int failures;  // at least 1

  absl::Duration operator()(const ExponentialBackoff& shape) const {
    if (shape.initial <= absl::ZeroDuration()) {
      return absl::ZeroDuration();
    }
    const double multiplier = shape.multiplier > 0 ? shape.multiplier : 1;
    const double factor = std::pow(multiplier, failures - 1);
    // The factors are compared, since the product of a large one fits no Duration.
    if (factor >= absl::FDivDuration(shape.max, shape.initial)) {
      return shape.max;
    }
    return std::min(shape.initial * factor, shape.max);
  }

  absl::Duration operator()(const ScheduleBackoff& shape) const {
    if (shape.delays.empty()) {
      // The config refuses this. Should one slip through, it must not hammer the app.
      return ExponentialBackoff{}.initial;
    }
    return shape.delays[std::min(static_cast<size_t>(failures), shape.delays.size() - 1)];
  }

  absl::Duration operator()(const LinearBackoff& shape) const {
    return std::min(shape.initial + shape.step * (int64_t{failures} - 1), shape.max);
  }

  absl::Duration operator()(const FixedBackoff& shape) const { return shape.interval; }
};

// What decorrelated jitter, which strays from the base, may not exceed.
struct LargestDelay {
  absl::Duration operator()(const ExponentialBackoff& shape) const { return shape.max; }
  absl::Duration operator()(const ScheduleBackoff& shape) const {
    return shape.delays.empty() ? ExponentialBackoff{}.initial
                                : *std::max_element(shape.delays.begin(), shape.delays.end());
  }
  absl::Duration operator()(const LinearBackoff& shape) const { return shape.max; }
  absl::Duration operator()(const FixedBackoff& shape) const { return shape.interval; }
};

}  // namespace

absl::Duration Backoff::base(int failures) const {
  return bounded(std::visit(BaseDelay{std::max(failures, 1)}, shape_));
}

absl::Duration Backoff::delay(int failures, absl::Duration previous, Random& random) const {
  const absl::Duration b = base(failures);
  switch (jitter_.kind) {
    case JitterKind::Full:
      return b * random.unit();
    case JitterKind::Equal:
      return b / 2 + b / 2 * random.unit();
    case JitterKind::Decorrelated: {
      const absl::Duration initial = base(1);
      const absl::Duration from = previous > absl::ZeroDuration() ? bounded(previous) : initial;
      // A previous wait below a third of the initial one leaves only the initial one.
      const absl::Duration high = std::max(from * 3, initial);
      return std::min(initial + (high - initial) * random.unit(),
                      bounded(std::visit(LargestDelay{}, shape_)));
    }
    case JitterKind::Proportional: {
      const double ratio = jitter_.ratio > 0 ? std::min(jitter_.ratio, 1.0) : 0;
      return bounded(b * (1 - ratio + 2 * ratio * random.unit()));
    }
    case JitterKind::None:
      break;
  }
  return b;
}

absl::Duration Backoff::beforeFirst() const {
  const auto* const schedule = std::get_if<ScheduleBackoff>(&shape_);
  return schedule == nullptr || schedule->delays.empty() ? absl::ZeroDuration()
                                                         : bounded(schedule->delays.front());
}

}  // namespace forebay
