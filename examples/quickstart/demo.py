#!/usr/bin/env python3
"""Runs the quickstart: the app, and Envoy with Forebay before it. `--check` tours it by itself."""

import argparse
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

WHAT_TO_TRY = """
Forebay is running: webhooks on http://127.0.0.1:{listener},
Envoy's admin on http://127.0.0.1:{admin}

  curl -i http://127.0.0.1:{listener}/ok -d '{{"hello": "world"}}'     captured, then delivered
  curl http://127.0.0.1:{listener}/flaky -d 'fails twice'            watch the retries below
  curl http://127.0.0.1:{listener}/busy -d '429, Retry-After: 2'
  curl http://127.0.0.1:{listener}/broken -d '410: a dead letter'

  curl http://127.0.0.1:{admin}/forebay                              how it stands
  curl 'http://127.0.0.1:{admin}/forebay/events?limit=5'             what came in
  curl 'http://127.0.0.1:{admin}/forebay/event?id=ID'                one event and its attempts
  curl -X POST http://127.0.0.1:{admin}/forebay/replay -d '{{"filter": {{"state": "dead"}}}}'
  curl -X POST 'http://127.0.0.1:{admin}/forebay/pause?upstream=app'     and /forebay/resume
  curl http://127.0.0.1:{admin}/stats/prometheus | grep forebay

examples/quickstart/README.md has the tour. Ctrl-C ends it; the store stays in {store}.
"""


class Demo:
    def __init__(self, ports, store, log):
        self.listener, self.admin, self.app = ports
        self.store = store
        self._log = log
        self._processes = []

    def start(self, config):
        self._spawn([sys.executable, str(HERE / "app.py"), "--port", str(self.app)])
        self._spawn(
            [str(ROOT / "ci/envoy"), "-c", str(config), "--disable-hot-restart",
             "--concurrency", "1", "--log-level", "warning"]
        )
        self.until(lambda: self.get("/ready") is not None, 20, "Envoy did not start")

    def _spawn(self, command):
        self._processes.append(subprocess.Popen(command, stdout=self._log, stderr=self._log))

    def alive(self):
        return all(process.poll() is None for process in self._processes)

    def stop(self):
        for process in reversed(self._processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def until(self, probe, seconds, complaint):
        """The first true value of `probe`, or the end with `complaint`."""
        deadline = time.monotonic() + seconds
        pause = threading.Event()
        while time.monotonic() < deadline:
            if not self.alive():
                raise SystemExit("demo: the app or Envoy ended by itself")
            try:
                value = probe()
                if value:
                    return value
            except (urllib.error.URLError, OSError):
                pass
            pause.wait(0.05)
        raise SystemExit(f"demo: {complaint}")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=5) as answer:
            return answer.read()

    def json(self, path):
        return json.loads(self.get(path))

    def post(self, url, body):
        request = urllib.request.Request(url, data=body, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()

    def event_of(self, path, state):
        for event in self.json("/forebay/events?limit=100")["events"]:
            if event["path"] == path and event["state"] == state:
                return self.json("/forebay/event?id=" + event["id"])
        return None


def tour(demo):
    """Sends events and says what became of them."""
    hooks = f"http://127.0.0.1:{demo.listener}"
    for path in ("/ok", "/flaky", "/broken"):
        status, _ = demo.post(hooks + path, b'{"hello": "world"}')
        print(f"demo: POST {path} was answered {status}: it is on disk")
        if status != 200:
            raise SystemExit(f"demo: expected 200, got {status}")
    event = demo.until(lambda: demo.event_of("/ok", "delivered"), 20, "/ok was not delivered")
    print(f"demo: /ok was delivered in {event['attempts']} attempt")
    event = demo.until(lambda: demo.event_of("/flaky", "delivered"), 30, "/flaky was not delivered")
    print(f"demo: /flaky was delivered in {event['attempts']} attempts:")
    for attempt in event["attempt_log"]:
        print(f"demo:   {attempt['at']} answered {attempt['status']}")
    if int(event["attempts"]) != 3:
        raise SystemExit("demo: expected three attempts")
    dead = demo.until(lambda: demo.event_of("/broken", "dead"), 20, "/broken did not end as dead")
    print(f"demo: /broken answered 410: a dead letter, reason {dead['reason']}")
    delivered = demo.event_of("/ok", "delivered")
    body = json.dumps({"ids": [delivered["id"]]}).encode()
    _, answer = demo.post(f"http://127.0.0.1:{demo.admin}/forebay/replay", body)
    job = json.loads(answer)

    def replayed():
        event = demo.json("/forebay/event?id=" + delivered["id"])
        return event["state"] == "delivered" and len(event["attempt_log"]) == 2 and event

    event = demo.until(replayed, 20, "the replay was not delivered")
    print(f"demo: /ok was replayed by job {job['id']} and delivered again")
    print(f"demo: totals {json.dumps(demo.json('/forebay')['totals'])}")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def check():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="forebay-demo-"))
    ports = free_ports(3)
    text = (HERE / "envoy.yaml").read_text()
    changes = {
        "port_value: 10000": f"port_value: {ports[0]}",
        "port_value: 9901": f"port_value: {ports[1]}",
        "port_value: 8080": f"port_value: {ports[2]}",
        "/tmp/forebay-quickstart": str(folder / "store"),
        "initial: 1s": "initial: 0.2s",
    }
    for old, new in changes.items():
        if old not in text:
            raise SystemExit(f"demo: {old!r} is no longer in envoy.yaml")
        text = text.replace(old, new)
    config = folder / "envoy.yaml"
    config.write_text(text)
    with open(folder / "log", "wb") as log:
        demo = Demo(ports, folder / "store", log)
        try:
            demo.start(config)
            tour(demo)
        except BaseException:
            demo.stop()
            sys.stdout.write((folder / "log").read_text(errors="replace"))
            raise
        finally:
            demo.stop()
            shutil.rmtree(folder, ignore_errors=True)
    print("demo: ok")


def stay():
    demo = Demo((10000, 9901, 8080), "/tmp/forebay-quickstart", None)
    try:
        demo.start(HERE / "envoy.yaml")
        print(WHAT_TO_TRY.format(listener=10000, admin=9901, store=demo.store), flush=True)
        pause = threading.Event()
        while demo.alive():
            pause.wait(0.5)
        raise SystemExit("demo: the app or Envoy ended by itself")
    except KeyboardInterrupt:
        print("\ndemo: stopping")
    finally:
        demo.stop()


def main():
    # Whoever ends us ends the app and Envoy too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="tour it, then exit")
    if parser.parse_args().check:
        check()
    else:
        stay()
    return 0


if __name__ == "__main__":
    sys.exit(main())
