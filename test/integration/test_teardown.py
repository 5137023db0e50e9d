"""Envoy's teardown with Forebay's forwarder lagging behind at the worst moment."""

import pathlib
import re
import subprocess

import pytest

from harness import sender
from harness.waiting import eventually

SOURCE = pathlib.Path(__file__).parent / "preload" / "lag.c"


@pytest.fixture(scope="session")
def lag_library(tmp_path_factory):
    """preload/lag.c, compiled."""
    library = tmp_path_factory.mktemp("preload") / "lag.so"
    subprocess.run(
        ["gcc", "-Wall", "-Werror", "-shared", "-fPIC", "-O1", str(SOURCE), "-o", str(library)],
        check=True,
    )
    return library


def events_marked(store):
    """How many events the store's mark tells of: all of them only after a clean close."""
    return int(re.search(r"^sequence (\d+)$", (store / "HIGH_WATER_MARK").read_text(), re.M)[1])


# A thread inside Envoy's scheduler keeps Envoy's side of the extension alive. Below the time that
# the rest of the teardown takes, it would be the one to destroy it; above, nobody would.
@pytest.mark.parametrize("lag_ms", [0, 1, 2, 5, 20, 100])
def test_forwarder_that_lags(launcher, app, lag_library, lag_ms):
    """Whenever the forwarder is preempted, the exit is clean and the store is closed."""
    env = {"LD_PRELOAD": str(lag_library), "LAG_MICROSECONDS": str(lag_ms * 1000)}
    envoy = launcher.start(launcher.config(app), env=env)
    for number in range(4):
        sender.capture(envoy.port, f"/{number}")
        app.wait_for(1, f"/{number}")
        envoy.stop()
        assert not envoy.log.bad_lines()
        assert events_marked(launcher.store_path()) == number + 1
        envoy.start()
    eventually(lambda: envoy.admin.totals()["delivered"] == 4)
    app.stays_at(4, seconds=0.1)
