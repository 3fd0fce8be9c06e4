"""What is printed where: lines broken for a terminal, colours, and how far the work is, by a clock of the test's."""

from __future__ import annotations

import io
import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.arena.events import OpEvent
from tflm_sim.arena.stages import Stage
from tflm_sim.cli import terminal
from tflm_sim.cli.terminal import (
    ProgressLine,
    StatusLine,
    say,
    say_document,
    say_json,
    say_verdict,
    show,
    show_rows,
    terminal_width,
    wants_color,
)
from tflm_sim.model.load import load


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Return the terminal that stdout is, 20 wide."""
    made = Screen()
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stdout=made, stderr=None, __stdout__=None))
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


def test_a_line_is_broken_between_words_where_the_terminal_ends(screen: Screen) -> None:
    say("12345 7890 234567890", "12345 7890 2345678901")
    assert screen.getvalue() == "12345 7890 234567890\n12345 7890\n    2345678901\n"


@pytest.mark.parametrize(
    ("line", "width", "pieces"),
    [
        ("a" * 25, 20, ["a" * 20, "    " + "a" * 5]),
        ("  a b c d e f g h i j k", 20, ["  a b c d e f g h i", "      j k"]),
        (" " * 9 + "a b c d e f g", 20, [" " * 9 + "a b c d e f", " " * 9 + "g"]),
        (" " * 9 + "a " * 12, 20, [" " * 9 + "a b c d e f".replace("b", "a"), ""]),
        ("1234 6789 12", 11, ["1234 6789", "    12"]),
        ("12345 7890123456789012", 20, ["12345", "    7890123456789012"]),
        ("12345 78901234567890123", 20, ["12345", "    7890123456789012", "    3"]),
        ("1234 678901234567890123", 20, ["1234 678901234567890", "    123"]),
    ],
)
def test_the_rest_is_indented_by_four_more_but_by_no_more_than_a_quarter(
    line: str, width: int, pieces: list[str]
) -> None:
    if pieces[-1]:
        assert terminal._wrapped(line, width).split("\n") == pieces
    assert all(len(piece) <= width for piece in terminal._wrapped(line, width).split("\n"))


@pytest.mark.parametrize("begin", ["this settles it: ", "this settles it:\n  "])
def test_a_command_stays_in_one_line_to_be_copied(begin: str, screen: Screen) -> None:
    say(*f"{begin}tflm-sim check m.tflite --limit 1".split("\n"))
    assert screen.getvalue() == "this settles it:\n  tflm-sim check m.tflite --limit 1\n"


def test_what_is_no_terminal_gets_whole_lines_and_so_does_a_table(screen: Screen) -> None:
    file = io.StringIO()
    say("x y " * 10, file=file)
    say("a b " * 10, wraps=False)
    say("\x1b[31m" + "c d " * 10, may_color=True)
    assert file.getvalue() == "x y " * 10 + "\n"
    assert screen.getvalue() == f"{'a b ' * 10}\n\x1b[31m{'c d ' * 10}\n"
    other = Screen()
    say("e f " * 6, file=other)
    assert other.getvalue() == "e f e f e f e f e f\n    e f \n"


def test_where_there_is_no_stdout_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    say("x")
    say_verdict("yes")
    say_json({})
    say_document("x")
    assert terminal.is_shown() is False


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("yes: it fits", "\x1b[1;32myes\x1b[0m: it fits"),
        ("m: no, yes: x", "m: \x1b[1;31mno\x1b[0m, yes: x"),
        ("none: yes", "none: yes"),
        ("a: no, b: yes, c", "a: \x1b[1;31mno\x1b[0m, b: yes, c"),
        ("it says yes: no", "it says yes: no"),
    ],
)
def test_a_verdict_is_green_or_red_on_a_terminal(screen: Screen, line: str, shown: str) -> None:
    say_verdict(line)
    assert screen.getvalue() == f"{shown}\n"


def test_a_verdict_has_no_colour_where_none_is_wanted(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    say_verdict("no: x")
    assert screen.getvalue() == "no: x\n"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(terminal.sys, "stdout", file := io.StringIO())
    say_verdict("no: " + "x " * 20)
    assert file.getvalue() == "no: " + "x " * 20 + "\n"


@pytest.mark.parametrize(
    ("choice", "is_terminal", "no_color", "term", "expected"),
    [
        ("always", False, "1", "dumb", True),
        ("never", True, "", "xterm", False),
        ("auto", True, "", "xterm", True),
        ("auto", False, "", "xterm", False),
        ("auto", True, "1", "xterm", False),
        ("auto", True, "", "dumb", False),
    ],
)
def test_colours_are_as_asked_else_for_terminals_that_show_them(
    monkeypatch: pytest.MonkeyPatch, choice: str, is_terminal: bool, no_color: str, term: str, expected: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    assert wants_color(choice, Screen() if is_terminal else io.StringIO()) is expected


def test_the_width_is_that_of_columns_else_of_the_terminal_else_80(monkeypatch: pytest.MonkeyPatch) -> None:
    def size(columns: int) -> Any:
        return lambda descriptor: SimpleNamespace(columns=columns) if descriptor == 7 else None

    monkeypatch.setattr(sys, "__stdout__", SimpleNamespace(fileno=lambda: 7))
    monkeypatch.setattr(os, "get_terminal_size", size(33))
    for asked, width in (("44", 44), ("", 33), ("0", 33), ("x", 33), ("-5", 33)):
        monkeypatch.setenv("COLUMNS", asked)
        assert terminal_width() == width
    monkeypatch.setattr(os, "get_terminal_size", size(0))
    assert terminal_width() == 80
    for error in (OSError, ValueError):

        def fails(descriptor: int, error: type[Exception] = error) -> Any:
            raise error

        monkeypatch.setattr(os, "get_terminal_size", fails)
        assert terminal_width() == 80
    monkeypatch.setattr(sys, "__stdout__", None)
    assert terminal_width() == 80


def test_a_table_is_fitted_to_a_terminal_or_to_columns_and_else_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert terminal.fitting() == 30
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert terminal.fitting() is None
    monkeypatch.setattr(sys, "stdout", Screen())
    assert terminal.fitting() == terminal_width()


def test_documents_are_indented_by_one_unless_asked_otherwise(screen: Screen) -> None:
    say_json({"a": 1})
    say_json({"a": 1}, indent=None)
    show({"a": 1}, lambda _: ["a is 1"], as_json=True)
    show({"a": 1}, lambda _: ["a is 1"], as_json=False)
    say_document("whole\n")
    assert screen.getvalue() == '{\n "a": 1\n}\n{"a":1}\n{\n "a": 1\n}\na is 1\nwhole\n'
    say_json(5, file=(file := io.StringIO()))
    assert file.getvalue() == "5\n"


def rows(screen: Screen, **how: Any) -> list[str]:
    screen.seek(0)
    screen.truncate()
    assert (
        show_rows([(1, "x" * 9)], ("n", "text", "more"), lambda row: (str(row[0]), row[1], "m" * 9), "a note", **how)
        == 0
    )
    return screen.getvalue().splitlines()


def test_columns_that_have_no_room_are_named_below_the_table(screen: Screen) -> None:
    assert rows(screen, as_json=False) == ["n  text", "1  xxxxxxxxx", "a note", "--long has also:", "    more"]
    assert rows(screen, as_json=False, order=("more", "n")) == [
        "n  more", "1  mmmmmmmmm", "a note", "--long has also:", "    text",
    ]  # fmt: skip
    assert rows(screen, as_json=False, is_long=True) == ["n  text       more", "1  xxxxxxxxx  mmmmmmmmm", "a note"]
    assert rows(screen, as_json=True) == ["[", " [", "  1,", '  "xxxxxxxxx"', " ]", "]"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, which the test moves; it begins at 100 s."""
    now = [100.0]
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


PREPARE = OpEvent(Stage.OP_PREPARE, 0, 0, "X", True)


def test_how_far_it_is_is_told_after_a_second_and_then_ten_times_a_second(clock: list[float]) -> None:
    model, file = load("sample:sine"), Screen()
    count = len(model.subgraphs[0].operators)
    line = ProgressLine("sizing", model, runs=10, file=file)
    assert line.observers == (line,)
    total = 3 * 10 * count  # parse, init and prepare of each operator, ten times
    for _ in range(total // 3 - 1):
        line(PREPARE)
    line(OpEvent(Stage.OP_PREPARED, 0, 0, "X", True))
    clock[0] = 100.99
    line.show("too early")
    assert file.getvalue() == ""
    clock[0] = 101
    line(PREPARE)
    assert file.getvalue() == "\rsizing: 33 %"
    clock[0] = 101.09
    line(PREPARE)
    line.show("too early")
    assert file.getvalue() == "\rsizing: 33 %"
    clock[0] = 101.1
    line.show("x")
    assert file.getvalue() == "\rsizing: 33 %\rsizing: x   "
    clock[0] = 102
    for _ in range(2 * total):
        line(PREPARE)
    clock[0] = 103
    line(PREPARE)
    assert file.getvalue().endswith("\rsizing: 99 %")
    with line:
        pass
    assert file.getvalue().endswith(f"\r{' ' * 12}\r")
    line.__exit__()
    assert file.getvalue().count("\r" + " " * 12) == 1


def test_a_model_without_operators_is_done_at_once_and_one_run_is_the_default(clock: list[float]) -> None:
    empty: Any = SimpleNamespace(subgraphs=())
    line = ProgressLine("x", empty, file=(file := Screen()))
    clock[0] = 101
    line(PREPARE)
    assert file.getvalue() == "\rx: 33 %"


def test_nothing_is_written_to_what_is_no_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    line = ProgressLine("x", load("sample:sine"), file=(file := io.StringIO()))
    clock[0] = 105
    line.show("y")
    with line:
        pass
    assert (line.observers, file.getvalue()) == ((), "")
    for stderr in (None, io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stderr)
        with StatusLine("x") as line:
            clock[0] += 5
            line.show("y")
        assert stderr is None or stderr.getvalue() == ""


def test_by_default_it_is_told_on_stderr(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    line = ProgressLine("x", load("sample:sine"))
    clock[0] = 101
    line.show("y")
    assert screen.getvalue() == "\rx: y"
