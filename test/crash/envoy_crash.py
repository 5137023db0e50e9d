#!/usr/bin/env python3
"""Kills Envoy with SIGKILL, over and over, under load, and holds two ledgers against each other.

The sender writes down what was acknowledged, the app what it took. After the last restart and a
drain, no acknowledged event may be missing at the app or in the list of dead ones, and the app
may have seen an attempt twice only if it was in flight at a kill.

    envoy_crash.py [--loops 60] [--seed N] [--version 1.40.0]
"""

import argparse
import collections
import dataclasses
import pathlib
import random
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from harness.app import RESET, Answer  # noqa: E402
from harness.config import retry, upstream  # noqa: E402
from harness.envoy import SUPPORTED_VERSIONS  # noqa: E402
from harness.launcher import Launcher  # noqa: E402
from harness.sender import LoadSender  # noqa: E402
from harness.waiting import eventually  # noqa: E402

CONCURRENCY_MAX = 20
KILL_AFTER_SECONDS = (0.15, 0.65)
DRAIN_SECONDS = 90


@dataclasses.dataclass
class Totals:
    seed: int
    version: str
    loops: int = 0
    acknowledged: int = 0
    taken: int = 0
    dead: int = 0
    lost: int = 0
    repeats: int = 0
    repeats_allowed: int = 0
    invented: int = 0

    def problems(self):
        found = []
        if self.acknowledged == 0:
            found.append("nothing was acknowledged: this showed nothing")
        if self.lost:
            found.append(f"{self.lost} acknowledged events are lost")
        if self.invented:
            found.append(f"{self.invented} events arrived that nobody sent")
        if self.repeats > self.repeats_allowed:
            found.append(f"{self.repeats} repeats, {self.repeats_allowed} allowed")
        return found

    def __str__(self):
        shown = dataclasses.asdict(self)
        return "envoy_crash: " + " ".join(f"{name}={value}" for name, value in shown.items())


class ChaoticApp:
    """Takes most events, fails some attempts, refuses a few for good; keeps its ledger."""

    def __init__(self, app, seed):
        self._random = random.Random(seed)
        self.taken = set()
        self.attempts = collections.Counter()
        self.app = app
        app.chooser = self.choose

    def choose(self, request):  # on the app's thread alone
        key = request.one("x-key")
        self.attempts[(request.event_id, request.attempt)] += 1
        chance = self._random.random()
        if chance < 0.05:
            return Answer(500)
        if chance < 0.07:
            return Answer(action=RESET)
        if chance < 0.08:
            return Answer(410)
        self.taken.add(key)
        return Answer(200, delay=0.005 if chance < 0.2 else 0)


def drain(envoy):
    def probe():
        totals = envoy.admin.totals()
        assert int(totals["pending"]) == int(totals["retrying"]) == 0, totals
        return True

    eventually(probe, DRAIN_SECONDS, "the final drain")


def audit(totals, envoy, load, app):
    dead = {event["path"].rsplit("/", 1)[1] for event in envoy.admin.all_events(state="dead")}
    acknowledged = set(load.acknowledged)
    totals.acknowledged = len(acknowledged)
    totals.taken = len(app.taken)
    totals.dead = len(dead)
    totals.lost = len(acknowledged - app.taken - dead)
    totals.invented = len((app.taken | dead) - load.sent)
    totals.repeats = sum(count - 1 for count in app.attempts.values())
    totals.repeats_allowed = totals.loops * CONCURRENCY_MAX


def run(version, loops, seed, directory, report=print):
    """Runs the loops; returns Totals. Raises when Envoy does not come back."""
    rng = random.Random(seed)
    report(f"envoy_crash: seed={seed} version={version} loops={loops}")
    launcher = Launcher(directory, version)
    totals = Totals(seed, version)
    failed = True
    try:
        app = ChaoticApp(launcher.app(), seed)
        lane = upstream(
            concurrency_max=CONCURRENCY_MAX,
            retry=retry(0.05, 0.2, attempts_max=50),
            circuit_breaker={"consecutive_failures": 100000},
        )
        envoy = launcher.start(launcher.config(app.app, [lane]))
        pause = threading.Event()
        with LoadSender(envoy.port, connections=8, pace=0.003) as load:
            for number in range(loops):
                pause.wait(rng.uniform(*KILL_AFTER_SECONDS))
                envoy.kill()
                envoy.start()
                totals.loops += 1
                if (number + 1) % 50 == 0:
                    acknowledged = len(load.acknowledged)
                    report(f"envoy_crash: {number + 1} kills, {acknowledged} acknowledged")
            # The last Envoy works too.
            load.wait_acknowledged(len(load.acknowledged) + 10)
        drain(envoy)
        audit(totals, envoy, load, app)
        failed = False
    finally:
        launcher.close(failed=failed)
    report(str(totals))
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--version", choices=SUPPORTED_VERSIONS, default=SUPPORTED_VERSIONS[0])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forebay-crash-") as directory:
        problems = run(given.version, given.loops, given.seed, directory).problems()
    for problem in problems:
        print(f"envoy_crash: FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
