"""Lifetimes in lines: of buffers made by hand, so that each column and each bound is arithmetic."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.checks.lifetime_answers import FLASH, HEAD, NOWHERE, TAIL, BufferLife, Lifetimes, Preservation
from tflm_sim.invocation.findings import BufferId
from tflm_sim.report import lifetime_text as texts

NOT_USED = -1


def life(index: int, offset: int, size: int, first: int, last: int, *, name: str = "", home: str = HEAD) -> BufferLife:
    place = offset if home in (HEAD, TAIL) else None
    return BufferLife(BufferId("tensor", 0, index), name, home, size, place, first, last)


def made(*lives: BufferLife, scopes: int = 4, inputs: tuple[int, ...] = (0,)) -> Lifetimes:
    """Return lifetimes over the inputs and so many operators less one."""
    found = Lifetimes.__new__(Lifetimes)
    places = [(0, scope - 1) for scope in range(scopes)]
    parts = {
        "_by_id": {row.buffer: row for row in lives},
        "_allocation": SimpleNamespace(scopes=places, op_names=[["ADD"] * (scopes - 1)]),
        "model": SimpleNamespace(subgraphs=[SimpleNamespace(input_tensors=inputs)]),
    }
    for name, value in parts.items():
        setattr(found, name, value)
    return found


A = life(0, 0, 1024, 0, 1, name="a")
B = life(1, 1000, 24, 2, 3)
C = life(2, 1024, 8, 0, 2, name="c")


def test_rows_have_their_bytes_and_a_caret_stands_below_its_scope() -> None:
    variable = life(3, 64, 4, 0, 3, home=TAIL)
    assert texts.timeline_lines(made(A, B, variable), [A, B, variable], mark=2) == [
        "tensor 0 (a)  [0 .. 1,024)      ##..",
        "tensor 1      [1,000 .. 1,024)  ..##",
        "tensor 3      tail              ####",
        " " * 34 + "^ ADD #1",
    ]
    assert texts.timeline_lines(made(A), [], mark=0) == []


@pytest.mark.parametrize(
    ("scopes", "bar", "note", "mark"),
    [
        (64, "." * 62 + "#.", [], 62),
        (65, "." * 31 + "#.", ["(65 scopes, 2 to a column)"], 31),
        (128, "." * 31 + "#" + "." * 32, ["(128 scopes, 2 to a column)"], 31),
        (129, "." * 20 + "#" + "." * 22, ["(129 scopes, 3 to a column)"], 20),
    ],
)
def test_of_more_than_64_scopes_several_are_a_column(scopes: int, bar: str, note: list[str], mark: int) -> None:
    row = life(0, 0, 1, 62, 62)
    head = "tensor 0  [0 .. 1)  "
    caret = " " * (len(head) + mark) + "^ ADD #61"
    assert texts.timeline_lines(made(row, scopes=scopes), [row], mark=62) == [head + bar, caret, *note]


def test_a_buffer_lies_with_those_at_its_bytes() -> None:
    lives = made(A, B, C)
    assert texts.tensor_lines(lives, A) == [
        "tensor 0 (a), 1,024 B",
        "    bytes [0 .. 1,024) of the head, from the inputs (scope 0) to ADD #0 (1)",
        "    gone after Invoke(): ADD #1 overwrites bytes 1,000 to 1,023 with tensor 1",
        "    shares memory with 1 other:",
        "        bytes             scopes  buffer",
        "        [1,000 .. 1,024)    2..3  tensor 1",
        "",
        "tensor 0 (a)  [0 .. 1,024)      ##..",
        "tensor 1      [1,000 .. 1,024)  ..##",
    ]
    assert texts.tensor_lines(lives, C)[2:5] == [
        "    still there after Invoke(), though TFLM does not promise it",
        "    shares memory with nobody",
        "",
    ]
    assert texts.after_invoke(lives, B) == "still there after Invoke()"
    assert texts.tensor_lines(lives, life(5, 0, 1, NOT_USED, NOT_USED))[1:] == [
        "    planned, and no operator that runs names it"
    ]


@pytest.mark.parametrize("home", [TAIL, FLASH, NOWHERE])
def test_outside_of_the_head_a_sentence_says_where(home: str) -> None:
    row = life(5, 0, 1, 0, 0, home=home)
    first, where = texts.tensor_lines(made(row), row)
    assert (first, where) == ("tensor 5, 1 B", f"    {texts.after_invoke(made(row), row)}")
    assert {TAIL: "in the tail: ", FLASH: "in flash, ", NOWHERE: "nowhere: "}[home] in where


@pytest.mark.parametrize(("others", "more"), [(39, []), (40, []), (41, ["        and 1 more"])])
def test_40_that_share_its_bytes_are_listed(others: int, more: list[str]) -> None:
    own = life(0, 0, 8, 0, 0)
    lives = made(own, *(life(1 + number, 0, 8, 1, 1) for number in range(others)))
    lines = texts.tensor_lines(lives, own)
    listed = min(others, 40)
    assert lines[3] == f"    shares memory with {others} others:"
    assert lines[5 + listed : 5 + listed + len(more) + 1] == [*more, ""]
    assert len(lines) == 5 + listed + len(more) + 1 + 1 + listed


@pytest.mark.parametrize(
    ("count", "title"), [(40, "40 buffers in the head"), (41, "41 buffers in the head, the 40 largest")]
)
def test_the_overview_has_the_40_largest_in_order_of_time(count: int, title: str) -> None:
    rows = [life(number, 16 * number, number + 1, count - number, count) for number in range(count)]
    lines = texts.overview_lines(made(*rows, scopes=count + 1, inputs=(count - 1,)))
    assert lines[0] == f"{title}; a column is an operator:"
    assert [line.split()[1] for line in lines[1:41]] == [str(count - 1 - place) for place in range(40)]
    assert lines[41:] == ["", f"input 0 is tensor {count - 1}: still there after Invoke()"]


def test_buffers_of_one_moment_are_in_order_of_their_bytes_and_variables_are_counted() -> None:
    variables = (life(3, 64, 4, 0, 3, home=TAIL, name="v"), life(4, 68, 4, 0, 3, home=TAIL))
    lines = texts.overview_lines(made(C, A, *variables, inputs=(0, 2)))
    assert [line.split()[1] for line in lines[1:3]] == ["0", "2"]
    assert [line.partition(":")[0] for line in lines[4:6]] == ["input 0 is tensor 0 (a)", "input 1 is tensor 2 (c)"]
    assert lines[6:] == ["2 variables in the tail: tensor 3 (v), tensor 4"]


def test_what_keeping_costs_is_a_difference() -> None:
    line = texts.preservation_line("x", Preservation(1000, 1016, 500, 520))
    sizes = "the smallest arena goes from 1,000 to 1,016 B, its head from 500 to 520 B"
    assert line == f"keeping x to the end of Invoke() costs 16 B: {sizes}"
