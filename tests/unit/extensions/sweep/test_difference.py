"""What is said of a row before and after."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.answers.rows import Row
from tflm_sim.extensions.sweep.difference import RowChange, changes


def row(size: int | None, fits: bool | None = None, **more: Any) -> Row:
    return Row(
        **({"model": "m", "status": "ok" if size is not None else "error"} | more), multiple_of_16=size, fits=fits
    )


@pytest.mark.parametrize(
    ("before", "after", "grown", "verdict", "is_worse"),
    [
        (row(32), row(48), 16, "", True),
        (row(48), row(32), -16, "", False),
        (row(32), row(None), None, "", True),
        (row(None), row(32), None, "", False),
        (row(None), row(None), None, "", False),
        (row(32, True), row(32, False), 0, "no longer fits", True),
        (row(32, False), row(32, True), 0, "fits now", False),
        (row(32, True), row(32, True), 0, "", False),
        (row(32, False), row(32, False), 0, "", False),
        (row(32, None), row(32, False), 0, "", False),
        (row(32, True), row(32, None), 0, "", False),
        (row(48, True), row(32, False), -16, "no longer fits", True),
        (row(32, False), row(48, True), 16, "fits now", True),
        (row(32, None, limit=64), row(32, False, limit=64), 0, "no longer fits", True),
        (row(32, False, limit=64), row(32, None, limit=64), 0, "may fit now", False),
        (None, row(32), None, "new", False),
        (row(32), None, None, "gone", False),
    ],
)
def test_growth_verdict_and_whether_it_is_worse(
    before: Row | None, after: Row | None, grown: int | None, verdict: str, is_worse: bool
) -> None:
    change = RowChange(before, after)
    assert (change.bytes, change.verdict, change.is_worse) == (grown, verdict, is_worse)


def test_rows_meet_by_model_target_board_and_settings() -> None:
    names = [{"model": "n"}, {"target": "t"}, {"board": "b"}, {"settings": "{1}"}]
    ours = row(32)
    for other in (row(32, **name) for name in names):
        assert changes([ours], [other]) == [RowChange(None, other), RowChange(ours, None)]
    assert changes([ours], [row(32)]) == []


def test_another_status_size_or_verdict_is_a_difference() -> None:
    for before, after, differs in (
        (row(32), row(48), True),
        (row(None), row(None, status="abort"), True),
        (row(32, True), row(32, False), True),
        (row(32, True), row(32, None), False),
        (row(32, None), row(32, False), False),
        (row(32, True), row(32, True), False),
    ):
        assert changes([before], [after]) == ([RowChange(before, after)] if differs else [])
