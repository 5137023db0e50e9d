#include "test/sim/lane_model.h"

#include <algorithm>

#include "source/base/limits.h"
#include "source/base/strings.h"

namespace forebay::sim {
namespace {

// What is written down is written in whole microseconds, and anew after each restart.
constexpr absl::Duration kRounding = absl::Microseconds(20);

}  // namespace

Meaning meaningOf(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::ConnectFailed:
    case OutcomeKind::Reset:
    case OutcomeKind::Timeout:
    case OutcomeKind::NoHealthyUpstream:
      return Meaning::Retry;
    case OutcomeKind::Answered:
      break;
    default:
      return Meaning::NoAttempt;
  }
  const uint32_t status = outcome.status;
  if (status >= 200 && status < 300) {
    return Meaning::Success;
  }
  if (status == 404) {
    return Meaning::RetryNotFound;
  }
  const bool retry = status == 408 || status == 425 || status == 429 ||
                     (status >= 500 && status < 600 && status != 501 && status != 505);
  return retry ? Meaning::Retry : Meaning::Permanent;
}

std::string LaneModel::onStart(const EventId& id, const Moment& now) {
  if (paused_) {
    return "sent while the lane is paused";
  }
  if (in_flight_ >= config_.concurrency_max) {
    return cat("attempt ", in_flight_ + 1, " at once; concurrency_max is ",
               config_.concurrency_max);
  }
  std::string wrong = checkBreaker(id, now);
  if (wrong.empty()) {
    wrong = checkPace(now);
  }
  ++in_flight_;
  return wrong;
}

std::string LaneModel::checkBreaker(const EventId& id, const Moment& now) {
  if (!open_) {
    return "";
  }
  if (now.at + kRounding < probe_at_) {
    return cat("sent ", absl::FormatDuration(probe_at_ - now.at),
               " before the open breaker's probe");
  }
  if (probe_.has_value()) {
    return "sent beside the probe of an open breaker";
  }
  probe_ = id;
  return "";
}

std::string LaneModel::checkPace(const Moment& now) {
  if (ramp_from_.has_value() && now.at - *ramp_from_ < config_.ramp) {
    const double position = absl::FDivDuration(now.at - *ramp_from_ + kRounding, config_.ramp);
    const double slots = 1 + position * (config_.concurrency_max - 1);
    if (in_flight_ + 1 > slots + 1e-6) {
      return cat("attempt ", in_flight_ + 1, " at once, ",
                 absl::FormatDuration(now.at - *ramp_from_), " into a ramp that allows ", slots);
    }
  }
  if (config_.rate_limit.has_value()) {
    if (starts_.size() == config_.rate_limit->events) {
      if (now.at - starts_.front() < config_.rate_limit->per) {
        return cat(starts_.size() + 1, " attempts within ",
                   absl::FormatDuration(now.at - starts_.front()));
      }
      starts_.pop_front();
    }
    starts_.push_back(now.at);
  }
  return "";
}

void LaneModel::onOutcome(const EventId& id, const Outcome& outcome, const Moment& now) {
  --in_flight_;
  const Meaning meaning = meaningOf(outcome);
  if (meaning == Meaning::NoAttempt) {
    own_error_at_ = now.at;
  } else {
    permanent_in_a_row_ = meaning == Meaning::Permanent ? permanent_in_a_row_ + 1 : 0;
    const uint32_t max = config_.pause_after_permanent_failures;
    paused_ |= outcome.directive == Directive::Disable || (max > 0 && permanent_in_a_row_ == max);
  }
  const bool is_probe = probe_ == id;
  if (is_probe) {
    probe_.reset();
  } else if (open_) {
    return;
  }
  switch (meaning) {
    case Meaning::NoAttempt:
      break;
    case Meaning::Success:
    case Meaning::Permanent:
      failures_in_a_row_ = 0;
      if (is_probe) {
        open_ = false;
        ramp_from_ = now.at;
        stepped_ = false;
      }
      break;
    case Meaning::Retry:
    case Meaning::RetryNotFound:
      if (is_probe) {
        open(open_for_ * config_.breaker.open_multiplier, now);
      } else if (++failures_in_a_row_ >= config_.breaker.consecutive_failures) {
        open(config_.breaker.open_initial, now);
      }
      break;
  }
}

void LaneModel::open(absl::Duration open_for, const Moment& now) {
  open_ = true;
  open_for_ = std::min(open_for, config_.breaker.open_max);
  probe_at_ = now.at + open_for_;
  probe_at_wall_ = now.wall + open_for_;
  stepped_ = false;
}

void LaneModel::onDown() {
  in_flight_ = 0;
  probe_.reset();
  failures_in_a_row_ = 0;
  permanent_in_a_row_ = 0;
  own_error_at_.reset();
  // The latest starts are not written down; nor would they be worth it.
  starts_.clear();
}

void LaneModel::onUp(const Moment& now) {
  if (open_) {
    // Only the wall knows how long the process was away.
    // As it is written down: failed probes multiply what the rounding left of it.
    open_for_ = absl::Trunc(open_for_, absl::Microseconds(1));
    probe_at_ = now.at + std::clamp(probe_at_wall_ - now.wall, absl::ZeroDuration(), open_for_);
  }
  if (stepped_) {
    ramp_from_.reset();
  }
}

void LaneModel::resume(const Moment& now) {
  if (paused_) {
    ramp_from_ = now.at;
    permanent_in_a_row_ = 0;
  }
  paused_ = false;
}

std::string LaneModel::compare(const LaneStatus& status, const Moment& now) {
  if (status.in_flight != in_flight_) {
    return cat("shows ", status.in_flight, " in flight; there are ", in_flight_);
  }
  if (status.paused != paused_) {
    return cat("shows paused ", status.paused, "; it is ", paused_);
  }
  const bool shown_open = status.breaker != BreakerState::Closed;
  if (shown_open && !open_ && config_.breaker.failure_rate.has_value()) {
    open(config_.breaker.open_initial, now);
  }
  if (shown_open != open_) {
    return cat("shows a breaker that is ", breakerStateName(status.breaker), "; it is ",
               open_ ? "open" : "closed");
  }
  return "";
}

bool LaneModel::isFree(const LaneStatus& status, const Moment& now) const {
  const bool blocked =
      own_error_at_.has_value() && now.at < *own_error_at_ + limits::kOwnErrorBackoffMax;
  return !paused_ && !open_ && !blocked && in_flight_ < config_.concurrency_max &&
         !config_.rate_limit.has_value() && status.ramp_percent == 100;
}

absl::Duration LaneModel::patience() const {
  absl::Duration patience = config_.breaker.open_max + config_.ramp + limits::kOwnErrorBackoffMax;
  if (config_.rate_limit.has_value()) {
    patience += config_.rate_limit->per * 2;
  }
  return patience + absl::Seconds(1);
}

}  // namespace forebay::sim
