"""Listener updates and shutdowns under load: nothing is lost, nothing crashes."""

import collections
import json
import time
import uuid

import pytest

from harness import sender
from harness.app import HANG, Answer
from harness.config import capture, lds_file, retry, upstream
from harness.waiting import eventually

NEVER_OPENS = {"consecutive_failures": 1000000}


def keys_of(app):
    """How often the app saw each event of the load."""
    return collections.Counter(key for request in app.seen() for key in request.all("x-key"))


def source_of_a_new_one(envoy, app):
    """Captures one event on a new connection; says under which source."""
    path = f"/probe/{uuid.uuid4().hex}"
    sender.capture(envoy.port, path)
    return app.wait_for(1, path)[0].one("forebay-source")


def wait_drained(envoy, timeout=30):
    def probe():
        totals = envoy.admin.totals()
        assert int(totals["pending"]) == int(totals["retrying"]) == 0, totals
        return totals

    return eventually(probe, timeout, "everything delivered")


def check_nothing_lost(load, app):
    """Every acknowledged event reached the app, and nothing that nobody sent."""
    seen = keys_of(app)
    missing = set(load.acknowledged) - set(seen)
    assert not missing, f"{len(missing)} of {len(load.acknowledged)} acknowledged events are lost"
    assert set(seen) <= load.sent
    return seen


class Listener:
    """A listener that comes from a file, as a control plane would change it."""

    def __init__(self, launcher, config):
        self._config = config
        self._path = launcher.directory / "lds.json"
        config.lds_path = self._path
        self.write()

    def write(self):
        moved = self._path.with_suffix(".new")
        moved.write_text(json.dumps(lds_file(self._config.listener())))
        moved.rename(self._path)


def test_listener_updates_under_load(launcher, app):
    """15 listener updates in a row, and a bad one: no event lost or doubled, no crash."""
    config = launcher.config(app, [upstream(concurrency_max=50)])
    listener = Listener(launcher, config)
    envoy = launcher.start(config)
    envoy.log.expect('forebay: upstream: no such upstream .got "ghost"')
    with sender.LoadSender(envoy.port, connections=6, pace=0.002) as load:
        load.wait_acknowledged(50)
        for number in range(1, 16):
            config.capture = capture(f"source-{number}", body_bytes_max=10000 + number)
            listener.write()
            eventually(lambda: source_of_a_new_one(envoy, app) == f"source-{number}")
            if number == 8:
                rejected = "listener_manager.lds.update_rejected"
                config.capture = capture("bad", "ghost")
                listener.write()
                eventually(lambda: envoy.admin.stats()[rejected] == 1)
                assert source_of_a_new_one(envoy, app) == "source-8", "the old one stays"
        # The connections of the first listener are drained and come back to the last one.
        app.wait_for(50, predicate=lambda r: r.one("forebay-source") == "source-15", timeout=20)
    assert not load.refused, load.refused
    wait_drained(envoy)
    seen = check_nothing_lost(load, app)
    assert set(seen.values()) == {1}, "an event was delivered twice"
    assert envoy.log.grep("ghost")


def test_route_removed_and_added(launcher, app):
    """Taking the listener's capture away and giving it back leaves deliveries alone."""
    config = launcher.config(app)
    app.default = Answer(200, delay=0.3)
    listener = Listener(launcher, config)
    envoy = launcher.start(config)
    for number in range(5):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(1)
    captured, config.capture = config.capture, None
    listener.write()
    eventually(lambda: sender.post(envoy.port, "/gone").body == b"route")
    totals = wait_drained(envoy)
    assert int(totals["delivered"]) == int(totals["accepted"]) >= 5
    config.capture = captured
    listener.write()
    eventually(lambda: sender.post(envoy.port, "/back").body == b"")
    app.wait_for(1, "/back")


def test_sigterm_under_load(launcher, app):
    """Ten clean stops under load: exit 0 in time, nothing lost, nothing sent twice."""
    envoy = launcher.start(launcher.config(app, [upstream(concurrency_max=20)]))
    took = []
    with sender.LoadSender(envoy.port, connections=6, pace=0.002) as load:
        for _ in range(10):
            load.wait_acknowledged(len(load.acknowledged) + 60)
            took.append(envoy.stop())
            envoy.start()
        load.wait_acknowledged(len(load.acknowledged) + 60)
    wait_drained(envoy)
    seen = check_nothing_lost(load, app)
    twice = {key: count for key, count in seen.items() if count > 1}
    assert not twice, f"{len(twice)} of {len(seen)} were delivered twice over clean restarts"
    assert {int(event["attempts"]) for event in envoy.admin.all_events()} == {1}
    assert max(took) < 6.0, took


def test_sigterm_during_an_outage(launcher, app):
    """Ten clean stops while the app is down: attempts are counted once each, nothing is lost."""
    app.refuse()
    lane = upstream(
        retry=retry(0.03, attempts_max=1000), circuit_breaker=NEVER_OPENS, concurrency_max=20
    )
    envoy = launcher.start(launcher.config(app, [lane]))
    with sender.LoadSender(envoy.port, connections=2, pace=0.02) as load:
        for _ in range(10):
            load.wait_acknowledged(len(load.acknowledged) + 5)
            eventually(lambda: int(envoy.admin.totals()["retrying"]) > 0)
            envoy.stop()
            envoy.start()
        load.wait_acknowledged(len(load.acknowledged) + 5)
    app.start()
    wait_drained(envoy)
    check_nothing_lost(load, app)
    for event in envoy.admin.all_events():
        log = envoy.admin.event(event["id"])["attempt_log"]
        numbers = [entry["attempt"] for entry in log]
        assert numbers == list(range(1, int(event["attempts"]) + 1))
        (arrived,) = [request for request in app.requests if request.event_id == event["id"]]
        assert arrived.attempt == int(event["attempts"])


def test_sigterm_while_the_app_hangs(launcher, app):
    """An app that never answers can't hold up the exit, and the attempt isn't counted."""
    app.default = Answer(action=HANG)
    envoy = launcher.start(launcher.config(app, [upstream(timeout="60s")]))
    for number in range(5):
        sender.capture(envoy.port, f"/{number}")
    app.wait_for(5)
    envoy.stop()
    app.default = Answer(200)
    envoy.start()
    envoy.admin.wait_totals(delivered=5)
    for event in envoy.admin.all_events():
        assert int(event["attempts"]) == 1
    assert [request.attempt for request in app.requests] == [1] * 10


def test_sigterm_with_senders_waiting(launcher, app):
    """Every sender that waits at a SIGTERM gets an answer or a closed connection, in time."""
    envoy = launcher.start(launcher.config(app))
    connections = [sender.Connection(envoy.port) for _ in range(20)]
    for number, connection in enumerate(connections):
        connection.send(sender.head("POST", f"/{number}", [("content-length", "5")]) + b"ab")
    sender.capture(envoy.port, "/whole")
    begin = time.monotonic()
    envoy.stop()
    assert time.monotonic() - begin < 8
    for connection in connections:
        with pytest.raises(OSError):
            connection.send(b"cde")
            connection.response()
    envoy.start()
    assert [event["path"] for event in envoy.admin.all_events()] == ["/whole"]


def test_stop_right_after_start(launcher, app):
    """An Envoy that is told to stop while it starts does so."""
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    for _ in range(5):
        envoy.stop()
        envoy.start()
    envoy.admin.wait_totals(delivered=1)
