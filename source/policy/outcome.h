#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace forebay {

// What came of sending an event once.
enum class OutcomeKind {
  Answered,           // the app answered; `status` is its own
  ConnectFailed,      // refused, unreachable, TLS failed
  Reset,              // the connection broke before the answer was whole
  Timeout,            // no whole answer within the upstream's timeout
  TooLarge,           // the app answered, with more than Envoy takes: what, is not known
  NoHealthyUpstream,  // Envoy has no host to send to
  // The rest never reached the app: they are no attempts.
  ClusterMissing,  // Envoy knows no such cluster
  OwnError,        // Envoy could not make the request, or its own limits refused it
  Abandoned,       // Envoy is shutting down
};

// What an app may ask for beside its status, with the header `webhook-delivery`.
enum class Directive {
  None,
  AbortMessage,  // never send this event again
  Disable,       // send nothing more until somebody looks
};
// One of `abort-message` and `disable`, in any case and with blanks around it; None for all else.
Directive parseDirective(std::string_view header);

struct Outcome {
  OutcomeKind kind = OutcomeKind::OwnError;
  uint32_t status = 0;                     // with Answered
  std::optional<std::string> retry_after;  // the header's raw value, if the app sent one
  Directive directive = Directive::None;
  std::string error;   // for the operator, when there is no answer
  std::string answer;  // the first bytes of the app's answer
  absl::Duration duration;

  bool isAttempt() const { return kind <= OutcomeKind::NoHealthyUpstream; }
};

// The word for metrics and lists: `2xx`, `5xx`, `connect`, `reset`, `timeout`, `too_large`,
// `no_healthy_upstream`, `cluster_missing`, `own_error`, `abandoned`; `other` for a status that is
// none.
std::string_view outcomeName(const Outcome& outcome);

}  // namespace forebay
