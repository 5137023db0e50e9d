#include "source/policy/outcome.h"

#include "gtest/gtest.h"

namespace forebay {
namespace {

std::string_view nameOfStatus(uint32_t status) {
  return outcomeName({.kind = OutcomeKind::Answered, .status = status});
}

// An answer is named by its class, over every status that HTTP has.
TEST(OutcomeNameTest, AnswersByClass) {
  constexpr std::string_view kClasses[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  for (uint32_t status = 100; status <= 599; ++status) {
    EXPECT_EQ(nameOfStatus(status), kClasses[status / 100]) << status;
  }
}

// Whatever number an app makes up, the metric's label stays one word.
TEST(OutcomeNameTest, OddStatusesShareOneName) {
  for (const uint32_t status : {0u, 1u, 99u, 600u, 999u, 65535u, 4294967295u}) {
    EXPECT_EQ(nameOfStatus(status), "other") << status;
  }
}

// What is no answer has the contract's word, whatever is left in `status`.
TEST(OutcomeNameTest, FailuresByKind) {
  constexpr struct {
    OutcomeKind kind;
    std::string_view name;
  } kExpected[] = {
      {OutcomeKind::ConnectFailed, "connect"},
      {OutcomeKind::Reset, "reset"},
      {OutcomeKind::Timeout, "timeout"},
      {OutcomeKind::TooLarge, "too_large"},
      {OutcomeKind::NoHealthyUpstream, "no_healthy_upstream"},
      {OutcomeKind::ClusterMissing, "cluster_missing"},
      {OutcomeKind::OwnError, "own_error"},
      {OutcomeKind::Abandoned, "abandoned"},
  };
  for (const auto& [kind, name] : kExpected) {
    EXPECT_EQ(outcomeName({.kind = kind}), name);
    EXPECT_EQ(outcomeName({.kind = kind, .status = 200}), name);
  }
}

// What never reached the app is no attempt; everything else is.
TEST(OutcomeTest, IsAttempt) {
  for (const OutcomeKind kind :
       {OutcomeKind::Answered, OutcomeKind::ConnectFailed, OutcomeKind::Reset, OutcomeKind::Timeout,
        OutcomeKind::NoHealthyUpstream}) {
    EXPECT_TRUE(Outcome{.kind = kind}.isAttempt());
  }
  for (const OutcomeKind kind :
       {OutcomeKind::ClusterMissing, OutcomeKind::OwnError, OutcomeKind::Abandoned}) {
    EXPECT_FALSE(Outcome{.kind = kind}.isAttempt());
  }
}

// An outcome that nobody filled in is our own error: it costs the event no attempt.
TEST(OutcomeTest, DefaultIsNoAttempt) { EXPECT_FALSE(Outcome{}.isAttempt()); }

// The two words, in any case and with blanks around them.
TEST(DirectiveTest, Words) {
  for (const char* const header : {"abort-message", "Abort-Message", " ABORT-MESSAGE\t"}) {
    EXPECT_EQ(parseDirective(header), Directive::AbortMessage) << header;
  }
  for (const char* const header : {"disable", "Disable", "\tdisable  "}) {
    EXPECT_EQ(parseDirective(header), Directive::Disable) << header;
  }
}

// Whatever else an app sends asks for nothing.
TEST(DirectiveTest, AllElseIsNone) {
  for (const std::string& header :
       {std::string(), std::string(" "), std::string("abort"), std::string("abort_message"),
        std::string("abort message"), std::string("disabled"), std::string("disable;"),
        std::string("disable, abort-message"), std::string("\"disable\""),
        std::string("disable\0", 8), std::string("\xff\xfe"), std::string(1 << 20, 'd')}) {
    EXPECT_EQ(parseDirective(header), Directive::None) << header.substr(0, 32);
  }
}

}  // namespace
}  // namespace forebay
