"""The routes on Envoy's admin: shapes, filters, and what is refused."""

import json
import re

import pytest

from harness import sender
from harness.app import Answer
from harness.config import capture, per_route, route, upstream
from harness.waiting import eventually

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
UNKNOWN_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.fixture(scope="module")
def hub(shared_launcher):
    """Nine events: three delivered, three dead, three waiting; of two sources and upstreams."""
    app = shared_launcher.app()
    config = shared_launcher.config(app, upstreams=[upstream("app"), upstream("second", "app")])
    config.routes = [
        route("/s/", typed_per_filter_config=per_route(capture("stripe", "second"))),
        route("/"),
    ]
    envoy = shared_launcher.start(config)
    envoy.app = app
    wait = Answer(503, headers=(("retry-after", "600"),), body=b"try later")
    for number in range(3):
        app.script(f"/dead/{number}", Answer(422, body=b"no"))
        app.script(f"/s/wait/{number}", wait)
    for number in range(3):
        headers = [("x-number", str(number)), ("authorization", "Bearer secret-token")]
        sender.capture(envoy.port, f"/ok/{number}?n={number}", b'{"n": %d}' % number, headers)
        sender.capture(envoy.port, f"/dead/{number}", b"dead letter")
        sender.capture(envoy.port, f"/s/wait/{number}", b"waiting")
    envoy.admin.wait_totals(accepted=9, delivered=3, dead=3, retrying=3, pending=0)
    return envoy


def paths(page):
    return [event["path"] for event in page["events"]]


def refused(hub, method, path, params=None, body=None, status=400):
    """The message of an error in the contract's shape."""
    got, payload = hub.admin.call(method, path, params, body)
    assert got == status, (got, payload)
    assert set(payload) == {"error"}
    assert set(payload["error"]) == {"code", "message"}
    assert payload["error"]["code"] and payload["error"]["message"]
    return payload["error"]["message"]


def test_status(hub):
    """GET /forebay: version, store, totals that add up, upstreams."""
    status = hub.admin.status()
    assert status["version"]
    assert int(status["uptime_seconds"]) >= 0
    store = status["store"]
    assert store["path"] == str(hub.config.store["path"])
    assert store["read_only"] is False and "reason" not in store
    assert 0 < int(store["bytes"]) < int(store["bytes_max"]) == 10737418240
    totals = status["totals"]
    assert set(totals) == {"accepted", "pending", "retrying", "delivered", "dead", "quarantined"}
    parts = [int(totals[key]) for key in totals if key != "accepted"]
    assert int(totals["accepted"]) == sum(parts)
    assert [lane["name"] for lane in status["upstreams"]] == ["app", "second"]


def test_upstreams(hub):
    """GET /forebay/upstreams: a lane each, in the config's order."""
    status, payload = hub.admin.call("GET", "/forebay/upstreams")
    assert (status, set(payload)) == (200, {"upstreams"})
    first, second = payload["upstreams"]
    assert (first["name"], first["cluster"]) == ("app", "app")
    assert (second["name"], second["cluster"]) == ("second", "app")
    for lane in (first, second):
        assert lane["breaker"] == "closed"
        assert lane["paused"] is False
        assert int(lane["in_flight"]) == 0
    assert (int(first["backlog"]), int(first["retrying"])) == (0, 0)
    assert (int(second["backlog"]), int(second["retrying"])) == (3, 3)
    assert int(second["oldest_pending_seconds"]) >= 0


def test_events_newest_first(hub):
    """GET /forebay/events lists the newest first, each in the contract's shape."""
    page = hub.admin.events()
    assert paths(page)[:3] == ["/s/wait/2", "/dead/2", "/ok/2?n=2"]
    assert len(page["events"]) == 9 and "next_cursor" not in page
    delivered = next(event for event in page["events"] if event["path"] == "/ok/1?n=1")
    assert TIME.match(delivered.pop("received_at"))
    assert len(delivered.pop("id")) == 26
    assert delivered == {
        "state": "delivered", "source": "demo", "upstream": "app", "verified": "none",
        "method": "POST", "path": "/ok/1?n=1", "body_bytes": 8, "attempts": 1,
        "last_outcome": "2xx", "last_status": 200,
    }
    dead = next(event for event in page["events"] if event["path"] == "/dead/1")
    assert (dead["state"], dead["reason"], dead["last_status"]) == ("dead", "permanent", 422)
    waiting = next(event for event in page["events"] if event["path"] == "/s/wait/1")
    assert waiting["state"] == "retrying"
    assert TIME.match(waiting["next_attempt_at"])


@pytest.mark.parametrize("filters,expected", [
    ({"state": "delivered"}, ["/ok/2?n=2", "/ok/1?n=1", "/ok/0?n=0"]),
    ({"state": "dead"}, ["/dead/2", "/dead/1", "/dead/0"]),
    ({"state": "retrying"}, ["/s/wait/2", "/s/wait/1", "/s/wait/0"]),
    ({"state": "pending"}, []),
    ({"state": "quarantined"}, []),
    ({"source": "stripe"}, ["/s/wait/2", "/s/wait/1", "/s/wait/0"]),
    ({"upstream": "second"}, ["/s/wait/2", "/s/wait/1", "/s/wait/0"]),
    ({"source": "demo", "state": "dead"}, ["/dead/2", "/dead/1", "/dead/0"]),
    ({"source": "stripe", "state": "dead"}, []),
    ({"source": "nobody"}, []),
    ({"q": "n=1"}, ["/ok/1?n=1"]),
    ({"q": '{"n": 2}'}, ["/ok/2?n=2"]),
    ({"q": "dead letter", "limit": 1}, ["/dead/2"]),
    ({"since": "-1h", "state": "dead"}, ["/dead/2", "/dead/1", "/dead/0"]),
    ({"until": "-1h"}, []),
    ({"since": "2020-01-01T00:00:00Z", "until": "2020-01-02T00:00:00Z"}, []),
    ({"since": "2020-01-01T00:00:00+01:00", "state": "dead"}, ["/dead/2", "/dead/1", "/dead/0"]),
])
def test_filters(hub, filters, expected):
    """Each filter narrows the list, and together they all count."""
    assert paths(hub.admin.events(**filters)) == expected


def test_time_filters_to_the_millisecond(hub):
    """`since` includes its millisecond, `until` doesn't."""
    events = hub.admin.events()["events"]
    moment = events[4]["received_at"][:23]
    later = [event for event in events if event["received_at"][:23] >= moment]
    assert hub.admin.events(since=moment + "Z")["events"] == later
    assert hub.admin.events(until=moment + "Z")["events"] == events[len(later):]


def test_cursor(hub):
    """Pages follow one another without a gap, a repeat or a last empty surprise."""
    found = []
    page = hub.admin.events(limit=2)
    while True:
        assert len(page["events"]) <= 2
        found += paths(page)
        if "next_cursor" not in page:
            break
        page = hub.admin.events(limit=2, cursor=page["next_cursor"])
    assert found == paths(hub.admin.events())
    first = hub.admin.events(limit=2, state="dead")
    rest = hub.admin.events(limit=2, state="dead", cursor=first["next_cursor"])
    assert paths(first) + paths(rest) == ["/dead/2", "/dead/1", "/dead/0"]


def test_limit_bounds(hub):
    """1 and 1000 are taken."""
    assert len(hub.admin.events(limit=1)["events"]) == 1
    assert len(hub.admin.events(limit=1000)["events"]) == 9


@pytest.mark.parametrize("parameter,value", [
    ("limit", "0"), ("limit", "1001"), ("limit", "-1"), ("limit", "ten"), ("limit", "1.5"),
    ("limit", "99999999999999999999"),
    ("state", "lost"), ("state", "DEAD"),
    ("since", "yesterday"), ("since", "2026-13-01T00:00:00Z"), ("since", "-2x"),
    ("until", "12"), ("until", "--1h"),
    ("cursor", "nonsense"), ("cursor", "01ARZ3NDEKTSV4RRFFQ69G5FA!"),
    ("colour", "blue"),
])
def test_malformed_query(hub, parameter, value):
    """What makes no sense is a 400 that names the parameter and the value."""
    message = refused(hub, "GET", "/forebay/events", {parameter: value})
    assert parameter in message
    assert value in message or parameter == "colour"


@pytest.mark.parametrize("query,name", [
    ("limit=5&limit=6", "limit"),
    ("state=%zz", "state"),
    ("since=-1h&until=-2h", "until"),
])
def test_malformed_query_text(hub, query, name):
    """Repeats, broken escapes and ranges that hold nothing are named too."""
    assert name in refused(hub, "GET", f"/forebay/events?{query}")


def test_event(hub):
    """GET /forebay/event: the listing's fields, headers with secrets hidden, the attempts."""
    listed = hub.admin.by_path("/s/wait/0")
    event = hub.admin.event(listed["id"])
    assert {key: event[key] for key in listed} == listed
    (attempt,) = event["attempt_log"]
    assert set(attempt) == {
        "at", "attempt", "outcome", "status", "duration_ms", "next_at", "next_because", "answer"
    }
    assert TIME.match(attempt["at"]) and TIME.match(attempt["next_at"])
    assert (attempt["attempt"], attempt["outcome"], attempt["status"]) == (1, "5xx", 503)
    assert (attempt["answer"], attempt["next_because"]) == ("try later", "retry-after 600s")
    assert attempt["next_at"] == event["next_attempt_at"]
    assert "replay" not in event


def test_secret_headers_are_not_shown(hub):
    """A credential reaches the app, not the operator's screen."""
    event = hub.admin.event(hub.admin.by_path("/ok/0?n=0")["id"])
    headers = {header["name"]: header["value"] for header in event["headers"]}
    assert headers["x-number"] == "0"
    assert "secret-token" not in json.dumps(event)
    assert "authorization" in headers
    assert hub.app.seen("/ok/0")[0].one("authorization") == "Bearer secret-token"


def test_body(hub):
    """GET /forebay/event/body: the bytes, and nothing else."""
    assert hub.admin.event_body(hub.admin.by_path("/ok/2?n=2")["id"]) == b'{"n": 2}'


@pytest.mark.parametrize("path", ["/forebay/event", "/forebay/event/body"])
def test_unknown_event(hub, path):
    """An id that nobody has is a 404; one that can't be is a 400 naming it."""
    refused(hub, "GET", path, {"id": UNKNOWN_ID}, status=404)
    for value in ("short", "!" * 26, "Z" * 26):
        message = refused(hub, "GET", path, {"id": value})
        assert "id" in message and value in message
    assert "id" in refused(hub, "GET", path)


@pytest.mark.parametrize("path", ["/forebay/replay", "/forebay/pause", "/forebay/resume"])
def test_changes_want_post(hub, path):
    """A GET changes nothing."""
    hub.log.expect(f'admin path "{path}" mutates state')
    status, _ = hub.admin.raw("GET", path, {"upstream": "app"})
    assert status == 405
    assert hub.admin.upstream("app")["paused"] is False


@pytest.mark.parametrize("path", ["/forebay", "/forebay/events", "/forebay/upstreams"])
def test_reads_want_get(hub, path):
    """A POST on what only reads is refused."""
    status, _ = hub.admin.raw("POST", path)
    assert status == 405


def test_pause_and_resume(hub):
    """A paused lane captures and keeps; resumed, it delivers. Both answer with the lane."""
    assert hub.admin.pause("app")["paused"] is True
    try:
        sender.capture(hub.port, "/paused")
        hub.app.stays_at(0, "/paused")
        lane = hub.admin.upstream("app")
        assert (lane["paused"], int(lane["backlog"])) == (True, 1)
        assert hub.admin.by_path("/paused")["state"] == "pending"
    finally:
        assert hub.admin.resume("app")["paused"] is False
    hub.app.wait_for(1, "/paused")
    assert "pause_reason" not in hub.admin.upstream("app")


@pytest.mark.parametrize("path", ["/forebay/pause", "/forebay/resume"])
def test_pause_of_nobody(hub, path):
    """An upstream that isn't there is a 404, none at all a 400."""
    assert "ghost" in refused(hub, "POST", path, {"upstream": "ghost"}, status=404)
    assert "upstream" in refused(hub, "POST", path)


def test_pause_twice(hub):
    """Pausing what is paused, and resuming what runs, changes nothing."""
    hub.admin.pause("second")
    assert hub.admin.pause("second")["paused"] is True
    hub.admin.resume("second")
    assert hub.admin.resume("second")["paused"] is False


def test_concurrent_reads_under_load(hub):
    """Listing while events come in shows whole pages and no error."""
    with sender.LoadSender(hub.port, path="/ok/load", connections=4) as load:
        def reads():
            assert len(hub.admin.events(limit=50)["events"]) == 50
            hub.admin.status()
            return len(load.acknowledged) >= 300

        eventually(reads, timeout=20)
