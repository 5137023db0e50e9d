#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/forebay/v1/event.pb.h"
#include "source/config/config.h"
#include "source/policy/outcome.h"

namespace forebay::sim {

// What happens in a simulation, as data. Every time is counted from its start.

// How an app treats a request.
struct Behaviour {
  enum class Kind {
    Answers,
    Refuses,   // the connection
    Resets,    // the connection, after the latency
    NoHost,    // Envoy knows no healthy host
    Hangs,     // nothing ever comes back
    OwnError,  // Envoy could not send: no attempt
  };
  // What the app can bear. It may grow, as that of an app that warms its caches.
  struct Capacity {
    double per_second = 0;
    double growth_per_second = 0;  // for every second of the phase
    // Beyond it: 503 at once, or answers that come later and later.
    bool refuses_beyond = true;
  };
  // Refuses for `down` after every `up`, whatever the rest says.
  struct Flapping {
    absl::Duration up;
    absl::Duration down;
  };

  Kind kind = Kind::Answers;
  absl::Duration latency = absl::Milliseconds(50);
  absl::Duration latency_spread;  // on top: anything from zero to this
  uint32_t status = 200;
  double error_ratio = 0;  // of requests that get `error_status` instead
  uint32_t error_status = 500;
  std::string retry_after;                // sent with every status that is not 2xx; none when empty
  Directive directive = Directive::None;  // the same
  std::optional<Capacity> capacity;
  std::optional<Flapping> flapping;
};

struct Phase {
  absl::Duration from;
  Behaviour behaviour;
};

// Before its first phase an app is well.
struct AppScript {
  std::string cluster;
  std::vector<Phase> phases;  // by time
};

// Where events come from.
struct ArrivalScript {
  enum class Kind {
    Constant,
    Poisson,
    Bursts,  // `burst` events at once, so that `per_second` holds on average
  };

  std::string upstream;
  absl::Duration from;
  absl::Duration until;
  Kind kind = Kind::Constant;
  double per_second = 1;
  uint32_t burst = 10;
  uint32_t keys = 0;          // different order keys, drawn at random; 0: no order
  uint32_t poison_every = 0;  // every so many-th event kills the process when it is sent; 0: none
};

struct OperatorAction {
  enum class Kind { Pause, Resume, Replay };

  absl::Duration at;
  Kind kind = Kind::Pause;
  std::string upstream;
  // With Replay: which events, by state (dead ones unless told), and how fast.
  std::optional<v1::State> state = v1::STATE_DEAD;
  uint32_t rate_per_minute = 100;
};

struct ClockStep {
  absl::Duration at;
  absl::Duration by;
};

struct Restart {
  enum class Kind {
    Crash,  // outcomes under way are lost
    Clean,  // sends nothing more, waits a little for outcomes, abandons the rest
  };

  absl::Duration at;
  Kind kind = Kind::Crash;
  absl::Duration down_for = absl::Seconds(1);  // nothing is captured meanwhile
};

struct Script {
  std::vector<UpstreamConfig> upstreams;
  std::vector<AppScript> apps;  // a cluster that is not here has an app that is always well
  std::vector<ArrivalScript> arrivals;
  std::vector<OperatorAction> actions;
  std::vector<ClockStep> clock_steps;
  std::vector<Restart> restarts;
  absl::Time start = absl::FromUnixSeconds(1'800'000'000);
  // The end at the latest. A simulation ends sooner when nothing is left to happen.
  absl::Duration until = absl::Hours(24);
  absl::Duration poison_down_for = absl::Seconds(1);
  uint64_t seed = 1;
  // Keeps no event once it is delivered, so that millions fit. Replays then find only the others.
  bool forget_delivered = true;
};

}  // namespace forebay::sim
