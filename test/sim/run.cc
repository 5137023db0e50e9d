#include "test/sim/run.h"

#include "source/base/strings.h"
#include "test/sim/checks.h"

namespace forebay::sim {

CheckedRun runChecked(const scenario::Scenario& scenario, uint64_t seed) {
  const absl::StatusOr<DrawnScript> drawn = drawScript(scenario, seed);
  if (!drawn.ok()) {
    return {Result(), {drawn.status().ToString()}};
  }
  Checks checks(drawn->script, drawn->calm_from);
  Simulation simulation(drawn->script, checks);
  checks.watch(simulation);
  CheckedRun run;
  run.result = simulation.run();
  checks.atEnd(simulation, run.result);
  run.failures = checks.failures();
  return run;
}

std::string CheckedRun::report(const std::string& scenario, uint64_t seed) const {
  std::string text = cat("scenario ", scenario, ", seed ", seed, ":\n");
  for (const std::string& failure : failures) {
    text += cat("  ", failure, "\n");
  }
  return text + cat("again: ci/proof --scenario=", scenario, " --seed=", seed, "\n");
}

}  // namespace forebay::sim
