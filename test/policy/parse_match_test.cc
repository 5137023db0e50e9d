#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "source/policy/classifier.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

using testing::HasSubstr;

std::string errorOf(std::string_view match) {
  const absl::StatusOr<ClassifyRule> rule = parseMatch(match);
  if (rule.ok()) {
    return "accepted";
  }
  EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(rule.status().message());
}

void expectStatuses(std::string_view match, uint32_t min, uint32_t max) {
  const absl::StatusOr<ClassifyRule> rule = parseMatch(match);
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(rule->kind, OutcomeKind::Answered);
  EXPECT_EQ(rule->status_min, min);
  EXPECT_EQ(rule->status_max, max);
}

// A number is a status exactly when it is from 100 to 599, over all that have up to four digits.
TEST(ParseMatchTest, Statuses) {
  for (uint32_t number = 0; number <= 9999; ++number) {
    const std::string text = std::to_string(number);
    if (number >= 100 && number <= 599) {
      expectStatuses(text, number, number);
    } else {
      EXPECT_EQ(errorOf(text), "\"" + text + "\" is not a status from 100 to 599");
    }
  }
}

// A class covers its hundred.
TEST(ParseMatchTest, Classes) {
  expectStatuses("1xx", 100, 199);
  expectStatuses("2xx", 200, 299);
  expectStatuses("3xx", 300, 399);
  expectStatuses("4xx", 400, 499);
  expectStatuses("5xx", 500, 599);
  for (const char* const match : {"0xx", "6xx", "9xx"}) {
    EXPECT_THAT(errorOf(match), HasSubstr("is not a class of statuses: those are 1xx to 5xx"));
  }
}

// A range has both its ends, which may be the same and the extremes.
TEST(ParseMatchTest, Ranges) {
  expectStatuses("500-599", 500, 599);
  expectStatuses("404-404", 404, 404);
  expectStatuses("100-599", 100, 599);
}

// A reversed range is named as such, with what was probably meant.
TEST(ParseMatchTest, ReversedRange) {
  EXPECT_EQ(errorOf("599-500"), "\"599-500\" is reversed: write 500-599");
}

// Ends of a range that are no statuses are refused.
TEST(ParseMatchTest, BrokenRanges) {
  for (const char* const match : {"500-", "500-600", "99-200", "500-599-600", "500--599", "5xx-599",
                                  "500-5xx", "500 - 599", "500-+599", "0500-599", "500-99999"}) {
    EXPECT_THAT(errorOf(match), HasSubstr("both ends must be a status from 100 to 599")) << match;
  }
}

// The four words stand for their kinds of failure.
TEST(ParseMatchTest, Words) {
  EXPECT_EQ(parseMatch("connect")->kind, OutcomeKind::ConnectFailed);
  EXPECT_EQ(parseMatch("timeout")->kind, OutcomeKind::Timeout);
  EXPECT_EQ(parseMatch("reset")->kind, OutcomeKind::Reset);
  EXPECT_EQ(parseMatch("too_large")->kind, OutcomeKind::TooLarge);
  EXPECT_EQ(parseMatch("no_healthy_upstream")->kind, OutcomeKind::NoHealthyUpstream);
}

// Anything else is refused, our own errors' names too, and every allowed form is listed.
TEST(ParseMatchTest, UnknownWords) {
  for (const char* const match : {"",          " ",         "Connect",
                                  "5XX",       "xxx",       "5x",
                                  "5xxx",      "x5x",       "404 ",
                                  " 404",      "+404",      "-404",
                                  "4O4",       "40.4",      "cluster_missing",
                                  "own_error", "abandoned", "no-healthy-upstream",
                                  "-",         "*"}) {
    EXPECT_THAT(errorOf(match),
                HasSubstr("is not known: use a status (404), a range (500-599), a class (5xx), "
                          "connect, timeout, reset, too_large or no_healthy_upstream"))
        << match;
  }
}

// An error shows a hostile text escaped and cut.
TEST(ParseMatchTest, ErrorsAreSafeToPrint) {
  EXPECT_THAT(errorOf("a\nb"), HasSubstr("\"a\\nb\""));
  EXPECT_LT(errorOf(std::string(100'000, 'x')).size(), 300u);
  EXPECT_LT(errorOf(std::string(100'000, '7')).size(), 300u);
}

// Random text either gives a rule within 100 to 599 or an error; nothing else happens.
TEST(ParseMatchTest, RandomText) {
  SeededRandom random(testSeed());
  constexpr std::string_view kAlphabet = "0123456789x-5 c";
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (uint64_t left = random.next() % 9; left > 0; --left) {
      text += kAlphabet[random.next() % kAlphabet.size()];
    }
    const absl::StatusOr<ClassifyRule> rule = parseMatch(text);
    if (rule.ok()) {
      ASSERT_LE(100u, rule->status_min) << text;
      ASSERT_LE(rule->status_min, rule->status_max) << text;
      ASSERT_LE(rule->status_max, 599u) << text;
    } else {
      ASSERT_FALSE(rule.status().message().empty());
    }
  }
}

}  // namespace
}  // namespace forebay
