"""Replay: stored events become due again, by id or by filter, with a fresh budget."""

import json

import pytest

from harness import sender
from harness.app import Answer
from harness.config import capture, per_route, retry, route, upstream

UNKNOWN_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.fixture(scope="module")
def hub(shared_launcher):
    app = shared_launcher.app()
    lanes = [upstream("app", retry=retry(0.05, attempts_max=3)), upstream("second", "app")]
    config = shared_launcher.config(app, upstreams=lanes)
    config.routes = [
        route("/s/", typed_per_filter_config=per_route(capture("stripe", "second"))),
        route("/"),
    ]
    envoy = shared_launcher.start(config)
    envoy.app = app
    return envoy


def replay_calls(hub, path):
    return hub.app.seen(path, lambda request: request.all("forebay-replay"))


def check_job(job, matched, state="running"):
    assert job["id"]
    assert (job["state"], int(job["matched"])) == (state, matched)
    assert job["created_at"]
    assert int(job.get("rate_per_minute", 0)) >= 0
    for count in ("sent", "delivered", "failed"):
        assert int(job.get(count, 0)) >= 0


def test_replay_of_a_delivered_event(hub):
    """A delivered event is delivered again, as the same event, and says it is a replay."""
    sender.capture(hub.port, "/again", b"body", [("x-a", "1")])
    event = hub.admin.wait_state("/again", "delivered")
    job = hub.admin.replay(ids=[event["id"]])
    check_job(job, 1)
    first, second = hub.app.wait_for(2, "/again")
    assert first.all("forebay-replay") == []
    assert second.one("forebay-replay") == job["id"]
    assert second.event_id == first.event_id == event["id"]
    assert (second.body, second.one("x-a")) == (b"body", "1")
    assert second.one("forebay-received-at") == first.one("forebay-received-at")
    after = hub.admin.wait_state("/again", "delivered")
    assert after["replay"] == job["id"]
    assert len(after["attempt_log"]) == 2
    assert [request.attempt for request in (first, second)] == [1, 2]


def test_replay_of_a_dead_event_has_a_fresh_budget(hub):
    """An exhausted event gets as many attempts again."""
    hub.app.script("/dead", Answer(500))
    sender.capture(hub.port, "/dead")
    event = hub.admin.wait_state("/dead", "dead")
    assert int(event["attempts"]) == 3
    hub.admin.replay(ids=[event["id"]])
    assert len(hub.app.wait_for(6, "/dead")) == 6
    hub.admin.wait_state("/dead", "dead")
    hub.app.stays_at(6, "/dead")
    again = hub.admin.event(event["id"])
    assert (again["reason"], int(again["attempts"])) == ("exhausted", 6)
    hub.app.script("/dead", Answer(500), Answer(200))
    hub.admin.replay(ids=[event["id"]])
    final = hub.admin.wait_state("/dead", "delivered")
    assert "reason" not in final
    assert len(hub.app.seen("/dead")) == 8


def test_replay_makes_a_waiting_event_due_now(hub):
    """An event that waits for its next attempt need not wait."""
    wait = Answer(503, headers=(("retry-after", "600"),))
    hub.app.script("/waits", wait, Answer(200))
    sender.capture(hub.port, "/waits")
    event = hub.admin.wait_state("/waits", "retrying")
    hub.admin.replay(ids=[event["id"]])
    hub.admin.wait_state("/waits", "delivered")


def test_replay_by_filter(hub):
    """A filter replays what it matches, and nothing else."""
    for number in range(4):
        hub.app.script(f"/s/dead/{number}", Answer(422))
        sender.capture(hub.port, f"/s/dead/{number}", b"x")
        sender.capture(hub.port, f"/s/ok/{number}", b"x")
    for number in range(4):
        hub.admin.wait_state(f"/s/dead/{number}", "dead")
        hub.admin.wait_state(f"/s/ok/{number}", "delivered")
        hub.app.script(f"/s/dead/{number}", Answer(200))
    job = hub.admin.replay(filter={"state": "dead", "source": "stripe"})
    check_job(job, 4)
    for number in range(4):
        hub.admin.wait_state(f"/s/dead/{number}", "delivered")
        (request,) = replay_calls(hub, f"/s/dead/{number}")
        assert request.one("forebay-replay") == job["id"]
        assert replay_calls(hub, f"/s/ok/{number}") == []


def test_dry_run(hub):
    """A dry run counts and does nothing."""
    for number in range(3):
        sender.capture(hub.port, f"/dry/{number}", b"needle-in-dry-run")
        hub.admin.wait_state(f"/dry/{number}", "delivered")
    job = hub.admin.replay(filter={"q": "needle-in-dry-run"}, dry_run=True)
    check_job(job, 3, "planned")
    for number in range(3):
        hub.app.stays_at(1, f"/dry/{number}", seconds=0.15)


def test_rate(hub):
    """`rate_per_minute` spreads the events out: at 600 a minute, one every 100 ms."""
    for number in range(5):
        sender.capture(hub.port, f"/rate/{number}", b"needle-in-rate")
        hub.admin.wait_state(f"/rate/{number}", "delivered")
    job = hub.admin.replay(filter={"q": "needle-in-rate"}, rate_per_minute=600)
    assert int(job["rate_per_minute"]) == 600
    assert job["estimated_end"] > job["created_at"]
    seen = hub.app.wait_for(
        5, predicate=lambda r: r.path.startswith("/rate/") and r.all("forebay-replay")
    )
    assert 0.35 <= seen[-1].mono - seen[0].mono <= 2.0


def test_replay_survives_a_crash(launcher, app):
    """Events made due by a replay are delivered after kill -9 too."""
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    event = envoy.admin.wait_state("/a", "delivered")
    envoy.admin.pause("app")
    job = envoy.admin.replay(ids=[event["id"]])
    envoy.kill()
    envoy.start()
    envoy.admin.resume("app")
    assert app.wait_for(2, "/a")[1].one("forebay-replay") == job["id"]


def test_unknown_ids(hub):
    """Ids that nobody has match nothing."""
    sender.capture(hub.port, "/known")
    event = hub.admin.wait_state("/known", "delivered")
    status, payload = hub.admin.call(
        "POST", "/forebay/replay", body=json.dumps({"ids": [UNKNOWN_ID, event["id"]]})
    )
    if status == 200:
        assert int(payload["matched"]) == 1
        hub.app.wait_for(2, "/known")
    else:
        assert status == 404 and UNKNOWN_ID in payload["error"]["message"]


@pytest.mark.parametrize("body,name", [
    ("", "body"),
    ("not json", "body"),
    ("[]", "body"),
    ("{}", "ids"),
    ('{"ids": []}', "ids"),
    ('{"ids": "x"}', "ids"),
    ('{"ids": [1]}', "ids[0]"),
    ('{"ids": ["short"]}', "ids[0]"),
    ('{"filter": 1}', "filter"),
    ('{"filter": {"state": "lost"}}', "filter.state"),
    ('{"filter": {"colour": "blue"}}', "colour"),
    ('{"filter": {"since": "soon"}}', "filter.since"),
    ('{"filter": {}, "ids": ["%s"]}' % UNKNOWN_ID, "ids"),
    ('{"filter": {}, "rate_per_minute": 0}', "rate_per_minute"),
    ('{"filter": {}, "rate_per_minute": "fast"}', "rate_per_minute"),
    ('{"filter": {}, "dry_run": 1}', "dry_run"),
    ('{"filter": {}, "dry_run": true, "when": "now"}', "when"),
])
def test_malformed_replay(hub, body, name):
    """A request that makes no sense is a 400 that names the field, and replays nothing."""
    before = len(hub.app.requests)
    status, payload = hub.admin.call("POST", "/forebay/replay", body=body)
    assert status == 400, payload
    assert name in payload["error"]["message"]
    assert len(hub.app.requests) == before
