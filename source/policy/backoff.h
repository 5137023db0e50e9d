#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "source/base/random.h"

namespace forebay {

struct ExponentialBackoff {
  absl::Duration initial = absl::Seconds(30);
  double multiplier = 2;
  absl::Duration max = absl::Hours(1);
};
struct ScheduleBackoff {
  std::vector<absl::Duration> delays;  // the last one repeats
};
struct LinearBackoff {
  absl::Duration initial = absl::Seconds(30);
  absl::Duration step = absl::Seconds(30);
  absl::Duration max = absl::Hours(1);
};
struct FixedBackoff {
  absl::Duration interval = absl::Seconds(60);
};
using BackoffShape = std::variant<ExponentialBackoff, ScheduleBackoff, LinearBackoff, FixedBackoff>;

enum class JitterKind { Full, Equal, Decorrelated, Proportional, None };
struct Jitter {
  JitterKind kind = JitterKind::Full;
  double ratio = 0.2;  // of Proportional
};

// No wait is longer, whatever was configured: nobody means that, and sums stay finite.
inline constexpr absl::Duration kDelayMax = absl::Hours(24 * 366);

// The wait before an attempt. `failures` counts the attempts that failed so far, so 1 gives the
// wait before the second attempt; less than 1 is taken for 1. Never negative, never more than
// kDelayMax, whatever the inputs.
class Backoff {
public:
  Backoff(BackoffShape shape, Jitter jitter) : shape_(std::move(shape)), jitter_(jitter) {}

  // Without jitter.
  absl::Duration base(int failures) const;
  // With jitter. `previous` is the wait before the latest attempt (zero before the first); only
  // decorrelated jitter looks at it.
  absl::Duration delay(int failures, absl::Duration previous, Random& random) const;
  // What to wait before the very first attempt: only a schedule whose first delay isn't zero
  // says anything but zero. (A schedule's n-th delay is the wait before the n-th attempt.)
  absl::Duration beforeFirst() const;

private:
  BackoffShape shape_;
  Jitter jitter_;
};

}  // namespace forebay
