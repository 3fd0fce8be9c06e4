import zlib

import pytest

from tflm_sim.errors import LocalProtocolError
from tflm_sim.extensions.board.framing import FRAME_MAX, BadFrame, Frame, encode_frame, split_line, text_of
from tflm_sim.logs.lines import RawLine

# crc32(b'TSIM,7,used,{"r":1,"total":10}'), computed with zlib on the command line.
USED = b'$TSIM,7,used,{"r":1,"total":10}*'
WHOLE = USED + b"%08x" % zlib.crc32(USED[1:-1])


def split(data: bytes) -> tuple[list[Frame | BadFrame], bytes]:
    return split_line(RawLine(1, 0, data, True))


def reasons(data: bytes) -> list[str]:
    return [frame.reason for frame in split(data)[0] if isinstance(frame, BadFrame)]


def test_a_frame_is_line_feed_body_star_crc_line_end() -> None:
    assert encode_frame(7, "used", {"r": 1, "total": 10}) == b"\n" + WHOLE + b"\r\n"


def test_a_whole_frame_is_found_wherever_it_stands_in_its_line() -> None:
    frame = Frame(1, 7, "used", (("r", 1), ("total", 10)), zlib.crc32(USED[1:-1]))
    assert split(WHOLE) == ([frame], b"")
    assert split(b"I (12) " + WHOLE + b" wifi") == ([frame], b"I (12)  wifi")
    assert split(WHOLE + WHOLE) == ([frame, frame], b"")


def test_the_number_of_the_crc_is_that_of_zlib() -> None:
    assert zlib.crc32(b"123456789") == 0xCBF43926  # the check value of CRC-32/ISO-HDLC
    assert WHOLE.endswith(b"*%08x" % zlib.crc32(b'TSIM,7,used,{"r":1,"total":10}'))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (WHOLE[:-1], "the frame is torn"),
        (WHOLE.replace(b"10}", b"11}"), "the CRC is"),
        (WHOLE.replace(b"used", b"us\x00d"), "the frame is torn"),
        (WHOLE[3:], "the frame has no start"),
        (WHOLE.upper().replace(b"TSIM", b"TSIM"), "the frame is torn"),
    ],
)
def test_a_damaged_frame_is_dropped_and_named(data: bytes, reason: str) -> None:
    (found,) = reasons(data)
    assert found.startswith(reason)
    assert not any(isinstance(frame, Frame) for frame in split(data)[0])


def test_a_frame_that_another_cut_into_does_not_hide_the_next() -> None:
    frames, rest = split(b'$TSIM,6,cat,{"r":1,' + WHOLE)
    assert [type(frame) for frame in frames] == [BadFrame, Frame]
    assert rest == b'$TSIM,6,cat,{"r":1,'


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b'{"a":1.5}', "a field is neither an integer nor a text"),
        (b'{"a":true}', "a field is neither an integer nor a text"),
        (b'{"a":[1]}', "a field is neither an integer nor a text"),
        (b'{"a":}', "the fields are not JSON"),
    ],
)
def test_a_right_crc_does_not_make_wrong_fields_right(payload: bytes, reason: str) -> None:
    body = b"TSIM,1,x," + payload
    assert reasons(b"$" + body + b"*%08x" % zlib.crc32(body)) == [reason]


def test_sequences_beyond_sixteen_bits_are_no_frames() -> None:
    body = b"TSIM,65536,x,{}"
    assert reasons(b"$" + body + b"*%08x" % zlib.crc32(body)) == ["the frame is out of bounds"]


def test_texts_arrive_as_they_were_whatever_is_in_them() -> None:
    text = 'a"b\\c$d*e\n\té'
    data = encode_frame(0, "info", {"k": "x", "s": text}).strip()
    assert data.count(b"$") == 1
    assert data.count(b"*") == 1
    (frame,) = split(data)[0]
    assert isinstance(frame, Frame)
    assert text_of(frame.text("s")) == text


def test_a_frame_too_long_for_a_line_is_refused() -> None:
    # $TSIM,0,info,{"s":"..."}*12345678 is 30 bytes around the text.
    assert len(encode_frame(0, "info", {"s": "x" * (FRAME_MAX - 30)}).strip()) == FRAME_MAX
    with pytest.raises(LocalProtocolError, match="241 bytes: at most 240"):
        encode_frame(0, "info", {"s": "x" * (FRAME_MAX - 29)})
    largest = encode_frame(65535, "info", {"s": "x" * (FRAME_MAX - 34)}).strip()
    assert len(largest) == FRAME_MAX
    assert isinstance(split(largest)[0][0], Frame)
    body = largest[1:-9].replace(b'"x', b'"xx')
    assert reasons(b"$%s*%08x" % (body, zlib.crc32(body))) == ["the frame is out of bounds"]


def test_only_plain_characters_stand_for_themselves() -> None:
    assert b'{"s":"\\u001f ~\\u007f\\u0022\\u005c\\u0024\\u002a"}' in encode_frame(0, "x", {"s": '\x1f ~\x7f"\\$*'})


def test_a_frame_that_lost_its_start_is_named_wherever_its_fields_begin() -> None:
    fields = WHOLE[WHOLE.index(b"{") :]
    assert (
        reasons(fields)
        == reasons(b"12 " + fields)
        == reasons(WHOLE[WHOLE.index(b"}") :] + fields)
        == ["the frame has no start"]
    )
    assert reasons(b"} *" + fields[-8:]) == []


def test_a_torn_frame_ends_where_the_next_begins() -> None:
    torn = b"$TSIM,6,cat,{"
    found, rest = split(b"a" + torn + WHOLE + b"b" + torn + b"c")
    assert [frame.data for frame in found if isinstance(frame, BadFrame)] == [torn, torn + b"c"]
    assert rest == b"a" + torn + b"b" + torn + b"c"
