"""SWO's packets: whatever comes between, the text of port 0 comes out, byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.extensions.board.itm import ItmStream

SYNC = bytes(5) + b"\x80"
OTHERS = st.sampled_from(
    [
        SYNC,
        bytes(9) + b"\x80",
        b"\x70",  # overflow
        b"\xc0\x85\x03",  # local timestamp of two bytes
        b"\x20",  # local timestamp, short
        b"\x94\x80\x80\x01",  # global timestamp
        b"\x08",  # extension
        b"\x09\x41",  # port 1, one byte: "A"
        b"\x17\x41\x42\x43\x44",  # hardware source 2, four bytes
        b"\x0e\x41\x42",  # hardware source 1, two bytes
    ]
)
TEXTS = (
    st.builds(lambda size, data: (bytes([size]) + data, data), st.just(1), st.binary(min_size=1, max_size=1))
    | st.builds(lambda data: (b"\x02" + data, data), st.binary(min_size=2, max_size=2))
    | st.builds(lambda data: (b"\x03" + data, data), st.binary(min_size=4, max_size=4))
)


def test_the_text_of_port_0_is_read() -> None:
    assert ItmStream().feed(SYNC + b"\x01T\x01F\x03LM o\x02k\n\x70") == b"TFLM ok\n"


def test_another_port_can_be_named() -> None:
    assert ItmStream(1).feed(b"\x01a\x09b") == b"b"


@given(st.lists(TEXTS | OTHERS.map(lambda packet: (packet, b""))), st.lists(st.integers(0, 200), max_size=4))
def test_neither_other_packets_nor_the_pieces_matter(packets: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    data = b"".join(packet for packet, _ in packets)
    stream, found, start = ItmStream(), b"", 0
    for cut in [*sorted(cuts), len(data)]:
        found += stream.feed(data[start:cut])
        start = max(start, cut)
    assert found == b"".join(text for _, text in packets)


@given(st.binary())
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    assert len(ItmStream().feed(data)) <= len(data)
