"""Measures Forebay against the Envoy that it runs in, in one run on one machine.

Reference A: the same Envoy with its buffer filter and a direct answer: the HTTP ceiling.
Reference B: the same Envoy proxying straight to the same app.
Rounds of reference and Forebay alternate, and what counts is the ratio of the medians. Every
event that was acknowledged must have arrived at the app in the end.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import machine
import report
from delivery import BACKLOG, LANES, NINE, TENTH, drain_backlogs, hang_a_neighbour
from envoy_under_test import CONCURRENCY, ROOT, Broken, EnvoyUnderTest, Upstream, ask

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 64
BODY_BYTES = 1024
FOREIGN_MAX = 0.1  # of the machine: a round that others disturbed more is measured again
HELD, LIVE = "held", "live"  # the upstream whose delivery is paused, and the one that delivers


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="short rounds; fails only when something is broken")
    parser.add_argument("--rounds", type=int, help="of each kind")
    parser.add_argument("--seconds", type=float, help="per round")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path.cwd(),
                        help="where the store goes: choose the disk that matters")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench-results")
    parser.add_argument("--envoy", default=str(ROOT / "ci/envoy"), help="the Envoy to run")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "bazel-bin/test/benchmark",
                        help="where app and one_at_a_time are")
    parser.add_argument("--references", action="store_true",
                        help="only the references, without the module")
    parser.add_argument("--keep", action="store_true", help="keep the store and Envoy's log")
    arguments = parser.parse_args()
    if arguments.rounds is None:
        arguments.rounds = 2 if arguments.quick else 5
    if arguments.seconds is None:
        arguments.seconds = 2 if arguments.quick else 8
    return arguments


class App:
    def __init__(self, binary, *options):
        self.process = subprocess.Popen([str(binary), *options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def get(self, path):
        status, body = ask(self.port, "GET", path)
        if status != 200:
            raise Broken(f"the app answers {status} to {path}")
        return json.loads(body)

    def requests(self):
        return self.get("/requests")["requests"]

    def stop(self):
        self.process.kill()
        self.process.wait()


def run_wrk(url, seconds, connections=CONNECTIONS, arguments=()):
    """One round of load; what load.lua reports."""
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "10s",
         "-s", str(HERE / "load.lua"), url, *(["--", *arguments] if arguments else [])],
        capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line[len("RESULT "):])
            result["per_second"] = result["requests"] / result["seconds"]
            result["errors_total"] = sum(result["errors"].values())
            return result
    raise Broken(f"wrk gave no result: {done.stdout}{done.stderr}")


class Bench:
    def __init__(self, arguments, directory, apps, envoy):
        self.arguments = arguments
        self.directory = directory
        self.apps = apps  # by cluster
        self.app = apps["app"]
        self.envoy = envoy
        self.acknowledged = 0  # by Forebay, as the senders saw it
        self.errors = 0
        self.senders = 0  # connections that may have had a request under way at a round's end

    def meter(self):
        return machine.Meter([self.envoy.process.pid,
                              *[app.process.pid for app in self.apps.values()]])

    def load(self, port_name, seconds, connections=CONNECTIONS, arguments=()):
        """wrk's round on a listener, in the books."""
        result = run_wrk(self.envoy.url(port_name), seconds, connections, arguments)
        self.errors += result["errors_total"]
        if port_name not in ("a", "b"):
            self.acknowledged += result["requests"]
            self.senders += connections
        return result

    def round(self, kind, port_name):
        """One round. `delivered` is what reached the app between its first and last moment."""
        arrived = self.app.requests()
        cpu = machine.seconds_of(self.envoy.process.pid)
        meter = self.meter()
        start = time.monotonic()
        result = self.load(port_name, self.arguments.seconds)
        result["delivered"] = self.app.requests() - arrived
        window = time.monotonic() - start
        if port_name == LIVE:
            result["backlog"] = self.envoy.backlog(LIVE)
        result["delivered_per_second"] = result["delivered"] / window
        result["foreign_share"] = meter.foreign_share()
        after = machine.seconds_of(self.envoy.process.pid)
        result["cpu_us"] = {name: (after[name] - cpu.get(name, 0)) * 1e6 / result["requests"]
                            for name in after}
        result["kind"] = kind
        print(f"  {kind:<20} {result['per_second']:>9,.0f}/s   p50 {result['p50_ms']:7.2f} ms"
              f"   p99 {result['p99_ms']:7.2f} ms"
              f"   at the app {result['delivered_per_second']:>8,.0f}/s"
              f"   errors {result['errors_total']}"
              f"   others {result['foreign_share']:.0%}", flush=True)
        if port_name == LIVE:
            self.wait_for_backlog(LIVE)
        return result

    def alternate(self, reference, ours):
        """Rounds in turn, each a function. A full run wants pairs that nobody disturbed, and has
        some patience."""
        wanted = self.arguments.rounds
        most = wanted if self.arguments.quick else 3 * wanted
        pairs = []
        calm = []
        while len(pairs) < most and len(calm) < wanted:
            pair = [reference(), ours()]
            pairs.append(pair)
            if max(each["foreign_share"] for each in pair) <= FOREIGN_MAX:
                calm.append(pair)
        # Too few of them: then the calmest.
        pairs.sort(key=lambda pair: max(each["foreign_share"] for each in pair))
        chosen = pairs[:wanted]
        return [pair[0] for pair in chosen], [pair[1] for pair in chosen]

    def wait_for_backlog(self, upstream, idle_seconds=30):
        """Until the lane is empty; broken when nothing moves for so long."""
        left = self.envoy.backlog(upstream)
        moved = time.monotonic()
        while left > 0:
            time.sleep(0.1)
            now_left = self.envoy.backlog(upstream)
            if now_left < left:
                moved = time.monotonic()
            left = now_left
            if time.monotonic() - moved > idle_seconds:
                raise Broken(f"{upstream}: {left} events wait and none is delivered: "
                             f"{self.envoy.upstream(upstream)}")

    def drain(self):
        """Delivers what the paused rounds stored. How fast is worth knowing, and has no bar."""
        waiting = self.envoy.backlog(HELD)
        start = time.monotonic()
        self.envoy.admin("POST", f"/forebay/resume?upstream={HELD}")
        self.wait_for_backlog(HELD)
        seconds = time.monotonic() - start
        print(f"  drained {waiting:,} events in {seconds:.1f} s: {waiting / seconds:,.0f}/s",
              flush=True)
        return {"events": waiting, "seconds": seconds, "per_second": waiting / seconds}

    def one_at_a_time(self):
        count = 400 if self.arguments.quick else 2000
        done = subprocess.run(
            [str(self.arguments.bin / "one_at_a_time"), str(self.envoy.ports[HELD]),
             str(self.directory / "append"), str(count)],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Broken(done.stderr)
        result = json.loads(done.stdout)
        self.acknowledged += result["sent"]
        self.errors += result["failures"]
        print(f"  one at a time        p50 {result['request']['p50_ms']:.3f} ms;"
              f" a 4 KiB append with fdatasync {result['append']['p50_ms']:.3f} ms", flush=True)
        return result

    def ledger(self):
        """Accepted, delivered and seen by the app must be the same events."""
        deadline = time.monotonic() + 10  # the last settlements may trail their deliveries
        while True:
            totals = {key: int(value)
                      for key, value in self.envoy.admin("GET", "/forebay")["totals"].items()}
            if totals.get("delivered") == totals["accepted"] or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        counts = [app.get("/count") for app in self.apps.values()]
        return {"acknowledged": self.acknowledged, "under_way_at_most": self.senders,
                "errors": self.errors, "totals": totals,
                "app": {key: sum(count[key] for count in counts) for key in counts[0]}}


def median(rounds, key):
    return statistics.median(each[key] for each in rounds)


def spread(reference, ours, key):
    ratios = [our[key] / their[key] for their, our in zip(reference, ours)]
    return [min(ratios), max(ratios)]


def measure(bench):
    envoy = bench.envoy
    print("warming up", flush=True)
    for port_name in ("a", "b", LIVE):
        bench.load(port_name, 1)
    bench.wait_for_backlog(LIVE)

    print("delivery paused", flush=True)
    envoy.admin("POST", f"/forebay/pause?upstream={HELD}")
    a, held = bench.alternate(lambda: bench.round("A", "a"),
                              lambda: bench.round("Forebay, paused", HELD))
    time.sleep(1)
    alone = bench.one_at_a_time()
    drained = bench.drain()

    print("delivering", flush=True)
    b, live = bench.alternate(lambda: bench.round("B", "b"),
                              lambda: bench.round("Forebay, delivering", LIVE))
    for each in live:
        # An event counts once it is both: accepted from the sender and delivered to the app.
        each["through_per_second"] = min(each["per_second"], each["delivered_per_second"])

    print("from a backlog", flush=True)
    b_ten, backlog = drain_backlogs(bench)
    print("ten lanes", flush=True)
    healthy, hung = hang_a_neighbour(bench)

    rounds = {"A": a, "paused": held, "B": b, "delivering": live,
              "B, 10 connections": b_ten, "backlog": backlog}
    return {
        "rounds": rounds,
        "foreign_share": max(each["foreign_share"] for kind in rounds.values() for each in kind),
        "drain": drained,
        "backlog_events": backlog[0]["requests"],
        "neighbours": {"healthy": healthy, "hung": hung},
        "one_at_a_time": alone,
        "ledger": bench.ledger(),
        "figures": {
            "a_per_second": median(a, "per_second"),
            "acks_per_second": median(held, "per_second"),
            "ack_ratio": median(held, "per_second") / median(a, "per_second"),
            "ack_ratio_spread": spread(a, held, "per_second"),
            "a_p99_ms": median(a, "p99_ms"),
            "ack_p50_ms": median(held, "p50_ms"),
            "ack_p99_ms": median(held, "p99_ms"),
            "b_per_second": median(b, "delivered_per_second"),
            "through_per_second": median(live, "through_per_second"),
            "through_ratio": (median(live, "through_per_second")
                              / median(b, "delivered_per_second")),
            "through_ratio_spread": [
                min(o["through_per_second"] / r["delivered_per_second"] for r, o in zip(b, live)),
                max(o["through_per_second"] / r["delivered_per_second"] for r, o in zip(b, live))],
            "backlog_seconds": statistics.median(
                each["backlog"] / each["through_per_second"] for each in live),
            "alone_p50_ms": alone["request"]["p50_ms"],
            "append_p50_ms": alone["append"]["p50_ms"],
            "alone_ratio": alone["request"]["p50_ms"] / alone["append"]["p50_ms"],
            "drain_per_second": drained["per_second"],
            "b_ten_per_second": median(b_ten, "per_second"),
            "backlog_per_second": median(backlog, "per_second"),
            "backlog_ratio": median(backlog, "per_second") / median(b_ten, "per_second"),
            "backlog_ratio_spread": spread(b_ten, backlog, "per_second"),
            "healthy_p99_ms": median(healthy, "p99_ms"),
            "hung_p99_ms": median(hung, "p99_ms"),
            "hung_ratio": median(hung, "p99_ms") / median(healthy, "p99_ms"),
            "hung_ratio_spread": spread(healthy, hung, "p99_ms"),
        },
    }


def measure_references(bench):
    a, b = bench.alternate(lambda: bench.round("A", "a"), lambda: bench.round("B", "b"))
    print(f"A {median(a, 'per_second'):,.0f}/s, B {median(b, 'per_second'):,.0f}/s, "
          f"errors {bench.errors}")
    return bench.errors


def run(arguments):
    about = {**machine.describe(arguments.envoy), "rounds": arguments.rounds,
             "seconds": arguments.seconds, "quick": arguments.quick, "connections": CONNECTIONS,
             "body_bytes": BODY_BYTES, "concurrency_max": CONCURRENCY}
    directory = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=arguments.dir))
    apps, envoy = {}, None
    try:
        apps["app"] = App(arguments.bin / "app")
        upstreams = []
        if not arguments.references:
            apps[NINE] = App(arguments.bin / "app", "--delays")
            apps[TENTH] = App(arguments.bin / "app")
            upstreams = [Upstream(HELD), Upstream(LIVE), BACKLOG, *LANES]
        clusters = {name: app.port for name, app in apps.items()}
        envoy = EnvoyUnderTest([arguments.envoy], directory, clusters, upstreams)
        envoy.wait_until_ready()
        bench = Bench(arguments, directory, apps, envoy)
        if arguments.references:
            return measure_references(bench)
        results = {"machine": about, **measure(bench)}
        results["ended_cleanly"] = envoy.stop()
        report.judge(results)
        print(report.table(results))
        report.write(results, arguments.out)
        return 0 if results["passed"] else 1
    except Broken as error:
        print(f"BROKEN: {error}", file=sys.stderr)
        return 1
    finally:
        if envoy is not None:
            envoy.stop()
        for app in apps.values():
            app.stop()
        if arguments.keep:
            print(f"kept {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(run(parse_arguments()))
