"""The ports: pyserial's device paths and URLs (``socket://``, ``rfc2217://``, ``loop://``). Nothing else does I/O.

Every failure of a port becomes one sentence here: what went wrong, and what to do about it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from tflm_sim.errors import TransportError, expect, whole_number
from tflm_sim.extras import install_command

DEFAULT_BAUD = 115200
READ_TIMEOUT_S = 0.1
READ_SIZE = 4096


class Port(Protocol):
    """A byte pipe to a board."""

    def read(self) -> bytes:
        """Return what arrived, b"" when nothing did for ``READ_TIMEOUT_S``; TransportError when the port is gone."""
        ...

    def write(self, data: bytes) -> None:
        """Send all of ``data``; TransportError when the port is gone."""
        ...

    def close(self) -> None:
        """Give the port back."""
        ...


@dataclass(frozen=True, slots=True)
class PortInfo:
    """A port of this machine: its path, what the system calls it, its USB ids and serial number ("" without)."""

    path: str
    description: str
    usb: str
    serial_number: str = ""


class SerialPort:
    """A port that pyserial opened (mutable: it can be closed).

    DTR and RTS stay as they are where the system lets them: on many boards they are wired to reset.
    """

    def __init__(self, name: str, device: Any) -> None:
        self.name = name
        self._device = device

    def __enter__(self) -> SerialPort:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self) -> bytes:
        """Return what arrived, b"" when nothing did for ``READ_TIMEOUT_S``.

        Raises:
            TransportError: The port is gone.
        """
        return self._guard(self._receive)

    def _receive(self) -> bytes:
        """Wait for the first byte, then take what is there: a socket only ever says that one byte waits.

        What arrived before the port was lost is returned; the loss shows at the next read.
        """
        data = bytes(self._device.read(1))
        with suppress(OSError, TypeError):
            while data and len(data) < READ_SIZE and (waiting := self._device.in_waiting):
                data += self._device.read(min(waiting, READ_SIZE - len(data)))
        return data

    def write(self, data: bytes) -> None:
        """Send all of ``data``; TransportError when the port is gone."""
        self._guard(lambda: self._send(data))

    def _send(self, data: bytes) -> bytes:
        self._device.write(data)
        self._device.flush()
        return b""

    def close(self) -> None:
        """Give the port back."""
        self._device.close()

    def _guard(self, action: Callable[[], bytes]) -> bytes:
        try:
            return action()
        except (OSError, TypeError) as error:  # pyserial reads a closed descriptor as None after an unplug
            raise TransportError(
                f"{self.name}: the connection is lost (unplugged, or the other side closed)"
            ) from error


def open_port(name: str, *, baud: int = DEFAULT_BAUD) -> SerialPort:
    """Open a device path, a pyserial URL, or a board by its USB ids or serial number (:func:`find_port`).

    Raises:
        TransportError: One sentence: pyserial is missing, no such port, permission denied, busy, nobody listens.
    """
    expect(name, str, "the name of a port")
    baud = whole_number(baud, "baud", -(2**31), 2**31 - 1)  # pyserial says which of them a port does
    serial = _pyserial()
    name = find_port(name)
    try:
        device = serial.serial_for_url(
            name, baudrate=baud, timeout=READ_TIMEOUT_S, write_timeout=5.0, exclusive=True, do_not_open=True
        )
        device.open()
    except Exception as error:  # What pyserial's readers of URLs raise is not only what it documents.
        raise TransportError(_sentence(name, baud, error)) from error
    return SerialPort(name, device)


def list_ports() -> list[PortInfo]:
    """Return the serial ports of this machine, by path.

    Raises:
        TransportError: pyserial is missing.
    """
    _pyserial()
    from serial.tools import list_ports as tools

    return sorted(
        (
            PortInfo(
                port.device,
                (port.description or "").removeprefix("n/a"),
                "" if port.vid is None else f"{port.vid:04x}:{port.pid:04x}",
                getattr(port, "serial_number", None) or "",
            )
            for port in tools.comports()
        ),
        key=lambda port: port.path,
    )


def find_port(name: str, *, ports: Callable[[], list[PortInfo]] | None = None) -> str:
    """Return the path of the port that ``name`` names now: a board that comes back may have another one.

    ``usb:VID:PID`` (hexadecimal) is a board by its USB ids, ``serial:NUMBER`` by its serial number; anything else is a
    path or a URL, and is returned as it is.

    Raises:
        TransportError: No port is that board, or several are.
    """
    kind, _, value = name.partition(":")
    if kind not in _SELECTORS or "//" in name:
        return name
    found = [port for port in (ports or list_ports)() if value and _SELECTORS[kind](port).lower() == value.lower()]
    if not found:
        raise TransportError(f"{name}: no such board is plugged in; 'tflm-sim board ports' lists the ones there are")
    if len(found) > 1:
        paths = ", ".join(port.path for port in found)
        raise TransportError(f"{name}: {len(found)} ports are that board ({paths}); name a path, or serial:NUMBER")
    return found[0].path


_SELECTORS: dict[str, Callable[[PortInfo], str]] = {
    "usb": lambda port: port.usb,
    "serial": lambda port: port.serial_number,
}


def _pyserial() -> Any:
    try:
        import serial
    except ImportError as error:
        raise TransportError(f"pyserial is not installed; install it with: {install_command('serial')}") from error
    return serial


def _sentence(name: str, baud: int, error: Exception) -> str:
    """Say in one sentence why a port cannot be opened."""
    number = _errno(error)
    known = {
        errno.EACCES: "permission denied; add yourself to its group (ls -l shows it, often dialout) and log in again",
        errno.EPERM: "permission denied; add yourself to its group (ls -l shows it, often dialout) and log in again",
        errno.EBUSY: "the port is busy; close the other program that has it open (a monitor, an IDE)",
        errno.EAGAIN: "the port is busy; close the other program that has it open (a monitor, an IDE)",
        errno.ENOENT: "there is no such port; 'tflm-sim board ports' lists the ones there are",
        errno.ENXIO: "there is no device behind this port; is it plugged in?",
        errno.ENODEV: "there is no device behind this port; is it plugged in?",
        errno.ENOTTY: "this is not a serial port",
        errno.EISDIR: "this is not a serial port",
        errno.EINVAL: f"the port does not do {baud} baud",
        errno.ECONNREFUSED: "nobody listens there; is the server or the emulator running?",
    }
    if number in known:
        return f"{name}: {known[number]}"
    text = str(error).lower()
    for word, sentence in (
        ("exclusively lock", known[errno.EBUSY]),
        ("refused", known[errno.ECONNREFUSED]),
        ("baud", known[errno.EINVAL]),
        ("protocol", "this kind of URL is unknown; use a device path, socket://, rfc2217:// or loop://"),
    ):
        if word in text:
            return f"{name}: {sentence}"
    if "://" in name and any(isinstance(link, ValueError | LookupError | re.error) for link in _chain(error)):
        return f"{name}: this URL cannot be read; write socket://HOST:PORT, rfc2217://HOST:PORT or loop://"
    return f"{name}: cannot be opened: {error}"


def _errno(error: BaseException | None) -> int:
    for link in _chain(error):
        for number in (getattr(link, "errno", None), *link.args[:1]):  # termios.error has it in args only
            if isinstance(number, int):
                return number
    return 0


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
