"""Texts of kernels in a line: short ones have to be all of it, long ones may have others around them."""

from __future__ import annotations

import pytest

from tflm_sim.logs import kernel_texts
from tflm_sim.logs.kernel_texts import KernelText, find_kernel_text
from tflm_sim.logs.templates import Template

FORMATS = (
    "Shape %d wrong",  # 12 letters of its own
    "Types are of %d other size",
    "Dimensions are of the same",
    "Dimensions are of the same size here",
    "Operator wants no more than",
    "Operator wants no more",
)


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(Template(text, ("value",) * text.count("%")), f"{number}.cc") for number, text in enumerate(FORMATS)]
    table = {text.split()[0]: [row for row in rows if row[0].format.startswith(text.split()[0])] for text in FORMATS}
    monkeypatch.setattr(kernel_texts, "_by_word", lambda: table)


@pytest.mark.parametrize(
    ("line", "said", "file"),
    [
        ("Shape 5 wrong", "Shape 5 wrong", 0),
        ("Shape 5 wrong.", "Shape 5 wrong.", 0),
        ("Shape 5 wrong..", None, 0),
        ("x Shape 5 wrong", None, 0),
        ("shape.cc Shape 5 wrong", "Shape 5 wrong", 0),
        ("lite/shape.cc Shape 5 wrong", "Shape 5 wrong", 0),
        ("x Types are of 5 other size y", "Types are of 5 other size y", 1),
        ("x Dimensions are of the same y", "Dimensions are of the same y", 2),
        ("x Dimensions are of the same size here", "Dimensions are of the same size here", 3),
        ("x Operator wants no more y", None, 5),
        ("x Operator wants no more than y", "Operator wants no more than y", 4),
        ("nothing of the kind", None, 0),
    ],
)
def test_a_text_of_24_letters_may_stand_anywhere_and_the_longest_counts(line: str, said: str | None, file: int) -> None:
    assert find_kernel_text(line) == (None if said is None else KernelText(said, f"{file}.cc"))


def test_where_a_short_text_ends() -> None:
    sizes = {text: Template(text, ("value",) * text.count("%")).literal_size for text in FORMATS}
    assert [sizes[text] for text in (FORMATS[1], FORMATS[2], FORMATS[5])] == [24, 26, 22]
