#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "source/config/config.h"
#include "source/delivery/lane_control.h"
#include "source/event/event_id.h"
#include "source/policy/outcome.h"

namespace forebay::sim {

// Both clocks at one moment of a simulation.
struct Moment {
  absl::Duration at;
  absl::Time wall;
};

// What an outcome means, said once more and apart from the code under test.
enum class Meaning { Success, Permanent, Retry, RetryNotFound, NoAttempt };
Meaning meaningOf(const Outcome& outcome);

// A lane as it should be: a second, slower and plainer account of breaker, rate, ramp and pause.
class LaneModel {
public:
  explicit LaneModel(const UpstreamConfig& config) : config_(config) {}

  // What is wrong with an attempt that starts now; empty when nothing is.
  std::string onStart(const EventId& id, const Moment& now);
  void onOutcome(const EventId& id, const Outcome& outcome, const Moment& now);
  // It is under way no more, and nobody knows how it went.
  void onDown();
  void onUp(const Moment& now);
  void onClockStep() { stepped_ = true; }
  void pause() { paused_ = true; }
  void resume(const Moment& now);

  // What is wrong with what the lane shows after a turn; empty when nothing is. Follows the lane
  // where the model does not decide: a breaker that opened for a share of failures.
  std::string compare(const LaneStatus& status, const Moment& now);
  // Since when an attempt could start, if one was due; none when it could not, or when it is not
  // for the model to say (a rate, a ramp).
  bool isFree(const LaneStatus& status, const Moment& now) const;
  // How long at most a due event may wait for nothing but time.
  absl::Duration patience() const;

  const UpstreamConfig& config() const { return config_; }
  bool paused() const { return paused_; }
  bool probes() const { return open_; }
  uint32_t inFlight() const { return in_flight_; }

private:
  void open(absl::Duration open_for, const Moment& now);
  std::string checkBreaker(const EventId& id, const Moment& now);
  std::string checkPace(const Moment& now);

  const UpstreamConfig config_;
  uint32_t in_flight_ = 0;
  bool paused_ = false;
  uint32_t permanent_in_a_row_ = 0;
  bool open_ = false;
  std::optional<EventId> probe_;
  uint32_t failures_in_a_row_ = 0;
  absl::Duration open_for_;
  absl::Duration probe_at_;
  absl::Time probe_at_wall_;
  std::optional<absl::Duration> ramp_from_;
  std::deque<absl::Duration> starts_;  // the latest, as many as the rate limit allows
  std::optional<absl::Duration> own_error_at_;
  bool stepped_ = false;  // the wall, since the breaker opened or the ramp began
};

}  // namespace forebay::sim
