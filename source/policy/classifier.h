#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "source/policy/outcome.h"

namespace forebay {

enum class Verdict {
  Success,
  Retry,
  // Carefully: a 404, since it may be an app that is being deployed; or an answer too large to be
  // read, since the app may well have taken the event.
  RetryNotFound,
  Permanent,
  NotAnAttempt,
};

// One user rule: a set of outcomes and what they mean.
struct ClassifyRule {
  // Inclusive; used when `kind` is Answered.
  uint32_t status_min = 0;
  uint32_t status_max = 0;
  OutcomeKind kind = OutcomeKind::Answered;
  Verdict verdict = Verdict::Retry;

  bool matches(const Outcome& outcome) const;
};

// Reads "404", "500-599", "5xx", "connect", "timeout", "reset", "too_large" or
// "no_healthy_upstream". Statuses are 100 to 599. An error says what is wrong with `match`.
absl::StatusOr<ClassifyRule> parseMatch(std::string_view match);

// The contract's table, with the user's rules before it: the first match wins.
class Classifier {
public:
  explicit Classifier(std::vector<ClassifyRule> rules = {}) : rules_(std::move(rules)) {}

  Verdict classify(const Outcome& outcome) const;

private:
  std::vector<ClassifyRule> rules_;
};

}  // namespace forebay
