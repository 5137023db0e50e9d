#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "source/event/event.h"
#include "source/policy/outcome.h"

namespace forebay {

// A request as the app is to receive it. The body is the event's own.
struct OutgoingRequest {
  uint64_t token = 0;
  std::string cluster;
  absl::Duration timeout;
  std::vector<std::pair<std::string, std::string>> headers;  // pseudo headers first
  EventPtr event;
};

class OutcomeSink {
public:
  virtual ~OutcomeSink() = default;
  // Exactly once per request, on any thread, possibly inside send().
  virtual void onOutcome(uint64_t token, Outcome&& outcome) = 0;
};

// Carries requests to apps: Envoy's clusters in production, scripted apps in the simulator. Never
// blocks.
class Transport {
public:
  virtual ~Transport() = default;
  virtual void send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) = 0;
};

}  // namespace forebay
