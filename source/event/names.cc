#include "source/event/names.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "source/base/log.h"

namespace forebay {

std::string_view stateName(v1::State state) {
  switch (state) {
    case v1::STATE_PENDING:
      return "pending";
    case v1::STATE_RETRYING:
      return "retrying";
    case v1::STATE_DELIVERED:
      return "delivered";
    case v1::STATE_DEAD:
      return "dead";
    case v1::STATE_QUARANTINED:
      return "quarantined";
    default:
      return "unknown";
  }
}

std::string_view deadReasonName(v1::DeadReason reason) {
  switch (reason) {
    case v1::DEAD_REASON_NONE:
      return "";
    case v1::DEAD_REASON_PERMANENT:
      return "permanent";
    case v1::DEAD_REASON_EXHAUSTED:
      return "exhausted";
    case v1::DEAD_REASON_EXPIRED:
      return "expired";
    case v1::DEAD_REASON_CORRUPT:
      return "corrupt";
    case v1::DEAD_REASON_POISON:
      return "poison";
    default:
      return "unknown";
  }
}

std::string_view verifiedName(v1::Verified verified) {
  switch (verified) {
    case v1::VERIFIED_TRUE:
      return "true";
    case v1::VERIFIED_FALSE:
      return "false";
    default:
      return "none";
  }
}

absl::StatusOr<v1::State> parseState(std::string_view name) {
  for (int i = v1::State_MIN; i <= v1::State_MAX; ++i) {
    if (stateName(static_cast<v1::State>(i)) == name) {
      return static_cast<v1::State>(i);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", printable(name, 32),
                   "\" is no state (pending, retrying, delivered, dead, quarantined)"));
}

}  // namespace forebay
