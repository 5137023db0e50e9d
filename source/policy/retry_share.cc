#include "source/policy/retry_share.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

constexpr int64_t kOne = 1'000'000;

}  // namespace

RetryShare::RetryShare(double share_max_percent)
    : share_(std::llround(std::clamp(share_max_percent, 0.0, 100.0) / 100 * kOne)) {}

size_t RetryShare::allowance(size_t attempts) const {
  return static_cast<size_t>((carry_ + share_ * static_cast<int64_t>(attempts)) / kOne);
}

void RetryShare::onStarted(size_t firsts, size_t retries) {
  const int64_t earned = share_ * static_cast<int64_t>(firsts + retries);
  carry_ = std::clamp<int64_t>(carry_ + earned - kOne * static_cast<int64_t>(retries), 0, kOne - 1);
}

}  // namespace forebay
