"""What is made of single calls in a program: by the name of what they call, and by what they are given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.reading.call_graph import Function
from tflm_sim.extensions.firmware.reading.code_values import CallSite, CodeFacts, Value
from tflm_sim.extensions.firmware.reading.set_up import _Program

CALLER, CALLEE, SITE = Function(0x100, 64, ("main",)), 0x200, 0x120
GIVEN = tuple(Value("", 1000 + number) for number in range(10))
RETURNED = Value(f"call {SITE:#x}", 0)


def program(*names: str, arguments: tuple[Value | None, ...] = GIVEN) -> _Program:
    """Return a program whose main() calls a function of these names once."""
    functions = {CALLER.start: CALLER, CALLEE: Function(CALLEE, 16, names)}
    calls = (CallSite(SITE - 4, None, GIVEN), CallSite(SITE, CALLEE, arguments))
    reader: Any = SimpleNamespace(facts=lambda function: CodeFacts(calls))
    return _Program(SimpleNamespace(functions=functions), reader)  # type: ignore[arg-type]


TWO = {"two": Value("", 1), "arena": GIVEN[0], "size": GIVEN[1], "rest": GIVEN[2], "rest_size": GIVEN[3]}
SITE_AND = {"site": Value("", SITE), "recording": Value("", 0)}
CREATE = "_ZN6tflite14MicroAllocator6CreateE"
CREATE_NOW = "_ZN6tflite5micro14MicroAllocator6CreateE"
"""Since the wheel of 2026-10-08."""


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("malloc", {"site": None}),
        (f"{CREATE}Phj", {**SITE_AND, "arena": GIVEN[0], "size": GIVEN[1], "preserve": Value("", 0)}),
        (
            "_ZN6tflite23RecordingMicroAllocator6CreateEPhj",
            {**SITE_AND, "recording": Value("", 1), "arena": GIVEN[0], "size": GIVEN[1], "preserve": Value("", 0)},
        ),
        (
            f"{CREATE}PhjNS_17MemoryPlannerTypeE",
            {**SITE_AND, "arena": GIVEN[0], "size": GIVEN[1], "preserve": GIVEN[2]},
        ),
        (
            f"{CREATE}PhjPNS_19MicroMemoryPlannerE",
            {**SITE_AND, "arena": GIVEN[0], "size": GIVEN[1], "preserve": None, "own_planner": Value("", 1)},
        ),
        (f"{CREATE}PhjS1_j", {**SITE_AND, **TWO}),
        (f"{CREATE}PhjPhj", {**SITE_AND, **TWO}),
        (
            f"{CREATE_NOW}PhmNS0_17MemoryPlannerTypeE",
            {**SITE_AND, "arena": GIVEN[0], "size": GIVEN[1], "preserve": GIVEN[2]},
        ),
        (f"{CREATE_NOW}PhmS2_mNS0_17MemoryPlannerTypeE", {**SITE_AND, **TWO, "preserve": GIVEN[4]}),
        (
            f"{CREATE_NOW}PNS0_26SingleArenaBufferAllocatorEPNS0_18MicroMemoryPlannerE",
            {**SITE_AND, "own_planner": Value("", 1), "preserve": None},
        ),
        (
            "_ZN6tflite5micro23RecordingMicroAllocator6CreateEPhm",
            {**SITE_AND, "recording": Value("", 1), "arena": GIVEN[0], "size": GIVEN[1], "preserve": Value("", 0)},
        ),
        (f"{CREATE}PNS_20SingleArenaBufferAllocatorE", SITE_AND),
    ],
)
def test_an_allocator_is_known_by_the_parameters_of_what_made_it(name: str, facts: dict[str, Value | None]) -> None:
    assert program(name)._allocator(CALLER, RETURNED) == facts


def test_what_no_call_returned_has_no_callee() -> None:
    for value in (None, Value("", 5), Value("argument 1", 0), Value(RETURNED.base, 4), Value("call 0x124", 0)):
        assert program("malloc")._callee(CALLER, value)[0] == ()
    assert program("malloc")._callee(CALLER, Value(f"call {SITE - 4:#x}", 0))[0] == (), "its target is not known"
    assert program("malloc", "alias")._callee(CALLER, RETURNED)[0] == ("malloc", "alias")


@pytest.mark.parametrize(
    ("name", "fact", "found"),
    [
        ("malloc", "arena", {"arena": None, "heap": GIVEN[0]}),
        ("aligned_alloc", "arena", {"arena": None, "heap": GIVEN[1]}),
        ("calloc", "arena", {"arena": None, "heap": Value("", 1000 * 1001)}),
        ("malloc", "model", {"model": RETURNED}),
        ("_ZN6tflite8GetModelEPKv", "model", {"model": GIVEN[0]}),
        ("_ZN11flatbuffers7GetRootIN6tflite5ModelEEEPKT_PKv", "model", {"model": GIVEN[0]}),
        ("_ZN6tflite8GetModelEPKv", "arena", {"arena": RETURNED}),
        (
            "_ZN6tflite22MicroResourceVariables6CreateEPNS_14MicroAllocatorEi", "variables",
            {"variables": None, "count": GIVEN[1], "table_site": None, "table_size": None},
        ),
        (
            "_ZN6tflite5micro22MicroResourceVariables6CreateEPNS0_14MicroAllocatorEi", "variables",
            {"variables": None, "count": GIVEN[1], "table_site": None, "table_size": None},
        ),
        ("malloc", "variables", {"variables": RETURNED}),
    ],
)  # fmt: skip
def test_what_a_call_returned_is_traced_to_what_it_was_given(
    name: str, fact: str, found: dict[str, Value | None]
) -> None:
    facts: dict[str, Value | None] = {fact: RETURNED}
    program(name)._trace_back(CALLER, facts)
    assert facts == found


@pytest.mark.parametrize(
    ("name", "first", "returned", "heap"),
    [("memalign", 16, RETURNED, GIVEN[1]), ("malloc", 4015, Value(f"aligned {RETURNED.base}", 0), Value("", 4000))],
)
def test_memory_of_a_heap_may_begin_at_a_multiple_of_16(name: str, first: int, returned: Value, heap: Value) -> None:
    facts: dict[str, Value | None] = {"arena": returned}
    program(name, arguments=(Value("", first), *GIVEN[1:]))._trace_back(CALLER, facts)
    assert facts == {"arena": None, "heap": heap, "aligned": Value("", 1)}


@pytest.mark.parametrize(
    ("second", "size"),
    [(Value("", 32), 32), (Value("", 40), 40), (Value("", 36), None), (Value("sp", 32), None), (None, None)],
)
def test_the_size_of_a_tensor_is_what_is_asked_for_as_second_argument(second: Value | None, size: int | None) -> None:
    first = Value("", 40 if size == 32 else 32)
    arguments = (first, second, first)
    calls = (CallSite(SITE, CALLEE, arguments),)
    made = _Program(SimpleNamespace(), SimpleNamespace(facts=lambda function: CodeFacts(calls)))  # type: ignore[arg-type]
    assert made.tensor_size(CALLER) == size


def test_two_sizes_of_a_tensor_are_none() -> None:
    calls = tuple(CallSite(SITE, CALLEE, (None, Value("", size))) for size in (32, 40))
    made = _Program(SimpleNamespace(), SimpleNamespace(facts=lambda function: CodeFacts(calls)))  # type: ignore[arg-type]
    assert made.tensor_size(CALLER) is None
