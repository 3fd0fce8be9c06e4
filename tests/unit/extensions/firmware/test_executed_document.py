"""What is shown of a program's own measurements where the simulation does not ask for the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware import executed_document as module
from tflm_sim.extensions.firmware.emulation.execution import ExecutedEvent


def event(kind: str, subgraph: int, op: int, name: str) -> ExecutedEvent:
    return ExecutedEvent(kind, name, subgraph, op, 0, 0, 0, 0)


def test_operators_are_those_that_were_seen_by_their_numbers() -> None:
    rows = (
        event("op_init", 0, 0, "A"),
        event("op_init", 0, 2, "C"),
        event("op_init", 2, 0, "D"),
        event("phase", 0, -1, "x"),
    )
    measured: Any = SimpleNamespace(arena=SimpleNamespace(allocations=(SimpleNamespace(events=rows),)))
    assert module._operators(measured) == (("A", "", "C"), (), ("D",))
    measured.arena.allocations[0].events = rows[3:]
    assert module._operators(measured) == ()


@pytest.mark.parametrize(
    ("first", "rest", "sizes"),
    [
        (1600, None, None),
        (None, SimpleNamespace(smallest_arena=24), None),
        (1600, SimpleNamespace(smallest_arena=None), None),
        (1600, SimpleNamespace(smallest_arena=24), (1600, 24)),
    ],
)
def test_two_arenas_have_two_sizes(first: int | None, rest: Any, sizes: tuple[int, int] | None) -> None:
    measured: Any = SimpleNamespace(arena=SimpleNamespace(smallest_arena_multiple_of_16=first), rest=rest)
    found = module._split(measured)
    assert (found and (found.persistent, found.non_persistent)) == sizes


def arena(**facts: Any) -> Any:
    known = {
        "fits": True, "reason": "", "arena_used_bytes": 1500, "arena_used_bytes_at_smallest": 1400, "size": 4096,
        "smallest_arena": 1590, "smallest_arena_multiple_of_16": 1600, "succeeds_from": 1590, "address": 0x2000_0004,
        "allocations": (SimpleNamespace(log=("l",), events=()), SimpleNamespace(log=("m",), events=())),
    }  # fmt: skip
    return SimpleNamespace(**{**known, **facts})


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what gives the answer of an arena whose tail has some bytes."""

    def given(row: Any, rest: Any = None, *, smallest: int | None = 1590, tail: int = 400) -> Any:
        asked: list[int] = []

        def ledger(_: Any, count: int) -> Any:
            asked.append(count)
            return SimpleNamespace(tail_used=tail, groups={}, ops={})

        monkeypatch.setattr(module, "_ledger", ledger)
        monkeypatch.setattr(module, "replace", lambda value, **more: SimpleNamespace(**{**vars(value), **more}))
        found = module._answer(SimpleNamespace(arena=row, rest=rest, smallest=smallest))  # type: ignore[arg-type]
        assert asked == [2, 1]  # all of them hold the tail; operators are those of the first
        return found

    return given


def test_an_arena_that_works_has_the_figures_of_the_program(answer: Any) -> None:
    found = answer(arena())
    assert (found.status, found.failure, found.log) == ("ok", None, ("l",))
    assert (found.arena_used_bytes, found.head_bytes, found.tail_bytes) == (1500, 1100, 400)
    assert (found.smallest_arena_bytes, found.smallest_arena_multiple_of_16) == (1590, 1600)
    assert found.passes_unnoticed_from_bytes is None
    assert answer(arena(succeeds_from=1580)).passes_unnoticed_from_bytes == 1580
    assert answer(arena(), tail=0).head_bytes == 0


def test_one_that_fails_has_those_of_the_smallest_or_none(answer: Any) -> None:
    found = answer(arena(fits=False, reason="r"), smallest=None)
    assert (found.status, found.failure, found.arena_used_bytes) == ("error", "r", 1400)
    assert (found.head_bytes, found.tail_bytes) == (None, None)  # what a run that failed holds is no figure
    found = answer(arena(fits=False, arena_used_bytes_at_smallest=None), smallest=None)
    assert (found.failure, found.arena_used_bytes) == ("no size was found for one of its two arenas", 0)


def test_of_two_arenas_none_has_the_sizes_of_one(answer: Any) -> None:
    found = answer(arena(), arena(smallest_arena=24))
    assert (found.smallest_arena_bytes, found.arena_used_bytes_at_smallest) == (None, None)
    assert (found.smallest_split_arenas_bytes.persistent, found.smallest_split_arenas_bytes.non_persistent) == (
        1600,
        24,
    )


@pytest.mark.parametrize(
    ("rest", "split_at", "whole"), [(None, 0, 4084), (arena(address=0x2000_0008, size=512), 504, 504 + 4084)]
)
def test_a_picture_has_the_programs_own_arenas_from_their_first_multiple_of_16(
    monkeypatch: pytest.MonkeyPatch, rest: Any, split_at: int, whole: int
) -> None:
    # 0x20000004 is 12 below one, 0x20000008 is 8 below one.
    monkeypatch.setattr(module, "measured_document", lambda *_: SimpleNamespace(answer=SimpleNamespace(operators=())))
    facts = SimpleNamespace(core="Cortex-M4", emulator="Unicorn", difference="another kernel", kernels_as_seen=())
    title = "t, executed for a Cortex-M4 in Unicorn: other requests than simulated"
    monkeypatch.setattr(module, "_events", lambda _: [])
    configuration = SimpleNamespace(target=SimpleNamespace(name="t"), planner="greedy")
    for fits, status, failure in ((True, "ok", ""), (False, "error", "r")):
        measured: Any = SimpleNamespace(
            is_simulated=False, own=arena(fits=fits, reason="r"), rest=rest, configuration=configuration, facts=facts
        )
        model: Any = SimpleNamespace(subgraphs=(SimpleNamespace(name="main"), SimpleNamespace(name="")))
        picture = module.measured_picture(model, measured)
        assert (picture.title, picture.split_at, picture.arena_bytes) == (title, split_at, whole)
        assert (picture.status, picture.failure) == (status, failure)
        assert picture.subgraph_names == ("main", "subgraph_1")
        assert [step.kind for step in picture.steps] == ([] if fits else ["fail"])
