#pragma once

#include <cstdint>
#include <string>

#include "source/base/log.h"
#include "source/event/event.h"

// The process that is killed: appends from eight threads, a third of the events with an order key,
// leases and settles from another, and reports what it was promised, when it was.
namespace forebay::crash {

inline constexpr int kReportFd = 3;

struct Report {
  enum Kind : uint32_t { Acknowledged, Settled };

  Kind kind = Acknowledged;
  uint32_t attempts = 0;  // settled: after how many
  EventId id;
  uint64_t number = 0;  // acknowledged: what the body was made from
  v1::State state = v1::STATE_PENDING;
};

// A body that only this number has; some are large.
std::string bodyOf(uint64_t number);

class QuietLog final : public Log {
public:
  void write(LogLevel level, std::string_view message) override;
};

// Runs until it is killed. Returns 1 if the store did not open.
int childMain(const std::string& path, uint64_t seed);

}  // namespace forebay::crash
