"""Order: events of one key reach the app in the order of their capture, one at a time."""

import json
import random
import threading
import time

import pytest

from harness import sender
from harness.app import Answer
from harness.config import retry, upstream
from harness.waiting import eventually

NEVER_OPENS = {"consecutive_failures": 1000000, "ramp": "0s"}
BY_HEADER = {"header": "x-shop-id"}
BY_POINTER = {"json_pointer": "/data/object/customer"}


def ordered(order_by=None, **fields):
    entry = {
        "order_by": order_by or BY_HEADER,
        "circuit_breaker": NEVER_OPENS,
        "retry": retry(0.03, attempts_max=1000),
        "pause_after_permanent_failures": 0,
    }
    return upstream(**{**entry, **fields})


def send(envoy, key, path, by=None):
    if by is BY_POINTER:
        body = json.dumps({"id": path, "data": {"object": {"customer": key}}}).encode()
        return sender.capture(envoy.port, path, body, [("content-type", "application/json")])
    return sender.capture(envoy.port, path, b"{}", [("x-shop-id", key)] if key else [])


class Witness:
    """An app that fails some requests, and writes down what it answered and when."""

    def __init__(self, app, seed, failures=0.3, delay=0.01):
        self._random = random.Random(seed)
        self._failures = failures
        self._delay = delay
        self._lock = threading.Lock()
        self.answers = []  # (path, status, from, until)
        app.chooser = self.choose

    def choose(self, request):
        with self._lock:
            status = 500 if self._random.random() < self._failures else 200
            delay = self._random.random() * self._delay
            self.answers.append((request.path, status, request.mono, request.mono + delay))
            return Answer(status, delay=delay)

    def successes(self):
        with self._lock:
            return [path for path, status, _, _ in self.answers if status == 200]


def key_of(path):
    return path.split("/")[1]


def check_order(witness, sent, lives):
    """Successes of each key are what was sent, in that order; no two of a key overlap.

    `lives` are the moments at which Envoy was killed: what was in flight then is sent again.
    """
    by_key = {}
    for path in witness.successes():
        taken = by_key.setdefault(key_of(path), [])
        if not taken or taken[-1] != path:  # a repeat of the same event
            taken.append(path)
    for key, paths in sent.items():
        assert by_key.get(key) == paths, key
    last = {}
    for path, _, begin, end in witness.answers:
        before = last.get(key_of(path))
        if before is not None and not any(before[0] <= life <= begin for life in lives):
            assert begin >= before[1] - 0.002, f"two of {key_of(path)} at once"
        last[key_of(path)] = (begin, end)


@pytest.mark.parametrize("by", [BY_HEADER, BY_POINTER], ids=["header", "json_pointer"])
def test_order_over_kills(launcher, app, by):
    """Whatever fails and however often Envoy is killed, each key's events come in order."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    witness = Witness(app, seed)
    envoy = launcher.start(launcher.config(app, [ordered(by)]))
    sent = {f"shop-{number}": [] for number in range(6)}
    kills = []
    for life in range(5):
        for _ in range(30):
            key = chance.choice(list(sent))
            path = f"/{key}/{life}-{len(sent[key])}"
            send(envoy, key, path, by)
            sent[key].append(path)
        seen = len(app.requests)
        if life < 4:
            app.wait_for(seen + chance.randrange(1, 10))
            envoy.kill()
            kills.append(time.monotonic())
            envoy.start()
    total = sum(len(paths) for paths in sent.values())
    envoy.admin.wait_totals(timeout=60, accepted=total, delivered=total)
    check_order(witness, sent, kills)


def test_a_key_that_is_stuck_holds_only_itself(launcher, app):
    """While one key waits for its retry, the others go on, and it stays behind its first event."""
    app.script("/stuck/0", Answer(500), Answer(200))
    envoy = launcher.start(launcher.config(app, [ordered(retry=retry(1.5))]))
    for number in range(5):
        send(envoy, "stuck", f"/stuck/{number}")
        send(envoy, "free", f"/free/{number}")
        send(envoy, None, f"/none/{number}")
    app.wait_for(11, timeout=1.4)
    assert [r.path for r in app.requests if key_of(r.path) == "free"] == [
        f"/free/{number}" for number in range(5)
    ]
    assert len(app.seen(predicate=lambda r: key_of(r.path) == "none")) == 5
    assert [r.path for r in app.requests if key_of(r.path) == "stuck"] == ["/stuck/0"]
    waiting = envoy.admin.by_path("/stuck/1")
    assert (waiting["state"], int(waiting.get("attempts", 0))) == ("pending", 0)
    envoy.admin.wait_totals(delivered=15)
    assert [r.path for r in app.requests if key_of(r.path) == "stuck"] == [
        "/stuck/0", *[f"/stuck/{number}" for number in range(5)]
    ]


def test_an_event_in_flight_holds_its_key(launcher, app):
    """One at a time, however much room the lane has."""
    gate = app.gate()
    app.script("/a/0", Answer(gate=gate))
    envoy = launcher.start(launcher.config(app, [ordered(concurrency_max=20)]))
    for number in range(10):
        send(envoy, "a", f"/a/{number}")
    send(envoy, "b", "/b/0")
    app.wait_for(1, "/b/0")
    assert [r.path for r in app.stays_at(2, seconds=0.3)] == ["/a/0", "/b/0"]
    gate.open()
    envoy.admin.wait_totals(delivered=11)
    assert [r.path for r in app.requests if key_of(r.path) == "a"] == [
        f"/a/{number}" for number in range(10)
    ]


@pytest.mark.parametrize("end", [None, "kill", "stop"])
def test_a_dead_event_releases_its_key(launcher, app, end):
    """The next one goes when the one before it is given up; a restart in between changes nothing."""
    app.script("/a/0", Answer(500), Answer(500), Answer(400))
    app.script("/a/1", Answer(500), Answer(200))
    envoy = launcher.start(launcher.config(app, [ordered(retry=retry(0.3))]))
    for number in range(3):
        send(envoy, "a", f"/a/{number}")
    app.wait_for(1, "/a/0")
    if end:
        envoy.admin.wait_attempts("/a/0", 1)
        getattr(envoy, end)()
        envoy.start()
    envoy.admin.wait_totals(dead=1, delivered=2)
    assert [r.path for r in app.requests] == ["/a/0"] * 3 + ["/a/1"] * 2 + ["/a/2"]


def test_a_replay_keeps_the_order(launcher, app):
    """Several events of one key, replayed in any order, come in the order of their capture."""
    envoy = launcher.start(launcher.config(app, [ordered()]))
    paths = [f"/a/{number}" for number in range(12)]
    for path in paths:
        send(envoy, "a", path)
    envoy.admin.wait_totals(delivered=12)
    ids = [event["id"] for event in envoy.admin.all_events()]
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    random.Random(seed).shuffle(ids)
    app.default = Answer(200, delay=0.01)
    app.script("/a/3", Answer(500), Answer(200))
    envoy.admin.replay(ids=ids, rate_per_minute=1000000)
    app.wait_for(25)
    replayed = [r.path for r in app.requests[12:]]
    assert replayed == paths[:4] + paths[3:]
    assert max(app.depths[12:]) == 1
    eventually(lambda: envoy.admin.upstream("app")["in_flight"] == 0)
    app.stays_at(25, seconds=0.2)


def test_a_replay_waits_behind_what_is_older(launcher, app):
    """A dead event that is replayed takes its old place: before those that were captured later."""
    app.script("/a/0", Answer(400), Answer(200))
    gate = app.gate()
    app.script("/a/1", Answer(gate=gate))
    envoy = launcher.start(launcher.config(app, [ordered()]))
    for number in range(4):
        send(envoy, "a", f"/a/{number}")
    app.wait_for(1, "/a/1")
    envoy.admin.replay(ids=[envoy.admin.by_path("/a/0")["id"]], rate_per_minute=1000000)
    app.stays_at(2, seconds=0.3)
    gate.open()
    envoy.admin.wait_totals(delivered=4)
    first = [r.path for r in app.requests]
    assert first[:2] == ["/a/0", "/a/1"]
    assert sorted(first[2:]) == ["/a/0", "/a/2", "/a/3"]
    assert first.index("/a/2") < first.index("/a/3")


def test_keys_that_are_not_there(launcher, app):
    """An event without the key, or with a body that isn't JSON, has no order, and goes at once."""
    app.script("/a/0", Answer(500))
    envoy = launcher.start(launcher.config(app, [ordered(BY_POINTER, retry=retry(60))]))
    send(envoy, "a", "/a/0", BY_POINTER)
    for number, body in enumerate([b"", b"{}", b"[[[", b"\xff\x00", b'{"data":{"object":7}}']):
        sender.capture(envoy.port, f"/odd/{number}", body)
    for number in range(5):
        app.wait_for(1, f"/odd/{number}")
    send(envoy, "a", "/a/1", BY_POINTER)
    send(envoy, 17, "/b/0", BY_POINTER)
    app.wait_for(1, "/b/0")
    app.stays_at(0, "/a/1", seconds=0.2)
