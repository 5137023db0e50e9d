#include "source/sim/simulation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "source/base/limits.h"
#include "source/base/strings.h"
#include "source/policy/backoff.h"
#include "source/replay/schedule.h"
#include "source/replay/selection.h"

namespace forebay::sim {
namespace {

constexpr std::string_view kPoison = "poison";
// So long a process that sent poison still lives.
constexpr absl::Duration kPoisonWorksAfter = absl::Milliseconds(1);
// As the forwarder's thread: it turns at least so often, for the sake of a wall that was stepped.
constexpr absl::Duration kClockNoticedWithin = limits::kStatsFlushInterval;
// Turns without any time passing, before it is clear that they would never end.
constexpr uint64_t kTurnsInARowMax = 10'000;

class NullLog final : public Log {
public:
  void write(LogLevel, std::string_view) override {}
};

Log& nullLog() {
  static NullLog log;
  return log;
}

StatsSink& nullStats() {
  static NullStats stats;
  return stats;
}

// A seed of its own for each use.
uint64_t derived(uint64_t seed, uint64_t use) {
  SeededRandom random(seed + use * 0x632be59bd9b4e019);
  return random.next();
}

void mix(uint64_t& digest, uint64_t value) { digest = SeededRandom(digest ^ value).next(); }

uint32_t attemptNumber(const OutgoingRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name == "forebay-attempt") {
      uint32_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      return number;
    }
  }
  return 0;
}

int64_t firstDelayUs(const std::vector<UpstreamConfig>& upstreams, const std::string& name) {
  for (const UpstreamConfig& upstream : upstreams) {
    if (upstream.name == name) {
      const Backoff backoff(upstream.retry.backoff, upstream.retry.jitter);
      return absl::ToInt64Microseconds(backoff.beforeFirst());
    }
  }
  return 0;
}

}  // namespace

Simulation::Simulation(Script script, Observer& observer, StatsSink* stats)
    : script_(std::move(script)),
      observer_(observer),
      stats_(stats == nullptr ? nullStats() : *stats),
      clock_(script_.start),
      origin_(clock_.monotonicNow()),
      arrival_random_(derived(script_.seed, 1)),
      app_random_(derived(script_.seed, 2)),
      forwarder_random_(derived(script_.seed, 3)),
      id_random_(derived(script_.seed, 4)),
      store_(clock_, id_random_, observer),
      restarts_(script_.restarts) {
  if (script_.forget_delivered) {
    store_.memory().forgetDelivered();
  }
  store_.onNewWork([this] { woken_ = true; });
  for (const AppScript& app : script_.apps) {
    apps_[app.cluster] = std::make_unique<App>(app);
  }
  for (const ArrivalScript& arrivals : script_.arrivals) {
    sources_.push_back({Arrivals(arrivals), 0, firstDelayUs(script_.upstreams, arrivals.upstream)});
    scheduleArrival(sources_.size() - 1);
  }
  for (size_t i = 0; i < script_.actions.size(); ++i) {
    schedule(script_.actions[i].at, Kind::Action, i);
  }
  for (size_t i = 0; i < script_.clock_steps.size(); ++i) {
    schedule(script_.clock_steps[i].at, Kind::ClockStep, i);
  }
  for (size_t i = 0; i < restarts_.size(); ++i) {
    schedule(restarts_[i].at, Kind::Restart, i);
  }
}

Simulation::~Simulation() = default;

Result Simulation::run() {
  start();
  while (result_.error.empty() && !stopped_ && observer_.wantsMore()) {
    const bool turns = forwarder_ != nullptr && (queue_.empty() || turnAt() < queue_.top().at);
    const absl::Duration at = turns            ? turnAt()
                              : queue_.empty() ? absl::InfiniteDuration()
                                               : queue_.top().at;
    if (at > script_.until || nothingLeft()) {
      break;
    }
    if (at > now()) {
      turns_in_a_row_ = 0;
      clock_.advanceTo(origin_ + at);
    }
    if (turns) {
      turn();
    } else {
      const Happening next = queue_.top();
      queue_.pop();
      happen(next);
    }
    step();
  }
  result_.ended_at = now();
  for (const auto& [upstream, totals] : store_.totals()) {
    result_.totals.accepted += totals.accepted;
    result_.totals.pending += totals.pending;
    result_.totals.retrying += totals.retrying;
    result_.totals.delivered += totals.delivered;
    result_.totals.dead += totals.dead;
    result_.totals.quarantined += totals.quarantined;
  }
  result_.drained = result_.totals.backlog() == 0;
  return result_;
}

bool Simulation::nothingLeft() {
  if (scripted_left_ > 0 || !under_way_.empty() || forwarder_ == nullptr) {
    return false;
  }
  uint64_t backlog = 0;
  for (const auto& [upstream, totals] : store_.totals()) {
    backlog += totals.backlog();
  }
  return backlog == 0;
}

void Simulation::step() {
  ++result_.steps;
  if (draining_ && forwarder_->idle()) {
    endGrace();
  }
  observer_.afterStep(*this);
}

void Simulation::turn() {
  if (++turns_in_a_row_ > kTurnsInARowMax) {
    result_.error = cat("the forwarder turns for ever at ", absl::FormatDuration(now()));
    return;
  }
  woken_ = false;
  observer_.onTurn();
  next_turn_ = forwarder_->tick();
}

void Simulation::schedule(absl::Duration at, Kind kind, uint64_t index) {
  scripted_left_ += kind != Kind::Outcome && kind != Kind::NoticeClock;
  queue_.push({at, ++scheduled_, kind, index});
}

void Simulation::happen(const Happening& happening) {
  scripted_left_ -= happening.kind != Kind::Outcome && happening.kind != Kind::NoticeClock;
  switch (happening.kind) {
    case Kind::Arrival:
      arrive(happening.index);
      break;
    case Kind::Outcome:
      deliverOutcome(happening.index);
      break;
    case Kind::Action:
      // An operator waits until there is somebody to talk to.
      if (!sending()) {
        schedule(std::max(up_at_, now()) + absl::Seconds(1), Kind::Action, happening.index);
      } else {
        act(script_.actions[happening.index]);
      }
      break;
    case Kind::ClockStep:
      clock_.stepWall(script_.clock_steps[happening.index].by);
      observer_.onClockStep(script_.clock_steps[happening.index].by);
      schedule(now() + kClockNoticedWithin, Kind::NoticeClock, 0);
      break;
    case Kind::NoticeClock:
      woken_ = true;
      break;
    case Kind::Restart:
      restart(restarts_[happening.index]);
      break;
    case Kind::GraceEnds:
      endGrace();
      break;
    case Kind::Up:
      start();
      break;
  }
}

void Simulation::scheduleArrival(uint64_t source) {
  const std::optional<Arrivals::Next> next = sources_[source].arrivals.next(arrival_random_);
  if (next.has_value()) {
    sources_[source].count = next->count;
    schedule(next->at, Kind::Arrival, source);
  }
}

void Simulation::arrive(uint64_t index) {
  Source& source = sources_[index];
  for (uint32_t i = 0; i < source.count; ++i) {
    capture(source);
  }
  scheduleArrival(index);
}

void Simulation::capture(Source& source) {
  const ArrivalScript& script = source.arrivals.script();
  const uint64_t key = script.keys == 0 ? 0 : arrival_random_.next() % script.keys;
  if (!sending()) {
    ++result_.refused;
    observer_.onRefused(script);
    return;
  }
  Event event;
  event.record.set_format(kRecordFormat);
  event.record.set_source("sim");
  event.record.set_upstream(script.upstream);
  event.record.set_received_at_us(absl::ToUnixMicros(clock_.wallNow()));
  event.record.set_first_delay_us(source.first_delay_us);
  event.record.set_method("POST");
  event.record.set_path("/");
  if (script.keys > 0) {
    event.record.set_order_key(cat("key-", key));
  }
  ++source.captured;
  if (script.poison_every > 0 && source.captured % script.poison_every == 0) {
    event.record.set_body(std::string(kPoison));
  }
  store_.append(std::move(event), *this, 0);
}

void Simulation::onAppended(absl::Span<const AppendResult> results) {
  for (const AppendResult& result : results) {
    if (result.status.ok()) {
      observer_.onCapture(*store_.read(result.id)->event);
    } else {
      result_.error = toStd(result.status.message());
    }
  }
}

void Simulation::send(std::vector<OutgoingRequest>&& requests, OutcomeSink& sink) {
  for (OutgoingRequest& request : requests) {
    std::unique_ptr<App>& app = apps_[request.cluster];
    if (app == nullptr) {
      app = std::make_unique<App>(AppScript{request.cluster, {}});
    }
    const AttemptStart start{++result_.attempts, attemptNumber(request), now(), clock_.wallNow(),
                             request.event.get()};
    observer_.onAttempt(start);
    App::Answer answer = app->answer(start.at, request.timeout, app_random_);
    answer.outcome.duration = answer.after;

    mix(result_.digest, absl::ToInt64Nanoseconds(start.at));
    for (const char byte : request.event->id.bytes()) {
      mix(result_.digest, static_cast<uint8_t>(byte));
    }
    mix(result_.digest, start.number);
    mix(result_.digest, static_cast<uint64_t>(answer.outcome.kind));
    mix(result_.digest, answer.outcome.status);

    if (request.event->record.body() == kPoison) {
      restarts_.push_back(
          {start.at + kPoisonWorksAfter, Restart::Kind::Crash, script_.poison_down_for});
      schedule(restarts_.back().at, Kind::Restart, restarts_.size() - 1);
    }
    under_way_[start.serial] = {request.token, &sink, std::move(request.event),
                                std::move(answer.outcome)};
    schedule(start.at + answer.after, Kind::Outcome, start.serial);
  }
}

void Simulation::deliverOutcome(uint64_t serial) {
  const auto found = under_way_.find(serial);
  if (found == under_way_.end()) {
    return;  // the process died meanwhile
  }
  UnderWay done = std::move(found->second);
  under_way_.erase(found);
  observer_.onOutcome(serial, done.outcome);
  done.sink->onOutcome(done.token, std::move(done.outcome));
}

void Simulation::act(const OperatorAction& action) {
  observer_.onAction(action);
  absl::Status status;
  switch (action.kind) {
    case OperatorAction::Kind::Pause:
      status = forwarder_->pause(action.upstream, "simulated");
      break;
    case OperatorAction::Kind::Resume:
      status = forwarder_->resume(action.upstream);
      break;
    case OperatorAction::Kind::Replay: {
      EventFilter filter;
      filter.upstream = action.upstream;
      filter.state = action.state;
      const auto selected = selectByFilter(store_, filter);
      status = selected.status();
      if (selected.ok()) {
        const ReplaySchedule schedule{cat("replay-", ++replays_), clock_.wallNow(),
                                      std::max(action.rate_per_minute, 1u)};
        status = applyMarks(store_, planMarks(*selected, schedule)).status;
      }
      break;
    }
  }
  if (!status.ok()) {
    result_.error = toStd(status.message());
  }
}

void Simulation::restart(const Restart& restart) {
  if (forwarder_ == nullptr) {
    return;
  }
  if (restart.kind == Restart::Kind::Crash) {
    goDown(restart.kind, restart.down_for);
  } else if (!draining_) {
    draining_ = true;
    down_for_ = restart.down_for;
    forwarder_->stopSending();
    schedule(now() + limits::kShutdownGrace, Kind::GraceEnds, 0);
  }
}

void Simulation::endGrace() {
  if (!draining_) {
    return;  // it died, or was done sooner
  }
  std::vector<uint64_t> serials;
  std::vector<EventPtr> abandoned;
  for (const auto& [serial, under_way] : under_way_) {
    serials.push_back(serial);
  }
  std::sort(serials.begin(), serials.end());
  for (const uint64_t serial : serials) {
    UnderWay& under_way = under_way_.at(serial);
    under_way.outcome = Outcome();
    under_way.outcome.kind = OutcomeKind::Abandoned;
    abandoned.push_back(under_way.event);
    deliverOutcome(serial);
  }
  observer_.onTurn();
  forwarder_->tick();
  // A store that is opened again knows of no leases.
  for (const EventPtr& event : abandoned) {
    store_.release(event->record.upstream(), {event->id});
  }
  goDown(Restart::Kind::Clean, down_for_);
}

void Simulation::goDown(Restart::Kind kind, absl::Duration down_for) {
  draining_ = false;
  under_way_.clear();
  forwarder_.reset();
  if (kind == Restart::Kind::Crash) {
    store_.memory().crash();
  }
  observer_.onDown(kind);
  up_at_ = now() + down_for;
  schedule(up_at_, Kind::Up, 0);
}

void Simulation::start() {
  forwarder_ = std::make_unique<Forwarder>(
      script_.upstreams, Forwarder::Dependencies{store_, *this, clock_, forwarder_random_, stats_,
                                                 nullLog(), [this] { woken_ = true; }});
  woken_ = true;
  turns_in_a_row_ = 0;
  observer_.onUp();
}

}  // namespace forebay::sim
