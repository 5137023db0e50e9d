#pragma once

#include <cstddef>

#include "absl/time/time.h"
#include "source/base/random.h"
#include "source/policy/outcome.h"
#include "source/sim/script.h"

namespace forebay::sim {

// What an app answers, and when. Depends on nothing but the script, the time, what was asked of it
// before, and the random numbers it is given.
class App {
public:
  struct Answer {
    Outcome outcome;
    absl::Duration after;  // since the request
  };

  explicit App(AppScript script) : script_(std::move(script)) {}

  // `at` never runs back. What takes longer than `timeout` is a timeout.
  Answer answer(absl::Duration at, absl::Duration timeout, Random& random);

private:
  const Phase& phaseAt(absl::Duration at);
  // How long a request waits for its turn; none when the app is too busy to take it.
  std::optional<absl::Duration> waitFor(const Phase& phase, absl::Duration at);

  const AppScript script_;
  size_t phase_ = 0;           // how many phases have begun
  absl::Duration busy_until_;  // what was taken so far, at the app's capacity
};

}  // namespace forebay::sim
