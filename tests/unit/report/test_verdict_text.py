"""Verdicts as lines, in a heading, and as Markdown."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.checks.doubts import Doubt
from tflm_sim.checks.verdict import Verdict
from tflm_sim.device.configuration import configure
from tflm_sim.report.verdict_text import (
    about_markdown,
    deciding,
    headline,
    library_lines,
    verdict_document,
    verdict_lines,
    verdict_markdown,
)
from tflm_sim.targets.boards import BOARDS

SHRUNK_BY = "tflm-sim shrink m --goal 9"
M4 = configure("cortex-m4", kernels="reference")


def verdict(
    needed: int | None = 64, limit: int | None = 100, fits: bool | None = True, before: int | None = None, **facts: Any
) -> Verdict:
    return Verdict("m", "m on t", needed, limit, fits, before, **{"smallest": needed, "shrunk_by": SHRUNK_BY, **facts})


TOO_LARGE = ["this looks for rewritings that need less, with the same outputs:", f"  {SHRUNK_BY}"]
NEXT = "the smallest arena is 60 B; what is needed is the next multiple of 16"


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (verdict(), ["yes: needs 64 B of 100 B, 36 B to spare"]),
        (verdict(limit=64), ["yes: needs 64 B of 64 B, 0 B to spare"]),
        (verdict(limit=63, smallest=60), ["yes: 63 B work, though the smallest multiple of 16 is 64 B"]),
        (verdict(smallest=60), ["yes: needs 64 B of 100 B, 36 B to spare", NEXT]),
        (verdict(limit=64, smallest=60), ["yes: needs 64 B of 64 B, 0 B to spare", NEXT]),
        (verdict(smallest=None), ["yes: needs 64 B of 100 B, 36 B to spare"]),
        (verdict(fits=False, reason="r"), ["no: r"]),
        (verdict(fits=False, reason="r", limit=60), ["no: r", *TOO_LARGE]),
        (verdict(fits=False, reason="r", limit=60, shrunk_by=""), ["no: r"]),
        (verdict(fits=False, reason="r", limit=60, smallest=60), ["no: r", NEXT, *TOO_LARGE]),
        (verdict(fits=False, reason="r", limit=64), ["no: r"]),
        (verdict(fits=False, reason="r", limit=60, smallest=None), ["no: r"]),
        (verdict(fits=False, reason="r", limit=None), ["no: r", *TOO_LARGE]),
        (verdict(0, None, fits=False, reason="r"), ["no: r"]),
        (verdict(1, None, fits=False, reason="r"), ["no: r", *TOO_LARGE]),
        (verdict(1, 0, fits=False, reason="r"), ["no: r", *TOO_LARGE]),
        (verdict(None, 1, fits=False, reason="r", smallest=5), ["no: r"]),
        (verdict(fits=None, reason="r"), ["cannot be told: r"]),
        (
            verdict(doubts=(Doubt("own() asks for no memory"),), settled_by="tflm-sim firmware a --run"),
            ["yes, if own() asks for no memory: needs 64 B of 100 B, 36 B to spare",
             "this settles it: tflm-sim firmware a --run"],
        ),
        (verdict(fits=False, reason="r", doubts=(Doubt("a"), Doubt("b"))), ["no, if a and b: r"]),
        (verdict(missing_baseline="b"), ["yes: needs 64 B of 100 B, 36 B to spare", "not compared: b"]),
        (verdict(fits=False, reason="r", missing_baseline="b"), ["no: r"]),
        (verdict(before=48), ["yes: needs 64 B of 100 B, 36 B to spare", "+16 B since the baseline of 48 B"]),
        (verdict(before=80), ["yes: needs 64 B of 100 B, 36 B to spare", "-16 B since the baseline of 80 B"]),
        (verdict(before=64), ["yes: needs 64 B of 100 B, 36 B to spare"]),
    ],
)  # fmt: skip
def test_the_answer_comes_first(given: Verdict, lines: list[str]) -> None:
    assert verdict_lines(given) == lines


def judged(*verdicts: Verdict) -> Any:
    return [(each, M4) for each in verdicts]


def test_the_worst_decides_and_of_several_the_one_that_needs_most() -> None:
    yes, more, unknown, no, none = (
        verdict(16), verdict(32), verdict(64, fits=None), verdict(8, fits=False), verdict(None, fits=False),
    )  # fmt: skip
    for rows, worst in (
        ((yes, more), more),
        ((more, yes), more),
        ((more, unknown, yes), unknown),
        ((no, unknown, more), no),
        ((none, no), no),
        ((verdict(0, fits=False), none), verdict(0, fits=False)),
    ):
        assert deciding(judged(*rows))[0] == worst


def test_a_heading_counts() -> None:
    yes, unknown, no = verdict(), verdict(fits=None), verdict(fits=False)
    for rows, words in (
        ((), "no model to check"),
        ((yes, yes), "yes: all 2 fit"),
        ((yes, no), "no: 1 of 2 does not fit, or grew"),
        ((no, no, unknown), "no: 2 of 3 do not fit, or grew; 1 cannot be told"),
        ((yes, unknown), "1 of 2 cannot be told; the others fit"),
        ((unknown, unknown), "2 of 2 cannot be told"),
        ((verdict(missing_baseline="no size"),), "1 of 1 fits and is not in the baseline"),
        (
            (yes, verdict(missing_baseline="no size"), unknown),
            "1 of 3 cannot be told, 1 of 3 fits and is not in the baseline; the others fit",
        ),
    ):
        assert headline(rows) == words


def test_libraries_have_a_line_each() -> None:
    chirale = configure("nano33ble-chirale")
    rows: Any = [
        (verdict(16, fits=True), M4),
        (verdict(None, fits=False), chirale),
        (verdict(1600, fits=None), chirale),
    ]
    title, head, *lines = library_lines(rows, "nano33ble")
    assert title == "so it is with chirale-2.0.0, of the libraries that people use on nano33ble:"
    assert head.split() == ["fits", "needs", "library", "TFLM", "of", "kernels"]
    assert [line.split()[:2] for line in lines] == [["yes", "16"], ["no", "-"], ["-", "1,600"]]
    assert "  tflite-micro@" in lines[0]
    assert lines[0].split()[-1] == "reference"


def test_a_document_has_libraries_where_there_are_several() -> None:
    board = BOARDS["nano33ble"]
    document = verdict_document(judged(verdict(board=board, model=None)), assumed=("--x",), firmware="f")
    assert (document.libraries, document.assumed, document.firmware) == (None, ("--x",), "f")
    assert document.board is not None
    assert (document.board.name, document.board.flash_bytes, document.schema_version) == ("nano33ble", 1 << 20, 1)
    several = verdict_document(judged(verdict(), verdict(before=48)))
    assert [row.growth for row in several.libraries or ()] == [None, 16]
    assert several.board is None


def test_markdown_is_a_heading_and_a_table() -> None:
    text = verdict_markdown(verdict(before=48, fits=False, reason="r|`s"), ["--library"])
    assert text.split("\n") == [
        "### ❌ `m`; not named, so assumed: --library",
        "",
        "| smallest arena | limit | since the baseline | configuration |",
        "|---:|---:|---:|---|",
        "| 64 B | 100 B | +16 B | `t` |",
        "",
        "`no: r\\x7c\\x60s`",
        "`+16 B since the baseline of 48 B`",
        "",
        "",
    ]
    lines = verdict_markdown(verdict(None, None, fits=None, missing_baseline="b")).split("\n")
    assert (lines[0], lines[4]) == ("### ❓ `m`", "| - | - | - | `t` |")
    assert verdict_markdown(verdict()).split("\n")[0] == "### ✅ `m`"
    assert verdict_markdown(verdict()).endswith("`t` |\n\n")
    assert verdict_markdown(verdict(fits=None)).startswith("### ❓ `m`")
    assert about_markdown(["a", "b"]) == "- `a`\n- `b`\n\n"
