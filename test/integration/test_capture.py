"""Capture: what a sender sees, and what is kept of a request."""

import os
import re

import pytest

from harness import sender
from harness.config import capture, per_route, route, upstream
from harness.waiting import eventually

ULID = re.compile(r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$")


@pytest.fixture(scope="module")
def hub(shared_launcher):
    """One Envoy with a route per capture config."""
    app = shared_launcher.app()
    config = shared_launcher.config(app, upstreams=[upstream("app"), upstream("second", "app")])
    acknowledge = {"status": 202, "body": '{"ok":true}', "content_type": "application/json"}
    config.routes = [
        route("/acknowledged", typed_per_filter_config=per_route(capture(acknowledge=acknowledge))),
        route("/nocontent", typed_per_filter_config=per_route(
            capture(acknowledge={"status": 204}))),
        route("/small", typed_per_filter_config=per_route(capture(body_bytes_max=1000))),
        route("/methods", typed_per_filter_config=per_route(capture(methods=["PUT", "DELETE"]))),
        route("/routed", typed_per_filter_config=per_route(capture("stripe", "second"))),
        route("/", 299, "the route answered"),
    ]
    envoy = shared_launcher.start(config)
    envoy.app = app
    return envoy


def kept(envoy, path):
    """The events that were sent to `path`."""
    return [event for event in envoy.admin.all_events() if event["path"] == path]


def test_acknowledged_with_an_empty_200(hub):
    """Without an `acknowledge` the sender gets 200 and an empty body, and the app the event."""
    response = sender.post(hub.port, "/plain", b"hello")
    assert (response.status, response.body) == (200, b"")
    assert response.all("content-type") == []
    assert hub.app.wait_for(1, "/plain")[0].body == b"hello"


def test_acknowledge_config(hub):
    """The configured status, body and content type are what the sender gets."""
    response = sender.post(hub.port, "/acknowledged", b"hello")
    assert (response.status, response.body) == (202, b'{"ok":true}')
    assert response.one("content-type") == "application/json"


def test_acknowledge_no_content(hub):
    """A 204 has no body, and the connection goes on."""
    with sender.Connection(hub.port) as connection:
        for _ in range(2):
            connection.send(sender.request_bytes("/nocontent", b"hello"))
            assert connection.response().status == 204


def test_keep_alive(hub):
    """Acknowledging does not cost the sender its connection."""
    with sender.Connection(hub.port) as connection:
        for number in range(20):
            connection.send(sender.request_bytes(f"/alive/{number}", b"x" * 1000))
            response = connection.response()
            assert response.status == 200
            assert response.all("connection") == []


def test_pipelined(hub):
    """Requests that are sent before the answers came are all captured, in order."""
    with sender.Connection(hub.port) as connection:
        connection.send(b"".join(sender.request_bytes(f"/pipe/{n}", b"abc") for n in range(10)))
        assert [connection.response().status for _ in range(10)] == [200] * 10
    hub.app.wait_for(10, predicate=lambda request: request.path.startswith("/pipe/"))


@pytest.mark.parametrize("size,status", [(1000, 200), (1001, 413)])
def test_body_limit_by_content_length(hub, size, status):
    """A body of exactly `body_bytes_max` is captured; one byte more is a 413 and not kept."""
    path = f"/small/length/{size}"
    assert sender.post(hub.port, path, b"x" * size).status == status
    assert len(kept(hub, path)) == (status == 200)


@pytest.mark.parametrize("size,status", [(1000, 200), (1001, 413)])
def test_body_limit_by_chunks(hub, size, status):
    """The limit holds when the size isn't told beforehand."""
    path = f"/small/chunked/{size}"
    assert sender.post_chunked(hub.port, path, [b"x" * 500, b"x" * (size - 500)]).status == status
    assert len(kept(hub, path)) == (status == 200)


def test_body_limit_http2(hub):
    """The limit holds over HTTP/2, with and without a content-length."""
    body = b"x" * 1001
    assert sender.post_http2(hub.port, "/small/h2", body).status == 413
    length = [("content-length", "1001")]
    assert sender.post_http2(hub.port, "/small/h2", body, length).status == 413
    assert kept(hub, "/small/h2") == []


def test_declared_size_is_refused_unread(hub):
    """A content-length above the default 25 MiB is a 413 before the body has come."""
    with sender.Connection(hub.port) as connection:
        connection.send(sender.head("POST", "/huge", [("content-length", str(26214401))]))
        assert connection.response().status == 413


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_pass_through(hub, method):
    """A request whose method isn't captured meets the route as if we weren't there."""
    response = sender.post(hub.port, "/pass", b"body", method=method)
    assert (response.status, response.body) == (299, b"the route answered")
    assert kept(hub, "/pass") == []


def test_methods_config(hub):
    """`methods` decides what is captured, and the app gets the same method."""
    assert sender.post(hub.port, "/methods", b"a", method="PUT").status == 200
    assert sender.post(hub.port, "/methods", b"", method="DELETE").status == 200
    assert sender.post(hub.port, "/methods", b"b").body == b"route"
    seen = hub.app.wait_for(2, "/methods")
    assert sorted(request.method for request in seen) == ["DELETE", "PUT"]


def test_per_route_config(hub):
    """A route's own config names its source and its upstream."""
    sender.capture(hub.port, "/routed/a")
    sender.capture(hub.port, "/unrouted/a")
    routed = hub.admin.wait_state("/routed/a", "delivered")
    assert (routed["source"], routed["upstream"]) == ("stripe", "second")
    assert hub.app.wait_for(1, "/routed/a")[0].one("forebay-source") == "stripe"
    unrouted = hub.admin.wait_state("/unrouted/a", "delivered")
    assert (unrouted["source"], unrouted["upstream"]) == ("demo", "app")
    assert hub.app.wait_for(1, "/unrouted/a")[0].one("forebay-source") == "demo"


def check_whole(hub, path, body):
    """The app and the admin route both have the body, byte for byte."""
    (request,) = hub.app.wait_for(1, path)
    assert request.body == body
    assert request.one("content-length") == str(len(body))
    (event,) = kept(hub, path)
    assert int(event["body_bytes"]) == len(body)
    assert hub.admin.event_body(event["id"]) == body
    return event


def test_chunked_body(hub):
    """A chunked body is captured whole and delivered with its length."""
    chunks = [b"one", b"two" * 1000, b"three"]
    assert sender.post_chunked(hub.port, "/chunked", chunks).status == 200
    check_whole(hub, "/chunked", b"".join(chunks))


def test_chunked_in_pieces(hub):
    """It does not matter how the bytes of a chunked body arrive."""
    with sender.Connection(hub.port) as connection:
        connection.send(sender.head("POST", "/pieces", [("transfer-encoding", "chunked")]))
        for byte in sender.chunked_bytes([b"abc", b"defg"]):
            connection.send(bytes([byte]))
        assert connection.response().status == 200
    check_whole(hub, "/pieces", b"abcdefg")


def test_body_with_trailers(hub):
    """Trailers end a request as well as its last byte does."""
    response = sender.post_chunked(
        hub.port, "/trailers", [b"body"], [("trailer", "x-sum")], [("x-sum", "1")]
    )
    assert response.status == 200
    check_whole(hub, "/trailers", b"body")


def test_http2_with_trailers(hub):
    """The same over HTTP/2."""
    response = sender.post_http2(hub.port, "/h2trailers", b"body", trailers=[("x-sum", "1")])
    assert response.status == 200
    check_whole(hub, "/h2trailers", b"body")


def test_http2_trailers_without_body(hub):
    """Trailers right after the headers make an event with an empty body."""
    assert sender.post_http2(hub.port, "/h2bare", trailers=[("x-sum", "1")]).status == 200
    check_whole(hub, "/h2bare", b"")


def test_empty_body(hub):
    """No body is a body: with a content-length of 0, with none, chunked, and over HTTP/2."""
    assert sender.post(hub.port, "/empty/length").status == 200
    with sender.Connection(hub.port) as connection:
        connection.send(sender.head("POST", "/empty/none"))
        assert connection.response().status == 200
    assert sender.post_chunked(hub.port, "/empty/chunked", []).status == 200
    assert sender.post_http2(hub.port, "/empty/h2").status == 200
    for path in ("/empty/length", "/empty/none", "/empty/chunked", "/empty/h2"):
        check_whole(hub, path, b"")


def test_body_above_envoys_buffer(hub):
    """3 MiB are captured though Envoy buffers 1 MiB by default; so are 24 MiB."""
    for size in (3, 24):
        body = os.urandom(1024) * (1024 * size)
        sender.capture(hub.port, f"/big/{size}", body)
        check_whole(hub, f"/big/{size}", body)


def test_large_chunked_body(hub):
    """A chunked body above Envoy's buffer is captured too."""
    chunks = [os.urandom(1024) * 512] * 6
    assert sender.post_chunked(hub.port, "/bigchunked", chunks).status == 200
    check_whole(hub, "/bigchunked", b"".join(chunks))


def test_binary_body(hub):
    """Every byte value survives, and so does what looks like text in a broken encoding."""
    body = bytes(range(256)) * 16 + b"\xff\xfe\x00\r\n\r\n0\r\n"
    sender.capture(hub.port, "/binary", body)
    check_whole(hub, "/binary", body)


def test_http2_sender(hub):
    """An event captured over HTTP/2 is the same event."""
    response = sender.post_http2(hub.port, "/h2?q=1", b"body", [("x-a", "1"), ("x-a", "2")])
    assert (response.status, response.body) == (200, b"")
    (request,) = hub.app.wait_for(1, "/h2")
    assert (request.method, request.path, request.body) == ("POST", "/h2?q=1", b"body")
    assert request.one("host") == sender.HOST
    assert request.all("x-a") == ["1", "2"]


def test_expect_continue(hub):
    """A sender that waits for 100 gets it."""
    with sender.Connection(hub.port) as connection:
        connection.send(
            sender.head("POST", "/expect", [("content-length", "4"), ("expect", "100-continue")])
        )
        connection.send(b"body")
        assert connection.response().status == 200
    (request,) = hub.app.wait_for(1, "/expect")
    assert (request.body, request.all("expect")) == (b"body", [])


def test_headers_kept_exactly(hub):
    """The event keeps the headers in their order, duplicates and odd values included."""
    odd = 'a "b"; c=\\d, <e> é'
    sent = [("x-one", "1"), ("x-dup", "a"), ("x-two", odd), ("x-dup", "b"), ("x-empty", "")]
    sender.capture(hub.port, "/headers", b"x", sent)
    (event,) = kept(hub, "/headers")
    headers = [(h["name"], h.get("value", "")) for h in hub.admin.event(event["id"])["headers"]]
    names = {name for name, _ in sent}
    shown = [header for header in headers if header[0] in names]
    (request,) = hub.app.wait_for(1, "/headers")
    forwarded = [(name, value) for name, value in request.headers if name in names]
    assert sorted(forwarded) == sorted(sent)
    assert request.all("x-dup") == ["a", "b"]
    # The admin route speaks JSON, which has no bytes: what is no UTF-8 is shown as U+FFFD.
    assert sorted(shown) == sorted((n, v.replace("é", "\ufffd")) for n, v in sent)


def test_event_of_a_capture(hub):
    """The listing shows what was captured."""
    sender.capture(hub.port, "/shape?a=b", b"12345")
    event = hub.admin.wait_state("/shape?a=b", "delivered")
    assert ULID.match(event["id"])
    assert event["method"] == "POST"
    assert event["verified"] == "none"
    assert int(event["body_bytes"]) == 5
    assert int(event["attempts"]) == 1
    assert re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$", event["received_at"])


def test_disconnect_mid_body(hub):
    """A request that never became whole is not kept."""
    before = hub.admin.stats()["http.ingress.downstream_cx_destroy"]
    for _ in range(10):
        connection = sender.Connection(hub.port)
        connection.send(sender.head("POST", "/half", [("content-length", "1000")]) + b"begin")
        connection.reset()
    eventually(
        lambda: hub.admin.stats()["http.ingress.downstream_cx_destroy"] >= before + 10,
        what="Envoy saw the disconnects",
    )
    sender.capture(hub.port, "/half/after")
    hub.admin.wait_state("/half/after", "delivered")
    assert kept(hub, "/half") == []


def test_disconnect_before_the_answer(hub):
    """A sender that leaves early costs nothing: the event may be kept, and then is delivered."""
    for number in range(50):
        connection = sender.Connection(hub.port)
        connection.send(sender.request_bytes(f"/early/{number}", b"x" * 5000))
        if number % 2:
            connection.reset()
        else:
            connection.close()
    sender.capture(hub.port, "/early/after")
    eventually(lambda: hub.admin.stats()["http.ingress.downstream_rq_active"] == 0)
    early = [e for e in hub.admin.all_events() if e["path"].startswith("/early/")]
    for event in early:
        hub.admin.wait_state(event["path"], "delivered")
        assert len(hub.app.seen(event["path"])) == 1


def test_http2_disconnect_before_the_answer(hub):
    """Several HTTP/2 connections that vanish with streams open crash nothing."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for _ in range(10):
        connection = sender.Connection(hub.port)
        connection.send(preface + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        connection.reset()
    assert sender.post_http2(hub.port, "/h2after", b"x").status == 200


def test_on_disk_before_the_answer(launcher, app):
    """An event that was answered survives kill -9 in the same instant, and is delivered."""
    envoy = launcher.start(launcher.config(app))
    app.refuse()
    for number in range(5):
        sender.capture(envoy.port, f"/kept/{number}", b"body %d" % number)
        envoy.kill()
        envoy.start()
        assert len(envoy.admin.all_events()) == number + 1
    app.start()
    for number in range(5):
        event = envoy.admin.wait_state(f"/kept/{number}", "delivered")
        assert envoy.admin.event_body(event["id"]) == b"body %d" % number


def test_two_workers(launcher, app):
    """With two workers every answer goes to the sender who waits for it."""
    envoy = launcher.start(launcher.config(app), concurrency=2)
    with sender.LoadSender(envoy.port, connections=8) as load:
        load.wait_acknowledged(500)
    assert not load.refused
    envoy.admin.wait_totals(delivered=len(load.acknowledged), pending=0, retrying=0)
    seen = [request.one("x-key") for request in app.requests]
    assert sorted(seen) == sorted(load.acknowledged)


def test_store_folder_is_private(launcher, app):
    """The store's folder is made with mode 0700: bodies in it are as they came."""
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/x")
    assert os.stat(launcher.store_path()).st_mode & 0o777 == 0o700
