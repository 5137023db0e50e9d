"""When the next attempt happens, and when there is none."""

import email.utils
import math
import time

import pytest

from harness import sender
from harness.app import Answer
from harness.config import capture, per_route, retry, route, upstream

NONE = {"kind": "NONE"}
NEVER_OPENS = {"consecutive_failures": 1000000}
# How much later than due an attempt may come on a busy machine of two cores. Earlier: never,
# but for what the clocks of two processes may differ by.
LATE = 0.6
EARLY = 0.003

SHAPES = {
    "schedule": (
        {"schedule": {"delays": ["0s", "0.05s", "0.2s", "0.1s"]}, "jitter": NONE},
        [0.05, 0.2, 0.1, 0.1],
    ),
    "linear": (
        {"linear": {"initial": "0.05s", "step": "0.1s", "max": "0.2s"}, "jitter": NONE},
        [0.05, 0.15, 0.2, 0.2],
    ),
    "fixed": ({"fixed": {"interval": "0.12s"}, "jitter": NONE}, [0.12, 0.12, 0.12, 0.12]),
    "exponential": (
        {"exponential": {"initial": "0.04s", "multiplier": 3, "max": "0.25s"}, "jitter": NONE},
        [0.04, 0.12, 0.25, 0.25],
    ),
}
# Each with the bounds of the first two waits, which are 0.2 s without jitter.
STEADY = {"exponential": {"initial": "0.2s", "multiplier": 1, "max": "0.6s"}}
JITTERS = {
    "FULL": ({"kind": "FULL"}, 0.0, 0.2),
    "EQUAL": ({"kind": "EQUAL"}, 0.1, 0.2),
    "PROPORTIONAL": ({"kind": "PROPORTIONAL", "ratio": 0.5}, 0.1, 0.3),
    "DECORRELATED": ({"kind": "DECORRELATED"}, 0.2, 0.6),
}


@pytest.fixture(scope="module")
def hub(shared_launcher):
    """One Envoy with a lane per policy, all before the same app."""
    app = shared_launcher.app()
    policies = {name: shape for name, (shape, _) in SHAPES.items()}
    for name, (jitter, _, _) in JITTERS.items():
        policies[name] = {**STEADY, "jitter": jitter}
    policies["quick"] = retry(0.05)
    policies["slow"] = retry(0.3)
    policies["three"] = retry(0.03, attempts_max=3)
    policies["once"] = retry(0.03, attempts_max=1)
    policies["brief"] = retry(0.1, give_up_after="0.75s", attempts_max=100)
    policies["long"] = retry(0.05, give_up_after="60s")
    policies["delayed"] = {"schedule": {"delays": ["0.3s"]}, "jitter": NONE}
    upstreams = [
        upstream(name, "app", retry=policy, circuit_breaker=NEVER_OPENS, concurrency_max=100)
        for name, policy in policies.items()
    ]
    config = shared_launcher.config(app, upstreams=upstreams)
    config.capture = capture(upstream_name="quick")
    config.routes = [
        route(f"/{name}/", typed_per_filter_config=per_route(capture(upstream_name=name)))
        for name in policies
    ] + [route("/")]
    envoy = shared_launcher.start(config)
    envoy.app = app
    return envoy


def gaps(requests):
    return [after.mono - before.mono for before, after in zip(requests, requests[1:])]


def check_gaps(requests, delays):
    """No attempt came early, none much later than due."""
    for gap, delay in zip(gaps(requests), delays, strict=True):
        assert delay - EARLY <= gap <= delay + LATE, (gaps(requests), delays)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_keep_their_delays(hub, name):
    """Without jitter the waits between attempts are the configured ones."""
    delays = SHAPES[name][1]
    path = f"/{name}/a"
    hub.app.script(path, *[Answer(500)] * len(delays), Answer(200))
    sender.capture(hub.port, path)
    check_gaps(hub.app.wait_for(len(delays) + 1, path), delays)
    log = hub.admin.wait_state(path, "delivered")["attempt_log"]
    assert [entry["attempt"] for entry in log] == list(range(1, len(delays) + 2))
    assert [entry.get("next_because") for entry in log] == ["backoff"] * len(delays) + [None]


@pytest.mark.parametrize("name", JITTERS)
def test_jitter_stays_in_its_bounds(hub, name):
    """Jitter spreads the waits, and within its bounds."""
    _, low, high = JITTERS[name]
    paths = [f"/{name}/{number}" for number in range(15)]
    for path in paths:
        hub.app.script(path, Answer(500), Answer(500), Answer(200))
        sender.capture(hub.port, path)
    waits = []
    for path in paths:
        waits += gaps(hub.app.wait_for(3, path))
    assert low - EARLY <= min(waits) and max(waits) <= high + LATE, sorted(waits)
    assert max(waits) - min(waits) > 0.02, "no spread at all"


def test_first_delay_of_a_schedule(hub):
    """A schedule's first delay is the wait before the first attempt."""
    begin = time.monotonic()
    sender.capture(hub.port, "/delayed/a")
    event = hub.admin.by_path("/delayed/a")
    (request,) = hub.app.wait_for(1, "/delayed/a")
    assert 0.3 - EARLY <= request.mono - begin <= 0.3 + LATE
    assert event["state"] == "pending" and event["next_attempt_at"]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_seconds(hub, status):
    """429 and 503 are left alone for as many seconds as they ask."""
    path = f"/quick/after/{status}"
    hub.app.script(path, Answer(status, headers=(("retry-after", "1"),)), Answer(200))
    sender.capture(hub.port, path)
    check_gaps(hub.app.wait_for(2, path), [1.0])
    first = hub.admin.wait_state(path, "delivered")["attempt_log"][0]
    assert first["next_because"] == "retry-after 1s"


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_date(hub, status):
    """A date works as well as seconds."""
    path = f"/quick/date/{status}"
    date = math.ceil(time.time()) + 1
    stamp = email.utils.formatdate(date, usegmt=True)
    hub.app.script(path, Answer(status, headers=(("retry-after", stamp),)), Answer(200))
    sender.capture(hub.port, path)
    requests = hub.app.wait_for(2, path)
    assert date - EARLY <= requests[1].at <= date + LATE


def test_retry_after_elsewhere_is_ignored(hub):
    """On other statuses a Retry-After says nothing."""
    hub.app.script("/quick/500", Answer(500, headers=(("retry-after", "30"),)), Answer(200))
    sender.capture(hub.port, "/quick/500")
    check_gaps(hub.app.wait_for(2, "/quick/500"), [0.05])


@pytest.mark.parametrize("value", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_retry_after_below_the_backoff(hub, value):
    """The larger of the two counts."""
    path = f"/slow/below/{len(value)}"
    hub.app.script(path, Answer(503, headers=(("retry-after", value),)), Answer(200))
    sender.capture(hub.port, path)
    check_gaps(hub.app.wait_for(2, path), [0.3])


def test_429_without_retry_after_waits_twice(hub):
    """A 429 that names no time waits twice the backoff; a 503 doesn't."""
    hub.app.script("/slow/429", Answer(429), Answer(200))
    hub.app.script("/slow/503", Answer(503), Answer(200))
    sender.capture(hub.port, "/slow/429")
    sender.capture(hub.port, "/slow/503")
    check_gaps(hub.app.wait_for(2, "/slow/429"), [0.6])
    check_gaps(hub.app.wait_for(2, "/slow/503"), [0.3])


NONSENSE = [
    "soon", "-5", "+5", "1e9", "0x10", "5, 5", "inf", "", "\u0665",
    "99999999999999999999", "18446744073709551617", "9" * 5000, "315360000",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 32 Jan 2027 00:00:00 GMT", "Wed, 21 Oct 2015",
]


@pytest.mark.parametrize("number", range(len(NONSENSE)))
def test_retry_after_that_makes_no_sense(hub, number):
    """A Retry-After that is malformed, or years away, is as good as none."""
    path = f"/slow/nonsense/{number}"
    value = NONSENSE[number].encode().decode("latin-1")
    hub.app.script(path, Answer(429, headers=(("retry-after", value),)), Answer(200))
    sender.capture(hub.port, path)
    check_gaps(hub.app.wait_for(2, path), [0.6])


def test_retry_after_beyond_the_deadline(hub):
    """A wait that ends after `give_up_after` makes the event dead now, not then."""
    hub.app.script("/long/a", Answer(503, headers=(("retry-after", "3600"),)))
    sender.capture(hub.port, "/long/a")
    event = hub.admin.wait_state("/long/a", "dead")
    assert (event["reason"], event["attempts"]) == ("expired", 1)


def test_attempts_max(hub):
    """After `attempts_max` attempts the event is dead, exhausted."""
    hub.app.script("/three/a", Answer(500))
    sender.capture(hub.port, "/three/a")
    event = hub.admin.wait_state("/three/a", "dead")
    assert (event["reason"], event["attempts"]) == ("exhausted", 3)
    assert [request.attempt for request in hub.app.stays_at(3, "/three/a")] == [1, 2, 3]
    assert len(event["attempt_log"]) == 3


def test_attempts_max_of_one(hub):
    """One attempt means one."""
    hub.app.script("/once/a", Answer(500))
    sender.capture(hub.port, "/once/a")
    assert hub.admin.wait_state("/once/a", "dead")["reason"] == "exhausted"
    hub.app.stays_at(1, "/once/a")


def test_give_up_after(hub):
    """An event older than `give_up_after` is dead, expired, and not tried beyond it."""
    hub.app.script("/brief/a", Answer(500))
    begin = time.monotonic()
    sender.capture(hub.port, "/brief/a")
    event = hub.admin.wait_state("/brief/a", "dead")
    assert event["reason"] == "expired"
    seen = hub.app.seen("/brief/a")
    assert 2 <= len(seen) <= 8
    assert seen[-1].mono - begin <= 0.75 + 0.1
    assert len(seen) == event["attempts"]


def test_permanent_is_dead_at_once(hub):
    """A permanent failure leaves the remaining attempts unused."""
    hub.app.script("/quick/permanent", Answer(500), Answer(410))
    sender.capture(hub.port, "/quick/permanent")
    event = hub.admin.wait_state("/quick/permanent", "dead")
    assert (event["reason"], event["attempts"]) == ("permanent", 2)
    hub.app.stays_at(2, "/quick/permanent")


def test_not_found_at_twice_the_delay_and_five_times(hub):
    """A 404 waits twice as long and is given up after five attempts."""
    hub.app.script("/quick/404", Answer(404))
    sender.capture(hub.port, "/quick/404")
    event = hub.admin.wait_state("/quick/404", "dead")
    assert (event["reason"], event["attempts"]) == ("exhausted", 5)
    check_gaps(hub.app.stays_at(5, "/quick/404"), [0.1] * 4)


def test_not_found_obeys_a_lower_attempts_max(hub):
    """Five is the most, not the least."""
    hub.app.script("/three/404", Answer(404))
    sender.capture(hub.port, "/three/404")
    assert hub.admin.wait_state("/three/404", "dead")["attempts"] == 3


def test_next_attempt_is_shown(hub):
    """While an event waits, the listing says until when, and the log why."""
    path = "/quick/shown"
    hub.app.script(path, Answer(503, headers=(("retry-after", "30"),)))
    sender.capture(hub.port, path)
    event = hub.admin.wait_state(path, "retrying")
    assert event["next_attempt_at"] == event["attempt_log"][0]["next_at"]
    assert (event["last_outcome"], event["last_status"]) == ("5xx", 503)
    assert event["attempt_log"][0]["next_because"] == "retry-after 30s"
