#include "source/base/random.h"

#include <array>
#include <set>

#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

// The sequence is SplitMix64's, as its authors publish it, so that a seed means the same anywhere.
TEST(SeededRandomTest, IsSplitMix64) {
  SeededRandom random(1234567);
  for (const uint64_t expected : {uint64_t{6457827717110365317u}, uint64_t{3203168211198807973u},
                                  uint64_t{9817491932198370423u}, uint64_t{4593380528125082431u},
                                  uint64_t{16408922859458223821u}}) {
    EXPECT_EQ(random.next(), expected);
  }
}

// Two instances with one seed agree for ever, and with two seeds do not.
TEST(SeededRandomTest, TheSeedDecides) {
  const uint64_t seed = testSeed();
  SeededRandom a(seed);
  SeededRandom b(seed);
  SeededRandom other(seed + 1);
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    same += value == other.next() ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

// unit() reaches zero and never reaches one, whatever the 64 bits are.
TEST(RandomTest, UnitIsHalfOpen) {
  StuckRandom lowest = StuckRandom::lowest();
  StuckRandom highest = StuckRandom::highest();
  EXPECT_EQ(lowest.unit(), 0.0);
  EXPECT_LT(highest.unit(), 1.0);
  EXPECT_GT(highest.unit(), 1.0 - 1e-15);
}

// unit() is uniform: each tenth holds a tenth of the draws, within six standard deviations.
TEST(RandomTest, UnitIsUniform) {
  SeededRandom random(testSeed());
  constexpr int kDraws = 100'000;
  std::array<int, 10> tenths{};
  for (int i = 0; i < kDraws; ++i) {
    ++tenths[static_cast<size_t>(random.unit() * 10)];
  }
  for (const int count : tenths) {
    EXPECT_NEAR(count, kDraws / 10, 6 * 95);
  }
}

// Seeds of the operating system differ from call to call.
TEST(RandomSeedTest, Differs) {
  std::set<uint64_t> seeds;
  for (int i = 0; i < 100; ++i) {
    seeds.insert(randomSeed());
  }
  EXPECT_EQ(seeds.size(), 100u);
}

}  // namespace
}  // namespace forebay
