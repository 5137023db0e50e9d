"""Delivery: what the app receives, how many at once, and that upstreams don't hinder each other."""

import datetime
import re
import time

import pytest

from harness import sender
from harness.app import HANG, Answer
from harness.config import capture, cluster, per_route, route, upstream
from harness.waiting import throughout

ULID = re.compile(r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$")


@pytest.fixture(scope="module")
def hub(shared_launcher):
    app = shared_launcher.app()
    envoy = shared_launcher.start(shared_launcher.config(app))
    envoy.app = app
    return envoy


def deliver(hub, path, body=b"", headers=()):
    """Captures a request and returns it as the app got it."""
    sender.capture(hub.port, path, body, headers)
    return hub.app.wait_for(1, path.split("?")[0])[0]


@pytest.mark.parametrize("path", [
    "/plain",
    "/query?a=1&b=&c",
    "/escapes/%2F%2e%2E/a%20b?x=%26%3D%23&y=a+b",
    "/case/%c3%A9?%7E=~",
    "/odd/;p=1/a:b@c!$'()*,=?q=/?:@!$'()*,;",
    "/twice//slash/",
    "/question?a?b",
    "/long?" + "q" * 4000,
])
def test_path_and_query_as_sent(hub, path):
    """Path and query reach the app with every escape as the sender wrote it."""
    assert deliver(hub, path).path == path


def test_host_as_sent(hub):
    """The app sees the host that the sender called, port included."""
    with sender.Connection(hub.port) as connection:
        connection.send(sender.request_bytes("/host", host="shop.example.org:8443"))
        assert connection.response().status == 200
    assert hub.app.wait_for(1, "/host")[0].one("host") == "shop.example.org:8443"


def test_headers_as_sent(hub):
    """Every end-to-end header reaches the app, duplicates in order, values untouched."""
    sent = [
        ("content-type", 'application/json; charset="utf-8"'),
        ("user-agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"),
        ("stripe-signature", "t=1492774577,v1=5257a869e7,v0=6ffbb59b2300aae63f27"),
        ("authorization", "Bearer abc"),
        ("cookie", "a=b; c=d"),
        ("accept", "*/*"),
        ("accept-encoding", "gzip"),
        ("content-encoding", "identity"),
        ("x-dup", "1"),
        ("x-dup", "2"),
        ("x-shop-id", "17"),
    ]
    request = deliver(hub, "/headers", b"{}", sent)
    for name in dict.fromkeys(name for name, _ in sent):
        assert request.all(name) == [value for key, value in sent if key == name], name


def test_senders_address_comes_first(hub):
    """Envoy adds its own address to x-forwarded-for, as any proxy does, after the sender's."""
    request = deliver(hub, "/forwarded", b"{}", [("x-forwarded-for", "203.0.113.7")])
    assert request.one("x-forwarded-for").split(",")[0].strip() == "203.0.113.7"


def test_added_headers(hub):
    """The app learns the event's id, attempt, source, capture time and verification."""
    before = datetime.datetime.now(datetime.timezone.utc)
    request = deliver(hub, "/added", b"x")
    assert ULID.match(request.event_id)
    assert request.one("forebay-attempt") == "1"
    assert request.one("forebay-source") == "demo"
    assert request.one("forebay-verified") == "none"
    assert request.all("forebay-replay") == []
    stamp = request.one("forebay-received-at")
    assert re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$", stamp)
    received = datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    slack = datetime.timedelta(seconds=1)
    assert before - slack <= received <= datetime.datetime.now(datetime.timezone.utc) + slack
    assert hub.admin.wait_state("/added", "delivered")["id"] == request.event_id


def test_id_stays_over_attempts(hub):
    """Every attempt carries the same id, and its own number."""
    hub.app.script("/again", Answer(500), Answer(500), Answer(200))
    sender.capture(hub.port, "/again")
    seen = hub.app.wait_for(3, "/again")
    assert [request.attempt for request in seen] == [1, 2, 3]
    assert len({request.event_id for request in seen}) == 1
    assert len({request.one("forebay-received-at") for request in seen}) == 1


@pytest.mark.parametrize("name,value", [
    ("forebay-event-id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("forebay-attempt", "99"),
    ("forebay-source", "bank"),
    ("forebay-verified", "true"),
    ("forebay-replay", "job"),
    ("forebay-anything", "1"),
    ("x-envoy-upstream-rq-timeout-ms", "1"),
    ("x-envoy-max-retries", "7"),
    ("x-envoy-retry-on", "5xx"),
    ("x-envoy-upstream-alt-stat-name", "stranger"),
    ("x-envoy-decorator-operation", "stranger"),
    ("x-envoy-original-path", "/stranger"),
    ("x-envoy-expected-rq-timeout-ms", "12345"),
    ("x-envoy-ip-tags", "stranger"),
    ("keep-alive", "timeout=5"),
    ("proxy-connection", "keep-alive"),
    ("proxy-authorization", "Basic stranger"),
    ("te", "trailers"),
    ("trailer", "x-sum"),
])
def test_hostile_headers_removed(hub, name, value):
    """What a stranger sends in our name, in Envoy's, or for one hop does not reach the app."""
    request = deliver(hub, f"/hostile/{name}", b"x", [(name, value), ("x-kept", "1")])
    assert value not in request.all(name)
    assert request.one("x-kept") == "1"


def test_stranger_cannot_shorten_the_attempt(hub):
    """Envoy's router obeys x-envoy-* headers; a stored event can't make it."""
    hub.app.script("/slow", Answer(200, delay=0.2))
    timeout = [("x-envoy-upstream-rq-timeout-ms", "10"), ("x-envoy-max-retries", "5")]
    deliver(hub, "/slow", b"x", timeout)
    assert int(hub.admin.wait_state("/slow", "delivered")["attempts"]) == 1
    assert len(hub.app.seen("/slow")) == 1


def test_headers_named_by_connection_removed(hub):
    """A header that `connection` names was for one hop."""
    with sender.Connection(hub.port) as connection:
        headers = [("connection", "keep-alive, x-hop"), ("x-hop", "secret"), ("x-kept", "1")]
        connection.send(sender.request_bytes("/hop", b"x", headers))
        status = connection.response().status
    # Envoy may refuse a stranger's nomination by itself; if it doesn't, nothing may pass.
    if status == 200:
        (request,) = hub.app.wait_for(1, "/hop")
        assert request.all("x-hop") == []
        assert "secret" not in str(request.headers)
        assert request.one("x-kept") == "1"


def test_framed_by_length(hub):
    """Chunked on the way in, with a content-length and not chunked on the way out."""
    assert sender.post_chunked(hub.port, "/framed", [b"abc", b"def"]).status == 200
    (request,) = hub.app.wait_for(1, "/framed")
    assert not request.chunked
    assert request.all("transfer-encoding") == []
    assert request.one("content-length") == "6"
    assert request.body == b"abcdef"


def test_connections_are_reused(hub):
    """Deliveries go over Envoy's connection pool, not over a connection each."""
    before = hub.app.connections
    for number in range(30):
        deliver(hub, f"/pool/{number}", b"x")
    assert hub.app.connections - before <= 10


def test_concurrency_max(launcher, app):
    """No more than `concurrency_max` attempts are in flight, and that many are."""
    gate = app.gate()
    app.default = Answer(gate=gate)
    envoy = launcher.start(launcher.config(app, [upstream(concurrency_max=3)]))
    for number in range(12):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(3)
    app.stays_at(3)
    assert int(envoy.admin.upstream("app")["in_flight"]) == 3
    assert int(envoy.admin.upstream("app")["backlog"]) == 12
    gate.open()
    app.wait_for(12)
    assert app.in_flight_max == 3
    envoy.admin.wait_totals(delivered=12)
    assert len({request.event_id for request in app.requests}) == 12


def test_concurrency_default(launcher, app):
    """Ten at once unless told otherwise."""
    gate = app.gate()
    app.default = Answer(gate=gate)
    envoy = launcher.start(launcher.config(app))
    for number in range(15):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(10)
    app.stays_at(10)
    gate.open()
    app.wait_for(15)


def test_dead_upstream_does_not_delay_another(launcher, app):
    """With one upstream refusing and one hanging, a third gets its events as if alone."""
    hanging = launcher.app()
    hanging.default = Answer(action=HANG)
    refusing = launcher.app()
    refusing.refuse()
    upstreams = [
        upstream("app"),
        upstream("hanging", timeout="30s", concurrency_max=5),
        upstream("refusing", retry={"fixed": {"interval": "0.01s"}, "attempts_max": 1000}),
    ]
    clusters = [
        cluster("app", app.port),
        cluster("hanging", hanging.port),
        cluster("refusing", refusing.port),
    ]
    config = launcher.config(upstreams=upstreams, clusters=clusters)
    config.routes = [
        route(f"/{name}", typed_per_filter_config=per_route(capture(upstream_name=name)))
        for name in ("hanging", "refusing")
    ] + [route("/")]
    envoy = launcher.start(config)
    for number in range(200):
        sender.capture(envoy.port, f"/hanging/{number}")
        sender.capture(envoy.port, f"/refusing/{number}")
    hanging.wait_in_flight(5)
    delays = []
    for number in range(100):
        begin = time.monotonic()
        sender.capture(envoy.port, f"/{number}")
        delays.append(app.wait_for(number + 1, timeout=5)[-1].mono - begin)
    delays.sort()
    assert delays[50] < 0.1, delays
    assert delays[-1] < 1.0, delays
    throughout(lambda: hanging.in_flight <= 5, 0.1)
