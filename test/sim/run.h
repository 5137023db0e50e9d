#pragma once

#include <string>
#include <vector>

#include "source/sim/simulation.h"
#include "test/sim/scenario.h"

namespace forebay::sim {

struct CheckedRun {
  Result result;
  std::vector<std::string> failures;  // empty when everything held

  // For people: what was wrong, and the command that shows it again.
  std::string report(const std::string& scenario, uint64_t seed) const;
};

// One simulated day under every check.
CheckedRun runChecked(const scenario::Scenario& scenario, uint64_t seed);

}  // namespace forebay::sim
