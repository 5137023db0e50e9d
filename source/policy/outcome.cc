#include "source/policy/outcome.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "source/base/strings.h"

namespace forebay {
namespace {

std::string_view statusClassName(uint32_t status) {
  switch (status / 100) {
    case 1:
      return "1xx";
    case 2:
      return "2xx";
    case 3:
      return "3xx";
    case 4:
      return "4xx";
    case 5:
      return "5xx";
    default:
      // One word for all of them: it becomes a metric's label, and apps must not mint labels.
      return "other";
  }
}

}  // namespace

Directive parseDirective(std::string_view header) {
  const std::string_view word = toStd(absl::StripAsciiWhitespace(toAbsl(header)));
  if (absl::EqualsIgnoreCase(toAbsl(word), "abort-message")) {
    return Directive::AbortMessage;
  }
  return absl::EqualsIgnoreCase(toAbsl(word), "disable") ? Directive::Disable : Directive::None;
}

std::string_view outcomeName(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::Answered:
      return statusClassName(outcome.status);
    case OutcomeKind::ConnectFailed:
      return "connect";
    case OutcomeKind::Reset:
      return "reset";
    case OutcomeKind::Timeout:
      return "timeout";
    case OutcomeKind::TooLarge:
      return "too_large";
    case OutcomeKind::NoHealthyUpstream:
      return "no_healthy_upstream";
    case OutcomeKind::ClusterMissing:
      return "cluster_missing";
    case OutcomeKind::OwnError:
      return "own_error";
    case OutcomeKind::Abandoned:
      return "abandoned";
  }
  return "other";
}

}  // namespace forebay
