"""The page's server: who may ask it, and for how long it listens to somebody who says nothing."""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
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


def test_a_client_that_never_ends_its_request_is_left(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REQUEST_SECONDS", 1)
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as slow, suppress(ConnectionError):
        while time.monotonic() - start < 10:
            slow.sendall(b"G")
            time.sleep(0.1)
    assert time.monotonic() - start < 8


def test_a_client_that_goes_away_leaves_no_traceback(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(20):
        client = socket.create_connection(("127.0.0.1", port), timeout=5)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20)
        client.close()
    test_only_this_machine_is_answered_under_its_own_name("127.0.0.1:{}", 200, port)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_thousand_clients_that_say_nothing_keep_nobody_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
    try:
        with ExitStack() as stack:
            address = ("127.0.0.1", port)
            idle = [stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(1000)]
            test_only_this_machine_is_answered_under_its_own_name("127.0.0.1:{}", 200, port)
            test_only_this_machine_is_answered_under_its_own_name("evil.example:{}", 421, port)
            assert [client.recv(1) for client in idle] == [b""] * 1000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
