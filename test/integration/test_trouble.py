"""Full stores and full disks: senders are told at once, and service comes back by itself."""

import os
import re
import struct
import time

import pytest

from harness import metrics, sender
from harness.config import capture, upstream
from harness.disks import Ballast, small_disk
from harness.waiting import eventually

MIB = 1024 * 1024


def check_refusal(response):
    """What a sender gets when its event can't be kept: 503 and when to come again."""
    assert response.status == 503, response
    assert int(response.one("retry-after")) >= 1


def gauge(envoy, name):
    return metrics.value(metrics.parse(envoy.admin.prometheus()), name)


def rejections(envoy):
    return metrics.label_sets(metrics.parse(envoy.admin.prometheus()), "rejected")


def fill(envoy, path, body_bytes, until=503, most=200):
    """Sends until it is refused; returns the paths that were acknowledged."""
    kept = []
    for number in range(most):
        begin = time.monotonic()
        response = sender.post(envoy.port, f"{path}/{number}", os.urandom(body_bytes))
        assert time.monotonic() - begin < 5, "an answer took too long"
        if response.status == until:
            check_refusal(response)
            return kept
        assert response.status == 200, response
        kept.append(f"{path}/{number}")
    raise AssertionError(f"not refused after {most} requests")


def check_kept(envoy, paths):
    listed = {event["path"] for event in envoy.admin.all_events()}
    missing = set(paths) - listed
    assert not missing, f"{len(missing)} of {len(paths)} acknowledged events are lost"


def test_store_larger_than_allowed(launcher, app):
    """Beyond `size_max_bytes` new events get 503; reading and delivering go on."""
    config = launcher.config(app, [upstream(timeout="30s")])
    config.store["size_max_bytes"] = 64 * MIB
    envoy = launcher.start(config)
    envoy.admin.pause("app")
    kept = fill(envoy, "/fill", 4 * MIB)
    assert len(kept) >= 8
    store = envoy.admin.status()["store"]
    assert store["read_only"] is True and store["reason"]
    eventually(lambda: gauge(envoy, "store_read_only") == 1)
    eventually(lambda: rejections(envoy) == [{"source": "demo", "reason": "overload"}])
    check_refusal(sender.post(envoy.port, "/small", b"x"))
    check_kept(envoy, kept)
    envoy.admin.resume("app")
    envoy.admin.wait_totals(timeout=20, delivered=len(kept))
    assert {request.bare_path for request in app.requests} == set(kept)
    event = envoy.admin.by_path(kept[0])
    envoy.admin.replay(ids=[event["id"]])
    app.wait_for(2, kept[0])


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_disk_runs_low(launcher, app, kind, tmp_path):
    """Below `free_disk_min_bytes` new events get 503, and 200 again once there is room."""
    with small_disk(tmp_path, kind, 160) as disk:
        config = launcher.config(app)
        config.store.update(path=str(disk / "store"), free_disk_min_bytes=32 * MIB)
        envoy = launcher.start(config)
        sender.capture(envoy.port, "/before", b"x")
        ballast = Ballast(disk)
        ballast.fill(leave_bytes=24 * MIB)
        eventually(lambda: sender.post(envoy.port, "/low", b"x").status == 503)
        check_refusal(sender.post(envoy.port, "/low", b"x"))
        eventually(lambda: gauge(envoy, "store_read_only") == 1)
        assert "disk" in envoy.admin.status()["store"]["reason"]
        ballast.free()
        eventually(lambda: sender.post(envoy.port, "/after", b"x").status == 200, timeout=10)
        eventually(lambda: gauge(envoy, "store_read_only") == 0)
        app.wait_for(1, "/after")
        check_kept(envoy, ["/before", "/after"])
        envoy.stop()


@pytest.mark.parametrize("kind,paused", [("tmpfs", True), ("ext4", False)])
def test_disk_is_full(launcher, app, kind, paused, tmp_path):
    """A write that fails is never acknowledged; the store is reopened when it can be, verified.

    While the lane is paused it is a commit that fails, otherwise maybe the outcome of a delivery.
    """
    with small_disk(tmp_path, kind, 96) as disk:
        config = launcher.config(app)
        config.store.update(path=str(disk / "store"), free_disk_min_bytes=0)
        envoy = launcher.start(config)
        envoy.log.expect(r"store \S+ is (?:still )?read only: .*No space left on device")
        sender.capture(envoy.port, "/before", b"x")
        ballast = Ballast(disk)
        kept = []
        for turn in range(2):
            if paused:
                envoy.admin.pause("app")
            ballast.fill()
            kept += fill(envoy, f"/full/{turn}", 100_000)
            eventually(lambda: gauge(envoy, "store_read_only") == 1)
            assert envoy.admin.status()["store"]["read_only"] is True
            assert sender.post(envoy.port, "/other", method="GET").status == 200
            ballast.free()
            after = f"/after/{turn}"
            eventually(lambda: sender.post(envoy.port, after, b"x").status == 200, timeout=15)
            eventually(lambda: gauge(envoy, "store_read_only") == 0)
            check_kept(envoy, ["/before", *kept])
            envoy.admin.resume("app")
            app.wait_for(1, after)
        if paused:
            assert gauge(envoy, "commit_failures") >= 2
        envoy.restart()
        check_kept(envoy, ["/before", *kept])
        eventually(lambda: set(kept) <= {request.bare_path for request in app.requests})
        envoy.stop()


def test_too_much_at_once(launcher, app):
    """When more waits for the disk than the queue takes, senders get 503 at once, not a hang."""
    config = launcher.config(app, capture_config=capture(body_bytes_max=48 * MIB))
    envoy = launcher.start(config)
    envoy.admin.pause("app")
    body = os.urandom(1024) * (24 * 1024)
    connections = [sender.Connection(envoy.port, timeout=60) for _ in range(8)]
    try:
        # All but the last byte first, so that they all end in one moment.
        for number, connection in enumerate(connections):
            connection.send(sender.request_bytes(f"/burst/{number}", body)[:-1])
        for connection in connections:
            connection.send(body[-1:])
        responses = [connection.response() for connection in connections]
    finally:
        for connection in connections:
            connection.close()
    statuses = [response.status for response in responses]
    assert set(statuses) <= {200, 503}, statuses
    assert 200 in statuses
    for response in responses:
        if response.status == 503:
            check_refusal(response)
    listed = {event["path"] for event in envoy.admin.all_events()}
    for number, status in enumerate(statuses):
        assert status == 503 or f"/burst/{number}" in listed


def test_lost_log_is_noticed(launcher, app):
    """A store that has fewer events than were acknowledged is refused, with what is missing."""
    app.refuse()
    envoy = launcher.start(launcher.config(app))
    for number in range(10):
        sender.capture(envoy.port, f"/{number}")
    # The mark is renewed at most once a second, and at every clean stop.
    envoy.stop()
    logs = [path for path in launcher.store_path().rglob("*.log")
            if re.fullmatch(r"\d+\.log", path.name)]
    tables = list(launcher.store_path().rglob("*.sst"))
    assert logs or tables
    for path in logs + tables:
        path.unlink()
    said = envoy.refuses()
    assert str(launcher.store_path()) in said


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def write_newer_format(log):
    """Raises the store's format in RocksDB's log, as a later version would have written it.

    A record there is a masked CRC, a length, a type and the batch, whose first entry is the key
    `format` with a value of one digit.
    """
    content = bytearray(log.read_bytes())
    at = content.index(b"\x06format\x01") + 8
    content[at] = ord("9")
    length, kind = struct.unpack_from("<HB", content, 4)
    head = 7 if kind == 1 else 11  # a recyclable log has its number in each record
    assert kind in (1, 5) and at < head + length, "the format is in the first record"
    crc = crc32c(content[6 : head + length])
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    struct.pack_into("<I", content, 0, masked)
    log.write_bytes(content)


def test_store_of_a_newer_version(launcher, app):
    """A store that a later version wrote is refused by its format, and left as it is."""
    envoy = launcher.start(launcher.config(app))
    envoy.kill()
    (log,) = launcher.store_path().glob("*.log")
    write_newer_format(log)
    before = log.read_bytes()
    said = envoy.refuses()
    assert str(launcher.store_path()) in said
    assert re.search(r"format.*9", said), said
    assert log.read_bytes() == before
