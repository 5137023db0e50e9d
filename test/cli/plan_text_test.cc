#include "source/cli/plan_text.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(PlanTextTest, ReadsRates) {
  EXPECT_EQ(parseRate("50/s").value(), 50);
  EXPECT_EQ(parseRate("3000/min").value(), 50);
  EXPECT_EQ(parseRate("36/h").value(), 0.01);
  EXPECT_EQ(parseRate("0.5/s").value(), 0.5);
  for (const std::string_view wrong :
       {"", "50", "50/", "/s", "50/m", "50/S", "50/s/s", "-1/s", "0/s", "nan/s", "inf/s", "1e999/s",
        "fast", "50 per second"}) {
    EXPECT_FALSE(parseRate(wrong).ok()) << wrong;
  }
  EXPECT_EQ(parseRate("fast\x1b").status().message(),
            "\"fast\\x1b\": wants a rate such as 50/s, 3000/min or 100/h");
}

TEST(PlanTextTest, ReadsSpans) {
  EXPECT_EQ(parseSpan("2h").value(), absl::Hours(2));
  EXPECT_EQ(parseSpan("90s").value(), absl::Seconds(90));
  EXPECT_EQ(parseSpan("1h30m").value(), absl::Minutes(90));
  EXPECT_EQ(parseSpan("50ms").value(), absl::Milliseconds(50));
  EXPECT_EQ(parseSpan("0").value(), absl::ZeroDuration());
  for (const std::string_view wrong : {"", "2", "2d", "-1h", "inf", "-inf", "h", "2 h", "soon"}) {
    EXPECT_FALSE(parseSpan(wrong).ok()) << wrong;
  }
}

// Two units at most, and what is rounded up goes on to the next unit.
TEST(PlanTextTest, WritesSpans) {
  const std::pair<absl::Duration, std::string> cases[] = {
      {absl::ZeroDuration(), "0 s"},
      {absl::Milliseconds(350), "350 ms"},
      {absl::Milliseconds(1500), "1.5 s"},
      {absl::Seconds(9), "9 s"},
      {absl::Milliseconds(59'900), "1 min"},
      {absl::Seconds(298), "4 min 58 s"},
      {absl::Seconds(3599), "59 min 59 s"},
      {absl::Minutes(60), "1 h"},
      {absl::Seconds(3600 + 72 * 60 + 29), "2 h 12 min"},
      {absl::Seconds(2 * 3600 - 1), "2 h"},
      {absl::Hours(24) - absl::Seconds(1), "24 h"},
      {absl::Hours(24), "1 d"},
      {absl::Hours(76), "3 d 4 h"},
  };
  for (const auto& [span, text] : cases) {
    EXPECT_EQ(spanText(span), text);
  }
}

TEST(PlanTextTest, WritesNumbers) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(1234567), "1,234,567");
  EXPECT_EQ(decimalText(0), "0");
  EXPECT_EQ(decimalText(0.0213), "0.02");
  EXPECT_EQ(decimalText(0.25), "0.3");
  EXPECT_EQ(decimalText(9.94), "9.9");
  EXPECT_EQ(decimalText(9.96), "10");
  EXPECT_EQ(decimalText(1234.5), "1,235");
}

TEST(PlanTextTest, WrapsAtBlanks) {
  EXPECT_EQ(wrapped("one two three\nfour\n", 7), "one two\nthree\nfour\n");
  EXPECT_EQ(wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrapped("unbreakable a", 4), "unbreakable\na");
  EXPECT_EQ(wrapped("", 80), "");
}

}  // namespace
}  // namespace forebay
