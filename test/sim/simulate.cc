#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "source/base/random.h"
#include "source/base/strings.h"
#include "test/sim/run.h"

// Runs scenarios under every check: as many seeds as asked for, spread over the scenarios, or one
// seed again. Run from the repository's root. Exit code 1 when something did not hold.

namespace forebay::sim {
namespace {

struct Options {
  std::string scenario;  // all when empty
  uint64_t seeds = 2000;
  uint64_t first_seed = randomSeed();
  bool one = false;  // only first_seed
};

// A line that is the same whenever the run is.
std::string summary(const std::string& name, uint64_t seed, const Result& result) {
  return cat(name, " ", seed, ": ", result.totals.accepted, " accepted, ", result.totals.delivered,
             " delivered, ", result.totals.dead, " dead, ", result.attempts, " attempts, ",
             result.steps, " steps, digest ", result.digest, "\n");
}

int simulate(const Options& options) {
  const std::vector<std::string> names =
      options.scenario.empty() ? scenarioNames() : std::vector<std::string>{options.scenario};
  std::vector<scenario::Scenario> scenarios;
  for (const std::string& name : names) {
    const absl::StatusOr<scenario::Scenario> loaded = loadScenario(name);
    if (!loaded.ok()) {
      std::cerr << loaded.status() << "\n";
      return 2;
    }
    scenarios.push_back(*loaded);
  }
  if (!options.one) {
    std::cout << options.seeds << " seeds from " << options.first_seed << " on\n";
  }
  uint64_t failed = 0;
  for (uint64_t i = 0; i < (options.one ? names.size() : options.seeds); ++i) {
    const size_t which = i % names.size();
    const uint64_t seed = options.first_seed + (options.one ? 0 : i);
    const CheckedRun run = runChecked(scenarios[which], seed);
    if (options.one) {
      std::cout << summary(names[which], seed, run.result);
    }
    if (!run.failures.empty()) {
      ++failed;
      std::cout << run.report(names[which], seed) << std::flush;
    }
  }
  std::cout << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace forebay::sim

int main(int argc, char** argv) {
  forebay::sim::Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument(argv[i]);
    if (absl::ConsumePrefix(&argument, "--scenario=")) {
      options.scenario = std::string(argument);
    } else if (absl::ConsumePrefix(&argument, "--seed=") &&
               absl::SimpleAtoi(argument, &options.first_seed)) {
      options.one = true;
    } else if (!(absl::ConsumePrefix(&argument, "--seeds=") &&
                 absl::SimpleAtoi(argument, &options.seeds)) &&
               !(absl::ConsumePrefix(&argument, "--first_seed=") &&
                 absl::SimpleAtoi(argument, &options.first_seed))) {
      std::cerr << "usage: simulate [--scenario=NAME] [--seed=N | --seeds=N --first_seed=N]\n";
      return 2;
    }
  }
  return forebay::sim::simulate(options);
}
