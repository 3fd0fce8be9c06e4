"""``compare``: which boards a model fits, in cells and in a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.answers.rows import NEVER_INVOKES, Row
from tflm_sim.cli import compare, main
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS

NANO = BOARDS["nano33ble"]


def row(board: str = "nano33ble", **facts: Any) -> Row:
    return Row(**{"model": "m", "board": board, "target": "t", **facts})


@pytest.mark.parametrize(
    ("facts", "cells"),
    [
        (
            {"multiple_of_16": 65_536, "limit": 262_144, "model_bytes": 524_288, "fits": True},
            ("65,536 B", "25.0 %", "256 KiB", "50.0 %", "1,024 KiB", "yes"),
        ),
        (
            {"multiple_of_16": 272, "limit": 256, "model_bytes": 0, "fits": False},
            ("272 B", "106.2 %", "0 KiB", "0.0 %", "1,024 KiB", "no"),
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
        ({"status": "error", "limit": 0, "fits": False}, ("error", "", "0 KiB", "", "1,024 KiB", "no")),
        ({"multiple_of_16": 1, "fits": False}, ("1 B", "", "not known", "", "1,024 KiB", "no")),
        ({"multiple_of_16": 0, "fits": False}, ("0 B", "", "not known", "", "1,024 KiB", "no: flash")),
    ],
)
def test_a_board_is_its_figures_and_their_share(facts: dict[str, Any], cells: tuple[str, ...]) -> None:
    assert compare._board_cells(row(**facts)) == ("nano33ble", "t", *cells)


def test_the_columns_that_matter_most_stay_in_a_narrow_terminal() -> None:
    header = compare.board_table([])[0]
    order = [header[index] for index in compare.BY_WEIGHT]
    assert order == ["board", "arena", "fits", "RAM", "of RAM", "target", "flash", "of flash"]


def test_the_verdict_names_the_five_smallest() -> None:
    rows = [row(f"b{number}", limit=limit, fits=True) for number, limit in enumerate((9, 3, None, 4, 5, 4))]
    fits = sorted(rows, key=compare._limit_and_name)
    assert compare._verdict(rows, fits) == (
        "yes, with the newest TFLM: it fits 6 of 6 boards; the smallest: b2, b1, b3, b5, b4"
    )
    assert compare._verdict(rows, []) == "no, with the newest TFLM: it fits none of 6 boards"


def test_a_limit_that_is_not_known_counts_as_none() -> None:
    assert compare._limit_and_name(row(limit=None)) == (0, "nano33ble")
    assert compare._limit_and_name(row(limit=1)) == (1, "nano33ble")


def test_the_same_reason_is_told_once() -> None:
    rows = [row("a", error="e"), row("b", error="f"), row("", error="e"), row("c")]
    assert list(compare._reasons(rows)) == ["a, t: e", "b: f"]


def test_exit_codes_and_what_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: Any) -> None:
    asked: list[Any] = []

    for given, found, code in (
        ([], [row(fits=True)], 0),
        ([], [row(fits=None)], 1),
        ([], [row(fits=False)], 1),
        (["--targets", "cortex-m4"], [row(fits=None)], 0),
        ([], [row(status="unreadable", error="e"), row(fits=True)], 3),
        ([], [row(status="unreadable", error="e")], 3),
    ):
        monkeypatch.setattr(compare, "rows_of", lambda *how, found=found: [asked.append(how)][:0] or found)
        assert main(["compare", "m", *given]) == code
    assert len(asked[0][2]) == len(BOARDS)
    assert [case.target for case in asked[3][2]] == ["cortex-m4"]
    assert capsys.readouterr().out.splitlines()[-1] == "e"


def test_targets_have_their_kernels_and_arena(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    (tmp_path / "m.tflite").write_bytes(sample_path("sine").read_bytes())
    assert main(["compare", str(tmp_path / "m.tflite"), "--targets", "cortex-m4,esp32"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["target", "cortex-m4", "esp32"]
    assert lines[-2].endswith("1,168 B")
