"""Delivery by itself: a backlog against the plain proxy, and nine lanes beside one that hangs."""

import time

from envoy_under_test import Broken, Upstream
import machine

BACKLOG = Upstream("backlog", concurrency_max=10)
NINE, TENTH = "nine", "tenth"  # the clusters of ten lanes
LANES = [Upstream(f"lane{number}", 10, NINE if number < 9 else TENTH, "lanes")
         for number in range(10)]

# Far below what the machine can do: it is a delay that is measured, not a queue.
LANE_CONNECTIONS = 20
LANE_REST_MS = 10


def drain_backlogs(bench):
    """Rounds of the plain proxy with as many connections as the lane may have attempts under way,
    and of the lane with a backlog."""
    envoy, quick = bench.envoy, bench.arguments.quick
    events = 20_000 if quick else 100_000
    envoy.admin("POST", f"/forebay/pause?upstream={BACKLOG.name}")

    def direct():
        return measured(bench, "B, 10 connections", lambda: bench.load(
            "b", bench.arguments.seconds, BACKLOG.concurrency_max))

    def drained():
        while envoy.backlog(BACKLOG.name) < events:
            bench.load(BACKLOG.name, 1)
        time.sleep(1)  # the last of the senders' connections, and the store's flush
        return measured(bench, "Forebay, backlog", lambda: drain(bench))

    return bench.alternate(direct, drained)


def drain(bench):
    envoy = bench.envoy
    waiting = envoy.backlog(BACKLOG.name)
    arrived = bench.app.requests()
    start = moved = time.monotonic()
    envoy.admin("POST", f"/forebay/resume?upstream={BACKLOG.name}")
    seen = 0
    while seen < waiting:
        time.sleep(0.02)
        before, seen = seen, bench.app.requests() - arrived
        now = time.monotonic()
        moved = now if seen > before else moved
        if now - moved > 30:
            raise Broken(f"{waiting - seen} events wait and none is delivered: "
                         f"{envoy.upstream(BACKLOG.name)}")
    seconds = time.monotonic() - start
    bench.wait_for_backlog(BACKLOG.name)
    envoy.admin("POST", f"/forebay/pause?upstream={BACKLOG.name}")
    return {"requests": waiting, "per_second": waiting / seconds}


def measured(bench, kind, work):
    """`work`'s result, with what it cost each thread of Envoy and who else used the machine."""
    pid = bench.envoy.process.pid
    cpu = machine.seconds_of(pid)
    meter = bench.meter()
    result = work()
    result["foreign_share"] = meter.foreign_share()
    after = machine.seconds_of(pid)
    result["cpu_us"] = {name: (after[name] - cpu.get(name, 0)) * 1e6 / result["requests"]
                        for name in after}
    result["kind"] = kind
    print(f"  {kind:<20} {result['per_second']:>9,.0f}/s   {result['requests']:,} events"
          f"   others {result['foreign_share']:.0%}", flush=True)
    return result


def hang_a_neighbour(bench):
    """Rounds of ten lanes with ten healthy apps, and with one that hangs: what the other nine's
    events wait from capture to arrival."""
    def healthy():
        return lanes_round(bench, "ten healthy apps")

    def hung():
        tenth = bench.apps[TENTH]
        tenth.get("/hang")
        try:
            return lanes_round(bench, "one of them hung")
        finally:
            tenth.get("/heal")
            bench.wait_for_backlog(LANES[-1].name)

    lanes_round(bench, "warming up")
    return bench.alternate(healthy, hung)


def lanes_round(bench, kind):
    app = bench.apps[NINE]
    app.get("/delays")
    meter = bench.meter()
    paths = ",".join(f"/{lane.name}" for lane in LANES)
    load = bench.load("lanes", max(1, bench.arguments.seconds // 2), LANE_CONNECTIONS,
                      (paths, str(LANE_REST_MS)))
    for lane in LANES[:-1]:
        bench.wait_for_backlog(lane.name)
    delays = app.get("/delays")
    if delays["count"] < load["requests"] * 0.8:
        raise Broken(f"{load['requests']} events for ten lanes, but {delays['count']} arrived")
    result = {"foreign_share": meter.foreign_share(), "events": delays["count"],
              "p50_ms": delays["p50_us"] / 1e3, "p99_ms": delays["p99_us"] / 1e3}
    print(f"  {kind:<20} {load['per_second']:>9,.0f}/s   p50 {result['p50_ms']:7.2f} ms"
          f"   p99 {result['p99_ms']:7.2f} ms   others {result['foreign_share']:.0%}", flush=True)
    return result
