#include "source/policy/classifier.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "source/base/log.h"

namespace forebay {
namespace {

constexpr uint32_t kStatusMin = 100;
constexpr uint32_t kStatusMax = 599;

constexpr struct {
  std::string_view word;
  OutcomeKind kind;
} kWords[] = {
    {"connect", OutcomeKind::ConnectFailed},
    {"timeout", OutcomeKind::Timeout},
    {"reset", OutcomeKind::Reset},
    {"too_large", OutcomeKind::TooLarge},
    {"no_healthy_upstream", OutcomeKind::NoHealthyUpstream},
};

bool isDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// By hand, since number parsers forgive signs, blanks and leading zeros.
std::optional<uint32_t> parseStatus(std::string_view text) {
  if (text.size() != 3 || !isDigits(text)) {
    return std::nullopt;
  }
  uint32_t status = 0;
  for (const char c : text) {
    status = status * 10 + static_cast<uint32_t>(c - '0');
  }
  if (status < kStatusMin || status > kStatusMax) {
    return std::nullopt;
  }
  return status;
}

absl::Status wrong(std::string_view match, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", printable(match, 64), "\" ", what));
}

ClassifyRule statusRule(uint32_t min, uint32_t max) {
  ClassifyRule rule;
  rule.status_min = min;
  rule.status_max = max;
  return rule;
}

absl::StatusOr<ClassifyRule> parseRange(std::string_view match, size_t dash) {
  const std::optional<uint32_t> min = parseStatus(match.substr(0, dash));
  const std::optional<uint32_t> max = parseStatus(match.substr(dash + 1));
  if (!min.has_value() || !max.has_value()) {
    return wrong(match, "is not a range: both ends must be a status from 100 to 599");
  }
  if (*min > *max) {
    return wrong(match, absl::StrCat("is reversed: write ", *max, "-", *min));
  }
  return statusRule(*min, *max);
}

Verdict classifyStatus(uint32_t status) {
  switch (status) {
    case 408:  // Request Timeout
    case 425:  // Too Early
    case 429:  // Too Many Requests
      return Verdict::Retry;
    case 404:
      return Verdict::RetryNotFound;
    case 501:  // Not Implemented
    case 505:  // HTTP Version Not Supported
      return Verdict::Permanent;
    default:
      break;
  }
  if (status >= 200 && status <= 299) {
    return Verdict::Success;
  }
  // A redirect is never followed: it would carry the event, signed, to a place nobody configured.
  if (status >= 300 && status <= 499) {
    return Verdict::Permanent;
  }
  // A 5xx, or a status that no final answer has: something between us and the app is broken.
  return Verdict::Retry;
}

}  // namespace

bool ClassifyRule::matches(const Outcome& outcome) const {
  if (outcome.kind != kind) {
    return false;
  }
  return kind != OutcomeKind::Answered ||
         (outcome.status >= status_min && outcome.status <= status_max);
}

absl::StatusOr<ClassifyRule> parseMatch(std::string_view match) {
  for (const auto& [word, kind] : kWords) {
    if (match == word) {
      ClassifyRule rule;
      rule.kind = kind;
      return rule;
    }
  }
  if (isDigits(match)) {
    const std::optional<uint32_t> status = parseStatus(match);
    return status.has_value() ? absl::StatusOr<ClassifyRule>(statusRule(*status, *status))
                              : wrong(match, "is not a status from 100 to 599");
  }
  if (match.size() == 3 && absl::ascii_isdigit(match[0]) && match.ends_with("xx")) {
    const uint32_t first = static_cast<uint32_t>(match[0] - '0') * 100;
    return first >= kStatusMin && first <= kStatusMax
               ? absl::StatusOr<ClassifyRule>(statusRule(first, first + 99))
               : wrong(match, "is not a class of statuses: those are 1xx to 5xx");
  }
  // Only what begins like a status is a range; other text with a dash is an unknown word.
  const size_t dash = match.find('-');
  if (dash != std::string_view::npos && absl::ascii_isdigit(match[0])) {
    return parseRange(match, dash);
  }
  return wrong(match,
               "is not known: use a status (404), a range (500-599), a class (5xx), connect, "
               "timeout, reset, too_large or no_healthy_upstream");
}

Verdict Classifier::classify(const Outcome& outcome) const {
  // Before the user's rules: what never reached the app is no answer of the app.
  if (!outcome.isAttempt()) {
    return Verdict::NotAnAttempt;
  }
  for (const ClassifyRule& rule : rules_) {
    if (rule.matches(outcome)) {
      return rule.verdict;
    }
  }
  switch (outcome.kind) {
    case OutcomeKind::Answered:
      return classifyStatus(outcome.status);
    case OutcomeKind::TooLarge:
      // The app has the event, and most likely took it; but it may have said that it did not.
      return Verdict::RetryNotFound;
    default:
      return Verdict::Retry;
  }
}

}  // namespace forebay
