#include "source/cli/plan_options.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "source/base/log.h"
#include "source/base/strings.h"
#include "source/cli/plan_text.h"

namespace forebay {
namespace {

constexpr absl::Duration kLatencyMax = absl::Hours(1);

constexpr std::pair<std::string_view, OutageKind> kKinds[] = {{"refused", OutageKind::Refused},
                                                              {"5xx", OutageKind::ServerError},
                                                              {"hang", OutageKind::Hang},
                                                              {"brownout", OutageKind::Brownout}};

std::string inQuotes(std::string_view text) { return cat("\"", printable(text, 64), "\""); }

absl::Status wrong(std::string_view option, std::string_view what) {
  return absl::InvalidArgumentError(cat("--", option, ": ", what));
}

// Sets `target` if the option was given and `parse` takes it.
template <typename T, typename Parse>
absl::Status read(const Arguments& arguments, std::string_view option, Parse parse, T& target) {
  if (const std::optional<std::string> text = arguments.value(option)) {
    auto value = parse(*text);
    if (!value.ok()) {
      return wrong(option, toStd(value.status().message()));
    }
    target = *std::move(value);
  }
  return absl::OkStatus();
}

absl::StatusOr<double> parsePlanRate(std::string_view text) {
  absl::StatusOr<double> rate = parseRate(text);
  if (rate.ok() && *rate > kPlanRateMax) {
    return absl::InvalidArgumentError(
        cat(inQuotes(text), ": at most ", countText(kPlanRateMax), "/s"));
  }
  return rate;
}

absl::StatusOr<absl::Duration> parseOutage(std::string_view text) {
  absl::StatusOr<absl::Duration> outage = parseSpan(text);
  if (outage.ok() && (*outage < kPlanOutageMin || *outage > kPlanOutageMax)) {
    return absl::InvalidArgumentError(
        cat(inQuotes(text), ": from ", spanText(kPlanOutageMin), " to ", spanText(kPlanOutageMax)));
  }
  if (outage.ok() && *outage % absl::Seconds(1) != absl::ZeroDuration()) {
    return absl::InvalidArgumentError(cat(inQuotes(text), ": wants whole seconds"));
  }
  return outage;
}

absl::StatusOr<absl::Duration> parseLatency(std::string_view text) {
  absl::StatusOr<absl::Duration> latency = parseSpan(text);
  if (latency.ok() && *latency > kLatencyMax) {
    return absl::InvalidArgumentError(cat(inQuotes(text), ": at most ", spanText(kLatencyMax)));
  }
  return latency;
}

absl::StatusOr<OutageKind> parseKind(std::string_view text) {
  for (const auto& [name, kind] : kKinds) {
    if (name == text) {
      return kind;
    }
  }
  return absl::InvalidArgumentError(cat(inQuotes(text), ": wants refused, 5xx, hang or brownout"));
}

absl::StatusOr<uint32_t> parseBurst(std::string_view text) {
  uint32_t burst = 0;
  if (!absl::SimpleAtoi(toAbsl(text), &burst) || burst == 0 || burst > kPlanBurstMax) {
    return absl::InvalidArgumentError(
        cat(inQuotes(text), ": wants a whole number from 1 to ", countText(kPlanBurstMax)));
  }
  return burst;
}

absl::StatusOr<uint64_t> parseSeed(std::string_view text) {
  uint64_t seed = 0;
  if (!absl::SimpleAtoi(toAbsl(text), &seed)) {
    return absl::InvalidArgumentError(cat(inQuotes(text), ": wants a whole number"));
  }
  return seed;
}

}  // namespace

std::string_view outageKindName(OutageKind kind) { return kKinds[static_cast<size_t>(kind)].first; }

absl::StatusOr<PlanOptions> parsePlanOptions(const Arguments& arguments) {
  if (arguments.words().size() != 1 || arguments.words()[0].empty()) {
    return absl::InvalidArgumentError("wants one CONFIG");
  }
  PlanOptions options;
  options.config_path = arguments.words()[0];
  options.upstream = arguments.value("upstream");
  options.compare = arguments.has("compare");
  options.json = arguments.has("json");
  options.svg_path = arguments.value("svg");
  for (const absl::Status& status : {read(arguments, "rate", parsePlanRate, options.per_second),
                                     read(arguments, "burst", parseBurst, options.burst),
                                     read(arguments, "outage", parseOutage, options.outage),
                                     read(arguments, "kind", parseKind, options.kind),
                                     read(arguments, "latency", parseLatency, options.latency),
                                     read(arguments, "capacity", parsePlanRate, options.capacity),
                                     read(arguments, "seed", parseSeed, options.seed)}) {
    if (!status.ok()) {
      return status;
    }
  }
  if (options.svg_path.has_value() && options.svg_path->empty()) {
    return wrong("svg", "wants the name of a file");
  }
  const double events = options.per_second * absl::ToDoubleSeconds(options.outage);
  const uint64_t events_max = options.compare ? kPlanEventsMaxCompared : kPlanEventsMax;
  if (events > static_cast<double>(events_max)) {
    return absl::InvalidArgumentError(
        cat("--rate x --outage are ", countText(static_cast<uint64_t>(events)), " events; ",
            options.compare ? "with --compare a plan takes" : "a plan takes", " at most ",
            countText(events_max), ", so that it is done within seconds"));
  }
  return options;
}

}  // namespace forebay
