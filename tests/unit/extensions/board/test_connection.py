import zlib

import pytest

from tflm_sim.errors import LocalProtocolError
from tflm_sim.extensions.board.connection import (
    COMMAND_TRANSITIONS,
    REPORT_TRANSITIONS,
    CommandState,
    Connection,
    LinkInput,
    ReportState,
)
from tflm_sim.extensions.board.framing import BadFrame, FieldValue, Frame, encode_frame
from tflm_sim.extensions.board.link_events import (
    CountedBack,
    DuplicateFrame,
    Gap,
    Hello,
    LinkEvent,
    Reply,
    Text,
    TornReport,
    UnknownFrame,
)
from tflm_sim.extensions.board.report_builder import ReportCandidates
from tflm_sim.logs.arena_report import ArenaReport, HighWater
from tflm_sim.logs.log_events import CategoryUse, PlanBuffer

Row = tuple[str, dict[str, FieldValue]]


def report(number: int = 1, sequence: int = 0, *, used: int = 100, version: int = 1) -> list[bytes]:
    """The frames of a report of eight lines."""
    rows: list[Row] = [
        ("begin", {"v": version, "r": number, "arena": 1072, "skew": 0}),
        ("info", {"r": number, "k": "target", "s": "cortex-m4"}),
        ("model", {"r": number, "size": 2704, "crc": "00c0ffee"}),
        ("used", {"r": number, "total": used, "head": 32, "tail": used - 32}),
        ("cat", {"r": number, "k": 6, "u": 8, "q": 6, "c": 2}),
        ("buf", {"r": number, "i": 0, "s": 16, "o": 0, "f": -1, "l": 3}),
        ("high", {"r": number, "touched": 700, "gap": 372, "at": 32}),
    ]
    frames = [encode_frame(sequence + index, kind, fields) for index, (kind, fields) in enumerate(rows)]
    digest = 0
    for frame in frames:
        digest = zlib.crc32(int(frame.strip()[-8:], 16).to_bytes(4, "big"), digest)
    return [*frames, encode_frame(sequence + 7, "end", {"r": number, "n": 7, "x": f"{digest:08x}"})]


def receive(*frames: bytes) -> list[LinkEvent]:
    connection = Connection()
    return [*connection.receive(b"".join(frames)), *connection.close()]


def kinds(events: list[LinkEvent]) -> list[type]:
    return [type(event) for event in events]


def test_a_whole_report_is_believed_field_by_field() -> None:
    (event,) = receive(*report())
    assert isinstance(event, ArenaReport)
    assert event == ArenaReport(
        first_line=1,
        last_line=8,
        number=1,
        arena_size=1072,
        skew=0,
        info=(("target", "cortex-m4"),),
        model_size=2704,
        model_crc32=0xC0FFEE,
        total=100,
        head=32,
        tail=68,
        categories=(CategoryUse("OP_DATA", 8, 6, 2),),
        buffers=(PlanBuffer(0, 16, 0, -1, 3),),
        high_water=HighWater(700, 372, 32),
        digest=event.digest,
    )


@pytest.mark.parametrize("lost", range(8))
def test_a_report_that_lost_any_line_is_never_believed(lost: int) -> None:
    frames = report()
    events = receive(*frames[:lost], *frames[lost + 1 :])
    assert ArenaReport not in kinds(events)
    assert TornReport in kinds(events)


@pytest.mark.parametrize("changed", range(8))
def test_a_line_of_another_report_never_gets_into_one(changed: int) -> None:
    """Same number, same sequence, another content: what a restart with other firmware can mix up."""
    ours, other = report(used=100), report(used=200)
    events = receive(*ours[:changed], other[changed], *ours[changed + 1 :])
    believed = [event.total for event in events if isinstance(event, ArenaReport)]
    assert believed == ([] if ours[changed] != other[changed] else [100])


def test_lines_that_come_twice_are_dropped_and_said() -> None:
    frames = report()
    events = receive(frames[0], frames[0], *frames[1:4], frames[2], *frames[4:])
    assert kinds(events).count(ArenaReport) == 1
    assert [event.sequence for event in events if isinstance(event, DuplicateFrame)] == [0, 2]


def test_lines_in_another_order_are_not_the_report() -> None:
    frames = report()
    events = receive(frames[0], frames[2], frames[1], *frames[3:])
    assert [event.reason for event in events if isinstance(event, TornReport)] == [
        "its lines are not those that its end was computed over"
    ]


def test_a_gap_names_the_missing_numbers() -> None:
    frames = report()
    gaps = [event for event in receive(frames[0], *frames[3:]) if isinstance(event, Gap)]
    assert [(gap.expected, gap.got) for gap in gaps] == [(1, 3)]


def test_a_reset_in_the_middle_tears_the_report_and_the_next_one_is_whole() -> None:
    hello = encode_frame(0, "hello", {"v": 1, "app": "demo", "room": 0, "buffers": 0})
    events = receive(*report()[:4], hello, *report(sequence=1))
    assert kinds(events) == [TornReport, Hello, ArenaReport]
    assert events[0] == TornReport(5, 1, "the device restarted")


def test_a_begin_in_the_middle_and_the_end_of_the_log_tear_too() -> None:
    events = receive(*report(1)[:3], *report(2, sequence=3)[:2])
    assert [event.reason for event in events if isinstance(event, TornReport)] == [
        "another begins before its end",
        "the log ends",
    ]


def test_another_schema_is_refused_by_its_number() -> None:
    events = receive(*report(version=2))
    assert UnknownFrame(1, "schema 2: this version reads 1") in events
    assert ArenaReport not in kinds(events)


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("disco", {}, "the type 'disco' is unknown"),
        ("used", {"r": 1, "head": 1}, "'used' has no number 'total'"),
        ("info", {"r": 1, "k": "a", "s": 3}, "'info' has no text 's'"),
        ("cat", {"r": 1, "k": 8, "u": 1, "q": 1, "c": 1}, "category 8 is unknown"),
        ("model", {"r": 1, "size": 1, "crc": "xyz"}, "'model' has no CRC of eight digits"),
    ],
)
def test_whole_frames_with_wrong_fields_are_ignored_and_named(
    kind: str, fields: dict[str, FieldValue], reason: str
) -> None:
    assert receive(encode_frame(0, kind, fields)) == [UnknownFrame(1, reason)]


def test_fields_that_we_do_not_know_are_no_error() -> None:
    (event,) = receive(encode_frame(0, "hello", {"v": 1, "app": "x", "room": 1, "buffers": 2, "later": "y"}))
    assert event == Hello(1, -1, "x", 1, 2)


def test_other_text_passes_by_and_keeps_its_line_number() -> None:
    events = receive(b"boot\r\n", *report()[:1], b"I (3) wifi: up\r\n", *report()[1:])
    assert [event.raw.data for event in events if isinstance(event, Text)] == [b"boot", b"I (3) wifi: up"]
    assert kinds(events).count(ArenaReport) == 1


def test_damage_is_named_and_does_not_stop_the_rest() -> None:
    events = receive(report()[1][:-9] + b"\r\n", *report())
    assert kinds(events) == [Text, BadFrame, ArenaReport]


# Commands.


def answer(kind: str, sequence: int = 0, **fields: FieldValue) -> bytes:
    return encode_frame(sequence, kind, fields)


def test_one_command_at_a_time() -> None:
    connection = Connection()
    assert connection.send("open", v=1) == encode_frame(0, "open", {"v": 1})
    with pytest.raises(LocalProtocolError, match="a command waits for its reply"):
        connection.send("close")
    (reply,) = connection.receive(answer("ok", q=0, o=5))
    assert isinstance(reply, Reply)
    assert (reply.type, reply.command, reply.number("o")) == ("ok", 0, 5)
    assert connection.send("close") == encode_frame(1, "close", {})


def test_a_command_is_repeated_byte_for_byte() -> None:
    connection = Connection()
    with pytest.raises(LocalProtocolError, match="no command to repeat"):
        connection.resend()
    assert connection.send("open") == connection.resend()


def test_a_reply_to_another_command_is_not_taken() -> None:
    connection = Connection()
    connection.send("open")
    events = connection.receive(answer("ok", q=9, o=0))
    assert events == [UnknownFrame(1, "a reply to command 9, which is not under way")]
    assert connection.state is CommandState.AWAITING


def test_a_restart_during_a_command_is_noticed_and_a_ping_is_no_restart() -> None:
    connection = Connection()
    connection.send("open")
    connection.receive(answer("hello", v=1, app="x", room=1, buffers=1, q=0))
    assert connection.state is CommandState.AWAITING
    connection.receive(answer("hello", 1, v=1, app="x", room=1, buffers=1))
    assert connection.state is CommandState.LOST
    with pytest.raises(LocalProtocolError, match="restarted"):
        connection.send("close")
    connection.forget()
    assert connection.state is CommandState.IDLE


def test_sequence_numbers_wrap() -> None:
    connection = Connection()
    for _ in range(65536):
        connection.send("x")
        connection.forget()
    assert b"$TSIM,0,x" in connection.send("x")
    frames = [encode_frame(sequence % 65536, "end", {"r": 1, "n": 1, "x": "0" * 8}) for sequence in (65535, 65536)]
    assert Gap not in kinds(receive(*frames))


# Resets without a hello, and the count of frames.


def small(number: int, sequence: int, high: int) -> list[bytes]:
    """begin, high, used, end of a report as a device sends it that counts its frames from ``sequence``."""
    rows: list[Row] = [
        ("begin", {"v": 1, "r": number, "arena": 1072, "skew": 0}),
        ("high", {"r": number, "touched": high, "gap": 0, "at": 0}),
        ("used", {"r": number, "total": 100}),
    ]
    frames = [encode_frame((sequence + index) % 65536, kind, fields) for index, (kind, fields) in enumerate(rows)]
    digest = 0
    for frame in frames:
        digest = zlib.crc32(int(frame.strip()[-8:], 16).to_bytes(4, "big"), digest)
    return [*frames, encode_frame((sequence + 3) % 65536, "end", {"r": number, "n": 3, "x": f"{digest:08x}"})]


def test_a_report_after_a_reset_in_the_middle_of_the_first_one_is_believed() -> None:
    """begin, high(100), reset, begin, high(101), used, end: the same begin again, from the same count of frames."""
    first, second = small(1, 0, 100), small(1, 0, 101)
    events = receive(*first[:2], *second)
    (report,) = [event for event in events if isinstance(event, ArenaReport)]
    assert report.high_water == HighWater(101, 0, 0)
    assert [event.reason for event in events if isinstance(event, TornReport)] == ["the device restarted"]


def test_several_resets_in_a_row_lose_nothing_whole() -> None:
    events = receive(*small(1, 0, 1)[:2], *small(1, 0, 2)[:3], *small(1, 0, 3)[:1], *small(1, 0, 4))
    assert [event.high_water for event in events if isinstance(event, ArenaReport)] == [HighWater(4, 0, 0)]


def test_of_five_readings_of_a_report_the_oldest_is_forgotten() -> None:
    begins = [Frame(line, line, "begin", (("v", 1), ("r", 1), ("arena", line)), line) for line in range(5)]
    readings = ReportCandidates()
    for begin in begins:
        readings.open(begin)
    assert [readings.begins_with(begin) for begin in begins] == [False, True, True, True, True]


def test_where_no_report_is_open_it_has_no_lines() -> None:
    assert ReportCandidates().line_count == 0


def test_a_begin_that_the_wire_doubled_later_is_no_reset() -> None:
    frames = small(1, 0, 100)
    events = receive(*frames[:2], frames[0], *frames[2:])
    assert kinds(events).count(ArenaReport) == 1
    assert TornReport not in kinds(events)


def test_an_end_that_comes_twice_is_no_torn_report() -> None:
    frames = small(1, 0, 100)
    events = receive(*frames, b"text\r\n", *small(2, 4, 5)[:1], frames[-1], *small(2, 4, 5)[1:])
    assert kinds(events).count(ArenaReport) == 2
    assert TornReport not in kinds(events)


def test_a_restart_is_no_gap_and_a_wrap_is_nothing_at_all() -> None:
    """A plain reporter counts from 0 after its reboot: that was "frames 15 to -1 are missing"."""
    restarted = receive(*small(1, 11, 1), *small(1, 0, 2))
    assert [event for event in restarted if isinstance(event, Gap | CountedBack)] == [CountedBack(5, 15, 0)]
    assert kinds(receive(*small(1, 65534, 1), *small(2, 2, 2))) == [ArenaReport, ArenaReport]


def test_a_gap_over_the_wrap_counts_what_is_missing() -> None:
    (gap,) = [event for event in receive(*small(1, 65530, 1), *small(2, 2, 2)) if isinstance(event, Gap)]
    assert (gap.expected, gap.got, gap.missing) == (65534, 2, 4)  # 65534, 65535, 0, 1


def test_what_is_missing_is_a_gap_up_to_half_the_numbers_and_a_way_back_beyond() -> None:
    for sequence, said in ((32_768, Gap), (32_769, CountedBack)):  # 1 was expected: 32,767 and 32,768 of 65,536 missing
        events = receive(*small(1, 0, 1)[:1], small(1, sequence - 1, 1)[1])
        assert [type(event) for event in events if isinstance(event, Gap | CountedBack)] == [said]


def test_one_line_that_comes_late_does_not_make_the_next_ones_missing() -> None:
    frames = [*small(1, 0, 1), *small(2, 4, 2)]
    events = receive(*frames[:5], frames[1], *frames[5:])
    assert [event for event in events if isinstance(event, Gap | CountedBack)] == [CountedBack(6, 5, 1)]


def test_a_report_that_never_ends_is_given_up() -> None:
    begin = encode_frame(0, "begin", {"v": 1, "r": 1, "arena": 1072, "skew": 0})
    lines = [encode_frame(i % 65536, "high", {"r": 1, "touched": i, "gap": 0, "at": 0}) for i in range(1, 16400)]
    torn = [event for event in receive(begin, *lines) if isinstance(event, TornReport)]
    assert torn == [TornReport(16385, 1, "it has more than 16,384 lines")]


def test_every_state_has_a_row_for_what_can_happen_in_it() -> None:
    always = {LinkInput.OUTSIDE_REPORT, LinkInput.START, LinkInput.CLOSE, LinkInput.BEGIN, LinkInput.FOREIGN}
    for state in ReportState:
        rows = {given for at, given in REPORT_TRANSITIONS if at is state}
        assert rows >= always
    assert all((state, LinkInput.GIVE_UP) in COMMAND_TRANSITIONS for state in CommandState)
    assert all(hasattr(Connection, action) for _, action in REPORT_TRANSITIONS.values() if action)


def test_a_failure_report_has_its_status_and_what_the_firmware_counts() -> None:
    rows: list[Row] = [
        ("begin", {"v": 1, "r": 1, "arena": 9008, "skew": 0}),
        ("info", {"r": 1, "k": "interpreter", "s": "wake_word"}),
        ("num", {"r": 1, "k": "stack_free", "v": 1184}),
        ("fail", {"r": 1, "status": 1}),
    ]
    frames = [encode_frame(index, kind, fields) for index, (kind, fields) in enumerate(rows)]
    digest = 0
    for frame in frames:
        digest = zlib.crc32(int(frame.strip()[-8:], 16).to_bytes(4, "big"), digest)
    (event,) = receive(*frames, encode_frame(4, "end", {"r": 1, "n": 4, "x": f"{digest:08x}"}))
    assert isinstance(event, ArenaReport)
    assert (event.failure, event.numbers, event.info) == (1, (("stack_free", 1184),), (("interpreter", "wake_word"),))
    assert event.total is None
