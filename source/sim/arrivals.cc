#include "source/sim/arrivals.h"

#include <cmath>

namespace forebay::sim {

std::optional<Arrivals::Next> Arrivals::next(Random& random) {
  if (script_.per_second <= 0) {
    return std::nullopt;
  }
  Next next;
  switch (script_.kind) {
    case ArrivalScript::Kind::Constant:
      // From the number, not from the one before: no error adds up over a day.
      at_ = absl::Seconds(static_cast<double>(made_) / script_.per_second);
      break;
    case ArrivalScript::Kind::Poisson:
      at_ += absl::Seconds(-std::log(1 - random.unit()) / script_.per_second);
      break;
    case ArrivalScript::Kind::Bursts:
      next.count = script_.burst;
      at_ = absl::Seconds(static_cast<double>(made_) / script_.per_second);
      break;
  }
  made_ += next.count;
  next.at = script_.from + at_;
  return next.at < script_.until && next.count > 0 ? std::optional<Next>(next) : std::nullopt;
}

}  // namespace forebay::sim
