"""Names from strangers cannot do anything to a terminal."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.escape import cpp_name, html_table, json_text, one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv_1/Relu;ß", "conv_1/Relu;ß"),
        ("a\x1b[31m\n\x00", "a\\x1b[31m\\x0a\\x00"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("\U000e0001", "\\U000e0001"),
        ("\ud800", "\\ud800"),
        ("\xad", "\\xad"),
        ("\u0600", "\\u0600"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
        ("\U00010fff", "\\U00010fff"),
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
    assert printable("x" * 10, 10) == "x" * 10
    assert printable("x" * 11, 10) == "…" + "x" * 9
    assert printable("\n" + "x" * 6, 10) == "\\x0axxxxxx"
    assert printable("\n" + "x" * 7, 10) == "…0axxxxxxx"
    assert (printable("x" * 60), printable("x" * 61)) == ("x" * 60, "…" + "x" * 59)


def test_a_table_has_no_tags_of_strangers() -> None:
    table = html_table("<t>", [("<b>", "x")], head=["a&b"])
    assert "&lt;t&gt;</caption>" in table
    assert '<th scope="col">a&amp;b</th>' in table
    assert '&lt;b&gt;</th><td style="text-align:left">x</td>' in table
    assert "<thead>" not in html_table("t", [("a",)])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/net-int8.tflite", "net_int8"),
        ("sample:keyword_spotter", "keyword_spotter"),
        ("1x.tflite", "model_1x"),
        ("__X__.tflite", "x"),
        ("\u65e5\u672c.tflite", "model"),
        ("class.tflite", "model_class"),
        ("STD.tflite", "model_std"),
        ("linux.tflite", "model_linux"),  # GCC defines it as 1.
    ],
)
def test_the_name_of_a_file_is_one_for_cpp(path: str, name: str) -> None:
    assert cpp_name(path) == name


def test_json_is_compact_unless_it_is_indented() -> None:
    assert json_text({"a": [1, 2]}) == '{"a":[1,2]}'
    assert json_text({"a": 1}, indent=1) == '{\n "a": 1\n}'


def test_an_escape_has_as_many_digits_as_its_letter_needs() -> None:
    letters = "\x1b\u2028\uffff\U000e0001"
    assert [printable(letter) for letter in letters] == ["\\x1b", "\\u2028", "\\uffff", "\\U000e0001"]


def test_colours_stay_where_they_may() -> None:
    line = "a\x1b[31mb\x1b[0mc\x1b[2Jd"
    assert one_line(line, may_color=True) == "a\x1b[31mb\x1b[0mc\\x1b[2Jd"


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
