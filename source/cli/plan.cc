#include "source/cli/plan.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/cli/chart.h"
#include "source/cli/envoy_config.h"
#include "source/cli/plan_compare.h"
#include "source/cli/plan_json.h"
#include "source/cli/plan_report.h"
#include "source/cli/plan_run.h"
#include "source/cli/plan_text.h"
#include "source/cli/svg.h"

namespace forebay {

const std::string_view kPlanHelp =
    R"(forebay plan: what will happen to an app when it comes back.

  forebay plan CONFIG [OPTION...]

Simulates an outage of one upstream with Forebay's own delivery code in virtual time, and shows the
backlog, the attempts per second and the time to drain. CONFIG is an Envoy bootstrap (YAML or JSON)
with Forebay in it, or Forebay's own part alone (store, upstreams). Nothing is sent or stored.

  --upstream NAME      which one; may be left out when there is only one
  --rate RATE          events that come in: 10/s (default), 3000/min, 100/h
  --burst N            they come N at once, not one by one (default 1)
  --outage TIME        how long the app is down: 1h (default), 90s, 1h30m
  --kind KIND          how it fails: refused (default), 5xx, hang, or brownout (slow, every second
                       answer an error)
  --latency TIME       what an answer takes while the app is up: 50ms (default)
  --capacity RATE      what the app bears while it is up; beyond it, 503. Default: everything
  --compare            all five jitters side by side, with the breaker and without it
  --svg FILE           draws the curves into FILE
  --json               for machines
  --seed N             another run of the same chances (default 1)

Examples

  How does my app fare after two hours at 50 events a second?
    forebay plan envoy.yaml --rate 50/s --outage 2h

  Would an app that bears 80/s survive its own return, and does the jitter matter?
    forebay plan envoy.yaml --upstream billing --capacity 80/s --compare --svg billing.svg

Exit codes: 0 done, 1 failed, 2 wrong usage.
)";

namespace {

// A chart that fills a very wide terminal is harder to read, not easier.
constexpr size_t kChartColumnsMax = 120;

absl::StatusOr<UpstreamConfig> chooseUpstream(const EngineConfig& config,
                                              const std::optional<std::string>& name) {
  std::vector<std::string_view> known;
  for (const UpstreamConfig& upstream : config.upstreams) {
    known.push_back(upstream.name);
    if (name.has_value() ? upstream.name == *name : config.upstreams.size() == 1) {
      return upstream;
    }
  }
  return absl::NotFoundError(
      cat(name.has_value() ? cat("--upstream: \"", printable(*name, 64), "\" is not there")
                           : "--upstream: which one?",
          " (known: ", join(known, ", "), ")"));
}

absl::Status writeFile(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(cat(printable(path), ": can't be written"));
}

// What both forms of the command print after their tables.
absl::StatusOr<std::string> finish(const PlanOptions& options, const Plot& plot, std::string text) {
  if (options.svg_path.has_value()) {
    if (absl::Status status = writeFile(*options.svg_path, drawSvg(plot)); !status.ok()) {
      return status;
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> plan(const PlanOptions& options, size_t columns) {
  const absl::StatusOr<EngineConfig> config = readEngineConfigFile(options.config_path);
  if (!config.ok()) {
    return config.status();
  }
  const absl::StatusOr<UpstreamConfig> upstream = chooseUpstream(*config, options.upstream);
  if (!upstream.ok()) {
    return upstream.status();
  }
  const PlanInput input{*upstream,    options.per_second, options.burst,    options.outage,
                        options.kind, options.latency,    options.capacity, options.seed};
  columns = std::min(columns, kChartColumnsMax);

  if (options.compare) {
    const absl::StatusOr<std::vector<ComparedPlan>> plans = comparePlans(input);
    if (!plans.ok()) {
      return plans.status();
    }
    return finish(options, comparePlot(*plans),
                  options.json ? compareJson(*plans) : compareText(*plans));
  }
  absl::StatusOr<PlanSeries> series = runPlan(input);
  if (!series.ok()) {
    return series.status();
  }
  const PlanSummary summary = summarise(input, *series);
  const Plan plan{input, *std::move(series), summary};
  const Plot plot = planPlot(plan);
  return finish(options, plot,
                options.json ? planJson(plan)
                             : cat(wrapped(planWords(plan), columns), "\n", planTable(plan), "\n",
                                   drawChart(plot, columns)));
}

}  // namespace forebay
