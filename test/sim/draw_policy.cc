#include "test/sim/draw_policy.h"

namespace forebay::sim {
namespace {

using Upstream = v1::BootstrapConfig::Upstream;

void setSeconds(google::protobuf::Duration& duration, double seconds) {
  const auto milliseconds = static_cast<int64_t>(seconds * 1000);
  duration.set_seconds(milliseconds / 1000);
  duration.set_nanos(static_cast<int32_t>(milliseconds % 1000) * 1'000'000);
}

void drawBackoff(Upstream::Retry& retry, Draw& draw) {
  const double initial = draw.scaled(0.1, 60);
  const double max = draw.scaled(initial * 1.5, 7200);
  switch (draw.whole(0, 3)) {
    case 0:
      setSeconds(*retry.mutable_exponential()->mutable_initial(), initial);
      retry.mutable_exponential()->set_multiplier(draw.number(1, 4));
      setSeconds(*retry.mutable_exponential()->mutable_max(), max);
      break;
    case 1:
      for (uint32_t i = draw.whole(1, 6); i > 0; --i) {
        setSeconds(*retry.mutable_schedule()->add_delays(), draw.scaled(0.1, 3600));
      }
      if (draw.chance(0.5)) {
        retry.mutable_schedule()->mutable_delays(0)->Clear();
        setSeconds(*retry.mutable_schedule()->add_delays(), draw.scaled(0.1, 3600));
      }
      break;
    case 2:
      setSeconds(*retry.mutable_linear()->mutable_initial(), initial);
      setSeconds(*retry.mutable_linear()->mutable_step(), draw.scaled(0.1, 600));
      setSeconds(*retry.mutable_linear()->mutable_max(), max);
      break;
    default:
      setSeconds(*retry.mutable_fixed()->mutable_interval(), initial);
      break;
  }
}

void drawRetry(Upstream::Retry& retry, Draw& draw) {
  if (retry.backoff_case() == Upstream::Retry::BACKOFF_NOT_SET) {
    drawBackoff(retry, draw);
  }
  if (!retry.has_jitter()) {
    auto kind = static_cast<Upstream::Retry::Jitter::Kind>(draw.whole(0, 4));
    // Decorrelated jitter needs waits of different lengths.
    if (kind == Upstream::Retry::Jitter::DECORRELATED &&
        (retry.has_fixed() || retry.has_schedule())) {
      kind = Upstream::Retry::Jitter::FULL;
    }
    retry.mutable_jitter()->set_kind(kind);
  }
  if (!retry.has_share_max_percent()) {
    retry.set_share_max_percent(draw.number(0, 100));
  }
  if (!retry.has_attempts_max()) {
    retry.set_attempts_max(draw.whole(1, 40));
  }
  if (!retry.has_give_up_after()) {
    // Short ones too, so that many events meet their deadline; but longer than the first wait.
    const double least = retry.has_schedule() ? 7200 : 120;
    setSeconds(*retry.mutable_give_up_after(), draw.scaled(least, 72 * 3600));
  }
}

void drawBreaker(Upstream::CircuitBreaker& breaker, Draw& draw) {
  if (!breaker.has_consecutive_failures()) {
    breaker.set_consecutive_failures(draw.whole(1, 30));
  }
  if (!breaker.has_open()) {
    const double initial = draw.scaled(0.1, 60);
    setSeconds(*breaker.mutable_open()->mutable_initial(), initial);
    breaker.mutable_open()->set_multiplier(draw.number(1, 4));
    setSeconds(*breaker.mutable_open()->mutable_max(), draw.scaled(initial, 1200));
  }
  if (!breaker.has_failure_rate() && draw.chance(0.3)) {
    breaker.mutable_failure_rate()->set_percent(draw.number(5, 100));
    setSeconds(*breaker.mutable_failure_rate()->mutable_window(), draw.scaled(1, 600));
    breaker.mutable_failure_rate()->set_requests_min(draw.whole(1, 50));
  }
  if (!breaker.has_ramp()) {
    setSeconds(*breaker.mutable_ramp(), draw.chance(0.2) ? 0 : draw.scaled(1, 600));
  }
}

}  // namespace

void drawPolicy(Upstream& upstream, Draw& draw) {
  if (!upstream.has_timeout()) {
    setSeconds(*upstream.mutable_timeout(), draw.scaled(0.5, 60));
  }
  if (!upstream.has_concurrency_max()) {
    upstream.set_concurrency_max(draw.whole(1, 20));
  }
  drawRetry(*upstream.mutable_retry(), draw);
  drawBreaker(*upstream.mutable_circuit_breaker(), draw);
}

}  // namespace forebay::sim
