"""The real Envoy with the module and both references in one process, on ports of their own."""

import dataclasses
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
TYPE = "type.googleapis.com/"
EXTENSIONS = TYPE + "envoy.extensions."

# What the direct reference gets from wrk's 64 connections, the lanes get too.
CONCURRENCY = 64


@dataclasses.dataclass(frozen=True)
class Upstream:
    """Captured on a listener of its own name, unless several share one: then by path."""

    name: str
    concurrency_max: int = CONCURRENCY
    cluster: str = "app"
    listener: str = ""

    def config(self):
        return {"name": self.name, "cluster": self.cluster,
                "concurrency_max": self.concurrency_max, "circuit_breaker": {"ramp": "0s"}}


class Broken(Exception):
    """Something that must work does not: no figure means anything any more."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def address(port):
    return {"socket_address": {"address": HOST, "port_value": port}}


def struct(value):
    return {"@type": TYPE + "google.protobuf.Struct", "value": value}


def listener(name, port, filters, route, prefixed=()):
    manager = {
        "@type": EXTENSIONS
        + "filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name,
        "http_filters": filters + [{
            "name": "envoy.filters.http.router",
            "typed_config": {"@type": EXTENSIONS + "filters.http.router.v3.Router"},
        }],
        "route_config": {"virtual_hosts": [{
            "name": name,
            "domains": ["*"],
            "routes": [*prefixed, {"match": {"prefix": "/"}, **route}],
        }]},
    }
    return {
        "name": name,
        "address": address(port),
        "filter_chains": [{"filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": manager,
        }]}],
    }


def cluster(name, port):
    endpoint = {"endpoint": {"address": address(port)}}
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def buffer_filter():
    return {
        "name": "envoy.filters.http.buffer",
        "typed_config": {
            "@type": EXTENSIONS + "filters.http.buffer.v3.Buffer",
            "max_request_bytes": 1 << 20,
        },
    }


def capture_filter(upstream):
    return {
        "name": "envoy.filters.http.dynamic_modules",
        "typed_config": {
            "@type": EXTENSIONS + "filters.http.dynamic_modules.v3.DynamicModuleFilter",
            "dynamic_module_config": {"name": "forebay", "do_not_close": True},
            "filter_name": "capture",
            "filter_config": struct({"source": "bench", "upstream": upstream}),
        },
    }


def captured_route(upstream, route):
    """What comes for `/NAME/` is captured for that upstream."""
    return {
        "match": {"prefix": f"/{upstream}/"}, **route,
        "typed_per_filter_config": {"envoy.filters.http.dynamic_modules": {
            "@type": EXTENSIONS + "filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute",
            "dynamic_module_config": {"name": "forebay", "do_not_close": True},
            "filter_name": "capture",
            "filter_config": struct({"source": "bench", "upstream": upstream}),
        }},
    }


def bootstrap_extension(store, upstreams):
    return {
        "name": "envoy.bootstrap.dynamic_modules",
        "typed_config": {
            "@type": EXTENSIONS + "bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension",
            "dynamic_module_config": {"name": "forebay", "do_not_close": True},
            "extension_name": "forebay",
            "extension_config": struct({
                "store": {"path": str(store)},
                "upstreams": [upstream.config() for upstream in upstreams],
            }),
        },
    }


class EnvoyUnderTest:
    """Ports: `a` is the HTTP ceiling (buffer filter, direct answer), `b` the plain proxy to the
    cluster `app`; the others are capture listeners. `clusters` maps names to local ports."""

    def __init__(self, command, directory, clusters, upstreams):
        self.captures = {}  # listener to its upstreams
        for upstream in upstreams:
            self.captures.setdefault(upstream.listener or upstream.name, []).append(upstream)
        names = ["admin", "a", "b", *self.captures]
        self.ports = dict(zip(names, free_ports(len(names))))
        self.directory = directory
        self.config = self._config(clusters, upstreams)
        path = directory / "envoy.json"
        path.write_text(json.dumps(self.config, indent=1))
        self.log_path = directory / "envoy.log"
        environment = dict(os.environ)
        environment.setdefault(
            "ENVOY_DYNAMIC_MODULES_SEARCH_PATH", str(ROOT / "dist/forebay/lib"))
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, "-c", str(path), "--concurrency", "1", "--disable-hot-restart",
                 "--log-level", "warning", "--drain-time-s", "1"],
                stdout=log, stderr=log, env=environment)

    def _config(self, clusters, upstreams):
        ports = self.ports
        # What the capture filter lets pass must show up as an error, not as a fast answer.
        missed = {"direct_response": {"status": 404}}
        listeners = [
            listener("a", ports["a"], [buffer_filter()], {"direct_response": {"status": 200}}),
            listener("b", ports["b"], [], {"route": {"cluster": "app"}}),
        ]
        listeners += [
            listener(name, ports[name], [capture_filter(captured[0].name)], missed,
                     [captured_route(each.name, missed) for each in captured])
            for name, captured in self.captures.items()
        ]
        config = {
            "admin": {"address": address(ports["admin"])},
            "static_resources": {
                "listeners": listeners,
                "clusters": [cluster(name, port) for name, port in clusters.items()],
            },
        }
        if upstreams:
            config["bootstrap_extensions"] = [
                bootstrap_extension(self.directory / "store", upstreams)]
        return config

    def url(self, port_name):
        return f"http://{HOST}:{self.ports[port_name]}/"

    def wait_until_ready(self, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Broken(f"Envoy ended with {self.process.returncode}:\n{self.log_tail()}")
            try:
                if ask(self.ports["admin"], "GET", "/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise Broken(f"Envoy is not ready after {seconds} s:\n{self.log_tail()}")

    def admin(self, method, path):
        status, body = ask(self.ports["admin"], method, path)
        if status != 200:
            raise Broken(f"{method} {path}: {status} {body[:300]!r}")
        return json.loads(body or b"{}")

    def upstream(self, name):
        for each in self.admin("GET", "/forebay/upstreams")["upstreams"]:
            if each["name"] == name:
                return each
        raise Broken(f"GET /forebay/upstreams does not know {name}")

    def backlog(self, name):
        return int(self.upstream(name).get("backlog", 0))

    def log_tail(self):
        return self.log_path.read_text(errors="replace")[-4000:]

    def stop(self):
        """True when Envoy ended by itself and cleanly."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=30) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


def ask(port, method, path):
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request(method, path, headers={"content-length": "0"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
