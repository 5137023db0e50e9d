#include "source/base/random.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace forebay {

uint64_t SeededRandom::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t randomSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed)) {
    return seed;
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_nsec) ^ (static_cast<uint64_t>(getpid()) << 32);
}

}  // namespace forebay
