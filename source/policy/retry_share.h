#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

// Holds retries to a share of a lane's attempts while first attempts wait: over any run of
// attempts that were chosen while first attempts waited, at most the share of them, and one more,
// are retries. Where none waits, retries are free. Pure; belongs to one thread.
class RetryShare {
public:
  // From 0, none while a first attempt waits, to 100, no limit; counted in millionths.
  explicit RetryShare(double share_max_percent);

  // Of the next `attempts`, how many may be retries as long as first attempts are due.
  size_t allowance(size_t attempts) const;
  // What was started. More retries than allowed means that no first attempt was due.
  void onStarted(size_t firsts, size_t retries);

private:
  // In millionths of an attempt, since whole numbers add up exactly.
  const int64_t share_;
  int64_t carry_ = 0;  // of an allowance not used up: less than one attempt
};

}  // namespace forebay
