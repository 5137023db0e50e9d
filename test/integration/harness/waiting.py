"""Bounded waits. Nothing in the suite sleeps for a fixed time and hopes."""

import threading
import time

POLL_SECONDS = 0.01


def eventually(probe, timeout=10.0, what="condition"):
    """Calls `probe` until it returns something true, and returns that.

    An AssertionError or OSError inside `probe` counts as "not yet"; the last one is shown when
    the time is over.
    """
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    last = None
    while True:
        try:
            value = probe()
            if value:
                return value
            last = f"last value {value!r}"
        except (AssertionError, OSError) as error:
            last = f"last error {error!r}"
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what}: not within {timeout} s; {last}")
        pause.wait(POLL_SECONDS)


def throughout(probe, seconds, what="condition"):
    """Asserts that `probe` stays true for `seconds`: how an absence is shown."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        value = probe()
        assert value, f"{what}: no longer holds"
        if time.monotonic() >= deadline:
            return
        pause.wait(POLL_SECONDS)
