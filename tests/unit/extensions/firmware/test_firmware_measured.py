"""Verdicts out of what an executed program did with a model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware import judge_measured as firmware_measured
from tflm_sim.extensions.firmware.judge_measured import measured_verdict

MODEL: Any = SimpleNamespace(address=0x100, extent=0x10, piece=".rodata")


def allocation(model: int | None = 0x100, status: str = "ok", log: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(model=model, status=status, log=log)


def arena(*allocations: Any, **facts: Any) -> Any:
    known = {"symbol": "a", "address": 0x2000, "size": 64, "smallest_arena": 40, "smallest_arena_multiple_of_16": 48}
    rest = {"arena_used_bytes": 30, "fits": True, "reason": "", "is_exact": True, "allocations": allocations}
    return SimpleNamespace(**{**known, **rest, **facts})


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what judges the model in pairs of arenas, of which some were left."""

    def verdict(*found: tuple[Any, Any], left: tuple[Any, ...] = (), is_guessed: bool = False) -> Any:
        monkeypatch.setattr(firmware_measured, "pairs", lambda _: found)
        execution: Any = SimpleNamespace(is_left=lambda one: one in left, is_guessed=is_guessed)
        return measured_verdict(MODEL, "m", execution)

    return verdict


def test_an_arena_that_works_is_told_with_its_figures(judged: Any) -> None:
    found = judged((arena(allocation()), None))
    assert (found.model, found.model_size, found.place) == ("m", 0x10, "at 0x100 in .rodata")
    assert (found.arena.name, found.arena.size, found.arena.address) == ("a", 64, 0x2000)
    assert (found.needed, found.multiple_of_16, found.used, found.fits) == (40, 48, 30, True)
    assert (found.log, found.reason, found.conditions) == ((), "", ())


@pytest.mark.parametrize(
    ("address", "is_used"), [(0x100, True), (0x10F, True), (0x110, False), (0xFF, False), (None, False)]
)
def test_a_model_is_used_where_an_interpreter_was_given_one_of_its_bytes(
    judged: Any, address: int | None, is_used: bool
) -> None:
    found = judged((arena(allocation(address)), None))
    assert (found.fits is True) is is_used
    assert (found.used, found.needed) == ((30, 40) if is_used else (0, None))
    assert is_used or found.reason == "executed, the program does not use it before it ends or waits"


def test_an_arena_that_was_left_for_another_one_does_not_count(judged: Any) -> None:
    left = arena(allocation(), symbol="left")
    assert judged((left, None), (arena(allocation()), None), left=(left,)).arena.name == "a"
    assert judged((left, None), left=(left,)).fits is None


def test_of_several_arenas_the_worst_is_told(judged: Any) -> None:
    fitting = arena(allocation(), smallest_arena=50, symbol="fitting")
    large = arena(allocation(), smallest_arena=60, symbol="large")
    unknown = arena(allocation(), smallest_arena=None, fits=None, symbol="unknown")
    failing = arena(allocation(), smallest_arena=10, fits=False, symbol="failing")
    nothing = arena(allocation(), smallest_arena=0, symbol="nothing")
    for rows, worst in (
        ((fitting, large), "large"),
        ((large, fitting), "large"),
        ((large, unknown), "unknown"),
        ((unknown, large, failing), "failing"),
        ((failing, unknown), "failing"),
        ((nothing, arena(allocation(), smallest_arena=None, symbol="none")), "nothing"),
    ):
        assert judged(*((row, None) for row in rows)).arena.name == worst


def test_two_arenas_are_one_room(judged: Any) -> None:
    rest = arena(symbol="", address=0x3000, size=32, smallest_arena=8, smallest_arena_multiple_of_16=16)
    found = judged((arena(allocation()), rest))
    assert (found.arena.name, found.arena.size) == ("a and an arena at 0x3000", 96)
    assert (found.needed, found.multiple_of_16, found.fits) == (48, 64, True)
    failing = arena(symbol="r", fits=False, reason="it is full", smallest_arena=None)
    found = judged((arena(allocation(log=("first",))), failing))
    assert (found.fits, found.reason, found.log, found.needed) == (False, "it is full", ("first",), None)


def test_what_failed_is_told_even_where_another_model_in_the_arena_did(judged: Any) -> None:
    own, other = allocation(status="error", log=("own",)), allocation(0x900, "error", ("other",))
    for rows, reason, log in (
        ((own,), "r", ("own",)),
        ((allocation(), other), "of another model in this arena, r", ("other",)),
        ((allocation(log=("ok",)),), "r", ("ok",)),
        ((other, own), "of another model in this arena, r", ("other",)),
        ((allocation(0x900), own), "r", ("own",)),
    ):
        found = judged((arena(*rows, fits=False, reason="r", arena_used_bytes=None), None))
        assert (found.reason, found.log, found.used) == (reason, log, 0)


def test_what_was_not_seen_is_a_condition(judged: Any) -> None:
    guessed, skipped = firmware_measured._GUESSED, firmware_measured._SKIPPED
    inexact = arena(allocation(), is_exact=False)
    assert judged((inexact, None)).conditions == (skipped,)
    assert judged((inexact, None), is_guessed=True).conditions == (guessed, skipped)
    assert judged((arena(allocation(), is_exact=False, smallest_arena=None), None)).conditions == ()
    assert judged((arena(allocation()), arena(is_exact=False))).conditions == (skipped,)


def test_a_model_in_no_section_is_at_its_address(judged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODEL, "piece", "")
    assert judged((arena(allocation()), None)).place == "at 0x100"
