"""Builds Envoy's configuration as Python dicts."""

import copy

from harness.ports import free_port

_MODULE = {"name": "forebay", "do_not_close": True}
_STRUCT = "type.googleapis.com/google.protobuf.Struct"
_FILTER = "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3."
_HCM = (
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3"
    ".HttpConnectionManager"
)
FILTER_NAME = "envoy.filters.http.dynamic_modules"

# Fast and exact: 50 ms between attempts, no jitter.
FAST_RETRY = {"schedule": {"delays": ["0s", "0.05s"]}, "jitter": {"kind": "NONE"}}


def _struct(value):
    return {"@type": _STRUCT, "value": value}


def upstream(name="app", cluster=None, **fields):
    """One entry of the bootstrap's `upstreams`, with fast retries unless told otherwise."""
    entry = {"name": name, "cluster": cluster or name, "retry": copy.deepcopy(FAST_RETRY)}
    entry.update(fields)
    return entry


def retry(*delays, **fields):
    """A `schedule` of the given seconds before the second, third, … attempt, without jitter."""
    entry = {
        "schedule": {"delays": ["0s"] + [f"{delay:g}s" for delay in delays]},
        "jitter": {"kind": "NONE"},
    }
    entry.update(fields)
    return entry


def capture(source="demo", upstream_name="app", **fields):
    """The `capture` filter's own config."""
    return {"source": source, "upstream": upstream_name, **fields}


def capture_filter(config):
    return {
        "name": FILTER_NAME,
        "typed_config": {
            "@type": _FILTER + "DynamicModuleFilter",
            "dynamic_module_config": _MODULE,
            "filter_name": "capture",
            "filter_config": _struct(config),
        },
    }


def per_route(config):
    """`typed_per_filter_config` that captures with another config on one route."""
    return {
        FILTER_NAME: {
            "@type": _FILTER + "DynamicModuleFilterPerRoute",
            "dynamic_module_config": _MODULE,
            "filter_name": "capture",
            "filter_config": _struct(config),
        }
    }


def route(prefix, status=200, body="route", typed_per_filter_config=None):
    """A route that answers by itself: what a request meets that is not captured."""
    entry = {
        "match": {"prefix": prefix},
        "direct_response": {"status": status, "body": {"inline_string": body}},
    }
    if typed_per_filter_config:
        entry["typed_per_filter_config"] = typed_per_filter_config
    return entry


def cluster(name, *ports, **fields):
    """A static cluster of local apps; without ports it has no hosts."""
    endpoints = [
        {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
        for port in ports
    ]
    entry = {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
    }
    entry.update(fields)
    return entry


class Config:
    """One Envoy with one listener. Change the attributes, then `build()`."""

    def __init__(self, store_path, upstreams=None, clusters=None, capture_config=None):
        self.store = {"path": str(store_path), "free_disk_min_bytes": 1048576}
        self.upstreams = [upstream()] if upstreams is None else upstreams
        self.clusters = clusters or []
        self.capture = capture() if capture_config is None else capture_config
        self.routes = [route("/")]
        self.port = free_port()
        self.admin_port = free_port()
        self.with_module = True
        self.lds_path = None
        self.stat_prefix = "ingress"

    def engine(self):
        return {"store": self.store, "upstreams": self.upstreams}

    def listener(self):
        filters = [{
            "name": "envoy.filters.http.router",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
            },
        }]
        if self.with_module and self.capture is not None:
            filters.insert(0, capture_filter(self.capture))
        manager = {
            "@type": _HCM,
            "stat_prefix": self.stat_prefix,
            "codec_type": "AUTO",
            "http_filters": filters,
            "route_config": {
                "name": "local",
                "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": self.routes}],
            },
        }
        return {
            "name": "main",
            "address": {"socket_address": {"address": "127.0.0.1", "port_value": self.port}},
            "filter_chains": [{
                "filters": [{
                    "name": "envoy.filters.network.http_connection_manager",
                    "typed_config": manager,
                }]
            }],
        }

    def build(self):
        built = {
            "node": {"id": "test", "cluster": "test"},
            "admin": {
                "address": {
                    "socket_address": {"address": "127.0.0.1", "port_value": self.admin_port}
                }
            },
            "static_resources": {"clusters": self.clusters},
        }
        if self.lds_path:
            built["dynamic_resources"] = {
                "lds_config": {"path_config_source": {"path": str(self.lds_path)}}
            }
        else:
            built["static_resources"]["listeners"] = [self.listener()]
        if self.with_module:
            built["bootstrap_extensions"] = [bootstrap_extension(self.engine())]
        return built


def bootstrap_extension(engine):
    return {
        "name": "envoy.bootstrap.dynamic_modules",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.bootstrap.dynamic_modules.v3"
            ".DynamicModuleBootstrapExtension",
            "dynamic_module_config": _MODULE,
            "extension_name": "forebay",
            "extension_config": _struct(engine),
        },
    }


def lds_file(listener):
    """The content of a file-based LDS answer."""
    typed = {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", **listener}
    return {"version_info": "1", "resources": [typed]}
