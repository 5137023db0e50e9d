#include <algorithm>
#include <limits>

#include "source/base/strings.h"
#include "source/config/config_limits.h"
#include "source/config/config_text.h"
#include "source/config/validators.h"

namespace forebay {

namespace {

using ProtoJitter = v1::BootstrapConfig::Upstream::Retry::Jitter;
using ProtoRule = v1::BootstrapConfig::Upstream::ClassifyRule;

void readRepeatedDelay(Section& section, std::string_view field, absl::Duration& value) {
  section.readDuration(field, limits::kRepeatedDelayMin, limits::kConfiguredDelayMax, value);
}

ExponentialBackoff validateExponential(Section section) {
  ExponentialBackoff backoff;
  readRepeatedDelay(section, "initial", backoff.initial);
  section.readNumber("multiplier", 1.0, limits::kMultiplierMax, backoff.multiplier);
  readRepeatedDelay(section, "max", backoff.max);
  checkMaxNotBelowInitial(section, backoff.initial, backoff.max);
  return backoff;
}

LinearBackoff validateLinear(Section section) {
  LinearBackoff backoff;
  readRepeatedDelay(section, "initial", backoff.initial);
  section.readPositive("step", limits::kConfiguredDelayMax, backoff.step);
  readRepeatedDelay(section, "max", backoff.max);
  checkMaxNotBelowInitial(section, backoff.initial, backoff.max);
  return backoff;
}

FixedBackoff validateFixed(Section section) {
  FixedBackoff backoff;
  readRepeatedDelay(section, "interval", backoff.interval);
  return backoff;
}

ScheduleBackoff validateSchedule(Section section) {
  ScheduleBackoff backoff;
  backoff.delays =
      section.readDurations("delays", absl::ZeroDuration(), limits::kConfiguredDelayMax);
  if (backoff.delays.empty()) {
    if (section.isClean("delays")) {
      section.fail("delays", "at least one is required");
    }
    return backoff;
  }
  if (backoff.delays.size() > limits::kScheduleDelaysMax) {
    section.fail("delays", cat("must be at most ", limits::kScheduleDelaysMax, " (got ",
                               backoff.delays.size(), ")"));
  }
  // A zero before the last one costs one attempt; a zero that repeats costs a processor.
  const std::string last = elementPath("delays", backoff.delays.size() - 1);
  if (section.isClean(last) && backoff.delays.back() < limits::kRepeatedDelayMin) {
    section.fail(last, cat("the last delay repeats and must be at least ",
                           secondsText(limits::kRepeatedDelayMin), " (got ",
                           secondsText(backoff.delays.back()), ")"));
  }
  return backoff;
}

BackoffShape validateBackoff(const Section& retry) {
  if (retry.has("schedule")) {
    return validateSchedule(retry.inner("schedule"));
  }
  if (retry.has("linear")) {
    return validateLinear(retry.inner("linear"));
  }
  if (retry.has("fixed")) {
    return validateFixed(retry.inner("fixed"));
  }
  return validateExponential(retry.inner("exponential"));
}

Jitter validateJitter(Section section) {
  Jitter jitter;
  switch (static_cast<ProtoJitter::Kind>(section.readEnum("kind"))) {
    case ProtoJitter::EQUAL:
      jitter.kind = JitterKind::Equal;
      break;
    case ProtoJitter::DECORRELATED:
      jitter.kind = JitterKind::Decorrelated;
      break;
    case ProtoJitter::PROPORTIONAL:
      jitter.kind = JitterKind::Proportional;
      break;
    case ProtoJitter::NONE:
      jitter.kind = JitterKind::None;
      break;
    default:
      jitter.kind = JitterKind::Full;
  }
  if (section.has("ratio") && section.isClean("kind") && jitter.kind != JitterKind::Proportional) {
    section.fail("ratio", "is only allowed with kind PROPORTIONAL");
  }
  section.readPositive("ratio", 1.0, jitter.ratio);
  return jitter;
}

// The wait after the first failure, and the longest that there is.
struct WaitRange {
  absl::Duration first;
  absl::Duration longest;
};

WaitRange waitRange(const BackoffShape& shape) {
  if (const auto* schedule = std::get_if<ScheduleBackoff>(&shape); schedule != nullptr) {
    const std::vector<absl::Duration>& delays = schedule->delays;
    return {delays[delays.size() > 1 ? 1 : 0], *std::max_element(delays.begin(), delays.end())};
  }
  if (const auto* fixed = std::get_if<FixedBackoff>(&shape); fixed != nullptr) {
    return {fixed->interval, fixed->interval};
  }
  if (const auto* linear = std::get_if<LinearBackoff>(&shape); linear != nullptr) {
    return {linear->initial, linear->max};
  }
  const auto& exponential = std::get<ExponentialBackoff>(shape);
  return {exponential.initial, exponential.max};
}

// Decorrelated jitter goes from the first wait on in steps of at most three times the one before.
// From zero it never grows, and where the first wait is the longest it has no room.
void checkDecorrelated(Section jitter, const BackoffShape& shape) {
  const WaitRange waits = waitRange(shape);
  if (waits.first == absl::ZeroDuration()) {
    jitter.fail(
        "kind",
        "must not be DECORRELATED where the wait after the first failure, schedule.delays[1], "
        "is 0s: three times nothing is nothing (got DECORRELATED)");
  } else if (waits.longest == waits.first) {
    jitter.fail("kind",
                cat("must not be DECORRELATED where ",
                    std::holds_alternative<FixedBackoff>(shape)
                        ? "the wait is fixed, "
                        : "no wait is longer than the one after the first failure, ",
                    secondsText(waits.first), ": there would be no spread (got DECORRELATED)"));
  }
}

BreakerConfig::FailureRate validateFailureRate(Section section) {
  BreakerConfig::FailureRate rate;
  section.require("percent");
  section.readPositive("percent", 100.0, rate.percent);
  section.readDuration("window", limits::kFailureRateWindowMin, limits::kFailureRateWindowMax,
                       rate.window);
  section.readNumber("requests_min", uint32_t{1}, limits::kFailureRateRequestsMax,
                     rate.requests_min);
  return rate;
}

// The least that `give_up_after` must allow, from capture: the first retry, or the first attempt
// when there are no retries.
absl::Duration neededTime(const BackoffShape& shape, uint32_t attempts_max) {
  if (const auto* schedule = std::get_if<ScheduleBackoff>(&shape); schedule != nullptr) {
    const std::vector<absl::Duration>& delays = schedule->delays;
    if (delays.empty()) {
      return absl::ZeroDuration();
    }
    return attempts_max == 1 ? delays[0] : delays[0] + delays[delays.size() > 1 ? 1 : 0];
  }
  if (attempts_max == 1) {
    return absl::ZeroDuration();
  }
  if (const auto* fixed = std::get_if<FixedBackoff>(&shape); fixed != nullptr) {
    return fixed->interval;
  }
  if (const auto* linear = std::get_if<LinearBackoff>(&shape); linear != nullptr) {
    return linear->initial;
  }
  return std::get<ExponentialBackoff>(shape).initial;
}

}  // namespace

void checkMaxNotBelowInitial(Section& section, absl::Duration initial, absl::Duration max) {
  if (!section.isClean("initial") || !section.isClean("max") || max >= initial) {
    return;
  }
  section.fail("max", cat("must not be shorter than initial, which is ", secondsText(initial),
                          section.has("initial") ? "" : " by default", " (got ", secondsText(max),
                          section.has("max") ? "" : ", the default", ")"));
}

RetryConfig validateRetry(Section retry) {
  RetryConfig config;
  config.backoff = validateBackoff(retry);
  config.jitter = validateJitter(retry.inner("jitter"));
  retry.readNumber("attempts_max", uint32_t{1}, limits::kAttemptsMaxCeiling, config.attempts_max);
  retry.readPositive("give_up_after", limits::kGiveUpAfterMax, config.give_up_after);
  retry.readNumber("share_max_percent", 0.0, 100.0, config.share_max_percent);
  for (const std::string_view field : {"exponential", "schedule", "linear", "fixed"}) {
    if (!retry.isCleanThroughout(field)) {
      return config;  // nothing to compare with
    }
  }
  if (config.jitter.kind == JitterKind::Decorrelated) {
    checkDecorrelated(retry.inner("jitter"), config.backoff);
  }
  if (!retry.isClean("attempts_max") || !retry.isClean("give_up_after")) {
    return config;
  }
  const absl::Duration needed = neededTime(config.backoff, config.attempts_max);
  if (config.give_up_after <= needed) {
    retry.fail("give_up_after",
               cat("must be longer than the wait before the first ",
                   config.attempts_max == 1 ? "attempt, " : "retry, ", secondsText(needed),
                   " (got ", secondsText(config.give_up_after),
                   retry.has("give_up_after") ? "" : ", the default", ")"));
  }
  return config;
}

std::vector<ClassifyRule> validateClassify(const Section& upstream) {
  std::vector<ClassifyRule> rules;
  std::vector<Section> sections = upstream.elements("classify");
  if (sections.size() > limits::kClassifyRulesMax) {
    Section(upstream).fail("classify", cat("must be at most ", limits::kClassifyRulesMax, " (got ",
                                           sections.size(), ")"));
  }
  for (Section& section : sections) {
    ClassifyRule rule;
    std::string match;
    if (section.readRequired("match", limits::kNameBytesMax, match)) {
      if (absl::StatusOr<ClassifyRule> parsed = parseMatch(match); parsed.ok()) {
        rule = *parsed;
      } else {
        section.fail("match", toStd(parsed.status().message()));  // names the value itself
      }
    }
    if (!section.has("as") && section.isClean("as")) {
      section.fail("as", "is required: SUCCESS, RETRY or PERMANENT");
    }
    switch (static_cast<ProtoRule::Verdict>(section.readEnum("as"))) {
      case ProtoRule::SUCCESS:
        rule.verdict = Verdict::Success;
        break;
      case ProtoRule::PERMANENT:
        rule.verdict = Verdict::Permanent;
        break;
      default:
        rule.verdict = Verdict::Retry;
    }
    rules.push_back(rule);
  }
  return rules;
}

BreakerConfig validateBreaker(Section circuit_breaker) {
  BreakerConfig config;
  circuit_breaker.readNumber("consecutive_failures", uint32_t{1},
                             std::numeric_limits<uint32_t>::max(), config.consecutive_failures);
  Section open = circuit_breaker.inner("open");
  readRepeatedDelay(open, "initial", config.open_initial);
  open.readNumber("multiplier", 1.0, limits::kMultiplierMax, config.open_multiplier);
  readRepeatedDelay(open, "max", config.open_max);
  checkMaxNotBelowInitial(open, config.open_initial, config.open_max);
  if (circuit_breaker.has("failure_rate")) {
    config.failure_rate = validateFailureRate(circuit_breaker.inner("failure_rate"));
  }
  return config;
}

}  // namespace forebay
