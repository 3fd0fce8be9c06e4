"""Lists at a terminal of 80 columns: a line a row, whole words; what there is no room for is behind ``--long``."""

from __future__ import annotations

import json
import sys

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.list_targets import combination_rows
from tflm_sim.cli.terminal import say_verdict
from tflm_sim.report.tables import fitting_columns, table_lines
from tflm_sim.targets.history import main_line
from tflm_sim.targets.runtime import FIRST_BUILD

ESC = "\x1b"


def lines_of(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    assert main(list(argv)) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("what", "notes"), [("boards", 3), ("targets", 1), ("libraries", 1), ("ops", 4)])
def test_a_list_has_a_line_for_each_row_and_fits_80_columns(
    what: str, notes: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = json.loads("".join(lines_of(capsys, "list", what, "--json")))
    lines = lines_of(capsys, "list", what)
    assert len(lines) == 1 + len(rows) + notes  # the header, the rows, what stands below
    table = lines[: 1 + len(rows)]
    assert max(map(len, table)) <= 80
    names = [next(iter(row.values())) for row in rows]
    assert [line.split()[0] for line in table[1:]] == names
    assert lines[-1].startswith("--long has also: ")


@pytest.mark.parametrize("what", ["boards", "targets", "libraries"])
def test_long_has_every_column_on_a_line(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (left,) = [line for line in lines_of(capsys, "list", what) if line.startswith("--long has also: ")]
    header, *rows = lines_of(capsys, "list", what, "--long")
    assert all(title in header for title in left.removeprefix("--long has also: ").split(", "))
    assert not any(row.startswith(" ") for row in rows)


def test_a_library_that_is_not_modelled_has_what_is_nearest_below_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = lines_of(capsys, "list", "libraries", "silabs")
    assert ["silabs-mltk", "no", "2024-03-26", "7005d60ed"] in [line.split() for line in lines]
    assert lines[-2].startswith("silabs-mltk is not modelled: --library silabs-gsdk@4.4.1")


@pytest.mark.parametrize(("words", "title", "cell"), [
    ("boards nano33ble", "all banks", "RAM 256 KiB"),
    ("boards esp32", "what it is", "ESP32 DevKitC (Xtensa LX6)"),
    ("boards Apollo510", "board", "apollo510-evb"),
    ("libraries esp-tflite-micro@1.3.5", "measured with", "not measured"),
    ("libraries silabs-mltk", "own files, or nearest", "--library silabs-gsdk@4.4.1, whose TFLM is of 2023; "),
    ("ops conv2d", "upstream source", "cmsis_nn/conv.cc"),
    ("targets m55", "target", "cortex-m55"),
])  # fmt: skip
def test_a_word_that_leaves_one_row_shows_all_of_it(
    words: str, title: str, cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = [line for line in lines_of(capsys, "list", *words.split()) if line.startswith(f"{title}  ")]
    assert line.removeprefix(title).lstrip().startswith(cell)


@pytest.mark.parametrize(("words", "names"), [
    ("targets xtensa", ["esp32", "esp32-s2", "esp32-s3"]),
    ("boards raspberry", ["pico", "pico2"]),
    ("ops conv", ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"]),
])  # fmt: skip
def test_a_word_leaves_the_rows_that_have_it_in_their_name_or_description(
    words: str, names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads("".join(lines_of(capsys, "list", *words.split(), "--json")))
    assert [next(iter(row.values())) for row in rows] == names


@pytest.mark.parametrize(("words", "said"), [
    ("targets toaster", "unknown target 'toaster'; use one of: x86_64, "),
    ("targets crotex-m4", "unknown target 'crotex-m4'; did you mean cortex-m4 "),
    ("boards picoo", "unknown board 'picoo'; did you mean pico"),
    ("libraries qarduino", "unknown library 'qarduino'; did you mean Arduino_TensorFlowLite?"),
    ("ops CONV3", "unknown operator 'CONV3'; did you mean "),
    ("boards --library chirale", "--library goes with 'list ops'"),
    ("things", "argument WHAT: invalid choice: 'things' (choose from 'targets', 'libraries', 'boards', 'ops')"),
])  # fmt: skip
def test_what_is_not_in_a_list_is_a_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"tflm-sim list: {said}")


def test_columns_are_left_out_by_weight_and_stay_in_their_order() -> None:
    table = [("name", "much text here", "size"), ("a", "b", "1,024")]
    assert fitting_columns(table, (0, 2, 1), width=None) == [0, 1, 2]
    assert fitting_columns(table, (0, 2, 1), width=4 + 2 + 5) == [0, 2]
    assert fitting_columns(table, (0, 2, 1), width=4 + 2 + 5 - 1) == [0]
    assert fitting_columns(table, (0, 1, 2), width=1) == [0]


def test_versions_days_and_commits_are_no_numbers_to_be_set_on_the_right() -> None:
    assert table_lines([("version", "x"), ("1.3.5", "y"), ("1.3.3~1", "y")])[1] == "1.3.5    y"
    assert table_lines([("TFLM of", "x"), ("2024-01-02 and later", "y"), ("2024-01-02", "y")])[2][:3] == "202"
    assert table_lines([("upstream", "xxxxxxxxxxxxx"), ("4bbdef5f8, long", "y"), ("4bbdef5f8", "y")])[2][:3] == "4bb"
    assert table_lines([("bytes", "x"), ("1,024", "y"), ("7", "y")])[2] == "    7  y"


def test_a_table_of_boards_says_its_verdict_first_and_drops_columns_that_there_is_no_room_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["size", "sample:sine", "--boards", "esp32,stm32f746g-disco,xiao-nrf52840"]) == 3
    text = capsys.readouterr().out
    assert text.startswith("cannot be told: with the newest TFLM it fits 3 of 3 boards if that much of")
    table = text[text.index("\nboard") + 1 :].splitlines()
    assert table[0].split("  ")[0] == "board"
    assert max(map(len, table)) <= 80
    assert main(["size", "sample:mobilenet_v1_025", "--boards", "nicla-sense-me"]) == 1
    assert capsys.readouterr().out.startswith("no, with the newest TFLM: it fits none of 1 boards\n")


VERDICTS = ("no: it does not", "a.tflite: yes: it does", "yes, if it is: no: b")


def test_a_verdict_is_coloured_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say_verdict("no: it does not")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for line in (*VERDICTS, f"{ESC}[1m no: {ESC}[1m", "cannot be told: why"):
        say_verdict(line)
    monkeypatch.setenv("NO_COLOR", "1")
    say_verdict("no: it does not")
    plain, *coloured, plain_again = capsys.readouterr().out.splitlines()
    assert plain == plain_again == "no: it does not"
    assert coloured == [
        f"{ESC}[1;31mno{ESC}[0m: it does not",
        f"a.tflite: {ESC}[1;32myes{ESC}[0m: it does",
        f"{ESC}[1;32myes{ESC}[0m, if it is: no: b",
        "\\x1b[1m no: \\x1b[1m",
        "cannot be told: why",
    ]


def test_older_tflm_of_a_target_begins_with_the_first_commit_that_builds() -> None:
    (first,) = [row for row in combination_rows("cortex-m4") if row.kernels == "reference" and " and later" in row.tflm]
    assert first.tflm == f"{main_line()[FIRST_BUILD - 1].day} and later"
