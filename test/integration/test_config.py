"""Configurations: what is refused, how it is said, and that looking at one touches no disk."""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import tempfile

import pytest

from harness import metrics, sender
from harness.config import (Config, bootstrap_extension, capture, capture_filter, cluster,
                            per_route, route, upstream)
from harness.envoy import REPO, chosen_versions, validate
from harness.waiting import eventually

BAD = json.loads((REPO / "test/config/bad_configs.json").read_text())
EXAMPLES = sorted((REPO / "examples").glob("**/envoy.yaml"))
# What the filters' configs in BAD are held against.
KNOWN = [upstream("billing"), upstream("crm", "billing")]
# All of them in one Envoy, some in the other: it is our code that reads them.
CASES = [
    (version, number)
    for version in chosen_versions()
    for number in range(len(BAD))
    if version == chosen_versions()[0] or number % 5 == 0
]


def example_id(path):
    return str(path.parent.relative_to(REPO))


def named_stores():
    """Every absolute path that a bad config names as its store, and whether it is there."""
    found = {}
    for entry in BAD:
        store = entry["config"].get("store")
        path = store.get("path") if isinstance(store, dict) else None
        if isinstance(path, str) and path.startswith("/"):
            found[path] = os.path.exists(path)
    return found


def test_examples_are_there():
    """There is at least the quickstart."""
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=example_id)
def test_example_is_valid_and_touches_no_disk(envoy_version, module, path, tmp_path):
    """`--mode validate` takes every example, and makes nothing on disk."""
    store = tmp_path / "store"
    text = path.read_text()
    moved, count = re.subn(r"(store:\s*\{?\s*path:\s*)(/[^\s,}]+)", rf"\g<1>{store}", text)
    assert count == 1, "the example's store.path was not found"
    copy = tmp_path / "envoy.yaml"
    copy.write_text(moved)
    code, said = validate(envoy_version, copy)
    assert code == 0, said
    assert not store.exists()
    assert "deprecat" not in said.lower()


@functools.cache
def verdicts(version):
    """What `--mode validate` says to each bad config; several at once, since they are many."""
    numbers = [number for each, number in CASES if each == version]
    with tempfile.TemporaryDirectory(prefix="forebay-bad-") as folder:
        folder = pathlib.Path(folder)

        def run(number):
            entry = BAD[number]
            config = Config(
                folder / "store", KNOWN, [cluster("billing")], capture(upstream_name="crm")
            )
            if entry["kind"] == "capture":
                config.capture = entry["config"]
            built = config.build()
            if entry["kind"] == "bootstrap":
                built["bootstrap_extensions"] = [bootstrap_extension(entry["config"])]
            path = folder / f"{number}.json"
            path.write_text(json.dumps(built))
            return validate(version, path, timeout=60)

        before = named_stores()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            said = dict(zip(numbers, pool.map(run, numbers)))
        assert not (folder / "store").exists()
        assert named_stores() == before, "validation made a store"
        return said


@pytest.mark.parametrize(
    "version,number", CASES, ids=[f"{version}-{BAD[number]['name']}" for version, number in CASES]
)
def test_bad_config_is_refused(module, version, number):
    """Every bad config is refused, and the log names each field and value."""
    code, said = verdicts(version)[number]
    assert code == 1, said[-3000:]
    for error in BAD[number]["errors"]:
        assert error in said, said[-3000:]
    for line in said.splitlines():
        assert "assert failure" not in line and "Caught" not in line, line


def test_bad_configs_are_many():
    """The table has the forty that the issue asks for."""
    assert len(BAD) >= 40


def test_good_config_in_validation_makes_no_store(launcher, envoy_version, tmp_path):
    """`--mode validate` of a good config leaves no store behind, nor its lock."""
    config = launcher.config(clusters=[cluster("app")])
    path = tmp_path / "good.json"
    path.write_text(json.dumps(config.build()))
    code, said = validate(envoy_version, path)
    assert code == 0, said
    assert not launcher.store_path().exists()


def test_numbers_that_envoys_yaml_makes_text_of(launcher, envoy_version, tmp_path):
    """Fractions and numbers beyond 32 bits, which reach Forebay as text from YAML, are numbers."""
    jitter = {"kind": "PROPORTIONAL", "ratio": 0.25}
    lane = upstream(retry={"jitter": jitter}, circuit_breaker={"failure_rate": {"percent": 12.5}})
    bootstrap = launcher.config(upstreams=[lane], clusters=[cluster("app")]).build()
    extension = bootstrap["bootstrap_extensions"][0]["typed_config"]
    extension["extension_config"]["value"]["store"]["size_max_bytes"] = 10737418240
    path = tmp_path / "good.yaml"  # JSON is YAML, and is read as what it is called
    path.write_text(json.dumps(bootstrap))
    code, said = validate(envoy_version, path)
    assert code == 0, said


def test_validation_while_it_runs(launcher, app, envoy_version, tmp_path):
    """Checking the config of a running Envoy does not fight for its store."""
    config = launcher.config(app)
    envoy = launcher.start(config)
    path = tmp_path / "good.json"
    path.write_text(json.dumps(config.build()))
    code, said = validate(envoy_version, path)
    assert code == 0, said
    sender.capture(envoy.port, "/a")


def test_unknown_upstream_is_refused(launcher, app):
    """A filter that names an upstream which the bootstrap doesn't have is refused."""
    config = launcher.config(app, capture_config=capture(upstream_name="ghost"))
    said = launcher.envoy(config).refuses()
    assert re.search(r"upstream: no such upstream \(got .ghost.", said), said


def test_unknown_upstream_on_a_route_is_refused(launcher, app):
    """The same per route."""
    config = launcher.config(app)
    config.routes = [route("/", typed_per_filter_config=per_route(capture(upstream_name="ghost")))]
    assert "ghost" in launcher.envoy(config).refuses()


def test_all_errors_at_once(launcher, app):
    """Two mistakes are told in one go, each with its path and value."""
    lanes = [upstream("app", timeout="-1s"), upstream("app", concurrency_max=0)]
    said = launcher.envoy(launcher.config(app, lanes)).refuses()
    assert re.search(r"upstreams\[0\]\.timeout: .*-1s", said), said
    assert re.search(r"upstreams\[1\]\.concurrency_max: .*0", said), said
    assert re.search(r"upstreams\[1\]\.name: .*app", said), said


def test_filter_without_the_bootstrap_extension(launcher, app):
    """The filter alone is refused, with what is missing."""
    config = launcher.config(app)
    build = config.build

    def without():
        made = build()
        del made["bootstrap_extensions"]
        return made

    config.build = without
    assert "bootstrap" in launcher.envoy(config).refuses()


def test_unknown_filter_name(launcher, app):
    """A filter that we don't have is refused by its name."""
    config = launcher.config(app)
    listener = config.listener

    def renamed():
        made = listener()
        manager = made["filter_chains"][0]["filters"][0]["typed_config"]
        named = capture_filter(config.capture)
        named["typed_config"]["filter_name"] = "captrue"
        manager["http_filters"][0] = named
        return made

    config.listener = renamed
    assert "captrue" in launcher.envoy(config).refuses()


def test_second_envoy_on_the_same_store(launcher, app):
    """A store that is in use is refused, with its path and the reason; the first goes on."""
    first = launcher.start(launcher.config(app))
    said = launcher.envoy(launcher.config(app)).refuses()
    assert str(launcher.store_path()) in said
    assert re.search(r"lock|another process|in use", said, re.IGNORECASE), said
    sender.capture(first.port, "/a")
    app.wait_for(1, "/a")


@pytest.mark.parametrize("place", ["below a file", "a file", "/proc"])
def test_unwritable_store(launcher, app, place):
    """A path that can't be a store is refused by name."""
    config = launcher.config(app)
    file = launcher.directory / "file"
    file.write_text("not a folder")
    path = {"below a file": file / "store", "a file": file, "/proc": "/proc/forebay"}[place]
    config.store["path"] = str(path)
    said = launcher.envoy(config).refuses()
    assert str(path) in said
    assert re.search(r"forebay: .*" + re.escape(str(path)), said), said
    assert file.read_text() == "not a folder"


def test_restart_after_a_refusal(launcher, app):
    """A refused start leaves the store as it was."""
    envoy = launcher.start(launcher.config(app))
    app.refuse()
    sender.capture(envoy.port, "/a")
    envoy.stop()
    lanes, envoy.config.upstreams = envoy.config.upstreams, [upstream("app", timeout="never")]
    envoy.refuses()
    envoy.config.upstreams = lanes
    envoy.start()
    app.start()
    app.wait_for(1, "/a")


def test_pace_and_order_are_accepted(launcher, app):
    """A lane with rate limit, failure rate, ramp, pause, share and order starts and delivers."""
    lane = upstream(
        "app",
        rate_limit={"events": 100, "per": "1s"},
        circuit_breaker={"failure_rate": {"percent": 50}, "ramp": "1s"},
        pause_after_permanent_failures=5,
        order_by={"header": "x-shop-id"},
    )
    lane["retry"]["share_max_percent"] = 50
    envoy = launcher.start(launcher.config(app, [lane]))
    sender.capture(envoy.port, "/a", headers=[("X-Shop-Id", "7")])
    app.wait_for(1, "/a")


def test_events_without_a_key_are_counted(launcher, app):
    """What names no order key is delivered and counted, under the upstream of its own route."""
    lanes = [
        upstream("app"),
        upstream("shops", "app", order_by={"header": "x-shop-id"}),
        upstream("customers", "app", order_by={"json_pointer": "/data/customer"}),
    ]
    config = launcher.config(app, lanes)
    config.routes = [
        route("/shops", typed_per_filter_config=per_route(capture(upstream_name="shops"))),
        route("/customers", typed_per_filter_config=per_route(capture(upstream_name="customers"))),
        route("/"),
    ]
    envoy = launcher.start(config)
    shop = [("X-Shop-Id", "7")]
    for path, headers, body in [
        ("/shops/with", shop, b""),
        ("/shops/without", [], b'{"data": {"customer": 1}}'),
        ("/customers/with", [], b'{"data": {"customer": "cus_\\u0031"}}'),
        ("/customers/number", [], b'{"data": {"customer": 17}}'),
        ("/customers/null", shop, b'{"data": {"customer": null}}'),
        ("/customers/cut", shop, b'{"data": {"customer": "cus_1"}'),
        ("/customers/bytes", shop, bytes(range(256))),
        ("/plain", [], b""),
    ]:
        sender.capture(envoy.port, path, body, headers)
        app.wait_for(1, path)

    def counted():
        found = metrics.parse(envoy.admin.prometheus())
        assert metrics.value(found, "order_key_missing", upstream="shops") == 1
        assert metrics.value(found, "order_key_missing", upstream="customers") == 3
        return found

    found = eventually(counted, timeout=10, what="events without a key counted")
    assert metrics.value(found, "order_key_missing", upstream="app") == 0
