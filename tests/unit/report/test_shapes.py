"""Rectangles of a picture in bytes and time: 34 % of it for AllocateTensors(), the rest for Invoke()."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.report.picture import Block, Picture, Step
from tflm_sim.report.shapes import DrawnShape, invoke_start, label_start, label_u, marked, scope_u, shapes, step_u

Make = Callable[..., Picture]
ARENA = "allocator objects"


def test_time_is_split_at_a_third_where_there_is_a_plan(small_picture: Make) -> None:
    picture = small_picture()
    assert [step_u(picture, step) for step in (0, 5, 10)] == pytest.approx([0, 0.17, 0.34])
    assert [scope_u(picture, scope) for scope in (0, 1, 2)] == pytest.approx([0.34, 0.67, 1])
    bare = small_picture(scopes=(), steps=())
    assert (invoke_start(picture), invoke_start(bare)) == (0.34, 1)
    assert (step_u(bare, 0), step_u(bare, 1), scope_u(bare, 1)) == (0, 1, 1)
    assert scope_u(small_picture(scopes=((0, 0),)), 1) == 1


def shape(u0: float, u1: float) -> DrawnShape:
    return DrawnShape("temp", 0, 1, u0, u1, "", "", 0)


def test_a_label_stands_in_the_first_scope_clear_of_its_frame(small_picture: Make) -> None:
    picture, many = small_picture(), small_picture(scopes=((0, 0),) * 1000)
    assert label_u(picture, shape(0.1, 0.12)) == pytest.approx(0.11)
    assert label_u(picture, shape(0.1, 0.9)) == pytest.approx(0.15)  # 0.05 below its start
    assert label_u(picture, shape(0.34, 1)) == pytest.approx(0.34 + 0.33 / 2)
    assert label_u(picture, shape(0.34, 0.4)) == pytest.approx(0.37)
    assert label_u(many, shape(0.34, 1)) == pytest.approx(0.351)


def test_a_label_begins_where_nothing_lies_over_it(small_picture: Make) -> None:
    below = DrawnShape("activation", 0, 900, 0.34, 1, "scratch", "", 0)
    above = [DrawnShape("input", start, end, u0, 1, "", "", 1) for start, end, u0 in ((0, 100, 0.34), (100, 250, 0.34))]
    later = DrawnShape("output", 250, 300, 0.9, 1, "", "", 2)
    assert label_start(small_picture(), below, [*above, later]) == 250
    assert label_start(small_picture(), below, above[1:]) == 0


def test_of_an_npu_no_moment_is_said_to_be_the_fullest(small_picture: Make) -> None:
    dashed = "dashed: tightest, which decides the arena's size"
    picture = small_picture()
    assert list(marked(picture)) == ["framed: fullest in #0 RELU, 1,632 B alive", dashed]
    picture.size.answer.npu = ("its scratch",)  # type: ignore[misc, assignment]
    assert list(marked(picture)) == [dashed]
    assert list(marked(small_picture(failure="it fails"))) == []


def test_blocks_come_in_layers_and_each_says_what_it_is(small_picture: Make) -> None:
    drawn = list(shapes(small_picture()))
    assert [(row.category, row.start, row.end, row.label, row.fact, row.order) for row in drawn] == [
        ("temp", 0, 512, "", "512 bytes at 0", 1),
        (ARENA, 4000, 4096, "objects", "objects: 96 bytes at 4,000", 1),
        ("eval tensors", 3000, 4000, "", "eval tensors: 1,000 bytes in 1", 4),
        ("input", 0, 1000, "in", "in: 1,000 bytes at 0, inputs to #0 RELU, shares bytes with 0", 0),
        ("output", 1008, 1508, "tensor 1", "tensor 1: 500 bytes at 1,008, #0 RELU, shares bytes with 0", 1),
        ("scratch", 1520, 1620, "scratch 7", "scratch 7: 100 bytes at 1,520, #0 RELU, shares bytes with 2", 2),
    ]
    assert [(row.u0, row.u1) for row in drawn] == [
        pytest.approx(pair)
        for pair in ((0.068, 0.17), (0.034, 1), (0.136, 1), (0.34, 1), (0.67, 1), (0.67, 1))
    ]  # fmt: skip


def passing(make: Make, *spans: tuple[int, int], steps: int) -> list[tuple[float, float]]:
    """Return where temps of one place are drawn, in rows of time."""
    blocks = tuple(Block("temp", 0, 16, 0, begin, end, "", 0) for begin, end in spans)
    picture = make(blocks=blocks, residents=(), steps=(Step("temp", 0),) * steps, scopes=())
    return [(round(row.u0 * 700, 3), round(row.u1 * 700, 3)) for row in shapes(picture)]


def test_of_what_fills_the_same_rows_one_is_drawn(small_picture: Make) -> None:
    # 1,400 steps without a plan are 700 rows of two steps.
    assert passing(small_picture, (0, 1), (1, 2), (0, 2), (2, 3), (2, 2), steps=1400) == [(0, 1), (1, 2)]
    assert passing(small_picture, (0, 4), (1, 5), (3, 9), steps=1400) == [(0, 2), (1, 4)]
    assert passing(small_picture, (1398, 1402), steps=1400) == [(699, 700)]  # and none ends after the last one
    # Fewer steps than rows: a row each.
    assert passing(small_picture, (0, 1), (1, 2), steps=350) == [(0, 2), (2, 4)]


def tail(make: Make, *blocks: Block, steps: int = 1400) -> list[tuple[int, int, str]]:
    """Return the rectangles of a tail in 10,000 bytes, of which 10 can be told apart."""
    picture = make(blocks=blocks, residents=(), steps=(Step("temp", 0),) * steps, scopes=(), arena_bytes=10_000)
    return [(row.start, row.end, row.fact) for row in shapes(picture)]


def block(offset: int, size: int, *, begin: int = 0, padding: int = 0, category: str = ARENA, label: str = "") -> Block:
    return Block(category, offset, size, padding, begin, 1400, label, 0)


def test_narrow_neighbours_of_a_row_are_one_rectangle(small_picture: Make) -> None:
    one = [(82, 100, f"{ARENA}: 18 bytes in 2")]
    assert tail(small_picture, block(91, 9), block(82, 9)) == one
    assert tail(small_picture, block(91, 9, label="a"), block(82, 9, label="b")) == one
    assert tail(small_picture, block(91, 9), block(80, 9, padding=2)) == [(80, 100, f"{ARENA}: 20 bytes in 2")]
    assert tail(small_picture, block(91, 9), block(82, 9, begin=1)) == one
    assert tail(small_picture, block(91, 9), block(82, 9), block(73, 9)) == [(73, 100, f"{ARENA}: 27 bytes in 3")]


@pytest.mark.parametrize(
    "second",
    [
        block(81, 10),
        block(82, 9, begin=2),
        block(82, 9, category="eval tensors"),
        block(81, 9),
        block(81, 9, padding=2),
    ],
)
def test_what_is_wide_or_later_or_something_else_or_apart_is_a_rectangle_of_its_own(
    small_picture: Make, second: Block
) -> None:
    first, other = tail(small_picture, block(91, 9), second)
    assert first == (91, 100, f"{ARENA}: 9 bytes in 1")
    assert other[:2] == (second.offset, second.offset + second.size)
    wide, narrow = tail(small_picture, block(90, 10), block(81, 9))
    assert (wide[:2], narrow[:2]) == ((90, 100), (81, 90))
