"""Fixtures: every test runs once per Envoy version (FOREBAY_ENVOY_VERSIONS restricts them)."""

import pytest

from harness.envoy import MODULE, chosen_versions
from harness.launcher import Launcher

_FAILED = pytest.StashKey()


@pytest.fixture(scope="session", params=chosen_versions())
def envoy_version(request):
    return request.param


@pytest.fixture(scope="session")
def module():
    assert MODULE.exists(), f"{MODULE} is not there: run ci/build"
    return MODULE


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        item.parent.stash[_FAILED] = True  # a module-wide fixture asks its module
    return report


@pytest.fixture
def launcher(request, tmp_path, envoy_version, module):
    """Starts what the test asks for; ends it, and looks for crashes, when the test is over."""
    made = Launcher(tmp_path, envoy_version)
    yield made
    made.close(failed=request.node.stash.get(_FAILED, False))


@pytest.fixture(scope="module")
def shared_launcher(request, tmp_path_factory, envoy_version, module):
    """The same for tests of one file that share an Envoy."""
    made = Launcher(tmp_path_factory.mktemp("shared"), envoy_version)
    yield made
    made.close(failed=request.node.stash.get(_FAILED, False))


@pytest.fixture
def app(launcher):
    return launcher.app()


@pytest.fixture
def envoy(launcher, app):
    """The plain case: one upstream, one source, fast retries."""
    return launcher.start(launcher.config(app))
