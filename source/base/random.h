#pragma once

#include <cstdint>

namespace forebay {

// The only source of chance: jitter and the random part of ids. Not for secrets. Each instance
// belongs to one thread.
class Random {
public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

// SplitMix64: small, fast, and the same sequence from the same seed on every machine.
class SeededRandom final : public Random {
public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override;

private:
  uint64_t state_;
};

// A seed from the operating system.
uint64_t randomSeed();

}  // namespace forebay
