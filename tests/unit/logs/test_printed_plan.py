"""Printed memory plans: their three forms, and the map that is drawn of the buffers, column by column."""

from __future__ import annotations

import string
from typing import Any

from tflm_sim.logs.log_events import PlanBuffer, PlanDialect, PlanReport
from tflm_sim.logs.prefixes import TextLine
from tflm_sim.logs.printed_plan import MAX_LINES, PlanReader, draw_plan


def drawn(*buffers: PlanBuffer, dialect: PlanDialect = PlanDialect.STARS) -> list[tuple[int, str, int | None]]:
    """Return the rows without the free columns at their ends."""
    return [(row.step, row.columns.rstrip("."), row.kib) for row in draw_plan(buffers, dialect)]


def test_a_map_has_80_columns_of_at_least_80_bytes() -> None:
    buffers = PlanBuffer(0, 8, 0, 0, 1), PlanBuffer(1, 4, 8, 1, 2)
    assert drawn(*buffers) == [(0, "00000000", 1), (1, "000000001111", 1), (2, "........1111", 1)]
    # Of 160 bytes a column is two.
    assert drawn(PlanBuffer(0, 160, 0, 0, 1), PlanBuffer(1, 8, 4, 2, 3))[2] == (2, "..1111", 1)
    assert [len(row.columns) for row in draw_plan(buffers, PlanDialect.STARS)] == [80] * 3
    assert drawn() == [(0, "", 0)]


def test_where_two_lie_over_each_other_the_map_says_so_and_one_without_a_place_is_not_drawn() -> None:
    assert drawn(PlanBuffer(0, 8, 0, 0, 1), PlanBuffer(1, 8, 4, 1, 2))[1] == (1, "0000!!!!1111", 1)
    assert drawn(PlanBuffer(0, 8, -1, 0, 1)) == [(0, "", 0), (1, "", 0)]


def test_kibibytes_are_rounded_up() -> None:
    assert [drawn(PlanBuffer(0, size, 0, 0, 1))[0][2] for size in (1, 1024, 1025)] == [1, 1, 2]


ORDINALS = string.digits + string.ascii_lowercase + string.ascii_uppercase


ROW = "0" * 16 + "." * 64


def buffer_line(number: int, size: int, offset: int, first: int, last: int, mark: str = "") -> str:
    shown = mark or ORDINALS[number % 62]
    return f"{shown} (id={number}): size={size}, offset={offset}, first_used={first} last_used={last}"


def verbose_line(number: int, size: int, offset: int, first: int, last: int) -> str:
    return (
        f"Planner buffer ID: {number}, calculated offset: {offset}, size required: {size}, "
        f"first_time_created: {first}, last_time_used: {last}"
    )


def read(*texts: str) -> list[PlanReport]:
    reader, found = PlanReader(), list[Any]()
    for number, text in enumerate(texts, 5):
        found += reader.feed(TextLine(number, text, ended=True)) or []
    return [*found, *reader.flush()]


def rows(*buffers: PlanBuffer, dialect: PlanDialect = PlanDialect.STARS) -> list[str]:
    return [f"{row.step:>4}: {row.columns} ({row.kib}k)" for row in draw_plan(buffers, dialect)]


FIRST, SECOND = PlanBuffer(0, 16, 0, 0, 1), PlanBuffer(1, 16, 16, 1, 1)
LINES = [buffer_line(0, 16, 0, 0, 1), buffer_line(1, 16, 16, 1, 1, "*")]


def test_a_plan_is_its_buffers_and_their_map() -> None:
    (plan,) = read(*LINES, *rows(FIRST, SECOND))
    assert (plan.dialect, plan.first_line, plan.last_line) == (PlanDialect.STARS, 5, 8)
    assert (plan.buffers, plan.problems, plan.size) == ((FIRST, SECOND), (), 32)


def test_the_form_is_told_by_the_mark_of_a_buffer_of_one_step() -> None:
    old = [LINES[0], buffer_line(1, 16, 16, 1, 1)]
    (plan,) = read(*old, *rows(FIRST, SECOND, dialect=PlanDialect.ORDINALS))
    assert (plan.dialect, plan.problems) == (PlanDialect.ORDINALS, ())
    (plan,) = read(LINES[0], *rows(FIRST))
    assert (plan.dialect, plan.problems) == (PlanDialect.UNKNOWN, ())
    verbose = [verbose_line(0, 16, 0, 0, 1), verbose_line(1, 16, 16, 1, 1)]
    bare = [row.columns for row in draw_plan((FIRST, SECOND), PlanDialect.VERBOSE)]
    (plan,) = read(*verbose, *bare)
    assert (plan.dialect, plan.problems, [row.kib for row in plan.rows]) == (PlanDialect.VERBOSE, (), [None, None])


def test_what_is_missing_or_another_is_told() -> None:
    whole = rows(FIRST, SECOND)
    for lines, problem in (
        ((LINES[1], *whole), "buffers are missing"),
        (tuple(LINES), "the map is missing"),
        ((*LINES, whole[1]), "rows of the map are missing"),
        ((*LINES, whole[0]), "rows of the map are missing"),
        ((buffer_line(0, 16, 0, 0, 2**31 - 1), whole[0]), "rows of the map are missing"),
        ((buffer_line(0, 16, -5, 0, 1), *whole), "buffer 0 has no such offset or lifetime"),
        ((*LINES, whole[0].replace("(1k)", "(2k)"), whole[1]), "step 0: the map is not what the buffers draw"),
        ((*LINES, whole[0], whole[1].replace("*", "0")), "step 1: the map is not what the buffers draw"),
    ):
        assert read(*lines)[0].problems == (problem,)


def test_a_buffer_that_comes_again_or_after_the_map_begins_another_plan() -> None:
    assert [len(plan.buffers) for plan in read(*LINES, LINES[0])] == [2, 1]
    whole = rows(FIRST, SECOND)
    assert [len(plan.buffers) for plan in read(*LINES, whole[0], buffer_line(7, 1, 0, 0, 0))] == [2, 1]
    assert [plan.last_line for plan in read(*LINES, *whole, *LINES)] == [8, 10]


def test_lines_before_a_plan_are_not_its_rows_and_torn_ones_are_told() -> None:
    assert PlanReader().feed(TextLine(1, ROW, ended=True)) is None
    torn = "  0: 00000000000000000000"
    (plan,) = read(LINES[0], torn)
    assert plan.problems[0] == f"line 6 is torn: {torn!r}"
    reader = PlanReader()
    assert reader.feed(TextLine(1, LINES[0], ended=False)) == []
    (cut,) = reader.flush()
    assert isinstance(cut, PlanReport)
    assert cut.buffers == ()


def test_a_plan_of_more_than_8192_buffers_is_cut() -> None:
    assert MAX_LINES == 8 * 1024
    plans = read(*(buffer_line(number, 1, 0, 0, 0) for number in range(MAX_LINES + 1)))
    assert [len(plan.buffers) for plan in plans] == [MAX_LINES, 1]
