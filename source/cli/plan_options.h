#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "source/cli/arguments.h"

namespace forebay {

// What keeps a plan short. A run makes at least rate x outage events and remembers every second.
inline constexpr double kPlanRateMax = 10'000;  // per second
inline constexpr uint32_t kPlanBurstMax = 100'000;
inline constexpr absl::Duration kPlanOutageMin = absl::Seconds(1);
inline constexpr absl::Duration kPlanOutageMax = absl::Hours(7 * 24);
inline constexpr uint64_t kPlanEventsMax = 500'000;         // during the outage
inline constexpr uint64_t kPlanEventsMaxCompared = 50'000;  // the same, where ten plans are run

// How the app fails while it is down.
enum class OutageKind { Refused, ServerError, Hang, Brownout };
std::string_view outageKindName(OutageKind kind);  // as --kind takes it

struct PlanOptions {
  std::string config_path;
  std::optional<std::string> upstream;
  double per_second = 10;
  uint32_t burst = 1;  // events that come at once
  absl::Duration outage = absl::Hours(1);
  OutageKind kind = OutageKind::Refused;
  absl::Duration latency = absl::Milliseconds(50);
  std::optional<double> capacity;  // per second
  bool compare = false;
  bool json = false;
  std::optional<std::string> svg_path;
  uint64_t seed = 1;
};

// The options that `forebay plan` knows.
inline constexpr std::string_view kPlanOptions[] = {"upstream", "rate",    "burst",    "outage",
                                                    "kind",     "latency", "capacity", "compare",
                                                    "svg",      "json",    "seed"};

// An error names the option and its value.
absl::StatusOr<PlanOptions> parsePlanOptions(const Arguments& arguments);

}  // namespace forebay
