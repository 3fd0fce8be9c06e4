"""Calls of an arena's allocator, seen by its fields before and after: head, end, planned, tail and temp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tflm_sim.arena.events import Corruption, Persist, Resize, Temp, TempFree, TempReset
from tflm_sim.extensions.firmware.emulation.allocations import Allocations
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.seen import Part

OWNER, HEAD, END = 0x2000_0000, 0x2000_1000, 0x2000_1400
FIELDS = OWNER + 8


@pytest.fixture
def arena(machine: Callable[[str], Any]) -> Callable[..., Allocations]:
    """Return what has calls happen: (role, first argument, second one, planned, tail and temp after it)."""
    arm = machine("ARM")

    def write(planned: int, tail: int, temp: int) -> None:
        arm.write_words(FIELDS, HEAD, END, HEAD + planned, HEAD + tail, HEAD + temp)

    def happen(*calls: tuple[Watched, int, int, tuple[int, int, int]]) -> Allocations:
        allocations = Allocations(arm, Part.ALL)
        write(0, 1024, 0)
        for number, (role, first, second, after) in enumerate(calls):
            arm.registers |= {"r1": first, "r2": second, "sp": 0x100, "lr": number}
            if role is Watched.RESIZE:
                arm.registers |= {"r1": 0xBAD, "r2": first, "r3": second}
            allocations.begin(role, OWNER, 2)
            write(*after)
        allocations.settle()
        return allocations

    return happen


def test_a_persistent_buffer_is_what_the_tail_moved_by(arena: Callable[..., Allocations]) -> None:
    allocations = arena((Watched.PERSISTENT, 10, 8, (0, 1008, 0)), (Watched.PERSISTENT, 0, 4, (0, 1008, 0)))
    assert allocations.events == [Persist(10, 8, 1008, 16, 16, "", ""), Persist(0, 4, 1008, 0, 16, "", "")]
    assert allocations.total() == (16, 0, "")


@pytest.mark.parametrize("role", [Watched.PERSISTENT, Watched.TEMP])
def test_what_moves_nothing_was_refused(arena: Callable[..., Allocations], role: Watched) -> None:
    allocations = arena((role, 1, 4, (0, 1024, 0)))
    assert (allocations.events, allocations.refused) == ([], 1)
    assert allocations.total() == (0, 1, "")


def test_temps_grow_from_the_head_and_are_given_back(arena: Callable[..., Allocations]) -> None:
    allocations = arena(
        (Watched.RESIZE, 32, 16, (32, 1024, 32)),
        (Watched.TEMP, 20, 16, (32, 1024, 64)),
        (Watched.TEMP, 0, 16, (32, 1024, 64)),
        (Watched.TEMP, 2**32 - 16, 16, (32, 1024, 48)),
        (Watched.TEMP_FREE, HEAD + 44, 0, (32, 1024, 64)),
        (Watched.TEMP_RESET, 0, 0, (32, 1024, 32)),
        (Watched.TEMP_RESET, 0, 0, (32, 1024, 48)),
    )
    assert allocations.events == [
        Resize(32, 16, True, 32, 1024),
        Temp(20, 16, 44, 64, 1024),
        Temp(0, 16, 64, 64, 1024),
        Temp(2**32 - 16, 16, 64, 48, 1024),
        TempFree(44),
        TempReset(True, 64, 32),
        TempReset(False, 32, 32),
    ]


def test_bytes_in_use_are_the_larger_of_plan_and_temps_and_the_tail(arena: Callable[..., Allocations]) -> None:
    assert arena((Watched.PERSISTENT, 16, 16, (32, 1008, 64))).total() == (64 + 16, 0, "")
    assert arena((Watched.PERSISTENT, 16, 16, (96, 1008, 64))).total() == (96 + 16, 0, "")


@pytest.mark.parametrize(
    ("size", "alignment", "planned", "ok"),
    [
        (100, 16, 100, True),
        (100, 16, 115, True),  # aligned up by 15 bytes
        (100, 16, 116, False),
        (100, 16, 99, False),
        (100, 0, 100, True),
        (100, 0, 101, False),
        (0, 16, 0, True),
    ],
)
def test_a_resize_worked_where_the_plan_ends_behind_it(
    arena: Callable[..., Allocations], size: int, alignment: int, planned: int, ok: bool
) -> None:
    allocations = arena((Watched.RESIZE, size, alignment, (planned, 1008, planned)))
    assert allocations.events == [Resize(size, alignment, ok, planned, 1008)]
    assert allocations.refused == int(not ok)


@pytest.mark.parametrize("role", [Watched.RESIZE_FREE, Watched.RESERVE])
def test_a_resize_inside_of_another_function_is_one_where_the_plan_moved(
    arena: Callable[..., Allocations], role: Watched
) -> None:
    first, second = (0, 1) if role is Watched.RESIZE_FREE else (48, 16)
    assert arena((role, 48, 16, (0, 1024, 0))).events == []
    assert arena((role, 48, 16, (first, 1024, 0))).events == (
        [] if not first else [Resize(first, second, True, first, 1024)]
    )


def test_tail_bytes_that_were_taken_without_a_call_are_told_before_the_next(arena: Callable[..., Allocations]) -> None:
    def unseen(machine_tail: int) -> Allocations:
        # A free in which the compiler's copy of the allocator took bytes, and a call that shows it.
        allocations = arena((Watched.TEMP_FREE, HEAD, 0, (0, 1024, 0)))
        allocations._machine.write_words(FIELDS + 12, HEAD + machine_tail)  # type: ignore[attr-defined]
        allocations.begin(Watched.TEMP_FREE, OWNER, 2)
        return allocations

    assert unseen(1024).events == [TempFree(0)]
    assert unseen(1000).events == [TempFree(0), Persist(24, 0, 1000, 24, 24, "", "")]


def test_what_was_taken_behind_a_call_without_another_is_apart(arena: Callable[..., Allocations]) -> None:
    allocations = arena((Watched.PERSISTENT, 10, 8, (48, 900, 0)), (Watched.TEMP, 20, 16, (48, 900, 68)))
    assert allocations.events == [
        Persist(10, 8, 1008, 16, 16, "", ""),
        Resize(48, 0, True, 48, 900),
        Persist(108, 0, 900, 108, 124, "", ""),
        Temp(20, 16, 48, 68, 900),
    ]


def test_a_call_that_goes_on_in_another_entry_is_one(arena: Callable[..., Allocations]) -> None:
    allocations = arena((Watched.PERSISTENT, 16, 16, (0, 1024, 0)))
    allocations.take()
    for _ in range(2):  # a thunk and the function behind it: the same frame, arguments and fields
        allocations.begin(Watched.PERSISTENT, OWNER, 2)
    allocations._machine.write_words(FIELDS + 12, HEAD + 1008)  # type: ignore[attr-defined]
    allocations.settle()
    assert allocations.take() == [Persist(16, 16, 1008, 16, 16, "", "")]
    assert allocations.take() == []


def test_what_lies_over_another_is_damage(arena: Callable[..., Allocations]) -> None:
    tail = arena((Watched.TEMP, 64, 16, (0, 1024, 64)), (Watched.PERSISTENT, 980, 16, (0, 40, 64)))
    told = "tail: 980 bytes at 40 overwrite temps that end at 64"
    assert tail.events[1:] == [Corruption(told), Persist(980, 16, 40, 984, 984, "", "")]
    assert tail.damage == told
    temp = arena((Watched.PERSISTENT, 16, 16, (0, 1008, 0)), (Watched.TEMP, 1000, 16, (0, 1008, 1009)))
    told = "temp: 1000 bytes at 9 overwrite the tail at 1008"
    assert temp.events[1:] == [Corruption(told), Temp(1000, 16, 9, 1009, 1008)]
    assert temp.total() == (1009 + 16, 0, told)
    # One byte less is none.
    assert arena((Watched.PERSISTENT, 16, 16, (0, 1008, 0)), (Watched.TEMP, 999, 16, (0, 1008, 1008))).damage == ""
    assert arena((Watched.TEMP, 64, 16, (0, 1024, 64)), (Watched.PERSISTENT, 960, 16, (0, 64, 64))).damage == ""


@pytest.mark.parametrize(("tail", "has_taken"), [(HEAD + 1008, False), (HEAD + 1009, True)])
def test_whether_tail_bytes_were_taken_is_known_by_where_they_begin(
    arena: Callable[..., Allocations], tail: int, has_taken: bool
) -> None:
    assert arena((Watched.PERSISTENT, 16, 16, (0, 1008, 0))).has_taken_below(tail) is has_taken
    assert not arena().has_taken_below(tail)


def test_two_arenas_of_one_interpreter_keep_one_list(machine: Callable[[str], Any]) -> None:
    arm = machine("ARM")
    persistent, rest = Allocations(arm, Part.PERSISTENT), Allocations(arm, Part.REST)
    persistent.join(rest)
    arm.write_words(0x100, HEAD, END, END)  # PersistentArenaBufferAllocator: head, end, tail
    arm.write_words(
        0x200, 0x3000, 0x3400, 0x3000, 0x3000
    )  # NonPersistentArenaBufferAllocator: head, end, planned, temp
    arm.registers |= {"r1": 24, "r2": 16}
    persistent.begin(Watched.PERSISTENT, 0x100, 0)
    arm.write_words(0x108, END - 32)
    rest.begin(Watched.TEMP, 0x200, 0)
    arm.write_words(0x20C, 0x3000 + 48)
    assert persistent.total() == (32 + 48, 0, "")
    assert rest.take() == [Persist(24, 16, 1024 - 32, 32, 32, "", ""), Temp(24, 16, 24, 48, 1024)]
    assert persistent.events == []
