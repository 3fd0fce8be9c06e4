"""What PowerShell redirects is read like any other log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.logs.encodings import Utf8Stream, as_utf8

LOG = "boot ü\r\nFailed to resize buffer. Requested: 33488, available 20472, missing: 13016\r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_gives_the_same_text(encoding: str) -> None:
    assert as_utf8(LOG.encode(encoding)) == LOG.encode()
    assert as_utf8(b"\xfe\xff" + LOG.encode("utf-16-be")) == LOG.encode()


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)))
def test_the_pieces_do_not_matter_and_nothing_fails(data: bytes, cuts: list[int]) -> None:
    stream, ends = Utf8Stream(), sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    pieces = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert b"".join(map(stream.feed, pieces)) + stream.close() == as_utf8(data)


@given(st.binary(max_size=300).filter(lambda data: 0 not in data and data[:1] not in (b"\xef", b"\xff", b"\xfe")))
def test_what_is_no_utf_16_stays_byte_for_byte(data: bytes) -> None:
    assert as_utf8(data) == data


def test_half_a_character_at_the_end_is_no_error() -> None:
    assert as_utf8(b"\xff\xfea\x00b") == "a\N{REPLACEMENT CHARACTER}".encode()
