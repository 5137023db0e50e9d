#include <gtest/gtest.h>

#include "test/base/seed.h"
#include "test/sim/run.h"

namespace forebay::sim {
namespace {

// 2,000 seeds, spread over the scenarios.
constexpr uint64_t kSeeds = 2000;

class ScenariosTest : public testing::TestWithParam<std::string> {};

// Whatever the seed makes of a scenario, every promise holds at every step.
TEST_P(ScenariosTest, HoldForEverySeed) {
  const absl::StatusOr<scenario::Scenario> scenario = loadScenario(GetParam());
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const uint64_t first = testSeed();
  const uint64_t seeds = kSeeds / scenarioNames().size() + 1;
  uint64_t attempts = 0;
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    const CheckedRun run = runChecked(*scenario, seed);
    attempts += run.result.attempts;
    EXPECT_TRUE(run.failures.empty()) << run.report(GetParam(), seed);
  }
  std::cout << seeds << " seeds, " << attempts << " attempts\n";
  EXPECT_GT(attempts, seeds * 10) << "hardly anything happened";
}

INSTANTIATE_TEST_SUITE_P(All, ScenariosTest, testing::ValuesIn(scenarioNames()),
                         [](const auto& scenario) { return scenario.param; });

}  // namespace
}  // namespace forebay::sim
