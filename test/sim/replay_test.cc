#include <gtest/gtest.h>

#include <cstdio>

#include "source/base/strings.h"
#include "test/base/seed.h"
#include "test/sim/checks.h"
#include "test/sim/run.h"

namespace forebay::sim {
namespace {

std::string outputOf(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const size_t read = fread(buffer, 1, sizeof(buffer), pipe)) {
    output.append(buffer, read);
  }
  pclose(pipe);
  return output;
}

// Another process, with other hash seeds and other addresses, makes the same attempts from the
// same seed. So the command that a failure prints shows that failure again.
TEST(ReplayTest, AnotherProcessMakesTheSameAttempts) {
  const uint64_t seed = testSeed();
  for (const std::string& name : scenarioNames()) {
    const CheckedRun run = runChecked(*loadScenario(name), seed);
    const std::string output =
        outputOf(cat("test/sim/simulate --scenario=", name, " --seed=", seed));
    EXPECT_NE(output.find(cat("digest ", run.result.digest, "\n")), std::string::npos)
        << name << " here has digest " << run.result.digest << ", there:\n"
        << output;
  }
}

// A failure is found again, word for word, and names the command that does it.
TEST(ReplayTest, AFailureIsFoundAgain) {
  const absl::StatusOr<DrawnScript> drawn = drawScript(*loadScenario("outage"), 1);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  std::vector<std::string> failures[2];
  for (std::vector<std::string>& found : failures) {
    // Held against fewer attempts than the forwarder was allowed.
    Script stricter = drawn->script;
    for (UpstreamConfig& upstream : stricter.upstreams) {
      upstream.retry.attempts_max = 0;
    }
    Checks checks(stricter, drawn->calm_from);
    Simulation simulation(drawn->script, checks);
    checks.watch(simulation);
    checks.atEnd(simulation, simulation.run());
    found = checks.failures();
  }
  ASSERT_FALSE(failures[0].empty());
  EXPECT_EQ(failures[0], failures[1]);
  const CheckedRun run{Result(), failures[0]};
  EXPECT_NE(run.report("outage", 1).find("\nagain: ci/proof --scenario=outage --seed=1\n"),
            std::string::npos);
  EXPECT_NE(run.report("outage", 1).find(failures[0][0]), std::string::npos);
}

}  // namespace
}  // namespace forebay::sim
