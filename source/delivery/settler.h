#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "source/base/stats.h"
#include "source/policy/retry_policy.h"
#include "source/store/event_store.h"

namespace forebay {

// What an attempt was: enough to write down how the event goes on.
struct FinishedAttempt {
  EventId id;
  v1::EventState state;  // as leased
  absl::Time received_at;
  absl::Time sent_at;
  // A probe that found the app still down: it is counted and shown, but not held against the event.
  bool free = false;
};

// How the policy sees the past of an event whose next attempt has just been made, with this
// verdict.
AttemptHistory historyOf(const FinishedAttempt& finished, Verdict verdict);

// From the start of the event's attempt before this one; infinite for the first.
absl::Duration sincePrevious(const FinishedAttempt& finished);

// After an attempt: the new state and the attempt's record.
Settlement settleAttempt(const FinishedAttempt& finished, const AttemptHistory& history,
                         const Outcome& outcome, const Decision& decision);
// Its deadline passed while it waited: dead without another attempt.
Settlement settleExpired(const LeasedEvent& leased);
// Our own error: as it was, due again at `due_at`. It cost no attempt.
Settlement settlePostponed(const FinishedAttempt& finished, absl::Time due_at,
                           std::string_view because);

// Moves the counters and histograms that follow from a settlement made by settleAttempt().
void countAttempt(StatsSink& stats, std::string_view upstream, const FinishedAttempt& finished,
                  const Outcome& outcome, const Decision& decision, absl::Time now);

}  // namespace forebay
