#!/usr/bin/env python3
"""A small app that takes webhooks, and misbehaves when an event asks it to.

What it does is in the path of the webhook:
    /ok          takes it
    /flaky       fails twice, then takes it
    /busy        says 429 with Retry-After: 2 once, then takes it
    /broken      says 410: never try again
    /slow        thinks for a second
"""

import argparse
import http.server
import sys
import threading
import time


class App(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    tries = {}  # event id to number of tries

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        event = self.headers.get("forebay-event-id", "-")
        with self.lock:
            tries = self.tries[event] = self.tries.get(event, 0) + 1
        status, headers = self.verdict(tries)
        self.answer(status, headers)
        replay = self.headers.get("forebay-replay")
        print(
            f"app: {self.path} attempt {self.headers.get('forebay-attempt', '-')}"
            f"{' (replay)' if replay else ''}: {len(body)} bytes, answered {status}, event {event}",
            flush=True,
        )

    def verdict(self, tries):
        name = self.path.split("?")[0].split("/")[1]
        if name == "flaky" and tries <= 2:
            return 500, {}
        if name == "busy" and tries == 1:
            return 429, {"retry-after": "2"}
        if name == "broken":
            return 410, {}
        if name == "slow":
            time.sleep(1)
        return 200, {}

    def do_GET(self):
        self.answer(200, {})

    def answer(self, status, headers):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_args):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    port = parser.parse_args().port
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), App)
    server.daemon_threads = True
    print(f"app: listening on 127.0.0.1:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
