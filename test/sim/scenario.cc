#include "test/sim/scenario.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "source/base/strings.h"
#include "test/sim/draw.h"
#include "test/sim/draw_policy.h"

namespace forebay::sim {
namespace {

constexpr char kFolder[] = "test/sim/scenarios";
constexpr char kExtension[] = ".textproto";
// So long after the script has ended the simulation may go on: a wall that was set back by years
// makes for long waits.
constexpr absl::Duration kPatience = absl::Hours(24 * 365 * 20);

std::vector<std::string> namesOf(const scenario::Scenario& scenario, const std::string& name) {
  for (const scenario::Upstream& upstream : scenario.upstreams()) {
    if (upstream.config().name() == name && upstream.copies() > 0) {
      std::vector<std::string> names;
      for (uint32_t i = 0; i < upstream.copies(); ++i) {
        names.push_back(cat(name, "-", i));
      }
      return names;
    }
  }
  return {name};
}

absl::StatusOr<std::vector<UpstreamConfig>> drawUpstreams(const scenario::Scenario& scenario,
                                                          Draw& draw) {
  v1::BootstrapConfig bootstrap;
  bootstrap.mutable_store()->set_path("/simulated");
  for (const scenario::Upstream& upstream : scenario.upstreams()) {
    v1::BootstrapConfig::Upstream config = upstream.config();
    if (upstream.draw_the_rest()) {
      drawPolicy(config, draw);
    }
    for (const std::string& name : namesOf(scenario, config.name())) {
      v1::BootstrapConfig::Upstream& added = *bootstrap.add_upstreams();
      added = config;
      added.set_name(name);
      added.set_cluster(name);
    }
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(bootstrap, &json, options).ok()) {
    return absl::InternalError("no JSON from the upstreams");
  }
  absl::StatusOr<EngineConfig> engine = parseEngineConfig(json);
  if (!engine.ok()) {
    return engine.status();
  }
  return std::move(engine->upstreams);
}

Behaviour drawBehaviour(const scenario::Phase& phase, Draw& draw) {
  Behaviour behaviour;
  behaviour.kind = draw.one(phase.kind(), Behaviour::Kind::Answers);
  if (phase.has_latency()) {
    behaviour.latency = draw.time(phase.latency());
  }
  behaviour.latency_spread = draw.time(phase.latency_spread());
  behaviour.error_ratio = draw.number(phase.error_ratio());
  behaviour.error_status = draw.one(phase.error_status(), 500u);
  if (phase.has_retry_after()) {
    behaviour.retry_after = cat(draw.whole(phase.retry_after()));
  }
  behaviour.directive = static_cast<Directive>(phase.directive());
  if (phase.has_capacity()) {
    behaviour.capacity = Behaviour::Capacity{draw.number(phase.capacity().per_second()),
                                             draw.number(phase.capacity().growth_per_second()),
                                             !phase.capacity().slows()};
  }
  if (phase.has_flapping()) {
    behaviour.flapping =
        Behaviour::Flapping{draw.time(phase.flapping().up()), draw.time(phase.flapping().down())};
  }
  return behaviour;
}

AppScript drawApp(const scenario::App& app, const std::string& cluster, Draw& draw) {
  AppScript script{cluster, {}};
  absl::Duration from;
  const uint32_t repeat = app.has_repeat() ? draw.whole(app.repeat()) : 1;
  for (uint32_t i = 0; i < repeat; ++i) {
    for (const scenario::Phase& phase : app.phases()) {
      script.phases.push_back({from, drawBehaviour(phase, draw)});
      from += draw.time(phase.lasts());
    }
  }
  Behaviour well;
  if (app.has_latency()) {
    well.latency = draw.time(app.latency());
  }
  script.phases.push_back({from, well});
  return script;
}

ArrivalScript drawArrivals(const scenario::Arrivals& arrivals, const std::string& upstream,
                           Draw& draw) {
  ArrivalScript script;
  script.upstream = upstream;
  script.from = draw.time(arrivals.from());
  script.until = draw.time(arrivals.until());
  script.kind = draw.one(arrivals.kind(), ArrivalScript::Kind::Poisson);
  script.per_second = draw.number(arrivals.per_second());
  script.burst = arrivals.has_burst() ? draw.whole(arrivals.burst()) : 10;
  script.keys = draw.whole(arrivals.keys());
  script.poison_every = draw.whole(arrivals.poison_every());
  return script;
}

OperatorAction drawAction(const scenario::Action& action, const std::string& upstream, Draw& draw) {
  OperatorAction drawn;
  drawn.at = draw.time(action.at());
  drawn.upstream = upstream;
  switch (action.kind()) {
    case scenario::Action::RESUME:
      drawn.kind = OperatorAction::Kind::Resume;
      break;
    case scenario::Action::REPLAY_DEAD:
      drawn.kind = OperatorAction::Kind::Replay;
      break;
    case scenario::Action::REPLAY_ALL:
      drawn.kind = OperatorAction::Kind::Replay;
      drawn.state = std::nullopt;
      break;
    default:
      drawn.kind = OperatorAction::Kind::Pause;
      break;
  }
  drawn.rate_per_minute = action.has_rate_per_minute() ? draw.whole(action.rate_per_minute()) : 100;
  return drawn;
}

template <typename Item>
uint32_t times(const Item& item, Draw& draw) {
  return item.has_times() ? draw.whole(item.times()) : 1;
}

absl::Duration endOf(const Script& script) {
  absl::Duration end;
  for (const AppScript& app : script.apps) {
    end = std::max(end, app.phases.back().from);
  }
  for (const ArrivalScript& arrivals : script.arrivals) {
    end = std::max(end, arrivals.until);
  }
  for (const OperatorAction& action : script.actions) {
    end = std::max(end, action.at);
  }
  for (const ClockStep& step : script.clock_steps) {
    end = std::max(end, step.at);
  }
  for (const Restart& restart : script.restarts) {
    end = std::max(end, restart.at + limits::kShutdownGrace + restart.down_for);
  }
  return end;
}

}  // namespace

std::vector<std::string> scenarioNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == kExtension) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<scenario::Scenario> loadScenario(const std::string& name) {
  const std::string path = cat(kFolder, "/", name, kExtension);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  scenario::Scenario scenario;
  if (text.empty() || !google::protobuf::TextFormat::ParseFromString(text, &scenario)) {
    return absl::InvalidArgumentError(cat(path, ": no scenario"));
  }
  return scenario;
}

absl::StatusOr<DrawnScript> drawScript(const scenario::Scenario& scenario, uint64_t seed) {
  Draw draw(seed);
  Script script;
  script.seed = seed;
  absl::StatusOr<std::vector<UpstreamConfig>> upstreams = drawUpstreams(scenario, draw);
  if (!upstreams.ok()) {
    return upstreams.status();
  }
  script.upstreams = *std::move(upstreams);
  for (const scenario::App& app : scenario.apps()) {
    for (const std::string& cluster : namesOf(scenario, app.cluster())) {
      script.apps.push_back(drawApp(app, cluster, draw));
    }
  }
  for (const scenario::Arrivals& arrivals : scenario.arrivals()) {
    for (const std::string& upstream : namesOf(scenario, arrivals.upstream())) {
      script.arrivals.push_back(drawArrivals(arrivals, upstream, draw));
    }
  }
  for (const scenario::Action& action : scenario.actions()) {
    for (uint32_t i = times(action, draw); i > 0; --i) {
      script.actions.push_back(drawAction(action, action.upstream(), draw));
    }
    script.forget_delivered &= action.kind() != scenario::Action::REPLAY_ALL;
  }
  for (const scenario::ClockStep& step : scenario.clock_steps()) {
    for (uint32_t i = times(step, draw); i > 0; --i) {
      const absl::Duration by = draw.time(step.by());
      script.clock_steps.push_back(
          {draw.time(step.at()), step.either_way() && draw.chance(0.5) ? -by : by});
    }
  }
  for (const scenario::Restart& restart : scenario.restarts()) {
    for (uint32_t i = times(restart, draw); i > 0; --i) {
      script.restarts.push_back({draw.time(restart.at()),
                                 draw.one(restart.kind(), Restart::Kind::Crash),
                                 draw.time(restart.down_for())});
    }
  }
  const absl::Duration end = endOf(script);
  script.until = end + kPatience;
  return DrawnScript{std::move(script), end};
}

}  // namespace forebay::sim
