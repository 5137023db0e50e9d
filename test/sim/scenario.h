#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "source/sim/script.h"
#include "test/sim/scenario.pb.h"

namespace forebay::sim {

// The names of the scenarios (test/sim/scenarios/NAME.textproto, below the working directory).
std::vector<std::string> scenarioNames();
absl::StatusOr<scenario::Scenario> loadScenario(const std::string& name);

struct DrawnScript {
  Script script;
  // From here on every app is well, no clock steps, and nothing new comes.
  absl::Duration calm_from;
};
// One day of the scenario. The upstreams' config passes the same checks as a user's.
absl::StatusOr<DrawnScript> drawScript(const scenario::Scenario& scenario, uint64_t seed);

}  // namespace forebay::sim
