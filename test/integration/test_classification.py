"""Every row of the contract's classification table, and the user's rules before it."""

import json

import pytest

from harness import metrics, sender
from harness.app import CLOSE, HANG, RESET, Answer
from harness.config import capture, cluster, per_route, retry, route, upstream
from harness.waiting import eventually

DELIVERED = [200, 201, 202, 203, 204, 205, 206, 207, 226, 299]
REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308]
RETRIED = [408, 425, 429, 500, 502, 503, 504, 506, 507, 508, 510, 511, 520, 599]
PERMANENT = [
    400, 401, 402, 403, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422,
    423, 424, 426, 428, 431, 451, 499, 501, 505,
]
NEVER_OPENS = {"consecutive_failures": 1000000}


def routed(names):
    return [
        route(f"/{name}/", typed_per_filter_config=per_route(capture(upstream_name=name)))
        for name in names
    ] + [route("/")]


@pytest.fixture(scope="module")
def hub(shared_launcher):
    """One Envoy with a lane per kind of trouble."""
    app = shared_launcher.app()
    refusing = shared_launcher.app()
    refusing.refuse()
    checked = {
        "timeout": "0.2s",
        "interval": "0.1s",
        "unhealthy_threshold": 1,
        "healthy_threshold": 1,
        "http_health_check": {"path": "/health"},
        "no_traffic_interval": "0.1s",
        "unhealthy_interval": "0.1s",
    }
    clusters = [
        cluster("app", app.port),
        cluster("refusing", refusing.port),
        cluster("empty"),
        cluster(
            "unhealthy",
            app.port,
            health_checks=[checked],
            common_lb_config={"healthy_panic_threshold": {"value": 0}},
        ),
    ]
    common = {"circuit_breaker": NEVER_OPENS, "retry": retry(0.03), "concurrency_max": 100}
    short = {**common, "timeout": "0.3s"}
    rules = [
        {"match": "404", "as": "PERMANENT"},
        {"match": "410", "as": "SUCCESS"},
        {"match": "418", "as": "RETRY"},
        {"match": "202", "as": "PERMANENT"},
        {"match": "500-502", "as": "PERMANENT"},
        {"match": "5xx", "as": "SUCCESS"},
        {"match": "reset", "as": "PERMANENT"},
        {"match": "timeout", "as": "SUCCESS"},
    ]
    dead = [
        {"match": "connect", "as": "PERMANENT"},
        {"match": "no_healthy_upstream", "as": "PERMANENT"},
    ]
    upstreams = [
        upstream("app", **short),
        upstream("refusing", **common),
        upstream("empty", **common),
        upstream("unhealthy", **common),
        upstream("missing", "nowhere", **common),
        upstream("rules", "app", classify=rules, **short),
        upstream("norefuse", "refusing", classify=dead, **common),
        upstream("noempty", "empty", classify=dead, **common),
    ]
    config = shared_launcher.config(upstreams=upstreams, clusters=clusters)
    config.routes = routed([entry["name"] for entry in upstreams])
    app.script("/health", Answer(500))
    envoy = shared_launcher.start(config)
    envoy.app = app
    envoy.refusing = refusing
    yield envoy


def settle(hub, path, *answers):
    """Sends an event whose attempts are answered with `answers` and, at last, 200."""
    hub.app.script(path, *answers, Answer(200))
    sender.capture(hub.port, path, b"x")


def expect_delivered(hub, path, attempts=1):
    event = hub.admin.wait_state(path, "delivered")
    assert int(event["attempts"]) == attempts, event
    assert "reason" not in event
    assert "next_attempt_at" not in event
    return event


def expect_dead(hub, path, reason="permanent", attempts=1):
    event = hub.admin.wait_state(path, "dead")
    assert (event["reason"], int(event["attempts"])) == (reason, attempts), event
    assert "next_attempt_at" not in event
    return event


@pytest.mark.parametrize("status", DELIVERED)
def test_success(hub, status):
    """2xx is delivered."""
    settle(hub, f"/app/{status}", Answer(status))
    event = expect_delivered(hub, f"/app/{status}")
    assert (event["last_outcome"], event["last_status"]) == ("2xx", status)


@pytest.mark.parametrize("status", REDIRECTS)
def test_redirect_is_permanent_and_not_followed(hub, status):
    """3xx is permanent; nobody asks for its location."""
    settle(hub, f"/app/{status}", Answer(status, headers=(("location", "/app/elsewhere"),)))
    event = expect_dead(hub, f"/app/{status}")
    assert (event["last_outcome"], event["last_status"]) == ("3xx", status)
    assert hub.app.seen("/app/elsewhere") == []


@pytest.mark.parametrize("status", RETRIED)
def test_retried(hub, status):
    """408, 425, 429 and 5xx but 501 and 505 are tried again."""
    path = f"/app/{status}"
    settle(hub, path, Answer(status, body=b"not now"))
    event = expect_delivered(hub, path, attempts=2)
    assert [entry["status"] for entry in event["attempt_log"]] == [status, 200]
    assert event["attempt_log"][0]["outcome"] == f"{status // 100}xx"
    assert event["attempt_log"][0]["answer"] == "not now"
    assert [request.attempt for request in hub.app.seen(path)] == [1, 2]


@pytest.mark.parametrize("status", PERMANENT)
def test_permanent(hub, status):
    """Every other 4xx, 501 and 505 end the event at once; it is kept as dead."""
    path = f"/app/{status}"
    settle(hub, path, Answer(status))
    event = expect_dead(hub, path)
    assert event["last_status"] == status
    assert len(hub.app.seen(path)) == 1


def test_not_found(hub):
    """404 is tried again: an app that is being deployed."""
    settle(hub, "/app/404", Answer(404))
    expect_delivered(hub, "/app/404", attempts=2)


@pytest.mark.parametrize("name,answer,outcome", [
    ("reset", Answer(action=RESET), "reset"),
    ("close", Answer(action=CLOSE), "reset"),
    ("cut", Answer(200, body=b"x" * 100, truncate=10), "reset"),
    ("garbage", Answer(raw=b"HELO example\r\n\r\n", action="answer"), "reset"),
    ("hang", Answer(action=HANG), "timeout"),
    ("late", Answer(200, delay=0.6), "timeout"),
])
def test_no_whole_answer(hub, name, answer, outcome):
    """A reset, an answer that breaks off, and one that doesn't come in time are tried again."""
    path = f"/app/{name}"
    settle(hub, path, answer)
    event = expect_delivered(hub, path, attempts=2)
    first = event["attempt_log"][0]
    assert first["outcome"] == outcome, first
    assert int(first.get("status", 0)) == 0, "there was no answer, so there is no status"
    assert first["error"]
    if outcome == "timeout":
        # Envoy's timers count whole milliseconds.
        assert 295 <= float(first["duration_ms"]) < 800


def test_large_answer(hub):
    """An app that answers with 1 MiB has taken the event; only the beginning is kept."""
    settle(hub, "/app/verbose", Answer(200, body=b"y" * 1048576))
    event = expect_delivered(hub, "/app/verbose")
    assert set(event["attempt_log"][0]["answer"]) == {"y"}
    assert len(event["attempt_log"][0]["answer"]) <= 4096


@pytest.mark.parametrize("status,body", [
    (503, b"upstream connect error or disconnect/reset before headers. reset reason: overflow"),
    (503, b"no healthy upstream"),
    (504, b"upstream request timeout"),
])
def test_app_that_talks_like_envoy(hub, status, body):
    """An app's own 503 or 504 is tried again, whatever its body claims."""
    path = f"/app/mimic/{status}/{len(body)}"
    settle(hub, path, Answer(status, body=body))
    event = expect_delivered(hub, path, attempts=2)
    assert event["attempt_log"][0]["outcome"] == "5xx", event["attempt_log"][0]


def test_refused(hub):
    """A refused connection is tried again, until there is somebody."""
    sender.capture(hub.port, "/refusing/a", b"x")
    assert hub.admin.wait_attempts("/refusing/a", 2)["last_outcome"] == "connect"
    hub.refusing.start()
    try:
        event = hub.admin.wait_state("/refusing/a", "delivered")
        assert [entry["outcome"] for entry in event["attempt_log"]][:1] == ["connect"]
        (request,) = hub.refusing.seen("/refusing/a")
        assert request.attempt == int(event["attempts"])
    finally:
        hub.refusing.refuse()


@pytest.mark.parametrize("name", ["empty", "unhealthy"])
def test_no_healthy_upstream(hub, name):
    """A cluster without hosts, or with none that is healthy, is tried again."""
    path = f"/{name}/a"
    if name == "unhealthy":
        eventually(lambda: hub.admin.stats()["cluster.unhealthy.membership_healthy"] == 0)
    sender.capture(hub.port, path, b"x")
    event = hub.admin.wait_attempts(path, 2)
    assert (event["state"], event["last_outcome"]) == ("retrying", "no_healthy_upstream")
    if name == "unhealthy":
        hub.app.script("/health", Answer(200))
        hub.admin.wait_state(path, "delivered")


def test_unknown_cluster_costs_no_attempt(hub):
    """An upstream whose cluster Envoy doesn't know waits, uncharged, with a warning and a stat."""
    sender.capture(hub.port, "/missing/a", b"x")
    hub.log.wait_for(r"\[warning\].*nowhere")
    event = hub.admin.by_path("/missing/a")
    assert (event["state"], int(event["attempts"])) == ("pending", 0)
    assert hub.admin.event(event["id"]).get("attempt_log", []) == []

    labels = {"upstream": "missing", "reason": "cluster_missing"}
    eventually(
        lambda: metrics.value(metrics.parse(hub.admin.prometheus()), "own_errors", **labels),
        what="the stat own_errors",
    )


def test_unknown_cluster_that_appears(launcher, app):
    """Once the cluster is there, the event that waited for it is delivered as attempt 1."""
    config = launcher.config(upstreams=[upstream("app", "late")], clusters=[])
    cds = launcher.directory / "cds.json"
    typed = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
    cds.write_text(json.dumps({"resources": []}))
    built = config.build

    def with_cds():
        made = built()
        made["dynamic_resources"] = {"cds_config": {"path_config_source": {"path": str(cds)}}}
        return made

    config.build = with_cds
    envoy = launcher.start(config)
    sender.capture(envoy.port, "/a", b"x")
    envoy.log.wait_for(r"\[warning\].*late")
    moved = launcher.directory / "cds.new"
    moved.write_text(json.dumps({"resources": [{"@type": typed, **cluster("late", app.port)}]}))
    moved.rename(cds)
    (request,) = app.wait_for(1, "/a", timeout=20)
    assert request.attempt == 1
    envoy.admin.wait_state("/a", "delivered")


@pytest.mark.parametrize("status,verdict", [
    (404, "dead"),
    (410, "delivered"),
    (418, "retried"),
    (202, "dead"),
    (201, "delivered"),
    (500, "dead"),
    (502, "dead"),
    (503, "delivered"),
    (501, "dead"),
    (505, "delivered"),
    (400, "dead"),
    (429, "retried"),
])
def test_rules(hub, status, verdict):
    """The user's rules come first, the first that matches wins, the rest is as usual."""
    path = f"/rules/{status}"
    settle(hub, path, Answer(status))
    if verdict == "dead":
        expect_dead(hub, path)
    else:
        expect_delivered(hub, path, attempts=2 if verdict == "retried" else 1)


def test_rules_for_connections(hub):
    """Rules may name what happened to the connection."""
    settle(hub, "/rules/reset", Answer(action=RESET))
    settle(hub, "/rules/hang", Answer(action=HANG))
    sender.capture(hub.port, "/norefuse/a")
    sender.capture(hub.port, "/noempty/a")
    assert expect_dead(hub, "/rules/reset")["last_outcome"] == "reset"
    assert expect_delivered(hub, "/rules/hang")["last_outcome"] == "timeout"
    assert expect_dead(hub, "/norefuse/a")["last_outcome"] == "connect"
    assert expect_dead(hub, "/noempty/a")["last_outcome"] == "no_healthy_upstream"
