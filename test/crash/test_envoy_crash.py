"""The crash loops through Envoy, short enough for every run of the suite."""

import os
import random

import pytest

import envoy_crash
from harness.envoy import MODULE, chosen_versions

LOOPS = 60


@pytest.mark.parametrize("version", chosen_versions())
def test_kill_loops(version, tmp_path):
    """No acknowledged event is lost over SIGKILLs; at most what was in flight is repeated."""
    assert MODULE.exists(), f"{MODULE} is not there: run ci/build"
    seed = int(os.environ.get("FOREBAY_SEED", random.SystemRandom().randrange(1 << 32)))
    totals = envoy_crash.run(version, LOOPS // len(chosen_versions()), seed, tmp_path)
    assert totals.problems() == [], str(totals)
