"""The circuit breaker: an app that keeps failing is left alone, and that costs no attempts."""

import datetime
import time

import pytest

from harness import sender
from harness.app import Answer
from harness.config import capture, cluster, per_route, retry, route, upstream
from harness.waiting import eventually

BREAKER = {
    "consecutive_failures": 3,
    "open": {"initial": "0.4s", "multiplier": 2, "max": "0.8s"},
    "ramp": "0s",
}


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def breaker_is(envoy, *states):
    return eventually(
        lambda: envoy.admin.upstream("app")["breaker"] in states and envoy.admin.upstream("app"),
        what=f"breaker {states}",
    )


def test_opens_probes_and_closes(launcher, app):
    """Three failures open it; while open nothing is sent; one probe at a time; success closes."""
    app.default = Answer(500)
    lane = upstream(concurrency_max=1, circuit_breaker=BREAKER, retry=retry(0.01))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(10):
        sender.capture(envoy.port, f"/{number}")
    app.wait_for(3)
    shown = breaker_is(envoy, "open")
    assert shown["next_probe_at"]
    assert int(shown["backlog"]) == 10
    app.stays_at(3, seconds=0.2)
    seen = app.wait_for(5)
    # The first open time, then twice as long, at most 0.8 s.
    assert 0.4 - 0.003 <= seen[3].mono - seen[2].mono <= 0.4 + 0.5
    assert 0.8 - 0.003 <= seen[4].mono - seen[3].mono <= 0.8 + 0.5
    app.stays_at(5, seconds=0.3)
    charged = sum(int(event["attempts"]) for event in envoy.admin.all_events())
    assert charged == 5, "open time costs no attempts"
    app.default = Answer(200)
    envoy.admin.wait_totals(delivered=10, dead=0)
    breaker_is(envoy, "closed")
    assert "next_probe_at" not in envoy.admin.upstream("app")
    assert len(app.requests) == 15
    for event in envoy.admin.all_events():
        numbers = [r.attempt for r in app.requests if r.event_id == event["id"]]
        assert numbers == list(range(1, int(event["attempts"]) + 1))


def test_one_probe_at_a_time(launcher, app):
    """While the probe has no answer, nothing else goes."""
    lane = upstream(concurrency_max=10, circuit_breaker=BREAKER, retry=retry(0.01))
    envoy = launcher.start(launcher.config(app, [lane]))
    app.refuse()
    for number in range(20):
        sender.capture(envoy.port, f"/{number}")
    breaker_is(envoy, "open", "half_open")
    gate = app.gate()
    app.default = Answer(gate=gate)
    app.start()
    app.wait_for(1)
    assert breaker_is(envoy, "half_open")["in_flight"] == 1
    app.stays_at(1, seconds=0.3)
    gate.open()
    envoy.admin.wait_totals(delivered=20)


def test_the_longest_due_event_probes(launcher, app):
    """Of all that is due the one probes that has been due longest; a failed one goes behind them."""
    app.default = Answer(503)
    breaker = {"consecutive_failures": 3, "open": {"initial": "1s", "max": "1s"}, "ramp": "0s"}
    lane = upstream(concurrency_max=1, circuit_breaker=breaker, retry=retry(0.5))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(6):
        sender.capture(envoy.port, f"/{number}")
    assert [request.path for request in app.wait_for(3)] == ["/0", "/1", "/2"]
    assert [request.path for request in app.wait_for(5)[3:]] == ["/0", "/1"]


def test_outage_kills_no_event(launcher, app):
    """Events outlast an outage that is longer than all their attempts would be."""
    app.refuse()
    breaker = {
        "consecutive_failures": 2, "open": {"initial": "0.1s", "max": "0.1s"}, "ramp": "0s",
    }
    lane = upstream(circuit_breaker=breaker, concurrency_max=1,
                    retry=retry(0.02, attempts_max=8))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(20):
        sender.capture(envoy.port, f"/{number}")
    begin = time.monotonic()
    # Without a breaker the eight attempts of every event would take 0.14 s.
    eventually(lambda: time.monotonic() - begin > 1.2, what="an outage of 1.2 s")
    assert int(envoy.admin.totals().get("dead", 0)) == 0
    app.start()
    envoy.admin.wait_totals(delivered=20, dead=0)


def test_permanent_answers_do_not_open_it(launcher, app):
    """A 400 is an answer: the app is up."""
    app.default = Answer(400)
    lane = upstream(circuit_breaker=BREAKER, concurrency_max=1)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(10):
        sender.capture(envoy.port, f"/{number}")
    envoy.admin.wait_totals(dead=10)
    assert envoy.admin.upstream("app")["breaker"] == "closed"


def test_a_success_starts_the_count_anew(launcher, app):
    """Only failures in a row count."""
    lane = upstream(circuit_breaker=BREAKER, concurrency_max=1, retry=retry(60))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(12):
        app.script(f"/{number}", Answer(200 if number % 3 == 2 else 500))
        sender.capture(envoy.port, f"/{number}")
    app.wait_for(12)
    envoy.admin.wait_totals(delivered=4, retrying=8)
    assert envoy.admin.upstream("app")["breaker"] == "closed"


def test_opens_on_a_share_of_failures(launcher, app):
    """Half of the attempts failing opens it, once there are enough of them to tell."""
    breaker = {
        "consecutive_failures": 1000,
        "failure_rate": {"percent": 50, "window": "60s", "requests_min": 10},
        "open": {"initial": "60s", "max": "60s"},
    }
    lane = upstream(circuit_breaker=breaker, concurrency_max=1, retry=retry(60))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(12):
        app.script(f"/{number}", Answer(500 if number % 2 else 200))
        sender.capture(envoy.port, f"/{number}")
        if number < 9:
            app.wait_for(number + 1)
            assert envoy.admin.upstream("app")["breaker"] == "closed"
    breaker_is(envoy, "open")
    app.stays_at(10)
    assert int(envoy.admin.upstream("app")["backlog"]) == 7


def test_fewer_failures_than_the_share_leave_it_closed(launcher, app):
    """A third of the attempts failing is below half of them."""
    breaker = {"failure_rate": {"percent": 50, "window": "60s", "requests_min": 5}}
    lane = upstream(circuit_breaker=breaker, concurrency_max=1, retry=retry(60))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(30):
        app.script(f"/{number}", Answer(500 if number % 3 == 2 else 200))
        sender.capture(envoy.port, f"/{number}")
    envoy.admin.wait_totals(delivered=20, retrying=10)
    assert envoy.admin.upstream("app")["breaker"] == "closed"


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_open_over_a_restart(launcher, app, end):
    """An open breaker is still open after a restart, and its probe waits out its time."""
    app.refuse()
    breaker = {"consecutive_failures": 3, "open": {"initial": "3s", "max": "3s"}, "ramp": "0s"}
    lane = upstream(circuit_breaker=breaker, retry=retry(0.01))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(5):
        sender.capture(envoy.port, f"/{number}")
    probe_at = moment(breaker_is(envoy, "open")["next_probe_at"])
    getattr(envoy, end)()
    app.start()
    envoy.start()
    shown = envoy.admin.upstream("app")
    assert shown["breaker"] == "open"
    assert abs(moment(shown["next_probe_at"]) - probe_at) < 0.1
    assert app.requests == []
    first = app.wait_for(1)[0]
    assert probe_at - 0.05 <= first.at <= probe_at + 0.6
    envoy.admin.wait_totals(delivered=5)


def test_closed_over_a_restart(launcher, app):
    """A breaker that has closed is not open again after a restart."""
    app.refuse()
    envoy = launcher.start(launcher.config(app, [upstream(circuit_breaker=BREAKER)]))
    for number in range(5):
        sender.capture(envoy.port, f"/{number}")
    breaker_is(envoy, "open", "half_open")
    app.start()
    envoy.admin.wait_totals(delivered=5)
    breaker_is(envoy, "closed")
    envoy.kill()
    envoy.start()
    assert envoy.admin.upstream("app")["breaker"] == "closed"


def test_breakers_are_apart(launcher, app):
    """One upstream's open breaker is not another's."""
    dead = launcher.app()
    dead.refuse()
    lanes = [upstream("app", circuit_breaker=BREAKER), upstream("dead", circuit_breaker=BREAKER)]
    clusters = [cluster("app", app.port), cluster("dead", dead.port)]
    config = launcher.config(upstreams=lanes, clusters=clusters)
    config.routes = [
        route("/dead", typed_per_filter_config=per_route(capture(upstream_name="dead"))),
        route("/"),
    ]
    envoy = launcher.start(config)
    for number in range(5):
        sender.capture(envoy.port, f"/dead/{number}")
    eventually(lambda: envoy.admin.upstream("dead")["breaker"] != "closed")
    sender.capture(envoy.port, "/alive")
    app.wait_for(1, "/alive", timeout=2)
    assert envoy.admin.upstream("app")["breaker"] == "closed"
