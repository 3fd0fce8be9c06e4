"""The page's server: who may ask it, and for how long it listens to somebody who says nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from tflm_sim.extensions.page import cli as module


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.5)
    with module.make_server({"index.html": b"page"}, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("host", "status"), [("127.0.0.1:{}", 200), ("localhost:{}", 200), ("evil.example:{}", 421), ("127.0.0.1", 421)]
)
def test_only_this_machine_is_answered_under_its_own_name(host: str, status: int, port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", "/", headers={"Host": host.format(port)})
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (status, b"page" if status == 200 else b"")


def test_a_client_that_says_nothing_is_left(port: int) -> None:
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as idle:
        assert idle.recv(1) == b""
    assert time.monotonic() - start < 5
