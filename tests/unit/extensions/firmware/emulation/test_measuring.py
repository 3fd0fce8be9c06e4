"""How much stack a call takes, and how many instructions each operator: a machine that counts as it is told to."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.measuring import STACK, Measuring
from tflm_sim.extensions.firmware.emulation.memory_map import Span

BASE, POINTER = 0x9000_0000, 0x2000_1008


class Run:
    """An Arm core whose functions return when the test says so, the last one first."""

    def __init__(self, machine: Callable[[str], Any]) -> None:
        self.machine: Any = machine("ARM")
        self.machine.registers["sp"] = POINTER
        self.machine.spare = lambda size: BASE
        self.count: int | None = 0
        self.machine.count = lambda: self.count
        self.spans: list[tuple[Span, int]] = []
        self.waiting: list[Callable[[], None]] = []
        self.askers: list[Any] = []
        stores: Any = SimpleNamespace(
            begin=lambda lent, pointer: self.spans.append((lent, pointer)),
            take=lambda: ("store",),
            are_for=self._are_for,
        )
        self.measuring = Measuring(self.machine, self.waiting.append, stores)

    def _are_for(self, asker: Any) -> Any:
        self.askers.append(asker)
        return None if len(self.askers) < 2 else self.askers[-2]

    def returns(self, count: int | None) -> None:
        self.count = count
        self.waiting.pop()()


@pytest.fixture
def run(machine: Callable[[str], Any]) -> Run:
    return Run(machine)


@pytest.mark.parametrize("used", [0, 1, 100, 5000])
def test_a_function_runs_on_a_painted_stack_and_its_own_is_put_back(run: Run, used: int) -> None:
    found: list[int | None] = []
    run.measuring.stack(found.append)
    lent = run.machine.get("sp")
    assert lent == BASE + STACK - 256 + 8, "as far from a multiple of 16 as its own"
    assert run.spans == [(Span(BASE, BASE + STACK), POINTER)]
    run.machine.write(lent - used, bytes(used))
    run.machine.write(lent, bytes(256 - 8))  # The caller's part does not count.
    run.returns(0)
    assert (found, run.machine.get("sp")) == ([used], POINTER)


def test_windows_of_registers_have_no_stack_to_measure(run: Run) -> None:
    run.machine.core = SimpleNamespace(is_windowed=True)
    found: list[int | None] = []
    run.measuring.stack(found.append)
    run.returns(0)
    assert (found, run.spans, run.machine.get("sp")) == ([None], [], POINTER)


def test_an_invocation_counts_what_it_executed_and_an_operator_what_others_in_it_did_not(run: Run) -> None:
    run.count = 100
    seen = run.measuring.invoke()
    for count, name in ((110, "WHILE"), (120, "ADD")):
        run.count = count
        run.measuring.operator(name)  # type: ignore[arg-type]
    run.returns(150)  # ADD: 30
    run.count = 160
    run.measuring.operator("MUL")  # type: ignore[arg-type]
    run.returns(165)  # MUL: 5
    run.returns(200)  # WHILE: 90, of which 35 are those of ADD and MUL
    assert run.measuring.is_running
    run.machine.registers["r0"] = 0x1201
    run.returns(210)
    assert seen.by_operator == [("ADD", 30), ("MUL", 5), ("WHILE", 55)]
    assert (seen.instructions, seen.status, seen.stack, seen.stores) == (110, 1, 0, ("store",))
    assert not run.measuring.is_running


@pytest.mark.parametrize(("before", "after"), [(None, 5), (5, None)])
def test_where_nothing_is_counted_no_instructions_are_told(run: Run, before: int | None, after: int | None) -> None:
    run.count = before
    seen = run.measuring.invoke()
    run.count = None
    run.measuring.operator("ADD")  # type: ignore[arg-type]
    assert len(run.waiting) == 1
    run.returns(after)
    assert (seen.instructions, seen.by_operator) == (None, [])


def test_an_operator_outside_of_an_invocation_is_not_measured(run: Run) -> None:
    run.measuring.operator("ADD")  # type: ignore[arg-type]
    run.measuring.cut("it waits", has_crashed=False)
    seen = run.measuring.invoke()
    run.measuring.cut("it waits longer", has_crashed=True)
    assert (seen.ending, seen.has_crashed) == ("it waits longer", True)
    run.returns(0)
    run.measuring.cut("too late", has_crashed=False)
    run.measuring.operator("ADD")  # type: ignore[arg-type]
    assert (run.waiting, seen.ending, seen.by_operator) == ([], "it waits longer", [])
