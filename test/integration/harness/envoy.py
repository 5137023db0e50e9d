"""One Envoy as a child process, and where to find its parts."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time

from harness.admin import Admin
from harness.log import Log
from harness.waiting import eventually

REPO = pathlib.Path(__file__).resolve().parents[3]
MODULE_DIR = pathlib.Path(os.environ.get("FOREBAY_MODULE_DIR", REPO / "dist/forebay/lib"))
MODULE = MODULE_DIR / "libforebay.so"
SUPPORTED_VERSIONS = ("1.40.0", "1.39.3")

# What the module may take to finish what is in flight, plus Envoy's own teardown.
STOP_SECONDS_MAX = 8.0


def chosen_versions():
    """The Envoys to test with: all that we support, or what FOREBAY_ENVOY_VERSIONS says."""
    chosen = os.environ.get("FOREBAY_ENVOY_VERSIONS", "").replace(",", " ").split()
    return chosen or list(SUPPORTED_VERSIONS)


def deps_dir():
    cache = os.environ.get("FOREBAY_CACHE", os.path.expanduser("~/.cache/forebay"))
    return pathlib.Path(os.environ.get("FOREBAY_DEPS", os.path.join(cache, "deps")))


def binary(version):
    path = deps_dir() / f"envoy-{version}" / "envoy"
    assert path.exists(), f"no Envoy {version} at {path}: run ci/setup"
    return path


def environment(extra=None):
    env = dict(os.environ)
    env["ENVOY_DYNAMIC_MODULES_SEARCH_PATH"] = str(MODULE_DIR)
    env.update(extra or {})
    return env


def validate(version, config_path, timeout=20):
    """Runs `envoy --mode validate`; returns the exit code and everything it said."""
    done = subprocess.run(
        [binary(version), "--mode", "validate", "-c", str(config_path), "--disable-hot-restart"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


class Envoy:
    """Start it, talk to it, stop it, kill it, start it again on the same ports and store."""

    def __init__(self, config, workdir, version, concurrency=1, env=None):
        self.config = config
        self.version = version
        self.concurrency = concurrency
        self.workdir = pathlib.Path(workdir)
        self.workdir.mkdir(parents=True, exist_ok=True)
        self.log = Log(self.workdir / "envoy.log")
        self.admin = Admin(config.admin_port)
        self.port = config.port
        self._env = env
        self._process = None
        self._reader = None

    @property
    def pid(self):
        return self._process.pid

    def write_config(self):
        path = self.workdir / "envoy.json"
        path.write_text(json.dumps(self.config.build(), indent=1))
        return path

    def spawn(self):
        """Starts the process without waiting for it."""
        assert self._process is None, "already running"
        command = [
            str(binary(self.version)),
            "-c",
            str(self.write_config()),
            "--disable-hot-restart",
            "--concurrency",
            str(self.concurrency),
            "--drain-time-s",
            "1",
            "--log-level",
            "info",
        ]
        self._started_at = self.log.mark()
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(self._env),
            cwd=self.workdir,
        )
        self._reader = self.log.follow(self._process.stderr)
        return self

    def start(self, timeout=20.0):
        """Starts it, and returns once its listeners take requests."""
        self.spawn()
        self.log.wait_for("starting workers", timeout, since=self._started_at)
        eventually(self._is_live, timeout, "Envoy's /ready")
        return self

    def _is_live(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.config.admin_port, timeout=5)
        try:
            connection.request("GET", "/ready")
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def wait_exit(self, timeout=STOP_SECONDS_MAX):
        """The exit code (negative: the signal)."""
        code = self._process.wait(timeout)
        self._reader.join(5)
        self._process.stderr.close()
        self._process = None
        return code

    def stop(self, timeout=STOP_SECONDS_MAX):
        """SIGTERM; asserts a clean exit in time and returns how long it took."""
        begin = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self.wait_exit(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no exit within {timeout} s of SIGTERM\n{self.log.tail()}")
        assert code == 0, f"exit code {code} after SIGTERM\n{self.log.tail()}"
        return time.monotonic() - begin

    def kill(self):
        """SIGKILL: nothing is flushed, nothing is said."""
        self._process.kill()
        code = self.wait_exit(10)
        assert code == -signal.SIGKILL, f"was already gone: {code}\n{self.log.tail()}"

    def restart(self):
        self.stop()
        return self.start()

    def close(self):
        """Ends the test's Envoy; a crash or an unexpected line in its log fails the test."""
        if self._process is not None:
            if self.is_running():
                self.stop()
            else:
                code = self.wait_exit()
                raise AssertionError(f"Envoy ended by itself: {code}\n{self.log.tail()}")
        bad = self.log.bad_lines()
        assert not bad, "unexpected lines in Envoy's log:\n" + "\n".join(bad)

    def abandon(self):
        """Ends the process whatever happened: for the cleanup after a failure."""
        if self._process is not None:
            self._process.kill()
            self.wait_exit(10)

    def rss_bytes(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def refuses(self, timeout=20.0):
        """Starts it and expects it to end by itself with an error; returns its log as one text."""
        self.spawn()
        try:
            code = self.wait_exit(timeout)
        except subprocess.TimeoutExpired:
            self.abandon()
            raise AssertionError(f"Envoy started all the same\n{self.log.tail()}")
        assert code == 1, f"exit code {code}: a refusal is 1\n{self.log.tail()}"
        self.log.forgive(self._started_at)
        return "\n".join(self.log.lines[self._started_at :])
