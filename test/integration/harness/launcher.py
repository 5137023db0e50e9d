"""Starts Envoys and apps for tests, and ends them all."""

import pathlib

from harness.app import App
from harness.config import Config, cluster, upstream
from harness.envoy import Envoy


class Launcher:
    def __init__(self, directory, version):
        self.directory = pathlib.Path(directory)
        self.version = version
        self._envoys = []
        self._apps = []

    def store_path(self, name="store"):
        return self.directory / name

    def app(self):
        self._apps.append(App().start())
        return self._apps[-1]

    def config(self, app=None, upstreams=None, **fields):
        """One Envoy before `app`; a cluster for every upstream unless `clusters` is given."""
        upstreams = [upstream()] if upstreams is None else upstreams
        clusters = fields.pop("clusters", None)
        if clusters is None:
            names = dict.fromkeys(entry["cluster"] for entry in upstreams)
            clusters = [cluster(name, app.port) for name in names]
        return Config(self.store_path(), upstreams, clusters, **fields)

    def envoy(self, config, **options):
        """An Envoy that is not started yet."""
        workdir = self.directory / f"envoy-{len(self._envoys)}"
        self._envoys.append(Envoy(config, workdir, self.version, **options))
        return self._envoys[-1]

    def start(self, config, **options):
        return self.envoy(config, **options).start()

    def close(self, failed=False):
        """Ends everything. A test that passed so far fails here if an Envoy misbehaved."""
        problems = []
        for envoy in self._envoys:
            try:
                if failed:
                    print(f"--- {envoy.log.path}\n{envoy.log.tail(60)}")
                else:
                    envoy.close()
            except AssertionError as error:
                problems.append(str(error))
            finally:
                envoy.abandon()
        for app in self._apps:
            app.close()
        assert not problems, "\n".join(problems)
