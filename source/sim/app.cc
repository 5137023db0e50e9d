#include "source/sim/app.h"

#include <algorithm>

namespace forebay::sim {
namespace {

// How much work an app that refuses beyond its capacity takes on before it refuses.
constexpr absl::Duration kQueueMax = absl::Seconds(1);
// What it takes to learn that nobody listens.
constexpr absl::Duration kRefusedAfter = absl::Milliseconds(1);

const Phase kWell{};

bool isDown(const Behaviour::Flapping& flapping, absl::Duration into_phase) {
  const absl::Duration period = flapping.up + flapping.down;
  return period > absl::ZeroDuration() && into_phase % period >= flapping.up;
}

App::Answer failure(OutcomeKind kind, std::string_view error, absl::Duration after) {
  App::Answer answer;
  answer.outcome.kind = kind;
  answer.outcome.error = std::string(error);
  answer.after = after;
  return answer;
}

App::Answer status(uint32_t status, const Behaviour& behaviour, absl::Duration after) {
  App::Answer answer;
  answer.outcome.kind = OutcomeKind::Answered;
  answer.outcome.status = status;
  answer.after = after;
  if (status < 200 || status > 299) {
    answer.outcome.directive = behaviour.directive;
    if (!behaviour.retry_after.empty()) {
      answer.outcome.retry_after = behaviour.retry_after;
    }
  }
  return answer;
}

}  // namespace

const Phase& App::phaseAt(absl::Duration at) {
  while (phase_ < script_.phases.size() && script_.phases[phase_].from <= at) {
    ++phase_;
  }
  return phase_ == 0 ? kWell : script_.phases[phase_ - 1];
}

std::optional<absl::Duration> App::waitFor(const Phase& phase, absl::Duration at) {
  if (!phase.behaviour.capacity.has_value()) {
    return absl::ZeroDuration();
  }
  const Behaviour::Capacity& capacity = *phase.behaviour.capacity;
  const double per_second = std::max(
      capacity.per_second + capacity.growth_per_second * absl::ToDoubleSeconds(at - phase.from),
      1e-3);
  const absl::Duration wait = std::max(busy_until_ - at, absl::ZeroDuration());
  if (capacity.refuses_beyond && wait > kQueueMax) {
    return std::nullopt;
  }
  busy_until_ = at + wait + absl::Seconds(1 / per_second);
  return wait;
}

App::Answer App::answer(absl::Duration at, absl::Duration timeout, Random& random) {
  const Phase& phase = phaseAt(at);
  const Behaviour& behaviour = phase.behaviour;
  if (behaviour.flapping.has_value() && isDown(*behaviour.flapping, at - phase.from)) {
    return failure(OutcomeKind::ConnectFailed, "refused", kRefusedAfter);
  }
  absl::Duration latency = behaviour.latency + behaviour.latency_spread * random.unit();
  const bool is_error = behaviour.error_ratio > 0 && random.unit() < behaviour.error_ratio;
  Answer answer;
  switch (behaviour.kind) {
    case Behaviour::Kind::Refuses:
      return failure(OutcomeKind::ConnectFailed, "refused", kRefusedAfter);
    case Behaviour::Kind::NoHost:
      return failure(OutcomeKind::NoHealthyUpstream, "no healthy upstream", absl::ZeroDuration());
    case Behaviour::Kind::OwnError:
      return failure(OutcomeKind::OwnError, "scripted", absl::ZeroDuration());
    case Behaviour::Kind::Resets:
      answer = failure(OutcomeKind::Reset, "reset", latency);
      break;
    case Behaviour::Kind::Hangs:
      answer.after = absl::InfiniteDuration();
      break;
    case Behaviour::Kind::Answers: {
      const std::optional<absl::Duration> wait = waitFor(phase, at);
      answer = wait.has_value() ? status(is_error ? behaviour.error_status : behaviour.status,
                                         behaviour, latency + *wait)
                                : status(503, behaviour, kRefusedAfter);
      break;
    }
  }
  if (answer.after >= timeout) {
    return failure(OutcomeKind::Timeout, "timeout", timeout);
  }
  return answer;
}

}  // namespace forebay::sim
