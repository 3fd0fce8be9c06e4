"""Sentences about what a program's file leaves open."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.report.firmware_text import _cases, _printed


def row(count: int) -> SimpleNamespace:
    """A row whose cases need 1,100 B and 100 B more each."""
    cases = [
        SimpleNamespace(case=f"c{number}", smallest_arena=1000 + 100 * number, fits=True)
        for number in range(1, 1 + count)
    ]
    return SimpleNamespace(cases=cases, fits=True)


def test_six_cases_are_all_said_the_largest_first() -> None:
    said = _cases(row(6)).split("; ")
    assert [part.split(":")[0] for part in said] == ["c6", "c5", "c4", "c3", "c2", "c1"]


def test_of_seven_cases_five_and_the_smallest_are_said_and_how_many_are_not() -> None:
    said = _cases(row(7)).split("; ")
    assert [part.split(":")[0] for part in said] == ["c7", "c6", "c5", "c4", "c3", "1 more, which --json lists", "c1"]


@pytest.mark.parametrize(
    ("log", "prints", "said"),
    [
        (("no room", "second"), True, " and print `no room`"),
        (("no room",), False, " without a message"),
        (("",), True, " without a message"),
        ((), True, " without a message"),
    ],
)
def test_the_first_line_is_said_where_the_program_prints_one(log: tuple[str, ...], prints: bool, said: str) -> None:
    assert _printed(log, SimpleNamespace(prints_messages=prints)) == said
