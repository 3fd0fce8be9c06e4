"""``size --boards``, ``--targets``: which boards a model fits, in cells and in a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.answers.rows import NEVER_INVOKES, Row
from tflm_sim.cli import main, size_boards
from tflm_sim.report import board_rows
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS

NANO = BOARDS["nano33ble"]


def row(board: str = "nano33ble", **facts: Any) -> Row:
    return Row(**{"model": "m", "board": board, "target": "t", **facts})


@pytest.mark.parametrize(
    ("facts", "cells"),
    [
        (
            {"multiple_of_16": 65_536, "limit": 262_144, "model_bytes": 524_288},
            ("65,536 B", "25.0 %", "256 KiB", "50.0 %", "1,024 KiB", "if free"),
        ),
        (
            {"multiple_of_16": 272, "limit": 256, "model_bytes": 0, "fits": False},
            ("272 B", "106.2 %", "0 KiB", "0.0 %", "1,024 KiB", "no: RAM"),
        ),
        (
            {"multiple_of_16": 256, "limit": 256, "model_bytes": 1 << 21, "fits": False},
            ("256 B", "100.0 %", "0 KiB", "200.0 %", "1,024 KiB", "no: flash"),
        ),
        (
            {"multiple_of_16": 16, "status": NEVER_INVOKES, "limit": 2048, "fits": False},
            ("16 B", "0.8 %", "2 KiB", "", "1,024 KiB", "no: Invoke()"),
        ),
        ({"multiple_of_16": 16}, ("16 B", "", "not known", "", "1,024 KiB", "not known")),
        ({"multiple_of_16": 16, "limit": 32, "fits": True}, ("16 B", "50.0 %", "0 KiB", "", "1,024 KiB", "yes")),
        ({"status": "error", "limit": 0, "fits": False}, ("error", "", "0 KiB", "", "1,024 KiB", "no: error")),
        ({"status": "timeout", "limit": 9}, ("timeout", "", "0 KiB", "", "1,024 KiB", "not known")),
    ],
)
def test_a_board_is_its_figures_and_their_share(facts: dict[str, Any], cells: tuple[str, ...]) -> None:
    assert board_rows.board_row(row(**facts)).cells == ("nano33ble", "t", *cells)


def test_the_columns_that_matter_most_stay_in_a_narrow_terminal() -> None:
    order = [board_rows.HEAD[index] for index in size_boards.BY_WEIGHT]
    assert order == ["board", "arena", "fits", "RAM", "of RAM", "target", "flash", "of flash"]


def test_the_verdict_names_the_five_smallest() -> None:
    rows = [row(f"b{number}", limit=limit, fits=True) for number, limit in enumerate((9, 3, None, 4, 5, 4))]
    fits = sorted(rows, key=size_boards._limit_and_name)
    assert size_boards._verdict(rows, fits) == (
        "cannot be told: with the newest TFLM it fits 6 of 6 boards if that much of their RAM is free, which only your "
        "firmware knows; the smallest: b2, b1, b3, b5, b4"
    )
    assert size_boards._verdict(rows, []) == "no, with the newest TFLM: it fits none of 6 boards"


def test_exit_codes_and_what_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: Any) -> None:
    asked: list[Any] = []

    may_fit = row(multiple_of_16=16, limit=32)
    for given, found, code in (
        (["--boards", "all"], [may_fit], 3),
        (["--boards", "all"], [row(fits=None)], 1),
        (["--boards", "all"], [row(fits=False)], 1),
        (["--targets", "cortex-m4"], [row(fits=None)], 0),
        (["--boards", "all"], [row(status="unreadable", error="e"), may_fit], 3),
        (["--boards", "all"], [row(status="unreadable", error="e")], 3),
    ):
        monkeypatch.setattr(size_boards, "rows_of", lambda *how, found=found: [asked.append(how)][:0] or found)
        assert main(["size", "m", *given]) == code
    assert len(asked[0][2]) == len(BOARDS)
    assert [case.target for case in asked[3][2]] == ["cortex-m4"]
    assert capsys.readouterr().out.splitlines()[-1] == "e"


def test_targets_have_their_kernels_and_arena(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    (tmp_path / "m.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main(["size", str(tmp_path / "m.tflite"), "--targets", "cortex-m4,esp32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["target", "cortex-m4", "esp32"]
    assert lines[-2].endswith("1,168 B")


@pytest.mark.parametrize(("given", "said"), [
    (["--boards", "pico", "--target", "esp32"], "--boards does not go with --target; remove one of them"),
    (["--targets", "esp32", "--board", "pico"], "--targets does not go with --board; remove one of them"),
    (["--boards", "pico", "--advise"], "--boards does not go with --advise; remove one of them"),
    (["--boards", "all", "--variable-arena", "0"], "--boards does not go with --variable-arena; remove one of them"),
    (["--boards", "pico", "--resource-variables", "0"], "--boards does not go with --resource-variables; remove"),
    (["--boards", "pico", "--map"], "--boards does not go with --map; remove one of them"),
    (["sample:residual", "--boards", "pico"], "--boards and --targets are for one model"),
    (["--boards", "pico", "--targets", "i386"], "argument --targets: not allowed with argument --boards; see"),
])  # fmt: skip
def test_what_does_not_go_with_a_table_is_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", "sample:sine", *given]) == 2
    assert capsys.readouterr().err.startswith(f"tflm-sim size: {said}")
