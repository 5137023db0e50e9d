"""The gauges that tell a storm of retries from a busy day, and the retries' share of a lane."""

from harness import metrics, sender
from harness.app import Answer
from harness.config import retry, upstream
from harness.waiting import eventually

NEVER_OPENS = {"consecutive_failures": 1000000, "ramp": "0s"}


def gauges(envoy):
    samples = metrics.parse(envoy.admin.prometheus())
    return [metrics.value(samples, name, upstream="app") for name in ("retry_ratio", "storm")]


def test_ratio_and_storm(launcher, app):
    """One attempt per event is 100; above 500 it is a storm; events that go through calm it."""
    lane = upstream(circuit_breaker=NEVER_OPENS, retry=retry(0.01, attempts_max=9))
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(2):
        sender.capture(envoy.port, f"/calm/{number}")
    eventually(lambda: gauges(envoy) == [100, 0])
    for number in range(4):
        app.script(f"/wild/{number}", *[Answer(500)] * 8, Answer(200))
        sender.capture(envoy.port, f"/wild/{number}")
    envoy.admin.wait_totals(delivered=6)
    # 2 attempts for 2 events, and 36 for 4.
    eventually(lambda: gauges(envoy) == [633, 1])
    for number in range(2):
        sender.capture(envoy.port, f"/more/{number}")
    eventually(lambda: gauges(envoy) == [500, 0])


def test_retries_leave_room_for_first_attempts(launcher, app):
    """While both wait, retries get no more than their share."""
    app.chooser = lambda request: Answer(500) if request.path.startswith("/sick") else Answer(200)
    policy = retry(0.02, attempts_max=1000, share_max_percent=20)
    lane = upstream(circuit_breaker=NEVER_OPENS, retry=policy, concurrency_max=1)
    envoy = launcher.start(launcher.config(app, [lane]))
    for number in range(20):
        sender.capture(envoy.port, f"/sick/{number}")
    envoy.admin.wait_totals(retrying=20)
    envoy.admin.pause("app")
    eventually(lambda: envoy.admin.upstream("app")["in_flight"] == 0)
    for number in range(100):
        sender.capture(envoy.port, f"/new/{number}")
    start = len(app.requests)
    envoy.admin.resume("app")
    new = app.wait_for(100, predicate=lambda request: request.path.startswith("/new"))
    run = app.requests[start : app.requests.index(new[-1]) + 1]
    retries = sum(request.path.startswith("/sick") for request in run)
    assert 15 <= retries <= len(run) * 0.2 + 1, f"{retries} of {len(run)}"
