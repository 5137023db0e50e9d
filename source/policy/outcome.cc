#include "source/policy/outcome.h"

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
