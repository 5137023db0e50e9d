"""A client of the Envoy admin routes."""

import http.client
import json
import urllib.parse

from harness.waiting import eventually


class AdminError(AssertionError):
    def __init__(self, status, payload):
        super().__init__(f"admin answered {status}: {payload}")
        self.status = status
        self.payload = payload


class Admin:
    def __init__(self, port):
        self.port = port

    def raw(self, method, path, params=None, body=None):
        """Status and bytes. `params` with a value of None are left out."""
        given = {name: value for name, value in (params or {}).items() if value is not None}
        # A plus stands for itself there, so a space must be %20.
        query = urllib.parse.urlencode(given, quote_via=urllib.parse.quote)
        target = path + ("?" + query if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, body=body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def call(self, method, path, params=None, body=None):
        """Status and decoded JSON."""
        status, payload = self.raw(method, path, params, body)
        try:
            return status, json.loads(payload)
        except ValueError:
            raise AdminError(status, payload) from None

    def _ok(self, method, path, params=None, body=None):
        status, payload = self.call(method, path, params, body)
        if status != 200:
            raise AdminError(status, payload)
        return payload

    def status(self):
        return self._ok("GET", "/forebay")

    def totals(self):
        return self.status()["totals"]

    def events(self, **filters):
        return self._ok("GET", "/forebay/events", filters)

    def all_events(self, **filters):
        """Every page of a listing."""
        found = []
        page = self.events(limit=1000, **filters)
        while True:
            found.extend(page.get("events", []))
            if "next_cursor" not in page:
                return found
            page = self.events(limit=1000, cursor=page["next_cursor"], **filters)

    def event(self, event_id):
        return self._ok("GET", "/forebay/event", {"id": event_id})

    def event_body(self, event_id):
        status, payload = self.raw("GET", "/forebay/event/body", {"id": event_id})
        if status != 200:
            raise AdminError(status, payload)
        return payload

    def replay(self, **request):
        return self._ok("POST", "/forebay/replay", body=json.dumps(request))

    def replays(self):
        return self._ok("GET", "/forebay/replays")

    def upstreams(self):
        return self._ok("GET", "/forebay/upstreams")["upstreams"]

    def upstream(self, name):
        return next(lane for lane in self.upstreams() if lane["name"] == name)

    def pause(self, upstream):
        return self._ok("POST", "/forebay/pause", {"upstream": upstream})

    def resume(self, upstream):
        return self._ok("POST", "/forebay/resume", {"upstream": upstream})

    def by_path(self, path):
        """The one event that was sent to `path` (with its query)."""
        found = [event for event in self.all_events() if event["path"] == path]
        assert len(found) == 1, f"{len(found)} events with path {path}"
        return found[0]

    def wait_state(self, path, state, timeout=10.0):
        """Waits until the event that was sent to `path` is in `state`, and returns all of it."""

        def probe():
            event = self.by_path(path)
            assert event["state"] == state, event
            return self.event(event["id"])

        return eventually(probe, timeout, f"{path} in state {state}")

    def wait_attempts(self, path, count, timeout=10.0):
        """Waits until `count` attempts of the event that was sent to `path` are written down."""

        def probe():
            event = self.by_path(path)
            assert int(event["attempts"]) >= count, event
            return event

        return eventually(probe, timeout, f"{path} with {count} attempts")

    def wait_totals(self, timeout=10.0, **wanted):
        def probe():
            totals = self.totals()
            assert {key: int(totals.get(key, 0)) for key in wanted} == wanted, totals
            return totals

        return eventually(probe, timeout, f"totals {wanted}")

    def stats(self):
        """Envoy's own flat stats, name to number, counters and gauges."""
        status, payload = self.raw("GET", "/stats", {"format": "json"})
        assert status == 200, payload
        return {s["name"]: s["value"] for s in json.loads(payload)["stats"] if "name" in s}

    def prometheus(self):
        status, payload = self.raw("GET", "/stats/prometheus")
        assert status == 200, payload
        return payload.decode()
