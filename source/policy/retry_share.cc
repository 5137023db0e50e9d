#include "source/policy/retry_share.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

constexpr double kHair = 1e-9;

}  // namespace

size_t RetryShare::allowance(size_t attempts) const {
  return static_cast<size_t>(std::floor(carry_ + share_ * static_cast<double>(attempts) + kHair));
}

void RetryShare::onStarted(size_t firsts, size_t retries) {
  const double earned = share_ * static_cast<double>(firsts + retries);
  carry_ = std::clamp(carry_ + earned - static_cast<double>(retries), 0.0, 1 - kHair);
}

}  // namespace forebay
