"""A dozen apps that misbehave, and some more: what each outcome is called, and what follows.

Every one has a lane of its own in one Envoy. While it misbehaves, a healthy app beside it gets its
events as ever, and Envoy's memory stays where it was.
"""

import dataclasses

import pytest

from harness import sender
from harness.app import HANG, RESET, Answer
from harness.config import capture, cluster, per_route, retry, route, upstream
from harness.waiting import eventually

MIB = 1 << 20
NEVER_OPENS = {"consecutive_failures": 1000000}
TIMEOUT = 0.5
NEIGHBOURS = 10  # events for the healthy app meanwhile


@dataclasses.dataclass(frozen=True)
class Mode:
    answer: Answer
    outcome: str
    body: bytes = b"{}"


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n"
MODES = {
    "hangs-before-the-head": Mode(Answer(action=HANG), "timeout"),
    "hangs-in-the-body": Mode(Answer(raw=HEAD + b"abc"), "timeout"),
    "one-byte-a-second": Mode(Answer(200, body=b"x" * 100, drip=1.0), "timeout"),
    "resets-before-any-byte": Mode(Answer(action=RESET), "reset"),
    "resets-after-the-head": Mode(Answer(raw=HEAD, reset=True), "reset"),
    "resets-in-the-body": Mode(Answer(200, body=b"y" * 100, truncate=50, reset=True), "reset"),
    "closes-in-the-body": Mode(Answer(200, body=b"y" * 100, truncate=50), "reset"),
    "malformed-status-line": Mode(Answer(raw=b"HTTP/1.1 2OO OK\r\n\r\n"), "reset"),
    "early-answer-then-reset": Mode(
        Answer(raw=HEAD, early=True, reset=True), "reset", b"b" * (4 * MIB)
    ),
    "refuses": Mode(None, "connect"),
    "endless-head": Mode(
        Answer(raw=b"HTTP/1.1 200 OK\r\n", endless=b"x-more: and more\r\n" * 100), "reset"
    ),
    "endless-hints": Mode(Answer(raw=b"", endless=b"HTTP/1.1 103 Hints\r\n\r\n" * 10), "timeout"),
    "another-protocol": Mode(Answer(raw=b"SSH-2.0-OpenSSH_9.2p1\r\n"), "reset"),
    "two-lengths": Mode(
        Answer(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc"), "reset"
    ),
    "malformed-chunk": Mode(
        Answer(raw=b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n"), "reset"
    ),
}


@pytest.fixture(scope="module")
def hub(shared_launcher):
    app, healthy, refusing = (shared_launcher.app() for _ in range(3))
    refusing.refuse()
    lanes = [
        upstream(
            name,
            "refusing" if mode.answer is None else "app",
            timeout=f"{TIMEOUT}s",
            circuit_breaker=NEVER_OPENS,
            retry=retry(0.05, attempts_max=3),
        )
        for name, mode in MODES.items()
    ]
    lanes += [upstream("healthy"), upstream("patient", "app", circuit_breaker=NEVER_OPENS)]
    clusters = [
        cluster("app", app.port),
        cluster("healthy", healthy.port),
        cluster("refusing", refusing.port),
    ]
    config = shared_launcher.config(upstreams=lanes, clusters=clusters)
    config.capture = capture(upstream_name="healthy")
    config.routes = [
        route(f"/{lane['name']}/", typed_per_filter_config=per_route(
            capture(upstream_name=lane["name"])))
        for lane in lanes
    ] + [route("/")]
    envoy = shared_launcher.start(config)
    envoy.app, envoy.healthy, envoy.refusing = app, healthy, refusing
    sender.capture(envoy.port, "/healthy/warm")
    healthy.wait_for(1)
    return envoy


def check_neighbours(hub, name):
    """The healthy app's events come as if nobody misbehaved."""
    for number in range(NEIGHBOURS):
        path = f"/healthy/{name}/{number}"
        sender.capture(hub.port, path)
        hub.healthy.wait_for(1, path, timeout=1.0)


def check_memory(hub, before, body=b""):
    most = 16 * MIB + 8 * len(body)  # the store's and the sockets' copies of an event
    eventually(lambda: hub.rss_bytes() - before < most, what=f"memory within {most} of before")


def check_entry(mode, entry):
    assert entry["outcome"] == mode.outcome, entry
    assert entry["error"] and "status" not in entry, entry
    assert len(entry.get("answer", "")) <= 4096
    took = float(entry["duration_ms"]) / 1000
    if mode.outcome == "timeout":
        assert TIMEOUT - 0.005 <= took < TIMEOUT + 0.5, entry
    else:
        assert took < TIMEOUT, entry


@pytest.mark.parametrize("name", MODES)
def test_tried_again_and_at_last_dead(hub, name):
    """It is a failed attempt of its kind, ended in time; the event is tried as often as it may be."""
    mode = MODES[name]
    before = hub.rss_bytes()
    path = f"/{name}/always"
    if mode.answer is not None:
        hub.app.script(path, mode.answer)
    sender.capture(hub.port, path, mode.body)
    check_neighbours(hub, name)
    event = hub.admin.wait_state(path, "dead")
    assert (event["reason"], event["attempts"]) == ("exhausted", 3)
    assert event["last_outcome"] == mode.outcome
    for entry in event["attempt_log"]:
        check_entry(mode, entry)
    if mode.answer is not None:
        assert [request.attempt for request in hub.app.stays_at(3, path, seconds=0.1)] == [1, 2, 3]
    check_memory(hub, before, mode.body)


@pytest.mark.parametrize("name", [name for name, mode in MODES.items() if mode.answer is not None])
def test_delivered_once_it_behaves(hub, name):
    """An app that comes to its senses gets the event, whole."""
    mode = MODES[name]
    path = f"/{name}/once"
    hub.app.script(path, mode.answer, Answer(200, body=b"thanks"))
    sender.capture(hub.port, path, mode.body)
    event = hub.admin.wait_state(path, "delivered")
    assert event["attempts"] == 2
    check_entry(mode, event["attempt_log"][0])
    assert event["attempt_log"][1]["answer"] == "thanks"
    assert hub.app.seen(path)[-1].body == mode.body


def test_early_answer_that_is_whole(hub):
    """A whole 200 that comes before the request was read counts, if it comes before the reset."""
    raw = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks"
    path = "/patient/early"
    hub.app.script(path, Answer(raw=raw, early=True, reset=True))
    sender.capture(hub.port, path, b"b" * (4 * MIB))
    event = hub.admin.wait_state(path, "delivered")
    assert (event["attempts"], event["attempt_log"][0]["answer"]) == (1, "thanks")
    hub.app.stays_at(1, path, seconds=0.2)


def test_more_than_the_length_says(hub):
    """What comes after the answer's end is nobody's: neither this event's nor the next one's."""
    another = b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"
    raw = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" + another
    for number in range(5):
        path = f"/patient/more/{number}"
        hub.app.script(path, Answer(raw=raw))
        sender.capture(hub.port, path)
        event = hub.admin.wait_state(path, "delivered")
        assert (event["attempts"], event["attempt_log"][0]["answer"]) == (1, "ok")


def peak_bytes(envoy):
    with open(f"/proc/{envoy.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024


ENORMOUS = Answer(200, body=b"z" * (64 * MIB))


def test_enormous_answer(hub):
    """An answer of 64 MiB is not kept. Nobody knows what it says, so it is tried again with care."""
    before = hub.rss_bytes()
    path = "/patient/enormous"
    hub.app.script(path, ENORMOUS)
    sender.capture(hub.port, path)
    check_neighbours(hub, "enormous")
    event = hub.admin.wait_state(path, "dead", timeout=30)
    assert (event["reason"], event["attempts"]) == ("exhausted", 5)
    for entry in event["attempt_log"]:
        assert (entry["outcome"], entry.get("answer", "")) == ("too_large", "")
    assert event["attempt_log"][0]["next_because"] == "backoff, doubled for too_large"
    assert peak_bytes(hub) - before < 96 * MIB, "Envoy holds 32 MiB of an answer at most"


def test_enormous_answer_once(hub):
    """An app that comes to its senses gets the event."""
    hub.app.script("/patient/huge", ENORMOUS, Answer(200))
    sender.capture(hub.port, "/patient/huge")
    event = hub.admin.wait_state("/patient/huge", "delivered", timeout=30)
    assert [entry["outcome"] for entry in event["attempt_log"]] == ["too_large", "2xx"]


def test_enormous_answers_where_envoy_is_told_a_limit(launcher, app):
    """Envoy's `http.async_response_buffer_limit` bounds what ten such answers at once may take."""
    app.default = ENORMOUS
    rules = [{"match": "too_large", "as": "SUCCESS"}]
    config = launcher.config(app, [upstream(classify=rules, concurrency_max=10)])
    build = config.build
    layer = {"name": "limits", "static_layer": {"http.async_response_buffer_limit": 65536}}
    config.build = lambda: {**build(), "layered_runtime": {"layers": [layer]}}
    envoy = launcher.start(config)
    before = envoy.rss_bytes()
    for number in range(20):
        sender.capture(envoy.port, f"/{number}")
    envoy.admin.wait_totals(timeout=30, delivered=20)
    assert len(app.requests) == 20
    assert peak_bytes(envoy) - before < 24 * MIB
