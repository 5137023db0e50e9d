#include "source/store/rocks/space_guard.h"

#include <fstream>

#include "source/store/rocks/high_water_mark.h"
#include "test/store/store_testing.h"

namespace forebay::rocks {
namespace {

using ::testing::HasSubstr;

// Refuses beyond the limit, and takes back the refusal only 5 % below it.
TEST(SpaceGuardTest, SizeLimitHasHysteresis) {
  SpaceGuard guard(1000, 0);
  EXPECT_EQ(guard.look({1000, 1}), "");
  EXPECT_THAT(guard.look({1001, 1}), HasSubstr("1001 bytes of 1000"));
  EXPECT_NE(guard.look({951, 1}), "");
  EXPECT_EQ(guard.look({950, 1}), "");
  EXPECT_EQ(guard.look({1000, 1}), "");
}

TEST(SpaceGuardTest, FreeDiskHasHysteresis) {
  SpaceGuard guard(1000, 100);
  EXPECT_EQ(guard.look({0, 100}), "");
  EXPECT_THAT(guard.look({0, 99}), HasSubstr("99 bytes are free"));
  EXPECT_NE(guard.look({0, 104}), "");
  EXPECT_EQ(guard.look({0, 105}), "");
}

TEST(SpaceGuardTest, MeasuresTheFilesOfADirectory) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/a") << std::string(1000, 'x');
  std::ofstream(directory.path() + "/b") << std::string(234, 'x');
  const absl::StatusOr<Space> space = measureSpace(directory.path());
  ASSERT_OK(space.status());
  EXPECT_EQ(space->store_bytes, 1234);
  EXPECT_GT(space->free_bytes, 0);
  EXPECT_FALSE(measureSpace(directory.path() + "/none").ok());
}

TEST(HighWaterMarkTest, ComesBack) {
  TemporaryDirectory directory;
  const HighWaterMark mark(directory.path());
  EXPECT_EQ(*mark.read(), std::nullopt);
  ASSERT_OK(mark.write(17));
  ASSERT_OK(mark.write(18446744073709551615u));
  EXPECT_EQ(*mark.read(), 18446744073709551615u);
}

// No change of a byte, no cut and no addition makes it say another number.
TEST(HighWaterMarkTest, DamageIsNoticed) {
  TemporaryDirectory directory;
  const HighWaterMark mark(directory.path());
  const std::string path = directory.path() + "/HIGH_WATER_MARK";
  ASSERT_OK(mark.write(1234567));
  std::string text;
  std::getline(std::ifstream(path), text, '\0');
  for (size_t i = 0; i <= text.size(); ++i) {
    std::string damaged = text.substr(0, i);
    if (i < text.size()) {
      std::ofstream(path) << damaged;
      EXPECT_TRUE(absl::IsDataLoss(mark.read().status())) << i;
      damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
    } else {
      damaged += "x";
    }
    std::ofstream(path) << damaged;
    EXPECT_TRUE(absl::IsDataLoss(mark.read().status())) << damaged;
  }
}

}  // namespace
}  // namespace forebay::rocks
