#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "source/base/random.h"

namespace forebay {

// The seed of a random test: new in every run, so that runs explore, and printed, so that
//   ci/bazel test --test_env=FOREBAY_TEST_SEED=… //test/…
// repeats the one that failed.
inline uint64_t testSeed() {
  const char* const given = std::getenv("FOREBAY_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : randomSeed();
  std::cout << "FOREBAY_TEST_SEED=" << seed << std::endl;
  return seed;
}

// Always the same draw: the ends of what chance can do.
class StuckRandom final : public Random {
public:
  explicit StuckRandom(uint64_t value) : value_(value) {}
  static StuckRandom lowest() { return StuckRandom(0); }
  static StuckRandom highest() { return StuckRandom(~uint64_t{0}); }

  uint64_t next() override { return value_; }

private:
  uint64_t value_;
};

}  // namespace forebay
