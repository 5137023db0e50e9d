#pragma once

#include <cstddef>
#include <optional>

#include "source/base/clock.h"
#include "source/config/config.h"
#include "source/policy/pacer.h"
#include "source/policy/ramp.h"
#include "source/policy/rate_limit.h"

namespace forebay {

// How fast a healthy lane may go: concurrency, rate limit, and the ramp that holds both down for a
// while. Belongs to one thread.
class Pace {
public:
  explicit Pace(const UpstreamConfig& config);

  // How many attempts may start now beside `in_flight` others.
  size_t room(size_t in_flight, MonotonicTime now) const;
  // When room() may grow by itself; infinite if only the end of an attempt can do it.
  MonotonicTime roomAt(size_t in_flight, MonotonicTime now) const;
  void onStarted(MonotonicTime now);

  Ramp& ramp() { return ramp_; }
  const Ramp& ramp() const { return ramp_; }

private:
  const uint32_t concurrency_max_;
  Ramp ramp_;
  std::optional<RateLimit> rate_limit_;
  Pacer ramp_pacer_;  // of a ramp without a rate limit
};

}  // namespace forebay
