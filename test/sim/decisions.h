#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "source/config/config.h"
#include "source/policy/outcome.h"
#include "source/store/event_store.h"

namespace forebay::sim {

// The longest wait that the policy may ask for, the app's wishes apart.
absl::Duration longestDelay(const RetryConfig& retry);

// What a settlement follows from.
struct Decided {
  const UpstreamConfig& upstream;
  const v1::EventState& before;
  const Outcome* outcome;  // none when no attempt was made
  absl::Time wall;
  absl::Time due_now;  // by which due times are meant
};

// What is wrong with how the event goes on; empty when nothing is.
std::string wrongDecision(const Decided& decided, const Settlement& settlement);

}  // namespace forebay::sim
