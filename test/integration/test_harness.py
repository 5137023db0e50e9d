"""The harness itself, with an Envoy that has no module: what it shows must be what was sent."""

import pytest

from harness import sender
from harness.app import RESET, Answer
from harness.config import cluster, route
from harness.launcher import Launcher


@pytest.fixture
def proxy(tmp_path, envoy_version):
    """A plain Envoy that passes everything to the app."""
    launcher = Launcher(tmp_path, envoy_version)
    app = launcher.app()
    config = launcher.config(app, clusters=[cluster("app", app.port)])
    config.with_module = False
    config.routes = [route("/")]
    config.routes[0].pop("direct_response")
    config.routes[0]["route"] = {"cluster": "app"}
    envoy = launcher.start(config)
    yield envoy, app
    launcher.close()


def test_app_sees_what_was_sent(proxy):
    """A request arrives at the app with its path, duplicate headers and bytes as they were."""
    envoy, app = proxy
    body = bytes(range(256))
    response = sender.post(envoy.port, "/a%2Fb?x=1", body, [("x-a", "1"), ("x-a", "2")])
    assert response.status == 200
    (request,) = app.wait_for(1)
    assert (request.method, request.path, request.body) == ("POST", "/a%2Fb?x=1", body)
    assert request.all("x-a") == ["1", "2"]


def test_scripts_and_chunks(proxy):
    """Scripts answer in order, chunked bodies with trailers are read, a reset is Envoy's 503."""
    envoy, app = proxy
    app.script("/s", Answer(418, body=b"tea"), Answer(action=RESET), Answer(204))
    response = sender.post_chunked(envoy.port, "/s", [b"ab", b"c"], trailers=[("x-t", "1")])
    assert response.status == 418
    assert sender.post(envoy.port, "/s").status == 503
    assert sender.post(envoy.port, "/s").status == 204
    assert app.seen("/s")[0].body == b"abc"


def test_http2(proxy):
    """The HTTP/2 sender carries a body larger than its flow-control window."""
    envoy, app = proxy
    body = b"z" * 200_000
    assert sender.post_http2(envoy.port, "/h2", body).status == 200
    assert app.wait_for(1)[0].body == body


def test_restart_and_kill(proxy):
    """Envoy comes back on the same ports after SIGKILL and SIGTERM."""
    envoy, app = proxy
    envoy.kill()
    envoy.start()
    assert sender.post(envoy.port, "/1").status == 200
    assert envoy.restart().is_running()
    assert sender.post(envoy.port, "/2").status == 200
    app.refuse()
    assert sender.post(envoy.port, "/3").status == 503
    app.start()
    assert sender.post(envoy.port, "/4").status == 200


def test_load_sender(proxy):
    """The ledger of the load sender agrees with what the app saw."""
    envoy, app = proxy
    with sender.LoadSender(envoy.port) as load:
        load.wait_acknowledged(200)
    seen = {request.one("x-key") for request in app.requests}
    assert set(load.acknowledged) <= seen <= load.sent
    assert not load.refused
