"""Every metric of the contract, with its labels and the right value after a known scenario."""

import pytest

from harness import metrics, sender
from harness.app import Answer
from harness.config import capture, cluster, per_route, retry, route, upstream
from harness.waiting import eventually


@pytest.fixture(scope="module")
def samples(shared_launcher):
    """Delivers, retries, rejects, kills and replays a known number of events, then reads all."""
    app = shared_launcher.app()
    down = shared_launcher.app()
    down.refuse()
    lanes = [
        upstream("app", retry=retry(0.02, attempts_max=3)),
        upstream("down", retry=retry(0.01), circuit_breaker={"consecutive_failures": 4}),
        upstream("idle", "app"),
    ]
    clusters = [cluster("app", app.port), cluster("down", down.port)]
    config = shared_launcher.config(upstreams=lanes, clusters=clusters)
    config.routes = [
        route("/down", typed_per_filter_config=per_route(capture("bank", "down"))),
        route("/idle", typed_per_filter_config=per_route(capture("quiet", "idle"))),
        route("/small", typed_per_filter_config=per_route(capture(body_bytes_max=10))),
        route("/"),
    ]
    build = config.build
    # Envoy merges histograms when it flushes, every 5 s by default.
    config.build = lambda: {**build(), "stats_flush_interval": "0.2s"}
    envoy = shared_launcher.start(config)

    app.script("/once", Answer(500), Answer(200))
    app.script("/exhausted", Answer(503))
    app.script("/permanent", Answer(400))
    for number in range(5):
        sender.capture(envoy.port, f"/ok/{number}", b"x")
    for path in ("/once", "/exhausted", "/permanent"):
        sender.capture(envoy.port, path, b"x")
    envoy.admin.wait_totals(delivered=6, dead=2)
    event = envoy.admin.by_path("/ok/0")
    envoy.admin.replay(ids=[event["id"]])
    app.wait_for(2, "/ok/0")
    for _ in range(2):
        assert sender.post(envoy.port, "/small", b"x" * 11).status == 413
    for number in range(3):
        sender.capture(envoy.port, f"/down/{number}", b"x")
    eventually(lambda: envoy.admin.upstream("down")["breaker"] == "open")
    envoy.admin.pause("idle")
    sender.capture(envoy.port, "/idle/a", b"x")

    def settled():
        found = metrics.parse(envoy.admin.prometheus())
        assert metrics.value(found, "delivered", upstream="app") == 7
        assert metrics.value(found, "accepted", source="quiet") == 1
        assert metrics.value(found, "breaker_open", upstream="down") == 1
        assert metrics.value(found, "oldest_pending_seconds", upstream="down") >= 1
        assert metrics.value(found, "oldest_pending_seconds", upstream="idle") >= 1
        assert metrics.value(found, "attempts_to_success_count", upstream="app") == 7
        return found

    return eventually(settled, timeout=10, what="all stats flushed")


@pytest.mark.parametrize("name,labels,value", [
    ("accepted", {"source": "demo"}, 8),
    ("accepted", {"source": "bank"}, 3),
    ("accepted", {"source": "quiet"}, 1),
    ("rejected", {"source": "demo", "reason": "too_large"}, 2),
    ("attempts", {"upstream": "app", "outcome": "2xx"}, 7),
    ("attempts", {"upstream": "app", "outcome": "5xx"}, 4),
    ("attempts", {"upstream": "app", "outcome": "4xx"}, 1),
    ("attempts", {"upstream": "down", "outcome": "connect"}, 4),
    ("delivered", {"upstream": "app"}, 7),
    ("dead", {"upstream": "app", "reason": "exhausted"}, 1),
    ("dead", {"upstream": "app", "reason": "permanent"}, 1),
    ("replayed", {"upstream": "app"}, 1),
    ("commit_failures", {}, 0),
    ("backlog", {"upstream": "app"}, 0),
    ("backlog", {"upstream": "down"}, 3),
    ("backlog", {"upstream": "idle"}, 1),
    ("retrying", {"upstream": "down"}, 3),
    ("retrying", {"upstream": "idle"}, 0),
    ("in_flight", {"upstream": "app"}, 0),
    ("in_flight", {"upstream": "down"}, 0),
    ("oldest_pending_seconds", {"upstream": "app"}, 0),
    ("breaker_open", {"upstream": "app"}, 0),
    ("breaker_open", {"upstream": "down"}, 1),
    ("paused", {"upstream": "idle"}, 1),
    ("paused", {"upstream": "app"}, 0),
    ("store_read_only", {}, 0),
])
def test_value(samples, name, labels, value):
    """Each counter and gauge has its labels, and counted right."""
    assert labels in metrics.label_sets(samples, name) or value == 0
    assert metrics.value(samples, name, **labels) == value


@pytest.mark.parametrize("name", ["commit_failures", "store_bytes", "store_read_only"])
def test_present_from_the_start(samples, name):
    """What has no labels is shown before anything happens to it."""
    assert metrics.label_sets(samples, name) == [{}]


def test_store_bytes(samples):
    """The store's size is what is on disk, roughly."""
    assert 1000 < metrics.value(samples, "store_bytes") < 100_000_000


def test_no_duplicates_counted(samples):
    """Nothing is deduplicated without being told to."""
    assert metrics.label_sets(samples, "duplicates") == []


@pytest.mark.parametrize("name,labels,count", [
    ("ack_ms", {}, 12),
    ("delivery_delay_ms", {"upstream": "app"}, 7),
    ("attempts_to_success", {"upstream": "app"}, 7),
])
def test_histogram(samples, name, labels, count):
    """Each histogram has one entry per event."""
    assert metrics.value(samples, f"{name}_count", **labels) == count


def test_commit_histograms(samples):
    """Twelve events in as many batches or fewer, and as many times as batches."""
    batches = metrics.value(samples, "commit_events_count")
    assert 1 <= batches <= 12
    assert metrics.value(samples, "commit_ms_count") == batches


def test_attempts_to_success(samples):
    """Six events in one attempt, one in two; a replay starts anew."""
    total = metrics.value(samples, "attempts_to_success_sum", upstream="app")
    # Envoy keeps histograms in buckets, so sums are near, not exact.
    assert 7.5 <= total <= 9.0
