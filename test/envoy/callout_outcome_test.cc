#include "source/envoy/callout_outcome.h"

#include <gtest/gtest.h>

#include "source/base/limits.h"
#include "source/envoy/abi_types.h"

namespace forebay {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Outcome translate(const Headers& headers, const std::string& body,
                  FbCalloutResult result = FbCalloutSuccess,
                  absl::Duration elapsed = absl::Milliseconds(5)) {
  std::vector<FbHeader> abi;
  for (const auto& [name, value] : headers) {
    abi.push_back(toAbi(name, value));
  }
  const FbBuffer chunks[2] = {toAbi(std::string_view(body).substr(0, body.size() / 2)),
                              toAbi(std::string_view(body).substr(body.size() / 2))};
  return translateCallout(result, abi, chunks, elapsed, absl::Seconds(1));
}

const std::pair<std::string, std::string> kFromApp = {"x-envoy-upstream-service-time", "3"};

// An app's answer is its own, with what the operator will want to see of it.
TEST(CalloutOutcomeTest, AppAnswers) {
  const Outcome outcome =
      translate({{":status", "429"}, {"retry-after", "120"}, kFromApp}, "slow down");
  EXPECT_EQ(outcome.kind, OutcomeKind::Answered);
  EXPECT_EQ(outcome.status, 429u);
  EXPECT_EQ(outcome.retry_after, "120");
  EXPECT_EQ(outcome.answer, "slow down");
  EXPECT_EQ(outcome.duration, absl::Milliseconds(5));
}

// Envoy answers for an app that it can't reach: those are no answers.
TEST(CalloutOutcomeTest, EnvoysOwnAnswers) {
  const struct {
    const char* status;
    const char* body;
    OutcomeKind kind;
  } cases[] = {
      {"503", "no healthy upstream", OutcomeKind::NoHealthyUpstream},
      {"503",
       "upstream connect error or disconnect/reset before headers. reset reason: remote connection "
       "failure, transport failure reason: delayed connect error: Connection refused",
       OutcomeKind::ConnectFailed},
      {"503",
       "upstream connect error or disconnect/reset before headers. reset reason: connection "
       "termination",
       OutcomeKind::Reset},
      {"503",
       "upstream connect error or disconnect/reset before headers. reset reason: connection "
       "timeout",
       OutcomeKind::Timeout},
      {"503", "upstream connect error or disconnect/reset before headers. reset reason: overflow",
       OutcomeKind::OwnError},
      {"504", "upstream request timeout", OutcomeKind::Timeout},
      {"502",
       "upstream connect error or disconnect/reset before headers. reset reason: protocol "
       "error",
       OutcomeKind::Reset},
  };
  for (const auto& c : cases) {
    const Outcome outcome = translate({{":status", c.status}}, c.body);
    EXPECT_EQ(outcome.kind, c.kind) << c.body;
    EXPECT_EQ(outcome.status, 0u) << c.body;
    EXPECT_FALSE(outcome.error.empty()) << c.body;
  }
}

// An app that says the same words is still the app.
TEST(CalloutOutcomeTest, AnAppMaySayEnvoysWords) {
  const Outcome outcome = translate({{":status", "503"}, kFromApp}, "no healthy upstream");
  EXPECT_EQ(outcome.kind, OutcomeKind::Answered);
  EXPECT_EQ(outcome.status, 503u);
}

// A reset after the head of the answer is a timeout when the time is up.
TEST(CalloutOutcomeTest, ResetsAndTimeouts) {
  EXPECT_EQ(translate({}, "", FbCalloutReset).kind, OutcomeKind::Reset);
  EXPECT_EQ(translate({}, "", FbCalloutReset, absl::Milliseconds(990)).kind, OutcomeKind::Reset);
  // Envoy's timer may be a millisecond early.
  EXPECT_EQ(translate({}, "", FbCalloutReset, absl::Milliseconds(999)).kind, OutcomeKind::Timeout);
  EXPECT_EQ(translate({}, "", FbCalloutReset, absl::Seconds(1)).kind, OutcomeKind::Timeout);
}

// Of an answer that is too large Envoy tells nothing, not even its status.
TEST(CalloutOutcomeTest, TooLarge) {
  const Outcome outcome = translate({}, "", FbCalloutTooLarge, absl::Seconds(1));
  EXPECT_EQ(outcome.kind, OutcomeKind::TooLarge);
  EXPECT_TRUE(outcome.isAttempt());
  EXPECT_FALSE(outcome.error.empty());
}

// At most a fixed part of an answer is kept, however large it is.
TEST(CalloutOutcomeTest, AnswersAreCut) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(translate({{":status", "200"}, kFromApp}, large).answer.size(),
            limits::kAnswerBytesMax);
}

// What never started is no attempt.
TEST(CalloutOutcomeTest, Refusals) {
  const Outcome missing = translateRefusedCallout(FbCalloutClusterNotFound, "billing_app");
  EXPECT_EQ(missing.kind, OutcomeKind::ClusterMissing);
  EXPECT_NE(missing.error.find("billing_app"), std::string::npos);
  EXPECT_FALSE(translateRefusedCallout(FbCalloutCannotCreate, "x").isAttempt());
  EXPECT_FALSE(translateRefusedCallout(FbCalloutMissingHeaders, "x").isAttempt());
}

}  // namespace
}  // namespace forebay
