#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "source/delivery/forwarder.h"
#include "source/store/memory/memory_store.h"
#include "test/support/fakes.h"

namespace forebay {

inline Outcome answered(uint32_t status) {
  Outcome outcome;
  outcome.kind = OutcomeKind::Answered;
  outcome.status = status;
  return outcome;
}

inline Outcome failed(OutcomeKind kind) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.error = "scripted";
  return outcome;
}

// An app that a test scripts: requests wait until answer() is called, or are answered at once by
// `automatic`.
class ScriptedTransport final : public Transport {
public:
  void send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) override {
    for (OutgoingRequest& request : requests) {
      sent.push_back(request);
      if (automatic) {
        sink.onOutcome(request.token, automatic(request));
      } else {
        waiting.emplace_back(std::move(request), &sink);
      }
    }
  }

  void answer(Outcome outcome) {
    auto [request, sink] = std::move(waiting.front());
    waiting.erase(waiting.begin());
    sink->onOutcome(request.token, std::move(outcome));
  }

  // Answers the oldest waiting request of this event.
  void answer(const EventId& id, Outcome outcome) {
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].first.event->id == id) {
        std::swap(waiting[0], waiting[i]);
        answer(std::move(outcome));
        return;
      }
    }
    FAIL() << id.toString() << " is not in flight";
  }

  static std::string header(const OutgoingRequest& request, std::string_view name) {
    for (const auto& [key, value] : request.headers) {
      if (key == name) {
        return value;
      }
    }
    return "";
  }

  std::function<Outcome(const OutgoingRequest&)> automatic;
  std::vector<OutgoingRequest> sent;
  std::vector<std::pair<OutgoingRequest, OutcomeSink*>> waiting;
};

class Appended final : public AppendSink {
public:
  void onAppended(absl::Span<const AppendResult> results) override {
    for (const AppendResult& result : results) {
      ids.push_back(result.id);
    }
  }
  std::vector<EventId> ids;
};

// A forwarder over a memory store, in virtual time.
struct World {
  explicit World(std::vector<UpstreamConfig> upstreams) : upstreams_(std::move(upstreams)) {
    restart();
  }

  void restart() {
    forwarder = std::make_unique<Forwarder>(
        upstreams_,
        Forwarder::Dependencies{store, transport, clock, random, stats, log, [this] { ++wakes; }});
  }

  EventId capture(const std::string& upstream, const std::string& body = "hello",
                  const std::string& order_key = "") {
    Event event;
    event.record.set_format(kRecordFormat);
    event.record.set_source("test");
    event.record.set_upstream(upstream);
    event.record.set_received_at_us(absl::ToUnixMicros(clock.wallNow()));
    event.record.set_method("POST");
    event.record.set_path("/hook?x=1");
    event.record.set_authority("hooks.example");
    event.record.set_body(body);
    event.record.set_order_key(order_key);
    store.append(std::move(event), appended, 1);
    return appended.ids.back();
  }

  // Turns until the forwarder wants nothing at this moment.
  void settle() {
    for (int i = 0; i < 1000; ++i) {
      const int before = wakes;
      const MonotonicTime next = forwarder->tick();
      if (wakes == before && next > clock.monotonicNow()) {
        forwarder->publish();
        return;
      }
    }
  }

  // Lets time pass as a driver would: turning whenever the forwarder asked for it.
  void run(absl::Duration duration) {
    const MonotonicTime end = clock.monotonicNow() + duration;
    settle();
    while (clock.monotonicNow() < end) {
      const MonotonicTime next = std::min(end, forwarder->tick());
      clock.advance(std::max(next - clock.monotonicNow(), absl::Microseconds(1)));
      settle();
    }
  }

  // As a process that died and came back.
  void crash() {
    forwarder.reset();
    transport.waiting.clear();
    store.crash();
    restart();
  }

  void replay(const EventId& id) {
    const ReplayMark mark{id, clock.wallNow(), "job"};
    ASSERT_EQ(*store.markDue({&mark, 1}), 1u);
  }

  v1::EventState state(const EventId& id) { return store.read(id)->state; }

  const std::vector<UpstreamConfig> upstreams_;
  ManualClock clock;
  SeededRandom random{1};
  RecordingStats stats;
  RecordingLog log;
  ScriptedTransport transport;
  Appended appended;
  MemoryStore store{clock, random};
  int wakes = 0;
  std::unique_ptr<Forwarder> forwarder;
};

inline UpstreamConfig upstream(const std::string& name) {
  UpstreamConfig config;
  config.name = name;
  config.cluster = name + "_cluster";
  config.retry.backoff = FixedBackoff{absl::Seconds(60)};
  config.retry.jitter.kind = JitterKind::None;
  return config;
}

}  // namespace forebay
