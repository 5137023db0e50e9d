"""Memory is bounded by the configuration, not by the backlog."""

import subprocess

from harness import sender
from harness.config import upstream
from harness.waiting import eventually

EVENTS = 200_000
ABOVE_START_MAX = 150 * 1024 * 1024
LUA = """
wrk.method = "POST"
wrk.path = "/load"
wrk.headers["content-type"] = "application/json"
wrk.body = string.rep("0123456789abcdef", 64)
"""


def peak_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


def test_backlog_of_a_dead_upstream(launcher, app, tmp_path):
    """200,000 events of 1 KiB that wait cost at most 150 MiB above Envoy's own start."""
    app.refuse()
    # An open breaker outlives the restart below: let it probe soon.
    breaker = {"open": {"initial": "0.5s", "max": "0.5s"}, "ramp": "0s"}
    envoy = launcher.start(launcher.config(app, [upstream(circuit_breaker=breaker)]))
    start = envoy.rss_bytes()
    script = tmp_path / "post.lua"
    script.write_text(LUA)
    accepted = 0
    while accepted < EVENTS:
        subprocess.run(
            ["wrk", "-t1", "-c64", "-d3s", "-s", str(script), f"http://127.0.0.1:{envoy.port}/"],
            check=True, stdout=subprocess.DEVNULL, timeout=60,
        )
        now = int(envoy.admin.totals()["accepted"])
        assert now > accepted, "nothing was accepted in 3 s"
        accepted = now
    end = envoy.rss_bytes()
    print(f"{accepted} events, {start >> 20} MiB at start, {end >> 20} MiB at the end, "
          f"{peak_bytes(envoy.pid) >> 20} MiB at most")
    assert end - start <= ABOVE_START_MAX
    assert peak_bytes(envoy.pid) - start <= ABOVE_START_MAX
    # A restart reads no more than it must, and delivery begins again.
    envoy.restart()
    assert int(envoy.admin.totals()["accepted"]) == accepted
    assert envoy.rss_bytes() - start <= ABOVE_START_MAX
    app.start()
    eventually(lambda: len(app.requests) > 1000, timeout=20, what="delivery after the restart")
    assert sender.post(envoy.port, "/still-here").status == 200
