#include "source/config/config_text.h"

#include "gtest/gtest.h"
#include "source/config/closest.h"
#include "source/config/config_errors.h"

namespace forebay {
namespace {

TEST(ConfigTextTest, ReadsSeconds) {
  EXPECT_EQ(parseSeconds("30s"), absl::Seconds(30));
  EXPECT_EQ(parseSeconds("0.5s"), absl::Milliseconds(500));
  EXPECT_EQ(parseSeconds("0.000000001s"), absl::Nanoseconds(1));
  EXPECT_EQ(parseSeconds("1.25s"), absl::Milliseconds(1250));
  EXPECT_EQ(parseSeconds("-1.5s"), absl::Milliseconds(-1500));
  EXPECT_EQ(parseSeconds("315576000000s"), absl::Seconds(315'576'000'000));
}

TEST(ConfigTextTest, RefusesOtherText) {
  for (const char* text : {"",
                           "s",
                           "30",
                           "30S",
                           "30 s",
                           " 30s",
                           "30s ",
                           "+30s",
                           "--1s",
                           ".5s",
                           "5.s",
                           "1.s",
                           "1e3s",
                           "0x10s",
                           "1,5s",
                           "0.0000000001s",
                           "5m",
                           "1h",
                           "500ms",
                           "infs",
                           "315576000001s",
                           "99999999999999999999s",
                           "1.-5s",
                           "1.2.3s"}) {
    EXPECT_EQ(parseSeconds(text), std::nullopt) << text;
  }
}

TEST(ConfigTextTest, WritesSecondsThatReadBack) {
  EXPECT_EQ(secondsText(absl::Hours(1)), "3600s");
  EXPECT_EQ(secondsText(absl::Milliseconds(1250)), "1.25s");
  EXPECT_EQ(secondsText(absl::Nanoseconds(1)), "0.000000001s");
  EXPECT_EQ(secondsText(absl::ZeroDuration()), "0s");
  EXPECT_EQ(secondsText(absl::Milliseconds(-1500)), "-1.5s");
}

TEST(ConfigTextTest, WritesNumbersReadably) {
  EXPECT_EQ(numberText(10737418240.0), "10737418240");
  EXPECT_EQ(numberText(0.2), "0.2");
  EXPECT_EQ(numberText(-3), "-3");
}

TEST(ClosestTest, KnowsWhatWasMeant) {
  const std::vector<std::string_view> names = {"attempts_max", "give_up_after", "name", "as"};
  EXPECT_EQ(closest("attemptsMax", names), "attempts_max");
  EXPECT_EQ(closest("attempt_max", names), "attempts_max");
  EXPECT_EQ(closest("giveup-after", names), "give_up_after");
  EXPECT_EQ(closest("nmae", names), "name");
  EXPECT_EQ(closest("max_attempts", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), names), "");
}

TEST(ConfigErrorsTest, WhatIsBelowAMistakeIsNotClean) {
  ConfigErrors errors;
  EXPECT_TRUE(errors.status().ok());
  errors.add("upstreams[1].retry", "is wrong");
  EXPECT_FALSE(errors.isClean("upstreams[1].retry"));
  EXPECT_FALSE(errors.isClean("upstreams[1].retry.schedule.delays[3]"));
  EXPECT_TRUE(errors.isClean("upstreams[1]"));
  EXPECT_TRUE(errors.isClean("upstreams[10].retry"));
  EXPECT_TRUE(errors.isClean("upstreams[1].retrying"));
  EXPECT_FALSE(errors.isCleanThroughout("upstreams"));
  EXPECT_FALSE(errors.isCleanThroughout("upstreams[1]"));
  EXPECT_TRUE(errors.isCleanThroughout("upstreams[1].ret"));
  EXPECT_TRUE(errors.isCleanThroughout("upstreams[1].retry_later"));
  errors.addGeneral("store", "has a flaw");
  EXPECT_TRUE(errors.isClean("store.path"));
  errors.excuse("store.path");
  EXPECT_FALSE(errors.isClean("store.path"));
  EXPECT_EQ(errors.status().message(), "upstreams[1].retry: is wrong\nstore: has a flaw");
  errors.add("", "is hopeless");
  EXPECT_FALSE(errors.isClean("store"));
}

}  // namespace
}  // namespace forebay
