"""Names from strangers cannot do anything to a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.report.escape import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv_1/Relu;ß", "conv_1/Relu;ß"),
        ("a\x1b[31m\n\x00", "a\\x1b[31m\\x0a\\x00"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("\U000e0001", "\\U000e0001"),
        ("\ud800", "\\ud800"),
        ("", ""),
    ],
)
def test_hostile_characters_are_escapes(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_of_a_long_name_the_end_is_kept() -> None:
    assert printable("x" * 100 + "/bias", 10) == "…xxxx/bias"
    assert printable("\n" * 4, 10) == "…a\\x0a\\x0a"


@given(st.text(), st.integers(1, 80))
def test_no_line_is_longer_than_asked_or_holds_a_control_character(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert all(unicodedata.category(character)[0] not in "C" for character in shown)
