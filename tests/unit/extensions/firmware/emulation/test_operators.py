"""Operators in the arena, rows of events, stacks and stores: what is made of memory that was left behind."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.arena.events import Corruption, OpEvent, Persist, Phase, Resize, Temp, TempFree, TempReset
from tflm_sim.arena.stages import Stage
from tflm_sim.extensions.firmware.emulation.event_rows import HeldAddress, events_of, rows_of, with_askers
from tflm_sim.extensions.firmware.emulation.measuring import Measuring
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.operators import find_operators
from tflm_sim.extensions.firmware.emulation.seen import Arena, ObservedOperator
from tflm_sim.extensions.firmware.emulation.store_watch import Stored
from tflm_sim.extensions.firmware.emulation.stores import Stores

HEAD, REGISTRATIONS = 0x2000_0000, 0x2001_0000
ADD, CUSTOM = 0, 32


def block(offset: int, size: int) -> Persist:
    return Persist(size, 4, offset, size, size, "", "")


def is_code(value: int) -> bool:
    return 0x8000 <= value < 0x9000 and value % 2 == 1


@pytest.fixture
def arm(machine: Callable[[str], Any]) -> Any:
    """Return a machine with two registrations: of ADD, without Init, and of a custom operator."""
    one = machine("ARM")
    one.write_words(REGISTRATIONS, 0, 0, 0x8011, 0x8021, 0, ADD, 0)
    one.write_words(REGISTRATIONS + 0x40, 0x8031, 0x8041, 0, 0x8051, 0, CUSTOM, 0x2002_0000)
    one.write(0x2002_0000, b"my_op\0")
    one.write_words(0x2003_0000, 2)
    return one


@pytest.mark.parametrize("stride", [24, 44, 64])
def test_operators_are_rows_that_end_with_a_registration(arm: Any, stride: int) -> None:
    for index, registration in enumerate((REGISTRATIONS, REGISTRATIONS + 0x40)):
        arm.write_words(HEAD + 0x100 + index * stride, 0x2003_0000, 0)
        arm.write_words(HEAD + 0x100 + (index + 1) * stride - 4, registration)
    holds = (0x2003_0000, *(0,) * (stride // 4 - 2))
    found = find_operators(arm, HEAD, [block(0x400, 48), block(0x100, 2 * stride)], is_code)
    assert found == (
        ObservedOperator(0, 0, "ADD", HEAD + 0x100, None, 0x8010, 0x8020, holds),
        ObservedOperator(0, 1, "my_op", HEAD + 0x100 + stride, 0x8030, None, 0x8050, holds),
    )
    twice = find_operators(arm, HEAD, [block(0x100, stride), block(0x100 + stride, stride)], is_code)
    assert [(one.subgraph, one.index, one.name) for one in twice] == [(0, 0, "ADD"), (1, 0, "my_op")]


@pytest.mark.parametrize(
    ("at", "value", "is_one"),
    [
        (HEAD, 0x2003_0000, True),
        (HEAD, 0x2003_0004, True),  # no inputs at all
        (HEAD, 0x2003_0008, True),  # 999 of them
        (HEAD + 4, 0x2003_000C, False),  # 1,000
        (HEAD + 20, REGISTRATIONS + 2, False),
        (HEAD + 20, 0, False),
        (REGISTRATIONS, 0x8012, False),  # an Init that is no code
        (REGISTRATIONS + 12, 0, True),  # Prepare alone
        (REGISTRATIONS + 20, 999, True),
        (REGISTRATIONS + 20, 1000, False),
    ],
)
def test_what_a_row_of_operators_looks_like(arm: Any, at: int, value: int, is_one: bool) -> None:
    arm.write_words(HEAD + 20, REGISTRATIONS)
    arm.write_words(0x2003_0008, 999, 1000)
    arm.write_words(at, value)
    assert bool(find_operators(arm, HEAD, [block(0, 24)], is_code)) is is_one
    assert find_operators(arm, HEAD, [block(0, 0)], is_code) == ()


def test_a_registration_has_functions_and_an_unknown_number_is_told(arm: Any) -> None:
    arm.write_words(HEAD + 20, REGISTRATIONS)
    arm.write_words(REGISTRATIONS + 20, 900)
    assert [one.name for one in find_operators(arm, HEAD, [block(0, 24)], is_code)] == ["operator 900"]
    arm.write_words(REGISTRATIONS + 8, 0, 0)
    assert find_operators(arm, HEAD, [block(0, 24)], is_code) == ()


EVENTS = [
    Phase(Stage.START),
    Persist(16, 8, 984, 40, 40, "", ""),
    Temp(20, 16, 44, 64, 984),
    TempFree(44),
    TempReset(True, 64, 32),
    TempReset(False, 48, 32),
    Resize(100, 16, True, 100, 984),
    Resize(100, 16, False, 0, 984),
    OpEvent(Stage.OP_PARSE, 1, 2, "ADD", True),
    Corruption("tail over temps"),
]


def test_events_are_rows_and_back() -> None:
    rows = [*rows_of(EVENTS)]
    assert [*events_of(rows, 1024)] == EVENTS
    assert [tuple(row) for row in rows[:3]] == [
        ("phase", "start", -1, -1, 0, 0, 0, 0),
        ("persist", "", -1, -1, 16, 8, 984, 40),
        ("temp", "", -1, -1, 20, 16, 44, 64),
    ]
    # Before anything was taken, the tail is the arena's end.
    assert [*events_of([*rows_of([Temp(1, 1, 0, 1, 0)])], 1024)] == [Temp(1, 1, 0, 1, 1024)]


def test_builtin_data_belong_to_the_operator_that_holds_them_until_kernels_run() -> None:
    owners = {984: HeldAddress(0, 3, "ADD")}
    parse, other = OpEvent(Stage.OP_PARSE, 0, 3, "ADD", True), OpEvent(Stage.OP_PARSE, 0, 9, "SUB", True)
    here, elsewhere = Persist(16, 8, 984, 40, 40, "", ""), Persist(16, 8, 900, 40, 40, "", "")
    assert [*with_askers([elsewhere, here], owners, {})] == [elsewhere, parse, here]
    assert [*with_askers([other, here], owners, {})] == [other, here]


def stores_of(arm: Any, *, top: int = 0, holder: Any = None, is_unnamed: bool = False, blocks: Any = ()) -> Stores:
    program: Any = SimpleNamespace(
        reset_state=lambda: {"sp": top},
        object_bounds=lambda address: holder if holder and holder[0] <= address < holder[1] else None,
        data_spans=(Span(0x2000_0000, 0x2000_0100), Span(0x2000_0800, 0x2000_1000)),
        is_unnamed=is_unnamed,
    )
    arena = Arena(0x2000_2000, 0x100, 0x2000_2000, True, None, None)
    return Stores(arm, program, [arena], blocks)


@pytest.mark.parametrize(
    ("top", "holder", "end"),
    [
        (0x2004_0000, None, 0x2004_0000),
        (0x2003_0000, None, 0x2003_0000),
        (0x2002_FFFF, None, 0x2003_0000 + (1 << 16)),
        (0x2003_0000 + (1 << 20), None, 0x2003_0000 + (1 << 20)),
        (0x2003_0001 + (1 << 20), None, 0x2003_0000 + (1 << 16)),
        (0, (0x2003_0000, 0x2003_0800), 0x2003_0800),
    ],
)
def test_where_the_stack_begins_from_which_callers_took_theirs(arm: Any, top: int, holder: Any, end: int) -> None:
    assert stores_of(arm, top=top, holder=holder)._top(0x2003_0000) == end


@pytest.mark.parametrize(
    ("low", "end", "is_inside", "into"),
    [
        (0x2001_FFC0, 0x2002_0060, False, "data"),  # all of the block and 64 bytes on both sides
        (0x2001_FFBF, 0x2002_0060, False, "nothing"),
        (0x2001_FFC0, 0x2002_0061, False, "nothing"),
        (0x2001_0000, 0x2001_0001, True, "data"),
    ],
)
def test_a_store_is_outside_of_what_the_program_has(arm: Any, low: int, end: int, is_inside: bool, into: str) -> None:
    stores = stores_of(arm, blocks=[(0x2002_0000, 0x20)])
    found = stores._seen(Stored(asker=0, code_address=0x8000, low=low, end=end, times=3, is_inside=is_inside))
    assert (found.into, found.operator, found.code_address, found.times) == (into, None, 0x8000, 3)


@pytest.mark.parametrize(
    ("is_unnamed", "is_operators", "into"), [(False, False, "behind"), (True, True, "behind"), (True, False, "data")]
)
def test_what_is_stored_behind_the_arena_of_a_stripped_program_may_be_meant_for_another_object(
    arm: Any, is_unnamed: bool, is_operators: bool, into: str
) -> None:
    stores = stores_of(arm, is_unnamed=is_unnamed)
    stores.are_for(ObservedOperator(0, 0, "ADD", 0, None, None, None, ()))
    seen = Stored(
        asker=int(is_operators), code_address=0x8000, low=0x2000_2100, end=0x2000_2104, times=1, is_inside=True
    )
    assert stores._seen(seen).into == into


@pytest.mark.parametrize("used", [0, 1, 1000, (1 << 18) - 512])
def test_the_stack_that_a_function_used_is_what_is_not_painted_any_more(arm: Any, used: int) -> None:
    returned: list[Callable[[], None]] = []
    found: list[int | None] = []
    stores: Any = SimpleNamespace(begin=lambda lent, pointer: found.append(pointer))
    arm.spare = lambda size: 0x3000_0000
    arm.registers["sp"] = 0x2003_0008
    Measuring(arm, returned.append, stores).stack(found.append)
    lent = 0x3000_0000 + (1 << 18) - 256 + 8  # aligned as the program's own is
    assert arm.get("sp") == lent
    arm.write(lent - used, b"\0" * (1 if used else 0))
    returned[0]()
    assert found == [0x2003_0008, used]
    assert arm.get("sp") == 0x2003_0008
