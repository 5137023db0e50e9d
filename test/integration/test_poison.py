"""An event that is in flight whenever the process dies is taken for the cause, and set aside."""

from harness import metrics, sender
from harness.app import HANG, Answer
from harness.config import retry, upstream
from harness.waiting import eventually

PATIENT = {"timeout": "60s", "circuit_breaker": {"consecutive_failures": 1000000, "ramp": "0s"}}


def counted(envoy, name, **labels):
    return metrics.value(metrics.parse(envoy.admin.prometheus()), name, **labels)


def test_dead_after_three_deaths(launcher, app):
    """In flight at three deaths in a row: dead, poison, and not sent a fourth time."""
    app.script("/poison", Answer(action=HANG))
    envoy = launcher.start(launcher.config(app, [upstream(**PATIENT)]))
    sender.capture(envoy.port, "/before")
    envoy.admin.wait_totals(delivered=1)
    sender.capture(envoy.port, "/poison", b"bitter")
    app.wait_for(1, "/poison")
    for death in (1, 2, 3):
        app.wait_for(death, "/poison")
        envoy.kill()
        envoy.start()
    event = envoy.admin.wait_state("/poison", "dead")
    assert event["reason"] == "poison"
    sender.capture(envoy.port, "/after")
    app.wait_for(1, "/after")
    app.stays_at(3, "/poison")
    eventually(lambda: counted(envoy, "dead", upstream="app", reason="poison") == 1)
    # A human may try it again.
    app.script("/poison", Answer(200))
    envoy.admin.replay(ids=[event["id"]])
    assert app.wait_for(4, "/poison")[3].body == b"bitter"
    assert "reason" not in envoy.admin.wait_state("/poison", "delivered")


def test_two_deaths_are_none(launcher, app):
    """An event that gets its answer after two deaths is delivered; the count is over."""
    app.script("/a", Answer(action=HANG), Answer(action=HANG), Answer(500), Answer(action=HANG),
               Answer(action=HANG), Answer(200))
    envoy = launcher.start(launcher.config(app, [upstream(**PATIENT)]))
    sender.capture(envoy.port, "/a")
    for seen in (1, 2, 4, 5):
        app.wait_for(seen, "/a")
        envoy.kill()
        envoy.start()
    event = envoy.admin.wait_state("/a", "delivered")
    assert len(app.seen("/a")) == 6
    assert [entry["outcome"] for entry in event["attempt_log"]] == ["5xx", "2xx"]


def test_others_in_flight_are_judged_alone(launcher, app):
    """What was in flight at one death only is no poison."""
    app.script("/poison", Answer(action=HANG))
    app.default = Answer(action=HANG)
    envoy = launcher.start(launcher.config(app, [upstream(concurrency_max=20, **PATIENT)]))
    sender.capture(envoy.port, "/poison")
    for death in (1, 2, 3):
        app.wait_for(death, "/poison")
        for number in range(3):
            path = f"/bystander/{death}/{number}"
            app.script(path, Answer(action=HANG), Answer(200))
            sender.capture(envoy.port, path)
            app.wait_for(1, path)
        envoy.kill()
        envoy.start()
    envoy.admin.wait_totals(delivered=9, dead=1)
    assert envoy.admin.by_path("/poison")["reason"] == "poison"


def test_poison_releases_its_key(launcher, app):
    """With an order, those behind it go on."""
    app.script("/0", Answer(action=HANG))
    lane = upstream(order_by={"header": "x-key"}, retry=retry(0.05), **PATIENT)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(3):
        sender.capture(envoy.port, f"/{number}", b"", [("x-key", "k")])
    for death in (1, 2, 3):
        app.wait_for(death, "/0")
        envoy.kill()
        envoy.start()
    envoy.admin.wait_totals(dead=1, delivered=2)
    assert [r.path for r in app.requests] == ["/0"] * 3 + ["/1", "/2"]
