#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "source/base/clock.h"
#include "source/base/log.h"
#include "source/base/random.h"
#include "source/base/stats.h"
#include "source/config/config.h"
#include "source/delivery/attempt.h"
#include "source/delivery/pace.h"
#include "source/delivery/settler.h"
#include "source/delivery/transport.h"
#include "source/policy/circuit_breaker.h"
#include "source/policy/classifier.h"
#include "source/policy/retry_policy.h"
#include "source/policy/retry_share.h"
#include "source/policy/storm_meter.h"

namespace forebay {

// One upstream: what it has in flight, and whether another attempt may start. Decides; the
// forwarder acts. Lanes share nothing. Belongs to the forwarder's thread.
class Lane {
public:
  Lane(const UpstreamConfig& config, StatsSink& stats, Log& log);

  // How many attempts may start now.
  size_t room(MonotonicTime now) const;
  // When room() may grow by itself, without an outcome; infinite if only an outcome can do it.
  MonotonicTime roomAt(MonotonicTime now) const;
  // What to lease into this room.
  LeaseLimits leaseLimits(size_t room, MonotonicTime now) const;

  // Whether this event's deadline has passed, so that it must not be tried.
  bool isExpired(const LeasedEvent& leased, absl::Time now) const;
  OutgoingRequest start(LeasedEvent&& leased, uint64_t token, absl::Time wall_now,
                        MonotonicTime now);
  // What was started of one lease.
  void onStarted(size_t firsts, size_t retries) { retry_share_.onStarted(firsts, retries); }
  // What follows from an outcome. The attempt stays in flight until close(): only then is it
  // known to be on disk.
  Settlement finish(uint64_t token, const Outcome& outcome, absl::Time wall_now, MonotonicTime now,
                    Random& random);
  void close(uint64_t token) { in_flight_.erase(token); }

  // A lane that is resumed ramps.
  void setPaused(bool paused, MonotonicTime now);
  // Why the lane should be paused, if an outcome said so since the last call.
  std::optional<std::string> takePauseReason() { return std::exchange(pause_reason_, {}); }

  // What outlives a restart: breaker and ramp. Wall time in the record, since monotonic time does
  // not outlive one.
  void save(v1::LaneRecord& record, absl::Time wall_now, MonotonicTime now) const;
  void restore(const v1::LaneRecord& record, absl::Time wall_now, MonotonicTime now);
  // Whether save() would say something else than at the last call.
  bool takeChanged() { return std::exchange(changed_, false); }

  const UpstreamConfig& config() const { return config_; }
  const std::string& name() const { return config_.name; }
  const CircuitBreaker& breaker() const { return breaker_; }
  const StormMeter& stormMeter() const { return storm_meter_; }
  const Pace& pace() const { return pace_; }
  size_t inFlight() const { return in_flight_.size(); }

private:
  struct InFlight {
    FinishedAttempt attempt;
    MonotonicTime started;
    bool is_probe = false;
  };

  Settlement postpone(const InFlight& in_flight, const Outcome& outcome, absl::Time wall_now,
                      MonotonicTime now);
  void moveBreaker(const InFlight& in_flight, Verdict verdict, MonotonicTime now);
  void considerPause(const Outcome& outcome, Verdict verdict);

  const UpstreamConfig config_;
  const Classifier classifier_;
  const RetryPolicy policy_;
  StatsSink& stats_;
  Log& log_;
  CircuitBreaker breaker_;
  Pace pace_;
  RetryShare retry_share_;
  StormMeter storm_meter_;
  absl::flat_hash_map<uint64_t, InFlight> in_flight_;
  bool paused_ = false;
  uint32_t permanent_in_a_row_ = 0;
  std::optional<std::string> pause_reason_;
  bool changed_ = false;
  // After an error of our own the lane waits, longer each time, until something gets through.
  absl::Duration own_error_backoff_;
  MonotonicTime blocked_until_;
};

}  // namespace forebay
