"""Names from strangers cannot do anything to a terminal."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.escape import json_text, one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv_1/Relu;ß", "conv_1/Relu;ß"),
        ("a\x1b[31m\n\x00", "a\\x1b[31m\\x0a\\x00"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("\U000e0001", "\\U000e0001"),
        ("\ud800", "\\ud800"),
        ("::error::x", "\\x3a:error::x"),
        ("\u00a0::error::x", "\u00a0\\x3a:error::x"),
        ("##[error]x", "\\x23#[error]x"),
        ("a::b #[x]", "a::b #[x]"),
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


COMMANDS = st.lists(st.sampled_from(["#", "[", ":", " ", "\t", "\n", "\x1b[31m", "error", "x"])).map("".join)


@given(st.text() | COMMANDS, st.booleans())
def test_no_line_is_a_command_for_a_runner_or_for_the_terminal(text: str, may_color: bool) -> None:
    line = one_line(text, may_color=may_color)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line) if may_color else line
    assert all(unicodedata.category(character)[0] not in "C" for character in plain.replace("\t", ""))
    assert "##[" not in line
    assert not line.lstrip().startswith("::")


def test_the_tabs_of_a_log_stay() -> None:
    assert one_line("a\tb\x1b[0m") == "a\tb\\x1b[0m"


@given(st.dictionaries(COMMANDS, st.text() | COMMANDS))
def test_json_says_the_same_without_commands(document: dict[str, str]) -> None:
    text = json_text(document)
    assert json.loads(text) == document
    assert text.isascii()
    assert "##[" not in text
