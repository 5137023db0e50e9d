"""Apps and clusters that behave oddly: each is classified, none hurts Envoy or the others."""

import json
import os

import pytest

from harness import metrics, sender
from harness.app import Answer
from harness.config import capture, cluster, per_route, retry, route, upstream
from harness.waiting import eventually

NEVER_OPENS = {"consecutive_failures": 1000000}


@pytest.fixture(scope="module")
def hub(shared_launcher):
    app = shared_launcher.app()
    lane = upstream("app", timeout="0.5s", circuit_breaker=NEVER_OPENS, retry=retry(0.03))
    patient = upstream("patient", "app", timeout="30s", circuit_breaker=NEVER_OPENS)
    config = shared_launcher.config(app, [lane, patient])
    config.routes = [
        route("/patient", typed_per_filter_config=per_route(capture(upstream_name="patient"))),
        route("/"),
    ]
    envoy = shared_launcher.start(config)
    envoy.app = app
    return envoy


def test_answer_that_drips(hub):
    """The timeout is for the whole answer: one byte at a time does not stretch it."""
    hub.app.script("/drip", Answer(200, body=b"x" * 100, drip=0.05), Answer(200))
    sender.capture(hub.port, "/drip")
    event = hub.admin.wait_state("/drip", "delivered")
    first = event["attempt_log"][0]
    assert first["outcome"] == "timeout"
    assert 495 <= float(first["duration_ms"]) < 1000


def test_answer_that_stops_half_way(hub):
    """Neither does a body that never ends."""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"
    hub.app.script("/stops", Answer(raw=head), Answer(200))
    sender.capture(hub.port, "/stops")
    event = hub.admin.wait_state("/stops", "delivered")
    assert [entry["outcome"] for entry in event["attempt_log"]] == ["timeout", "2xx"]


@pytest.mark.parametrize("name,raw", [
    ("hints", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    ("continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ("processing", b"HTTP/1.1 102 Processing\r\n\r\n"),
])
def test_informational_answers(hub, name, raw):
    """What comes before the answer is not the answer."""
    path = f"/info/{name}"
    hub.app.script(path, Answer(raw=raw + b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"))
    sender.capture(hub.port, path)
    assert hub.admin.wait_state(path, "delivered")["attempts"] == 1


def test_answer_ended_by_closing(hub):
    """An answer without a length ends with its connection, and is whole."""
    raw = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nthanks"
    hub.app.script("/closing", Answer(raw=raw, close=True))
    sender.capture(hub.port, "/closing")
    event = hub.admin.wait_state("/closing", "delivered")
    assert event["attempt_log"][0]["answer"] == "thanks"


def test_app_that_closes_every_connection(hub):
    """An app without keep-alive gets every event once."""
    for number in range(30):
        hub.app.script(f"/nokeep/{number}", Answer(200, (("connection", "close"),), close=True))
        sender.capture(hub.port, f"/nokeep/{number}")
    for number in range(30):
        assert hub.admin.wait_state(f"/nokeep/{number}", "delivered")["attempts"] == 1


def test_header_of_an_answer_too_large(hub):
    """An answer that Envoy can't take is a failed attempt, not a crash."""
    hub.app.script("/bighead", Answer(200, (("x-big", "y" * 200_000),)), Answer(200))
    sender.capture(hub.port, "/bighead")
    event = hub.admin.wait_state("/bighead", "delivered")
    assert event["attempts"] == 2


@pytest.mark.parametrize("status", [600, 999])
def test_status_beyond_the_table(hub, status):
    """A status that HTTP doesn't have ends in some state, with a reason, and nothing breaks."""
    path = f"/beyond/{status}"
    hub.app.script(path, Answer(status), Answer(200))
    sender.capture(hub.port, path)
    event = eventually(
        lambda: hub.admin.by_path(path)["state"] in ("delivered", "dead")
        and hub.admin.by_path(path)
    )
    assert event["last_outcome"]


def test_answer_as_text_for_the_operator(hub):
    """What an app answers is shown as text, whatever its bytes, and cut."""
    body = b"<script>alert(1)</script>\x00\xff\x1b[31m" + b"q" * 10_000
    hub.app.script("/markup", Answer(500, body=body), Answer(200))
    sender.capture(hub.port, "/markup")
    event = hub.admin.wait_state("/markup", "delivered")
    answer = event["attempt_log"][0]["answer"]
    assert answer.startswith("<script>alert(1)</script>\x00\ufffd\x1b[31mqqq")
    assert len(answer) <= 4096
    status, raw = hub.admin.raw("GET", "/forebay/event", {"id": event["id"]})
    assert status == 200 and b"<script>" not in raw and b"\x1b" not in raw


def test_large_headers(hub):
    """An event with as many headers as Envoy takes reaches the app with all of them."""
    headers = [(f"x-h{number}", "v" * 500) for number in range(80)]
    sender.capture(hub.port, "/manyheaders", b"x", headers)
    (request,) = hub.app.wait_for(1, "/manyheaders")
    assert [(name, value) for name, value in request.headers if name.startswith("x-h")] == headers


def test_large_event_and_large_answer_at_once(hub):
    """A body of 20 MiB goes out while an answer of 1 MiB comes in."""
    body = os.urandom(1 << 20) * 20
    hub.app.script("/patient/both", Answer(200, body=b"a" * (1 << 20)))
    sender.capture(hub.port, "/patient/both", body)
    assert hub.app.wait_for(1, "/patient/both", timeout=20)[0].body == body
    hub.admin.wait_state("/patient/both", "delivered")


def test_envoys_own_limit_costs_no_attempt(launcher, app):
    """When the cluster's own circuit breaker refuses a request, no attempt is counted."""
    limits = {"thresholds": [{"max_requests": 1, "max_pending_requests": 1, "max_connections": 1}]}
    gate = app.gate()
    app.default = Answer(gate=gate)
    config = launcher.config(
        upstreams=[upstream(concurrency_max=6)],
        clusters=[cluster("app", app.port, circuit_breakers=limits)],
    )
    envoy = launcher.start(config)
    for number in range(6):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(1)
    eventually(lambda: own_errors(envoy) >= 1, what="own_errors")
    gate.open()
    envoy.admin.wait_totals(timeout=20, delivered=6)
    assert {int(event["attempts"]) for event in envoy.admin.all_events()} == {1}
    assert sorted(request.attempt for request in app.requests) == [1] * 6


def own_errors(envoy):
    samples = metrics.parse(envoy.admin.prometheus())
    return sum(value for name, _, value in samples if name == "own_errors")


def test_cluster_removed_and_back(launcher, app):
    """When its cluster is taken away under load, events wait; when it is back, they go."""
    cds = launcher.directory / "cds.json"
    typed = {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        **cluster("moving", app.port),
    }

    def publish(*clusters):
        moved = cds.with_suffix(".new")
        moved.write_text(json.dumps({"resources": list(clusters)}))
        moved.rename(cds)

    publish(typed)
    config = launcher.config(upstreams=[upstream("app", "moving")], clusters=[])
    build = config.build
    source = {"cds_config": {"path_config_source": {"path": str(cds)}}}
    config.build = lambda: {**build(), "dynamic_resources": source}
    envoy = launcher.start(config)
    app.default = Answer(200, delay=0.005)
    with sender.LoadSender(envoy.port, connections=2, pace=0.005) as load:
        load.wait_acknowledged(50)
        for _ in range(2):
            since = envoy.log.mark()
            publish()
            envoy.log.wait_for(r"\[warning\].*moving.*no attempt is counted", since=since)
            load.wait_acknowledged(len(load.acknowledged) + 20)
            publish(typed)
            app.wait_for(len(app.seen()) + 20)
    envoy.admin.wait_totals(timeout=30, pending=0, retrying=0, dead=0)
    seen = {request.one("x-key") for request in app.requests}
    assert set(load.acknowledged) <= seen


def test_replay_of_what_is_in_flight(launcher, app):
    """An event that is being delivered is not sent a second time by a replay."""
    gate = app.gate()
    app.default = Answer(gate=gate)
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    app.wait_in_flight(1)
    envoy.admin.replay(ids=[envoy.admin.by_path("/a")["id"]])
    app.stays_at(1)
    gate.open()
    envoy.admin.wait_totals(delivered=1)
    assert envoy.admin.by_path("/a")["attempts"] == len(app.requests)
