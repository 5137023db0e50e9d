"""Lanes that pause by themselves, because the app refuses everything or asks for it."""

import pytest

from harness import metrics, sender
from harness.app import Answer
from harness.config import retry, upstream
from harness.waiting import eventually


def paused(envoy):
    def probe():
        lane = envoy.admin.upstream("app")
        return lane["paused"] and lane

    return eventually(probe, what="paused")


def refused_three_times(launcher, app, **fields):
    """An Envoy whose lane has just paused after three permanent failures."""
    app.default = Answer(401)
    lane = upstream(pause_after_permanent_failures=3, concurrency_max=1, **fields)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(3):
        sender.capture(envoy.port, f"/{number}")
    paused(envoy)
    return envoy


def test_pauses_after_permanent_failures(launcher, app):
    """After so many in a row nothing is sent, and why is shown; events are still taken."""
    envoy = refused_three_times(launcher, app)
    reason = paused(envoy)["pause_reason"]
    assert "3 permanent failures in a row" in reason and "401" in reason
    envoy.log.wait_for(r"\[warning\].*app.*paused.*3 permanent failures")
    for number in range(20):
        sender.capture(envoy.port, f"/meanwhile/{number}")
    app.stays_at(3)
    envoy.admin.wait_totals(accepted=23, dead=3, pending=20)
    eventually(lambda: metrics.value(
        metrics.parse(envoy.admin.prometheus()), "paused", upstream="app") == 1)


def test_what_was_in_flight_is_finished(launcher, app):
    """Attempts under way when the lane pauses are settled as ever."""
    gate = app.gate()
    app.default = Answer(400, gate=gate)
    lane = upstream(pause_after_permanent_failures=2, concurrency_max=6)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(10):
        sender.capture(envoy.port, f"/{number}")
    app.wait_in_flight(6)
    gate.open()
    paused(envoy)
    eventually(lambda: envoy.admin.upstream("app")["in_flight"] == 0)
    sent = len(app.requests)
    assert sent <= 7, "more than one after the first failure"
    envoy.admin.wait_totals(dead=sent, pending=10 - sent)
    app.stays_at(sent)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_over_a_restart(launcher, app, end):
    """The pause and its reason outlive a restart; so does its end."""
    envoy = refused_three_times(launcher, app, circuit_breaker={"ramp": "0s"})
    reason = paused(envoy)["pause_reason"]
    getattr(envoy, end)()
    app.default = Answer(200)
    envoy.start()
    lane = envoy.admin.upstream("app")
    assert (lane["paused"], lane["pause_reason"]) == (True, reason)
    sender.capture(envoy.port, "/a")
    app.stays_at(3)
    envoy.admin.resume("app")
    app.wait_for(1, "/a")
    getattr(envoy, end)()
    envoy.start()
    lane = envoy.admin.upstream("app")
    assert lane["paused"] is False and not lane.get("pause_reason")
    sender.capture(envoy.port, "/b")
    app.wait_for(1, "/b")


def test_resuming_ramps(launcher, app):
    """A resumed lane grows to its speed, and the count begins anew."""
    envoy = refused_three_times(launcher, app, circuit_breaker={"ramp": "20s"})
    envoy.admin.resume("app")
    eventually(lambda: envoy.admin.upstream("app")["ramp_percent"] < 50)
    for number in range(2):
        sender.capture(envoy.port, f"/again/{number}")
    app.wait_for(5)
    envoy.admin.wait_totals(dead=5)
    assert envoy.admin.upstream("app")["paused"] is False
    sender.capture(envoy.port, "/again/2")
    paused(envoy)


def test_a_success_or_a_retry_starts_the_count_anew(launcher, app):
    """Only permanent failures in a row count."""
    lane = upstream(pause_after_permanent_failures=3, concurrency_max=1, retry=retry(60))
    envoy = launcher.start(launcher.config(app, [lane]))
    statuses = [400, 400, 200, 400, 400, 503, 400, 400, 200, 400, 400, 400]
    for number, status in enumerate(statuses):
        app.script(f"/{number}", Answer(status))
        sender.capture(envoy.port, f"/{number}")
        if number < len(statuses) - 1:
            envoy.admin.wait_attempts(f"/{number}", 1)
            assert envoy.admin.upstream("app")["paused"] is False
    paused(envoy)


def test_zero_is_never(launcher, app):
    """With 0 the lane never pauses by itself."""
    app.default = Answer(400)
    lane = upstream(pause_after_permanent_failures=0)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(150):
        sender.capture(envoy.port, f"/{number}")
    envoy.admin.wait_totals(dead=150)
    assert envoy.admin.upstream("app")["paused"] is False


@pytest.mark.parametrize("status,state", [(200, "delivered"), (500, "retrying"), (410, "dead")])
def test_app_asks_for_a_pause(launcher, app, status, state):
    """`webhook-delivery: disable` pauses, whatever the status says of the event itself."""
    asks = Answer(status, headers=(("Webhook-Delivery", "disable"),))
    app.script("/a", asks)
    envoy = launcher.start(launcher.config(app, [upstream(retry=retry(0.05))]))
    sender.capture(envoy.port, "/a")
    assert "webhook-delivery: disable" in paused(envoy)["pause_reason"]
    envoy.admin.wait_state("/a", state)
    sender.capture(envoy.port, "/b")
    app.stays_at(1)


@pytest.mark.parametrize("status", [500, 503, 429, 404])
def test_app_wants_an_event_no_more(launcher, app, status):
    """`webhook-delivery: abort-message` ends the event where its status would have it retried."""
    app.script("/a", Answer(status, headers=(("webhook-delivery", "abort-message"),)))
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    event = envoy.admin.wait_state("/a", "dead")
    assert (event["reason"], event["attempts"]) == ("permanent", 1)
    sender.capture(envoy.port, "/b")
    app.wait_for(1, "/b")
    app.stays_at(1, "/a", seconds=0.2)


def test_abort_on_a_success_changes_nothing(launcher, app):
    """What the app took, it took."""
    app.script("/a", Answer(200, headers=(("webhook-delivery", "abort-message"),)))
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    assert envoy.admin.wait_state("/a", "delivered")["attempts"] == 1


@pytest.mark.parametrize("value", ["", "disabled", "x" * 10_000, "abort-message, disable"])
def test_other_words_mean_nothing(launcher, app, value):
    """A directive that is not known is none."""
    app.script("/a", Answer(500, headers=(("webhook-delivery", value),)), Answer(200))
    envoy = launcher.start(launcher.config(app))
    sender.capture(envoy.port, "/a")
    assert envoy.admin.wait_state("/a", "delivered")["attempts"] == 2
    assert envoy.admin.upstream("app")["paused"] is False
