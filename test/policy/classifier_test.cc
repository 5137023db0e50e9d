#include "source/policy/classifier.h"

#include <string>

#include "gtest/gtest.h"

namespace forebay {
namespace {

constexpr OutcomeKind kKinds[] = {
    OutcomeKind::Answered, OutcomeKind::ConnectFailed,     OutcomeKind::Reset,
    OutcomeKind::Timeout,  OutcomeKind::NoHealthyUpstream, OutcomeKind::ClusterMissing,
    OutcomeKind::OwnError, OutcomeKind::Abandoned,
};
constexpr Verdict kUserVerdicts[] = {Verdict::Success, Verdict::Retry, Verdict::Permanent};

Outcome answered(uint32_t status) { return {.kind = OutcomeKind::Answered, .status = status}; }

ClassifyRule rule(std::string_view match, Verdict verdict) {
  ClassifyRule parsed = parseMatch(match).value();
  parsed.verdict = verdict;
  return parsed;
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

// The contract's table, a letter per status from 100 to 599: Success, Retry, NotFound, Permanent.
std::string contractTable() {
  return repeated("RRRRRRRRRR", 10) +  // 1xx: no final answer
         repeated("SSSSSSSSSS", 10) +  // 2xx
         repeated("PPPPPPPPPP", 10) +  // 3xx
         "PPPPNPPPRP"                  // 400 to 409: 404, 408
         "PPPPPPPPPP"                  // 410 to 419
         "PPPPPRPPPR" +                // 420 to 429: 425, 429
         repeated("PPPPPPPPPP", 7) +   // 430 to 499
         "RPRRRPRRRR" +                // 500 to 509: 501, 505
         repeated("RRRRRRRRRR", 9);    // 510 to 599
}

Verdict verdictOf(char letter) {
  switch (letter) {
    case 'S':
      return Verdict::Success;
    case 'R':
      return Verdict::Retry;
    case 'N':
      return Verdict::RetryNotFound;
    default:
      return Verdict::Permanent;
  }
}

// Every status from 100 to 599 is classified as the contract's table says.
TEST(ClassifierTest, EveryStatusByDefault) {
  const std::string table = contractTable();
  ASSERT_EQ(table.size(), 500u);
  const Classifier classifier;
  for (uint32_t status = 100; status <= 599; ++status) {
    EXPECT_EQ(classifier.classify(answered(status)), verdictOf(table[status - 100])) << status;
  }
}

// The statuses that the contract names one by one, as it names them.
TEST(ClassifierTest, NamedStatuses) {
  const Classifier classifier;
  for (const uint32_t status : {408u, 425u, 429u, 500u, 502u, 503u, 504u, 599u}) {
    EXPECT_EQ(classifier.classify(answered(status)), Verdict::Retry) << status;
  }
  for (const uint32_t status : {301u, 400u, 401u, 403u, 405u, 410u, 413u, 422u, 501u, 505u}) {
    EXPECT_EQ(classifier.classify(answered(status)), Verdict::Permanent) << status;
  }
  EXPECT_EQ(classifier.classify(answered(404)), Verdict::RetryNotFound);
}

// A status that HTTP doesn't have is a broken answer, not a refusal.
TEST(ClassifierTest, OddStatusesAreRetried) {
  const Classifier classifier;
  for (const uint32_t status : {0u, 1u, 99u, 600u, 601u, 999u, 4294967295u}) {
    EXPECT_EQ(classifier.classify(answered(status)), Verdict::Retry) << status;
  }
}

// A failure on the way to the app is retried; one of our own is no attempt.
TEST(ClassifierTest, FailuresByDefault) {
  const Classifier classifier;
  for (const OutcomeKind kind : {OutcomeKind::ConnectFailed, OutcomeKind::Reset,
                                 OutcomeKind::Timeout, OutcomeKind::NoHealthyUpstream}) {
    EXPECT_EQ(classifier.classify({.kind = kind}), Verdict::Retry);
  }
  for (const OutcomeKind kind :
       {OutcomeKind::ClusterMissing, OutcomeKind::OwnError, OutcomeKind::Abandoned}) {
    EXPECT_EQ(classifier.classify({.kind = kind}), Verdict::NotAnAttempt);
  }
}

// A status that a failure left behind does not turn it into an answer.
TEST(ClassifierTest, StatusOnlyCountsWithAnAnswer) {
  const Classifier classifier;
  EXPECT_EQ(classifier.classify({.kind = OutcomeKind::Reset, .status = 200}), Verdict::Retry);
  EXPECT_EQ(classifier.classify({.kind = OutcomeKind::OwnError, .status = 200}),
            Verdict::NotAnAttempt);
}

// A rule for one status decides that one and leaves all others to the table, for every status.
TEST(ClassifierTest, OneStatusRuleChangesOneStatus) {
  const std::string table = contractTable();
  for (uint32_t ruled = 100; ruled <= 599; ++ruled) {
    for (const Verdict verdict : kUserVerdicts) {
      const Classifier classifier({rule(std::to_string(ruled), verdict)});
      for (uint32_t status = 100; status <= 599; ++status) {
        ASSERT_EQ(classifier.classify(answered(status)),
                  status == ruled ? verdict : verdictOf(table[status - 100]))
            << ruled << " " << status;
      }
    }
  }
}

// `404 as RETRY` is an ordinary retry: neither slower nor fewer.
TEST(ClassifierTest, UserRuleMakes404Plain) {
  EXPECT_EQ(Classifier({rule("404", Verdict::Retry)}).classify(answered(404)), Verdict::Retry);
}

// A range and a class include both their ends and nothing beside them.
TEST(ClassifierTest, RangesAreInclusive) {
  const Classifier range({rule("405-499", Verdict::Success)});
  EXPECT_EQ(range.classify(answered(404)), Verdict::RetryNotFound);
  EXPECT_EQ(range.classify(answered(405)), Verdict::Success);
  EXPECT_EQ(range.classify(answered(499)), Verdict::Success);
  EXPECT_EQ(range.classify(answered(500)), Verdict::Retry);
  const Classifier whole({rule("3xx", Verdict::Success)});
  EXPECT_EQ(whole.classify(answered(300)), Verdict::Success);
  EXPECT_EQ(whole.classify(answered(399)), Verdict::Success);
  EXPECT_EQ(whole.classify(answered(400)), Verdict::Permanent);
}

// The first matching rule wins, in the order that the user wrote.
TEST(ClassifierTest, FirstMatchWins) {
  const Classifier narrow_first({rule("503", Verdict::Permanent), rule("5xx", Verdict::Success)});
  EXPECT_EQ(narrow_first.classify(answered(503)), Verdict::Permanent);
  EXPECT_EQ(narrow_first.classify(answered(502)), Verdict::Success);
  const Classifier wide_first({rule("5xx", Verdict::Success), rule("503", Verdict::Permanent)});
  EXPECT_EQ(wide_first.classify(answered(503)), Verdict::Success);
}

// A rule for one kind of failure touches neither the other kinds nor any answer.
TEST(ClassifierTest, FailureRulesAreSeparate) {
  constexpr struct {
    std::string_view word;
    OutcomeKind kind;
  } kWords[] = {{"connect", OutcomeKind::ConnectFailed},
                {"timeout", OutcomeKind::Timeout},
                {"reset", OutcomeKind::Reset},
                {"too_large", OutcomeKind::TooLarge},
                {"no_healthy_upstream", OutcomeKind::NoHealthyUpstream}};
  for (const auto& [word, ruled] : kWords) {
    const Classifier changed({rule(word, Verdict::Permanent)});
    const Classifier plain;
    for (const OutcomeKind kind : kKinds) {
      const Outcome outcome{.kind = kind, .status = 200};
      EXPECT_EQ(changed.classify(outcome),
                kind == ruled ? Verdict::Permanent : plain.classify(outcome))
          << word;
    }
  }
}

// Nobody knows what an answer says that is too large to be read: it is treated as a 404 is.
TEST(ClassifierTest, TooLarge) {
  EXPECT_EQ(Classifier().classify({.kind = OutcomeKind::TooLarge}), Verdict::RetryNotFound);
}

// No rule, not even one made by hand for that kind, turns our own errors into attempts.
TEST(ClassifierTest, NoRuleReachesOwnErrors) {
  for (const OutcomeKind kind :
       {OutcomeKind::ClusterMissing, OutcomeKind::OwnError, OutcomeKind::Abandoned}) {
    for (const Verdict verdict : kUserVerdicts) {
      const Classifier classifier({ClassifyRule{.kind = kind, .verdict = verdict}});
      EXPECT_EQ(classifier.classify({.kind = kind, .status = 200}), Verdict::NotAnAttempt);
    }
  }
}

}  // namespace
}  // namespace forebay
