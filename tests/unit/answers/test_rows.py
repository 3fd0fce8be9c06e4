"""Rows: what an error becomes, and what fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.rows import Case, Row, Rows, _failed, _is_room, rows_of
from tflm_sim.errors import ModelError, UnsupportedOpError
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS

M4 = Case("cortex-m4")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ModelError("e"), "unreadable", "e"),
        (OSError(), "unreadable", "OSError"),
        (RecursionError(), "unreadable", "RecursionError"),
        (UnsupportedOpError("no", op="X", subgraph=0, node=0), "unreadable", "no"),
        (MemoryError("x"), "memory", "sizing it took more memory than there is, or than it may take"),
        (KeyError("k"), "crash", "an error in tflm-sim itself (KeyError: 'k')"),
        (ZeroDivisionError(), "crash", "an error in tflm-sim itself (ZeroDivisionError: ZeroDivisionError)"),
    ],
)
def test_an_error_is_a_status_and_its_words(error: Exception, status: str, words: str) -> None:
    row = _failed(Row("m", "5"), Case("esp32", "b", {"x": 1}, 7), error, "unreadable")
    assert row == Row("m", "5", target="esp32", board="b", settings='{"x": 1}', limit=7, status=status, error=words)


NANO = replace(BOARDS["nano33ble"], flash=1000)


@pytest.mark.parametrize(
    ("needed", "limit", "model_bytes", "board", "fits"),
    [
        (16, None, 1, None, False),
        (16, 16, 1, None, True),
        (16, 15, 1, None, False),
        (None, 16, 1, None, False),
        (16, 16, 1000, NANO, True),
        (16, 16, 1001, NANO, False),
        (16, 15, 1000, NANO, False),
        (16, 16, 1001, replace(NANO, flash=None), True),
        (16, 16, None, replace(NANO, flash=0), True),
        (16, 16, 1, replace(NANO, flash=0), False),
    ],
)
def test_an_arena_fits_to_the_byte_and_a_file_too(
    needed: int | None, limit: int | None, model_bytes: int | None, board: Any, fits: bool
) -> None:
    assert _is_room(needed, limit, model_bytes, board) is fits


@pytest.mark.parametrize(
    ("case", "fits", "may_fit"),
    [
        (Case("cortex-m4"), None, None),
        (Case("cortex-m4", limit=82_288), True, True),
        (Case("cortex-m4", limit=82_287), False, False),
        (Case("cortex-m4", "nano33ble"), None, True),
        (Case("cortex-m4", "nano33ble", limit=82_288), True, True),
        (Case("cortex-m4", "nicla-sense-me"), False, False),
    ],
)
def test_a_bank_that_is_large_enough_is_no_yes_for_only_the_firmware_knows_what_is_free(
    case: Case, fits: bool | None, may_fit: bool | None
) -> None:
    (row,) = rows_of("m", str(sample_path("mobilenet_v1_025")), [case])
    assert (row.multiple_of_16, row.fits, row.may_fit) == (82_288, fits, may_fit)


def test_the_limit_is_what_was_asked_for_else_the_largest_bank_of_the_board() -> None:
    assert Case("cortex-m4").arena_limit is None
    assert Case("cortex-m4", limit=0).arena_limit == 0
    assert Case("cortex-m4", "nano33ble").arena_limit == 256 * 1024
    assert Case("cortex-m4", "nano33ble", limit=5).arena_limit == 5


def test_a_board_whose_banks_are_not_known_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BOARDS, "blank", replace(BOARDS["nano33ble"], name="blank", ram=()))
    assert Case("cortex-m4", "blank").arena_limit is None


def test_an_error_names_the_model_as_the_sweep_calls_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "cut").write_bytes(sample_path("sine").read_bytes()[:100])
    rows = Rows([M4])
    (folder,) = rows.of("m", str(tmp_path / "folder"))
    (absent,) = rows.of("m", str(tmp_path / "absent"))
    (cut,) = rows.of("m", str(tmp_path / "cut"))
    (data,) = rows.of("m", b"no model")
    assert (folder.status, folder.error) == ("unreadable", "m: it is not a regular file")
    assert (absent.status, absent.error) == ("unreadable", "m: No such file or directory")
    assert cut.error.startswith("m: ")
    assert data.status == "unreadable"
    assert not data.error.startswith("m: ")
