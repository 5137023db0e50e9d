#include "source/admin/time_text.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1772366400);  // 2026-03-01T12:00:00Z

TEST(TimeTextTest, FormatsUtcWithMicroseconds) {
  EXPECT_EQ(formatTime(kNow), "2026-03-01T12:00:00.000000Z");
  EXPECT_EQ(formatTimeUs(1772366400000678), "2026-03-01T12:00:00.000678Z");
}

TEST(TimeTextTest, ReadsBothForms) {
  const std::pair<std::string_view, absl::Time> cases[] = {
      {"-2h", kNow - absl::Hours(2)},
      {"-30m", kNow - absl::Minutes(30)},
      {"-1h30m", kNow - absl::Minutes(90)},
      {"-45s", kNow - absl::Seconds(45)},
      {"-7d", kNow - absl::Hours(168)},
      {"-1d2h3m4s", kNow - absl::Hours(26) - absl::Minutes(3) - absl::Seconds(4)},
      {"-0s", kNow},
      {"2026-03-01T12:00:00Z", kNow},
      {"2026-03-01t12:00:00z", kNow},
      {"2026-03-01T13:00:00+01:00", kNow},
      {"2026-03-01T04:30:00-07:30", kNow},
      {"2026-03-01T12:00:00.000678Z", kNow + absl::Microseconds(678)},
      {"2024-02-29T00:00:00Z", absl::FromUnixSeconds(1709164800)},
  };
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<absl::Time> time = parseTime(text, kNow);
    ASSERT_TRUE(time.ok()) << text << ": " << time.status();
    EXPECT_EQ(*time, expected) << text;
  }
}

TEST(TimeTextTest, RefusesTheRestAndNamesIt) {
  const std::string_view cases[] = {
      "",
      "-",
      "now",
      "2h",
      "+2h",
      "-2",
      "-h",
      "-2x",
      "-2H",
      "-30m1h",
      "-1h1h",
      "- 2h",
      "-2h ",
      "--2h",
      "-1.5h",
      "-9999999999h",
      "-2h30",
      "2026-03-01",
      "2026-03-01T12:00:00",
      "2026-03-01 12:00:00Z",
      "2026-02-30T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-03-01T25:00:00Z",
      "2026-03-01T12:61:00Z",
      "2026-03-01T12:00:00.Z",
      "2026-03-01T12:00:00+25:00",
      "2026-03-01T12:00:00+0100",
      "20260301T120000Z",
      "12026-03-01T12:00:00Z",
      " 2026-03-01T12:00:00Z",
      "2026-03-01T12:00:00Z ",
      "infinite-future",
      "infinite-past",
      "1772366400",
  };
  for (const std::string_view text : cases) {
    const absl::StatusOr<absl::Time> time = parseTime(text, kNow);
    EXPECT_FALSE(time.ok()) << text;
    EXPECT_NE(time.status().message().find(std::string("\"") + std::string(text) + "\""),
              absl::string_view::npos)
        << time.status();
  }
}

}  // namespace
}  // namespace forebay
