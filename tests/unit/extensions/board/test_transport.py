import errno
import os
import socket
import termios
from pathlib import Path

import pytest

from tflm_sim.errors import TransportError
from tflm_sim.extensions.board import transport
from tflm_sim.extensions.board.transport import READ_SIZE, PortInfo, SerialPort, find_port, list_ports, open_port


def refusal(name: str, *, baud: int = 115200) -> str:
    with pytest.raises(TransportError) as caught:
        open_port(name, baud=baud)
    assert caught.value.exit_code == 5
    return str(caught.value)


def read_until_lost(port: SerialPort) -> None:
    for _ in range(3):
        port.read()


def test_a_loop_gives_back_what_was_sent() -> None:
    with open_port("loop://") as port:
        port.write(b"abc")
        assert port.read() == b"abc"
        assert port.read() == b""


def test_a_socket_is_a_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        with open_port(f"socket://127.0.0.1:{number}") as port:
            peer, _ = server.accept()
            peer.sendall(b"hello")
            assert port.read() == b"hello"
            peer.close()
            with pytest.raises(TransportError, match="the connection is lost"):
                read_until_lost(port)


def test_what_arrived_before_the_other_side_closed_is_not_lost() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        with open_port(f"socket://127.0.0.1:{number}") as port:
            peer, _ = server.accept()
            peer.sendall(b"last words")
            peer.close()
            assert port.read() == b"last words"


def test_a_missing_port_and_a_silent_server_are_one_sentence_each() -> None:
    assert refusal("/dev/nope") == "/dev/nope: there is no such port; 'tflm-sim board ports' lists the ones there are"
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    assert refusal(f"socket://127.0.0.1:{number}").endswith(
        "nobody listens there; is the server or the emulator running?"
    )


def test_what_is_no_port_is_told() -> None:
    assert refusal("/dev/null") == "/dev/null: this is not a serial port"
    assert refusal("/") == "/: this is not a serial port"
    assert "this kind of URL is unknown" in refusal("foo://x")


@pytest.mark.parametrize(
    "name", ["socket://x:y", "socket://[::1", "socket://127.0.0.1:99999999", "loop://?logging=x", "hwgrep://((("]
)
def test_a_url_that_says_nothing_is_told(name: str) -> None:
    sentence = f"{name}: this URL cannot be read; write socket://HOST:PORT, rfc2217://HOST:PORT or loop://"
    assert refusal(name) == sentence


@pytest.mark.parametrize("name", ["usb:", "serial:"])
def test_no_id_is_not_that_of_ports_without_one(name: str) -> None:
    with pytest.raises(TransportError, match=f"^{name}: no such board is plugged in"):
        find_port(name, ports=lambda: [PortInfo("/dev/ttyS0", "ttyS0", "")])


def test_a_port_that_another_program_holds_is_busy() -> None:
    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        with open_port(name):
            assert refusal(name).endswith(
                "the port is busy; close the other program that has it open (a monitor, an IDE)"
            )
    finally:
        os.close(master)
        os.close(slave)


def test_permission_denied_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    # As root every file can be opened, so the system's answer is given to pyserial here.
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert refusal("/dev/ttyUSB7").startswith("/dev/ttyUSB7: permission denied; add yourself to its group")


def test_a_baud_rate_that_the_port_does_not_do_is_told() -> None:
    master, slave = os.openpty()
    try:
        assert refusal(os.ttyname(slave), baud=-5).endswith("the port does not do -5 baud")
    finally:
        os.close(master)
        os.close(slave)


def test_an_unplugged_port_is_a_lost_connection() -> None:
    master, slave = os.openpty()
    attributes = termios.tcgetattr(slave)
    assert attributes
    with open_port(os.ttyname(slave)) as port:
        os.close(slave)
        os.close(master)
        with pytest.raises(TransportError, match="the connection is lost"):
            read_until_lost(port)


def test_one_reading_takes_what_waits_up_to_its_most() -> None:
    class Device:
        """Has so many bytes waiting."""

        def __init__(self, count: int) -> None:
            self.in_waiting = count

        def read(self, most: int) -> bytes:
            assert most > 0, "nothing was asked for"
            taken = min(most, self.in_waiting)
            self.in_waiting -= taken
            return b"x" * taken

    port = SerialPort("a", Device(READ_SIZE + 2))
    assert [len(port.read()) for _ in range(3)] == [READ_SIZE, 2, 0]


def test_without_pyserial_the_way_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *rest: object) -> object:
        if name == "serial":
            raise ImportError(name)
        return original(name, *rest)  # type: ignore[arg-type]

    import builtins

    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(TransportError, match=r"python.* -m pip install 'pyserial>=3\.5'$"):
        transport.open_port("loop://")


def test_ports_are_listed_by_path() -> None:
    paths = [port.path for port in list_ports()]
    assert paths == sorted(paths)
    assert all(Path(path).exists() for path in paths)


PORTS = [
    PortInfo("/dev/ttyACM0", "a", "303a:1001", "AA11"),
    PortInfo("/dev/ttyACM1", "b", "2e8a:000a", "BB22"),
    PortInfo("/dev/ttyACM2", "c", "2e8a:000a", "CC33"),
]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("usb:303A:1001", "/dev/ttyACM0"),
        ("serial:bb22", "/dev/ttyACM1"),
        ("/dev/ttyUSB0", "/dev/ttyUSB0"),
        ("socket://localhost:4444", "socket://localhost:4444"),
        ("COM3", "COM3"),
    ],
)
def test_a_board_is_found_by_what_does_not_change(name: str, path: str) -> None:
    assert find_port(name, ports=lambda: PORTS) == path


@pytest.mark.parametrize(
    ("name", "reason"),
    [("usb:1:2", "no such board"), ("usb:2e8a:000a", "2 ports are that board"), ("serial:x", "no such")],
)
def test_a_board_that_is_not_there_or_twice_is_a_sentence(name: str, reason: str) -> None:
    with pytest.raises(TransportError, match=reason):
        find_port(name, ports=lambda: PORTS)


def test_a_board_that_comes_back_under_another_name_is_followed() -> None:
    boards = [PORTS[:1], [], [PortInfo("/dev/ttyACM7", "a", "303a:1001", "AA11")]]
    assert find_port("serial:AA11", ports=lambda: boards[0]) == "/dev/ttyACM0"
    assert find_port("serial:AA11", ports=lambda: boards[2]) == "/dev/ttyACM7"
