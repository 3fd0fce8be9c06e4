"""A conversation with a board: the loop around the sans-IO machines, the clock, and what happens when the port goes.

``watch`` listens, and comes back after an unplug; ``Session`` asks, and repeats a question whose answer was lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from tflm_sim.errors import BoardStatusError, BoardTimeoutError, TransportError
from tflm_sim.extensions.board.connection import CommandState, Connection
from tflm_sim.extensions.board.framing import FieldValue, encode_frame
from tflm_sim.extensions.board.link_events import Hello, LinkEvent, Reply
from tflm_sim.extensions.board.monitor import Monitor, MonitorEvent
from tflm_sim.extensions.board.transport import Port

SILENCE_S = 0.5
RECONNECT_S = 0.5
REPLY_TIMEOUT_S = 2.0
ATTEMPTS = 4

Clock = Callable[[], float]
T = TypeVar("T", Hello, Reply)


def watch(
    connect: Callable[[], Port],
    *,
    on_event: Callable[[MonitorEvent], None],
    on_status: Callable[[str], None],
    record: BinaryIO | None = None,
    keep_going: Callable[[], bool] = lambda: True,
    reconnect: bool = True,
    arena_size: int | None = None,
    clock: Clock = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Read a port and report its events until ``keep_going`` is false.

    A lost port is opened again as soon as it is there, under another name too where ``connect`` looks the board up;
    what was open in the log is then torn. Every byte that arrived is in ``record``, flushed, before anything else is
    done with it.

    Raises:
        TransportError: The port cannot be opened the first time, or is lost and ``reconnect`` is false.
    """
    port = connect()
    while keep_going():
        try:
            _listen(port, Monitor(arena_size), on_event, record, keep_going, clock)
        except TransportError as error:
            port.close()
            on_status(str(error))
            if not reconnect:
                raise
            again = _connect_again(connect, keep_going, sleep)
            if again is None:
                return
            port = again
            on_status("connected again")
    port.close()


def _listen(
    port: Port,
    monitor: Monitor,
    on_event: Callable[[MonitorEvent], None],
    record: BinaryIO | None,
    keep_going: Callable[[], bool],
    clock: Clock,
) -> None:
    last = clock()
    reason = "the monitor stops"
    try:
        while keep_going():
            data = port.read()
            if record is not None and data:
                record.write(data)
                record.flush()
            if data:
                last = clock()
            elif clock() - last < SILENCE_S:
                continue
            for event in monitor.feed(data) if data else monitor.idle():
                on_event(event)
    except TransportError:
        reason = "the connection was lost"
        raise
    finally:
        for event in monitor.close(reason):
            on_event(event)


def _connect_again(
    connect: Callable[[], Port], keep_going: Callable[[], bool], sleep: Callable[[float], None]
) -> Port | None:
    while keep_going():
        sleep(RECONNECT_S)
        try:
            return connect()
        except TransportError:
            continue
    return None


class Session:
    """Ask a board that runs the replay firmware (mutable).

    Args:
        port: An open port.
        on_event: Who is told of everything that is no answer.
        timeout: Seconds to wait for an answer before the question is repeated.
        clock: Seconds since any moment.
    """

    def __init__(
        self,
        port: Port,
        *,
        on_event: Callable[[LinkEvent], None] = lambda event: None,
        timeout: float = REPLY_TIMEOUT_S,
        clock: Clock = time.monotonic,
    ) -> None:
        self._port = port
        self._on_event = on_event
        self._timeout = timeout
        self._clock = clock
        self._connection = Connection()

    def hello(self) -> Hello:
        """Ask who is there.

        Raises:
            BoardTimeoutError: Nobody answers with a frame.
        """
        self._connection.forget()
        for attempt in range(ATTEMPTS):
            self._port.write(encode_frame(attempt, "ping", {}))
            found = self._wait(Hello, lambda hello: hello.ping >= 0)
            if found is not None:
                return found
        raise BoardTimeoutError("no answer: is the replay firmware on the board, and is the baud rate right?")

    def ask(self, kind: str, **fields: FieldValue) -> Reply:
        """Send a command and return its answer, whatever it says.

        Raises:
            BoardTimeoutError: No answer after several attempts.
            BoardStatusError: The board restarted meanwhile.
            TransportError: The port is gone.
        """
        data = self._connection.send(kind, **fields)
        for _ in range(ATTEMPTS):
            self._port.write(data)
            found = self._wait(Reply)
            if found is not None:
                return found
            if self._connection.state is CommandState.LOST:
                self._connection.forget()
                raise BoardStatusError(f"the board restarted during '{kind}'")
            data = self._connection.resend()
        self._connection.forget()
        raise BoardTimeoutError(f"no answer to '{kind}' after {ATTEMPTS} attempts")

    def _wait(self, wanted: type[T], fits: Callable[[T], bool] = lambda event: True) -> T | None:
        """Read until an event of the wanted kind; None when the time is over or the board restarted."""
        end = self._clock() + self._timeout
        found: T | None = None
        while found is None and self._clock() < end and self._connection.state is not CommandState.LOST:
            for event in self._connection.receive(self._port.read()):
                if found is None and isinstance(event, wanted) and fits(event):
                    found = event
                else:
                    self._on_event(event)
        return found
