"""Any bytes in any chunking give events or nothing, and chunking never changes them."""

from collections import Counter

import pytest
from boards import link_test
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.extensions.board.connection import Connection
from tflm_sim.extensions.board.framing import Frame, encode_frame, split_line, text_of
from tflm_sim.extensions.board.link_events import LinkEvent
from tflm_sim.extensions.board.messages import FIELDS
from tflm_sim.extensions.board.monitor import Monitor
from tflm_sim.logs.lines import RawLine

KINDS = st.sampled_from([*FIELDS, "ping", "zzz"])
FIELD_VALUES = st.one_of(st.integers(-(2**31), 2**32 - 1), st.text(max_size=2))
FRAMES = st.builds(
    encode_frame,
    st.integers(0, 65535),
    KINDS,
    st.dictionaries(st.sampled_from([*"vrkuqcisoflnxe", "arena", "skew", "app"]), FIELD_VALUES, max_size=3),
)
STREAMS = st.lists(
    st.one_of(FRAMES, FRAMES.map(lambda frame: frame[:-5]), st.binary(max_size=20), st.just(b"$TSIM,")), max_size=20
).map(b"".join)
CUTS = st.lists(st.integers(0, 4000), max_size=20)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(data=STREAMS, cuts=CUTS)
def test_chunking_never_changes_the_link_events(data: bytes, cuts: list[int]) -> None:
    whole, cut = Connection(), Connection()
    events: list[LinkEvent] = [event for chunk in chunks(data, cuts) for event in cut.receive(chunk)]
    assert [*events, *cut.close()] == [*whole.receive(data), *whole.close()]


@given(data=STREAMS, cuts=CUTS)
def test_chunking_never_changes_what_a_monitor_says_up_to_where_noise_is_put(data: bytes, cuts: list[int]) -> None:
    whole, cut = Monitor(), Monitor()
    events = [event for chunk in chunks(data, cuts) for event in cut.feed(chunk)]
    assert Counter(map(repr, [*events, *cut.close()])) == Counter(map(repr, [*whole.feed(data), *whole.close()]))


@given(sequence=st.integers(0, 65535), text=st.text(max_size=7), number=st.integers(-(2**31), 2**32 - 1))
def test_reading_a_frame_is_the_inverse_of_writing_it(sequence: int, text: str, number: int) -> None:
    data = encode_frame(sequence, "info", {"s": text, "n": number}).strip()
    ((frame,), rest) = split_line(RawLine(1, 0, data, True))
    assert isinstance(frame, Frame)
    assert (frame.sequence, frame.type, text_of(frame.text("s")), frame.number("n"), rest) == (
        sequence,
        "info",
        text,
        number,
        b"",
    )


@given(position=st.integers(0, 400), bit=st.integers(0, 7))
def test_one_flipped_bit_never_changes_a_frame_that_is_believed(position: int, bit: int) -> None:
    data = bytearray(encode_frame(12, "used", {"r": 1, "total": 23412, "head": 16004, "tail": 7408}).strip())
    data[position % len(data)] ^= 1 << bit
    frames, _ = split_line(RawLine(1, 0, bytes(data), True))
    assert not any(isinstance(frame, Frame) for frame in frames)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twenty_thousand_lines_over_a_bad_wire(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert link_test.run(20_000, seed) == []


def test_damage_in_every_line_of_a_text_log_is_named_and_whole_logs_are_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(link_test, "TEXT_CASES", (("sine", "cortex-m4"),))
    assert link_test.run_text(1) == []
