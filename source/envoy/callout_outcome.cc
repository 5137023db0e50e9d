#include "source/envoy/callout_outcome.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "source/base/limits.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/envoy/abi_types.h"

namespace forebay {
namespace {

// Envoy's timers run in whole milliseconds, and may fire a little early.
constexpr absl::Duration kTimerSlack = absl::Milliseconds(5);

struct Answer {
  uint32_t status = 0;
  bool from_app = false;
  bool overloaded = false;
  std::optional<std::string> retry_after;
  Directive directive = Directive::None;
  std::string body;  // the first limits::kAnswerBytesMax of it
};

Answer readAnswer(absl::Span<const FbHeader> headers, absl::Span<const FbBuffer> body) {
  Answer answer;
  for (const FbHeader& header : headers) {
    const std::string_view name = nameOf(header);
    if (name == ":status") {
      (void)absl::SimpleAtoi(toAbsl(valueOf(header)), &answer.status);
    } else if (name == "retry-after") {
      answer.retry_after = std::string(valueOf(header));
    } else if (name == "webhook-delivery") {
      answer.directive = parseDirective(valueOf(header));
    } else if (name == "x-envoy-upstream-service-time") {
      answer.from_app = true;
    } else if (name == "x-envoy-overloaded") {
      answer.overloaded = true;
    }
  }
  for (const FbBuffer& chunk : body) {
    const size_t room = limits::kAnswerBytesMax - answer.body.size();
    answer.body.append(fromAbi(chunk).substr(0, room));
  }
  return answer;
}

// Envoy's own words for an upstream that it could not get an answer from.
OutcomeKind kindOfLocalReply(const Answer& answer) {
  const absl::string_view text = answer.body;
  if (answer.overloaded || absl::StrContains(text, "reset reason: overflow")) {
    return OutcomeKind::OwnError;
  }
  if (absl::StartsWith(text, "no healthy upstream")) {
    return OutcomeKind::NoHealthyUpstream;
  }
  if (answer.status == 504 || absl::StrContains(text, "connection timeout")) {
    return OutcomeKind::Timeout;
  }
  if (absl::StrContains(text, "connection failure") ||
      absl::StrContains(text, "reset reason: local connection failure") ||
      absl::StrContains(text, "reset reason: remote connection failure")) {
    return OutcomeKind::ConnectFailed;
  }
  return OutcomeKind::Reset;
}

bool looksLikeLocalReply(const Answer& answer) {
  return !answer.from_app &&
         ((answer.status == 503 && (absl::StartsWith(answer.body, "upstream connect error") ||
                                    absl::StartsWith(answer.body, "no healthy upstream"))) ||
          (answer.status == 504 && (absl::StartsWith(answer.body, "upstream request timeout") ||
                                    absl::StartsWith(answer.body, "stream timeout"))) ||
          (answer.status == 502 && absl::StartsWith(answer.body, "upstream connect error")));
}

}  // namespace

Outcome translateCallout(FbCalloutResult result, absl::Span<const FbHeader> headers,
                         absl::Span<const FbBuffer> body, absl::Duration elapsed,
                         absl::Duration timeout) {
  Outcome outcome;
  outcome.duration = elapsed;
  if (result == FbCalloutTooLarge) {
    outcome.kind = OutcomeKind::TooLarge;
    outcome.error = "the answer is larger than Envoy takes, so its status is not known";
    return outcome;
  }
  if (result != FbCalloutSuccess) {
    // A deadline that passes after the answer's head has come looks like a reset.
    const bool late = elapsed + kTimerSlack >= timeout;
    outcome.kind = late ? OutcomeKind::Timeout : OutcomeKind::Reset;
    outcome.error = late ? "no whole answer in time" : "the connection broke during the answer";
    return outcome;
  }
  Answer answer = readAnswer(headers, body);
  if (looksLikeLocalReply(answer)) {
    outcome.kind = kindOfLocalReply(answer);
    outcome.error = printable(answer.body);
    return outcome;
  }
  outcome.kind = OutcomeKind::Answered;
  outcome.status = answer.status;
  outcome.retry_after = std::move(answer.retry_after);
  outcome.directive = answer.directive;
  outcome.answer = std::move(answer.body);
  return outcome;
}

Outcome translateRefusedCallout(FbCalloutInit refusal, std::string_view cluster) {
  Outcome outcome;
  switch (refusal) {
    case FbCalloutClusterNotFound:
      outcome.kind = OutcomeKind::ClusterMissing;
      outcome.error = cat("Envoy has no cluster \"", cluster, "\"");
      break;
    case FbCalloutMissingHeaders:
      outcome.kind = OutcomeKind::OwnError;
      outcome.error = "Envoy found a header missing in the request";
      break;
    default:
      outcome.kind = OutcomeKind::OwnError;
      outcome.error = "Envoy could not create the request";
      break;
  }
  return outcome;
}

}  // namespace forebay
