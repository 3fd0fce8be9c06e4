"""Any bytes in any chunking give the same events, and reading never fails."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.logs.lines import LineAssembler
from tflm_sim.logs.log_events import LogEvent
from tflm_sim.logs.parser import LogParser, parse_log
from tflm_sim.logs.tflm_messages import MESSAGES

LOGS = sorted((Path(__file__).parents[1] / "unit" / "logs" / "recorded").glob("*.log"))

LINES = [line for path in LOGS for line in path.read_bytes().splitlines(keepends=True)]
PIECES = st.one_of(
    st.sampled_from(LINES),
    st.sampled_from(LINES).flatmap(lambda line: st.integers(0, len(line)).map(lambda end: line[:end])),
    st.sampled_from([template.format.encode() for row in MESSAGES for template in row.templates]),
    st.binary(max_size=40),
    st.sampled_from([b"\r", b"\n", b"\r\r\n", b"\x1b[0m", b"x" * 5000]),
)
STREAMS = st.lists(PIECES, max_size=30).map(b"".join)


def in_chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(data=STREAMS, cuts=st.lists(st.integers(0, 8000), max_size=20))
def test_chunking_never_changes_the_events(data: bytes, cuts: list[int]) -> None:
    parser = LogParser()
    events: list[LogEvent] = [event for chunk in in_chunks(data, cuts) for event in parser.feed(chunk)]
    assert [*events, *parser.close()] == parse_log(data)


@given(data=STREAMS, cuts=st.lists(st.integers(0, 8000), max_size=20))
def test_chunking_never_changes_the_lines_and_offsets_point_at_them(data: bytes, cuts: list[int]) -> None:
    whole, cut = LineAssembler(), LineAssembler()
    lines = [*whole.feed(data), *whole.close()]
    assert [*(line for chunk in in_chunks(data, cuts) for line in cut.feed(chunk)), *cut.close()] == lines
    assert all(data[line.offset : line.offset + len(line.data)] == line.data for line in lines)


def test_every_recorded_log_read_byte_by_byte_gives_the_same_events() -> None:
    for path in LOGS:
        data = path.read_bytes()
        parser = LogParser()
        events = [event for byte in data for event in parser.feed(bytes([byte]))]
        assert [*events, *parser.close()] == parse_log(data), path.name
