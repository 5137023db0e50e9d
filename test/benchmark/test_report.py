"""The verdict on made-up figures: what fails a run, and what doesn't."""

import copy
import pathlib
import sys
import xml.dom.minidom

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import plot  # noqa: E402
import report  # noqa: E402

TIMES = {"p50_ms": 0.4, "p99_ms": 1.0}
ROUND = {"cpu_us": {"wrk:worker_0": 18.5}}
GOOD = {
    "machine": {
        "quick": False, "body_bytes": 10, "started": "2026-01-01T00:00:00Z", "cores": 2,
        "cpu": "one <fast> & more", "kernel": "6", "envoy": "1.40.0", "rounds": 5, "seconds": 8,
        "connections": 64, "concurrency_max": 64,
    },
    "figures": {
        "ack_ratio": 0.7, "through_ratio": 0.8, "backlog_seconds": 0.1, "ack_p99_ms": 9.0,
        "alone_ratio": 2.0, "a_per_second": 50000, "acks_per_second": 35000, "a_p99_ms": 2,
        "ack_p50_ms": 2, "b_per_second": 20000, "through_per_second": 16000,
        "drain_per_second": 20000, "alone_p50_ms": 0.4, "append_p50_ms": 0.2,
        "ack_ratio_spread": [0.6, 0.8], "through_ratio_spread": [0.7, 0.9],
        "b_ten_per_second": 20000, "backlog_per_second": 16000, "backlog_ratio": 0.8,
        "backlog_ratio_spread": [0.7, 0.9], "healthy_p99_ms": 2.0, "hung_p99_ms": 2.0,
        "hung_ratio": 1.0, "hung_ratio_spread": [0.9, 1.1],
    },
    "rounds": {"A": [ROUND], "paused": [ROUND], "B": [ROUND], "delivering": [ROUND]},
    "foreign_share": 0.01,
    "drain": {"events": 1000},
    "backlog_events": 1000,
    "one_at_a_time": {"request": TIMES, "append": TIMES},
    "ledger": {
        "acknowledged": 100, "under_way_at_most": 64, "errors": 0,
        "totals": {"accepted": 110, "delivered": 110},
        "app": {"requests": 200, "events": 110, "distinct": 110, "body_bytes": 2000},
    },
    "ended_cleanly": True,
}


def judged(path=None, value=None, quick=False):
    """The good results with one value changed, judged."""
    results = copy.deepcopy(GOOD)
    results["machine"]["quick"] = quick
    if path:
        *folders, last = path.split(".")
        place = results
        for folder in folders:
            place = place[folder]
        place[last] = value
    report.judge(results)
    return results


def test_good_figures_pass():
    assert judged()["passed"]
    assert judged(quick=True)["passed"]


@pytest.mark.parametrize("key, missed, awful", [
    ("ack_ratio", 0.59, 0.29),
    ("through_ratio", 0.69, 0.34),
    ("backlog_seconds", 1.1, 2.1),
    ("alone_ratio", 4.1, 8.1),
    ("backlog_ratio", 0.69, 0.34),
    ("hung_ratio", 1.3, 12.1),
])
def test_a_missed_bar_fails_a_full_run_and_only_an_awful_one_a_quick_run(key, missed, awful):
    assert not judged(f"figures.{key}", missed)["passed"]
    assert judged(f"figures.{key}", missed, quick=True)["passed"]
    assert not judged(f"figures.{key}", awful, quick=True)["passed"]


def test_milliseconds_never_fail_a_quick_run():
    assert not judged("figures.ack_p99_ms", 21)["passed"]
    assert judged("figures.ack_p99_ms", 500, quick=True)["passed"]


@pytest.mark.parametrize("path, value", [
    ("ledger.errors", 1),
    ("ledger.acknowledged", 111),
    ("ledger.under_way_at_most", 9),
    ("ledger.app.distinct", 109),
    ("ledger.app.events", 111),
    ("ledger.app.body_bytes", 1999),
    ("ledger.totals.delivered", 109),
    ("ended_cleanly", False),
])
def test_a_loss_fails_every_run(path, value):
    for quick in (False, True):
        results = judged(path, value, quick)
        assert results["broken"] and not results["passed"]
        assert "BROKEN" in report.table(results)


def test_the_files_are_written_and_the_plot_is_xml(tmp_path):
    results = judged("figures.through_ratio", 0.5)
    report.write(results, tmp_path)
    assert "| MISS |" in (tmp_path / "summary.md").read_text()
    assert "missed" in (tmp_path / "plot.svg").read_text()
    xml.dom.minidom.parseString(plot.svg(results))
