"""What a restart, clean or by kill -9, must not change."""

import pytest

from harness import metrics, sender
from harness.app import Answer
from harness.config import capture, cluster, per_route, retry, route, upstream


@pytest.fixture(params=["kill", "stop"])
def bounce(request):
    """Restarts an Envoy the hard way and the soft way."""

    def restart(envoy):
        getattr(envoy, request.param)()
        envoy.start()

    return restart


def test_due_retry_happens_after_it(launcher, app, bounce):
    """A retry that was due later is made at its time, as the attempt that it would have been."""
    app.script("/a", Answer(500), Answer(500), Answer(200))
    lane = upstream(retry=retry(0.05, 1.5))
    envoy = launcher.start(launcher.config(app, [lane]))
    sender.capture(envoy.port, "/a", b"body")
    app.wait_for(2, "/a")
    waiting = envoy.admin.wait_attempts("/a", 2)
    bounce(envoy)
    after = envoy.admin.by_path("/a")
    assert after["next_attempt_at"] == waiting["next_attempt_at"]
    assert (after["state"], int(after["attempts"])) == ("retrying", 2)
    seen = app.wait_for(3, "/a")
    assert [request.attempt for request in seen] == [1, 2, 3]
    assert 1.5 - 0.003 <= seen[2].mono - seen[1].mono <= 1.5 + 1.0
    assert len({request.event_id for request in seen}) == 1
    log = envoy.admin.wait_state("/a", "delivered")["attempt_log"]
    assert [entry["attempt"] for entry in log] == [1, 2, 3]


def test_overdue_retry_happens_at_once(launcher, app):
    """A retry that fell due while Envoy was down is made when it is back."""
    app.script("/a", Answer(500), Answer(200))
    envoy = launcher.start(launcher.config(app, [upstream(retry=retry(0.3))]))
    sender.capture(envoy.port, "/a")
    envoy.admin.wait_state("/a", "retrying")
    envoy.kill()
    app.stays_at(1, "/a", seconds=0.5)
    envoy.start()
    assert app.wait_for(2, "/a", timeout=3)[1].attempt == 2


def test_attempts_are_not_forgotten(launcher, app, bounce):
    """The budget counts over restarts."""
    app.script("/a", Answer(500))
    envoy = launcher.start(launcher.config(app, [upstream(retry=retry(0.4, attempts_max=3))]))
    sender.capture(envoy.port, "/a")
    for number in (1, 2):
        app.wait_for(number, "/a")
        envoy.admin.wait_attempts("/a", number)
        bounce(envoy)
    event = envoy.admin.wait_state("/a", "dead")
    assert (event["reason"], int(event["attempts"])) == ("exhausted", 3)
    assert [request.attempt for request in app.stays_at(3, "/a")] == [1, 2, 3]


def test_pause_persists(launcher, app, bounce):
    """A paused lane is still paused, captures all the same, and delivers once resumed."""
    envoy = launcher.start(launcher.config(app))
    envoy.admin.pause("app")
    bounce(envoy)
    lane = envoy.admin.upstream("app")
    assert lane["paused"] is True
    assert lane["pause_reason"]
    sender.capture(envoy.port, "/a")
    app.stays_at(0, seconds=0.3)
    assert envoy.admin.by_path("/a")["state"] == "pending"
    envoy.admin.resume("app")
    app.wait_for(1, "/a")
    bounce(envoy)
    assert envoy.admin.upstream("app")["paused"] is False


def test_delivered_stays_delivered(launcher, app, bounce):
    """What the listing calls delivered is not delivered again."""
    envoy = launcher.start(launcher.config(app))
    for number in range(20):
        sender.capture(envoy.port, f"/{number}")
    envoy.admin.wait_totals(accepted=20, delivered=20)
    bounce(envoy)
    app.stays_at(20, seconds=0.5)
    envoy.admin.wait_totals(accepted=20, delivered=20, pending=0, retrying=0, dead=0)
    assert {event["state"] for event in envoy.admin.all_events()} == {"delivered"}


def test_clean_restart_repeats_nothing(launcher, app):
    """SIGTERM right after the deliveries: their outcomes were written before the exit."""
    envoy = launcher.start(launcher.config(app))
    for number in range(50):
        sender.capture(envoy.port, f"/{number}")
    app.wait_for(50)
    envoy.restart()
    app.stays_at(50, seconds=0.5)
    envoy.admin.wait_totals(accepted=50, delivered=50)


def test_clean_restart_waits_for_what_is_in_flight(launcher, app):
    """SIGTERM while the app thinks: its answer is still taken, and nothing is repeated."""
    app.default = Answer(200, delay=0.5)
    envoy = launcher.start(launcher.config(app))
    for number in range(5):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(5)
    envoy.restart()
    envoy.admin.wait_totals(accepted=5, delivered=5)
    app.stays_at(5, seconds=0.3)


def test_dead_and_totals_persist(launcher, app, bounce):
    """Totals are what they were, and add up."""
    app.script("/dead", Answer(400))
    app.script("/waits", Answer(503, headers=(("retry-after", "60"),)))
    envoy = launcher.start(launcher.config(app))
    for path in ("/dead", "/waits", "/ok"):
        sender.capture(envoy.port, path)
    wanted = {"accepted": 3, "delivered": 1, "dead": 1, "retrying": 1, "pending": 0}
    envoy.admin.wait_totals(**wanted)
    bounce(envoy)
    envoy.admin.wait_totals(timeout=1, **wanted)
    assert envoy.admin.wait_state("/dead", "dead")["reason"] == "permanent"
    app.stays_at(1, "/dead", seconds=0.1)


def test_ids_go_on_growing(launcher, app, bounce):
    """Ids stay in the order of capture over a restart: the newest is listed first."""
    envoy = launcher.start(launcher.config(app))
    for number in range(6):
        sender.capture(envoy.port, f"/{number}")
        if number == 2:
            bounce(envoy)
    listed = envoy.admin.all_events()
    assert [event["path"] for event in listed] == [f"/{n}" for n in reversed(range(6))]
    ids = [event["id"] for event in listed]
    assert ids == sorted(ids, reverse=True)


def test_upstream_that_the_config_lost(launcher, app):
    """Its events wait, with a warning, and go once the config names it again."""
    app.refuse()
    lanes = [upstream("app"), upstream("old", "app")]
    config = launcher.config(app, lanes)
    config.routes = [
        route("/old", typed_per_filter_config=per_route(capture(upstream_name="old"))),
        route("/"),
    ]
    envoy = launcher.start(config)
    sender.capture(envoy.port, "/old/a")
    envoy.stop()
    routes, config.routes, config.upstreams = config.routes, [route("/")], lanes[:1]
    envoy.start()
    app.start()
    envoy.log.wait_for(r"\[warning\].*old")
    sender.capture(envoy.port, "/a")
    app.wait_for(1, "/a")
    app.stays_at(0, "/old/a")
    assert envoy.admin.by_path("/old/a")["state"] in ("pending", "retrying")
    backlog = metrics.parse(envoy.admin.prometheus())
    assert metrics.value(backlog, "backlog", upstream="old") == 1
    envoy.stop()
    config.routes, config.upstreams = routes, lanes
    envoy.start()
    app.wait_for(1, "/old/a")


def test_cluster_changes_between_restarts(launcher, app):
    """An event goes where its upstream's cluster leads now."""
    app.refuse()
    config = launcher.config(app)
    envoy = launcher.start(config)
    sender.capture(envoy.port, "/a")
    envoy.stop()
    other = launcher.app()
    config.clusters = [cluster("app", other.port)]
    envoy.start()
    other.wait_for(1, "/a")


def test_many_restarts(launcher, app):
    """Ten kills with nothing in between leave a store that opens and has everything."""
    app.refuse()
    envoy = launcher.start(launcher.config(app))
    for number in range(10):
        sender.capture(envoy.port, f"/{number}")
        envoy.kill()
        envoy.start()
    assert len(envoy.admin.all_events()) == 10
    app.start()
    envoy.admin.wait_totals(timeout=15, delivered=10)
