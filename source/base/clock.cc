#include "source/base/clock.h"

#include <time.h>

#include "absl/time/clock.h"

namespace forebay {
namespace {

class SystemClock final : public Clock {
public:
  absl::Time wallNow() const override { return absl::Now(); }

  MonotonicTime monotonicNow() const override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return MonotonicTime::fromOrigin(absl::DurationFromTimespec(now));
  }
};

}  // namespace

const Clock& systemClock() {
  static const SystemClock* const clock = new SystemClock;
  return *clock;
}

}  // namespace forebay
