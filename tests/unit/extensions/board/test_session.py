from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from tflm_sim.errors import BoardStatusError, BoardTimeoutError, TransportError
from tflm_sim.extensions.board.framing import Frame, encode_frame, split_line
from tflm_sim.extensions.board.link_events import Text, TornReport
from tflm_sim.extensions.board.monitor import MonitorEvent
from tflm_sim.extensions.board.session import ATTEMPTS, Session, watch
from tflm_sim.logs.lines import LineAssembler
from tflm_sim.logs.log_events import Message

FAILURE = b"Failed to resize buffer. Requested: 3, available 1, missing: 2\n"


class Clock:
    """Time that passes only when a port is read in vain."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ScriptedPort:
    """Gives out chunks; an exception in the list is raised instead."""

    def __init__(self, chunks: list[bytes | Exception], clock: Clock) -> None:
        self.chunks = chunks
        self.clock = clock
        self.written: list[bytes] = []
        self.closed = False
        self.on_write: Callable[[bytes], None] = lambda data: None

    def read(self) -> bytes:
        if not self.chunks:
            self.clock.now += 0.1
            return b""
        chunk = self.chunks.pop(0)
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    def write(self, data: bytes) -> None:
        self.written.append(data)
        self.on_write(data)

    def close(self) -> None:
        self.closed = True


class Watched:
    """What came of ``watch`` over scripted ports."""

    def __init__(self, *ports: list[bytes | Exception], seconds: float = 3.0, reconnect: bool = True) -> None:
        self.clock = Clock()
        self.ports = [ScriptedPort(chunks, self.clock) for chunks in ports]
        self.events: list[MonitorEvent] = []
        self.status: list[str] = []
        self.record = io.BytesIO()
        waiting = list(self.ports)
        attempts: list[int] = []

        def connect() -> ScriptedPort:
            attempts.append(1)
            if len(attempts) == 2:
                raise TransportError("not there yet")
            return waiting.pop(0)

        def sleep(seconds: float) -> None:
            self.clock.now += seconds

        watch(
            connect,
            on_event=self.events.append,
            on_status=self.status.append,
            record=self.record,
            keep_going=lambda: self.clock.now < seconds,
            reconnect=reconnect,
            clock=self.clock,
            sleep=sleep,
        )


def lost() -> TransportError:
    return TransportError("port: the connection is lost")


def test_an_unplugged_board_is_told_and_found_again() -> None:
    watched = Watched([b"one\n", lost()], [FAILURE])
    assert watched.status == ["port: the connection is lost", "connected again"]
    assert [event.raw.data for event in watched.events if isinstance(event, Text)] == [b"one", FAILURE.strip()]
    assert len([event for event in watched.events if isinstance(event, Message)]) == 1
    assert [port.closed for port in watched.ports] == [True, True]


def test_the_record_is_complete_up_to_the_byte_where_the_connection_went() -> None:
    begin = encode_frame(0, "begin", {"v": 1, "r": 1, "arena": 16, "skew": 0})
    watched = Watched([begin, b"half a li", lost()], [b"next\n"])
    assert watched.record.getvalue() == begin + b"half a li" + b"next\n"
    assert TornReport(0, 1, "the connection was lost") in watched.events


def test_without_reconnecting_the_loss_ends_the_watch_after_the_last_events() -> None:
    with pytest.raises(TransportError, match="the connection is lost"):
        Watched([FAILURE, lost()], reconnect=False)


def test_silence_finishes_a_report() -> None:
    text = b"".join(
        b"[RecordingMicroAllocator] Arena allocation %s %d bytes\n" % row
        for row in ((b"total", 3), (b"head", 1), (b"tail", 2))
    )
    watched = Watched([text], seconds=1.0)
    assert "AllocationReport" in [type(event).__name__ for event in watched.events]


class Device:
    """Answers frames like a board; ``lose`` answers are lost first."""

    def __init__(self, port: ScriptedPort, *, lose: int = 0) -> None:
        self.assembler = LineAssembler()
        self.port = port
        self.lose = lose
        self.carried_out: list[int] = []
        self.sequence = 0
        port.on_write = self.take

    def take(self, data: bytes) -> None:
        for line in self.assembler.feed(data):
            for frame in split_line(line)[0]:
                assert isinstance(frame, Frame)
                self.answer(frame)

    def answer(self, frame: Frame) -> None:
        if frame.type == "ping":
            self.say("hello", v=1, app="test", room=64, buffers=4, q=frame.sequence)
            return
        if frame.sequence not in self.carried_out:
            self.carried_out.append(frame.sequence)
        if self.lose:
            self.lose -= 1
            return
        self.say("ok", q=frame.sequence, o=7)

    def say(self, kind: str, **fields: int | str) -> None:
        self.port.chunks.append(encode_frame(self.sequence, kind, fields))
        self.sequence += 1


def session(**options: int) -> tuple[Session, Device, ScriptedPort]:
    clock = Clock()
    port = ScriptedPort([], clock)
    device = Device(port, **options)
    return Session(port, clock=clock), device, port


def test_a_board_says_who_it_is_and_answers() -> None:
    asked, device, _ = session()
    assert (asked.hello().app, asked.hello().ping) == ("test", 0)
    assert [asked.ask("open", v=1).number("o") for _ in range(3)] == [7, 7, 7]
    assert device.carried_out == [0, 1, 2]


def test_a_lost_answer_is_asked_for_again_and_the_command_is_carried_out_once() -> None:
    asked, device, port = session(lose=2)
    assert asked.ask("open", v=1).number("o") == 7
    assert len(port.written) == 3
    assert len(set(port.written)) == 1
    assert device.carried_out == [0]


def test_a_silent_board_is_given_up_after_some_attempts() -> None:
    asked, _, port = session(lose=99)
    with pytest.raises(BoardTimeoutError, match="no answer to 'open' after 4 attempts"):
        asked.ask("open")
    assert len(port.written) == ATTEMPTS


def test_a_port_without_the_firmware_is_told() -> None:
    port = ScriptedPort([b"I (12) boot: hello\n"], clock := Clock())
    with pytest.raises(BoardTimeoutError, match="is the replay firmware on the board"):
        Session(port, clock=clock).hello()


def test_a_restart_during_a_command_is_told() -> None:
    asked, device, _ = session(lose=99)
    device.say("hello", v=1, app="test", room=64, buffers=4)
    with pytest.raises(BoardStatusError, match="the board restarted during 'open'"):
        asked.ask("open")
