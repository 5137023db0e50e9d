"""How fast a lane goes: the rate limit, and the ramp after a breaker closes or a lane is resumed."""

import math
import threading

import pytest

from harness import sender
from harness.app import Answer
from harness.config import retry, upstream
from harness.waiting import eventually

# What two busy cores may bring an arrival nearer to those before it.
JITTER = 0.1
NEVER_OPENS = {"consecutive_failures": 1000000, "ramp": "0s"}


def check_windows(requests, events, per):
    """At most `events` arrivals in any window of `per`; in several of them, where one is short."""
    at = [request.mono for request in requests]
    times = math.ceil(1 / per)
    for first, beyond in zip(at, at[events * times :]):
        within = f"{events * times + 1} within {beyond - first:.3f} s"
        assert beyond - first >= per * times - JITTER, within


@pytest.mark.parametrize("events,per,count", [(5, 0.5, 30), (1, 0.1, 20), (40, 1.0, 100)])
def test_rate_limit(launcher, app, events, per, count):
    """In no window does the app see more than its limit, and it is made use of."""
    lane = upstream(rate_limit={"events": events, "per": f"{per}s"}, circuit_breaker=NEVER_OPENS)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(count):
        sender.capture(envoy.port, f"/{number}")
    seen = app.wait_for(count, timeout=20)
    check_windows(seen, events, per)
    evenly = (count - 1) / events * per
    assert seen[-1].mono - seen[0].mono <= evenly * 1.3 + 0.5, "slower than it may be"


def test_rate_limit_counts_failures_too(launcher, app):
    """Retries are requests as well."""
    app.default = Answer(500)
    lane = upstream(
        rate_limit={"events": 5, "per": "0.5s"}, retry=retry(0.01), circuit_breaker=NEVER_OPENS
    )
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(3):
        sender.capture(envoy.port, f"/{number}")
    check_windows(app.wait_for(25), 5, 0.5)


def test_rate_limit_after_a_kill(launcher, app):
    """A restart does not forgive what was sent before it by more than one window."""
    lane = upstream(rate_limit={"events": 4, "per": "1s"}, circuit_breaker=NEVER_OPENS)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(30):
        sender.capture(envoy.port, f"/{number}")
    app.wait_for(6)
    envoy.kill()
    before = len(app.requests)
    envoy.start()
    app.wait_for(before + 6)
    check_windows(app.requests[:before], 4, 1.0)
    check_windows(app.requests[before:], 4, 1.0)


def test_live_events_before_replays(launcher, app):
    """A replay gets what live events leave of the limit."""
    lane = upstream(rate_limit={"events": 2, "per": "0.2s"}, circuit_breaker=NEVER_OPENS)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(10):
        sender.capture(envoy.port, f"/old/{number}")
    envoy.admin.wait_totals(delivered=10)
    ids = [event["id"] for event in envoy.admin.all_events()]
    envoy.admin.replay(ids=ids, rate_per_minute=1000000)
    app.wait_for(12)
    for number in range(6):
        sender.capture(envoy.port, f"/live/{number}")
    live = app.wait_for(6, predicate=lambda request: request.path.startswith("/live"))
    app.wait_for(26)
    first = app.requests.index(live[0])
    between = [
        request.path for request in app.requests[first : app.requests.index(live[-1])]
        if request.path.startswith("/old")
    ]
    assert between == [], "replays went while live events waited"
    check_windows(app.requests, 2, 0.2)


def outage(launcher, app, ramp, events, concurrency_max=10, **fields):
    """An Envoy whose breaker is about to close over a backlog of `events`."""
    app.refuse()
    breaker = {"consecutive_failures": 2, "open": {"initial": "0.3s", "max": "0.3s"}, "ramp": ramp}
    lane = upstream(circuit_breaker=breaker, concurrency_max=concurrency_max,
                    retry=retry(0.01), **fields)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(events):
        sender.capture(envoy.port, f"/{number}")
    eventually(lambda: envoy.admin.upstream("app")["breaker"] != "closed")
    return envoy


def test_ramp_after_the_breaker_closes(launcher, app):
    """What the app sees at once grows from one to all of it, not in one leap."""
    app.default = Answer(200, delay=0.1)
    envoy = outage(launcher, app, "3s", 250)
    app.start()
    app.wait_for(250, timeout=30)
    begin = app.requests[0].mono
    third = [
        depth for request, depth in zip(app.requests, app.depths) if request.mono - begin < 1.0
    ]
    assert app.depths[0] == 1
    assert max(third) <= 4 + 1, third  # a third of the way, and what comes of a late answer
    assert max(app.depths) == 10
    envoy.admin.wait_totals(delivered=250)


def test_ramp_is_shown_and_a_failure_sets_it_back(launcher, app):
    """A failure on the way takes back half of it."""
    app.default = Answer(200, delay=0.02)
    envoy = outage(launcher, app, "10s", 2000)
    app.start()

    def shown():
        return int(envoy.admin.upstream("app")["ramp_percent"])

    eventually(lambda: envoy.admin.upstream("app")["breaker"] == "closed")
    assert shown() < 30
    eventually(lambda: shown() >= 40, timeout=15)
    once = threading.Event()

    def fail_once(_request):
        if once.is_set():
            return Answer(200)
        once.set()
        return Answer(503)

    app.chooser = fail_once
    assert once.wait(5)
    eventually(lambda: shown() <= 30, timeout=2, what="set back by half")


def test_full_speed_without_a_ramp(launcher, app):
    """A ramp of zero is none."""
    app.default = Answer(200, delay=0.1)
    envoy = outage(launcher, app, "0s", 60)
    app.start()
    app.wait_for(60)
    assert max(app.depths[:12]) == 10
    envoy.admin.wait_totals(delivered=60)
