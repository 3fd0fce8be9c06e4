"""A roomy arena that measures says which arena is the smallest: the one that is found by trying every size."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tflm_sim.arena.arena import NEWEST_RULES, ArenaRules, SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, Event, OpEvent, Phase, PlanDone, PlanFits
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import ArenaStep, Needs
from tflm_sim.arena.stages import Stage
from tflm_sim.recorded import RecordedAllocationType

ROOM = 1 << 20
VARIABLE = RecordedAllocationType.TFLITE_TENSOR_VARIABLE_BUFFER_DATA
HERE = Phase, (Stage.CREATE,)
Walk = list[tuple[str, int, int]]
"""What is asked of an arena, one after the other: what, a size and an alignment in bytes."""


def walk(seed: int, *, length: int = 14) -> Walk:
    """Return any requests: persistent memory, variables, temps that live on or are given back, heads, resets."""
    chance = Random(seed)
    alignments = chance.choice([(1, 2, 4), (4, 8), (1, 4, 16), (16,)])
    return [
        (
            chance.choice(("persistent", "persistent", "variable", "temp", "temp", "free", "reset", "head")),
            chance.choice((0, 1, 3, 4, 6, 16, 20, 33, 70)),
            chance.choice(alignments),
        )
        for _ in range(length)
    ]


def take(arena: SingleArenaBufferAllocator, requests: Walk) -> list[object]:
    """Ask an arena for everything; return its answers. A head comes after a reset with all temps given back."""
    live: list[int] = []
    answers: list[object] = []
    for kind, size, alignment in requests:
        if kind == "persistent":
            answers.append(arena.allocate_persistent_buffer(size, alignment, label=f"{size}"))
        elif kind == "variable":
            answers.append(arena.allocate_persistent_buffer(size, alignment, category=VARIABLE))
        elif kind == "temp":
            answers.append(offset := arena.allocate_temp(size, alignment))
            live += [] if offset is None else [offset]
        elif kind == "free" and live:
            arena.deallocate_temp(live.pop())
        elif kind in ("reset", "head"):
            arena.deallocate_temps(live)
            live.clear()
            answers.append(arena.reset_temp_allocations())
            if kind == "head":
                answers.append(arena.resize_buffer(size, 16))
    return answers


def works(requests: Walk, size: int, address: int) -> SingleArenaBufferAllocator | None:
    """Return an arena of a size after all the requests, None where it refuses one or overwrites bytes in use."""
    events: list[Event] = []
    arena = SingleArenaBufferAllocator(size, address=address, observers=[events.append])
    answers = take(arena, requests)
    bad = any(answer is None or answer is False for answer in answers)
    return None if bad or any(isinstance(event, Corruption) for event in events) else arena


def late_walk(seed: int) -> Walk:
    """Return requests of which only the last ones are aligned to 16, as those of kernels are."""
    chance = Random(seed)
    early, temps, late = chance.choice([2, 4, 8]), (10, 30, 50, 61, 75), chance.randrange(30, 90)
    requests = []
    for _ in range(chance.randrange(1, 5)):
        requests.append(("persistent", chance.choice((1, 3, 6, 10, 18)), chance.choice((1, 2, early))))
        requests.append(("temp", chance.choice(temps), 1))
        requests.append(("reset", 0, 0))
    return [*requests, ("persistent", chance.choice((1, 6, 16)), 16), ("temp", late, 1)]


@pytest.mark.parametrize("address", [0, 4, 13])
def test_the_smallest_arena_is_the_one_that_trying_every_size_finds(address: int) -> None:
    for requests in (*map(walk, range(40)), *map(late_walk, range(60))):
        check_the_smallest_arena(requests, address)


def check_the_smallest_arena(requests: Walk, address: int) -> None:
    requests = [*requests, ("persistent", 1, 1)]
    if address % 16:  # The head starts where the arena does.
        requests = [request for request in requests if request[0] != "head"]
    arena = MeasuringArena(ROOM - address, address=address, table_bytes=0)
    take(arena, requests)
    size, aligned, tail, binding = arena.needs.smallest_of_all(address, 0)
    fitting = {one: found for one in range(size + 40) if (found := works(requests, one, address)) is not None}
    assert min(fitting) == size
    assert fitting[size].persistent_used_bytes == tail
    assert min(one for one in fitting if one % 16 == 0) == aligned
    assert binding.kind in ("tail", "temp", "head")
    assert arena.needs.non_persistent == smallest_for_head_and_temps(requests, address)


def smallest_for_head_and_temps(requests: Walk, address: int) -> int:
    """Return the smallest arena that works for all that is not persistent."""
    rest = [request for request in requests if request[0] not in ("persistent", "variable")]
    return next(size for size in range(ROOM) if works(rest, size, address) is not None)


@pytest.mark.parametrize("lost", [3, 12])
def test_bytes_that_are_skipped_to_align_the_arena_are_added(lost: int) -> None:
    """The arena starts at 16 - lost, and is used from 16 on."""
    requests = walk(5)
    arena = MeasuringArena(ROOM, address=16, table_bytes=0)
    take(arena, requests)
    size, aligned, *_ = arena.needs.smallest_of_all(16 - lost, lost)
    fitting = [one for one in range(lost, size + 40) if works(requests, one - lost, 16) is not None]
    assert min(fitting) == size
    assert min(one for one in fitting if one % 16 == 0) == aligned


def test_sizes_for_which_the_constraints_do_not_hold_are_passed_over() -> None:
    requests = walk(3)
    arena = MeasuringArena(ROOM, table_bytes=0)
    take(arena, requests)
    free, aligned, *_ = arena.needs.smallest_of_all(0, 0)
    fitting = [one for one in range(aligned + 40) if works(requests, one, 0) is not None]
    ends = set(range(16)) - {free % 16}
    size, multiple, *_ = arena.needs.smallest_of_all(0, 0, ends)
    assert size == min(one for one in fitting if one % 16 in ends)
    assert multiple == (aligned if free % 16 else None)
    size, multiple, *_ = arena.needs.smallest_of_all(0, 0, range(1, 16))
    assert size == min(one for one in fitting if one % 16)
    assert multiple is None


@pytest.mark.parametrize("seed", range(20))
def test_the_same_offsets_are_handed_out(seed: int) -> None:
    requests = [request for request in walk(seed, length=30) if request[0] != "free"]
    for size, address in ((ROOM, 0), (ROOM - 4, 4), (130, 0)):
        plain = SingleArenaBufferAllocator(size, address=address)
        measuring = MeasuringArena(size, address=address, table_bytes=0)
        assert take(measuring, requests) == take(plain, requests)
        assert (measuring.head, measuring.temp, measuring.tail) == (plain.head, plain.temp, plain.tail)


GROUPS = (((8, 4), (5, 1), (12, 16)), ((4, 4),))
"""Temps in two groups: bytes and alignment of each."""


@pytest.mark.parametrize("address", [0, 4, 12])
def test_groups_of_temps_lie_as_if_each_was_taken_alone(address: int) -> None:
    arena = MeasuringArena(ROOM, address=address, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    arena.allocate_temp(3, 1)
    plain = SingleArenaBufferAllocator(ROOM, address=address)
    plain.allocate_temp(3, 1)
    alone = [[plain.allocate_temp(*temp) for temp in group] for group in GROUPS]
    taken = arena.allocate_temp_groups(GROUPS)
    assert taken == [(offsets[0],) for offsets in alone]
    assert arena.temp == plain.temp
    assert arena.needs.non_persistent == plain.temp
    # They count as one each, and must be given back like others before the section is emptied.
    assert not arena.reset_temp_allocations()
    for offsets in taken:
        arena.deallocate_temps(offsets)
    arena.deallocate_temp(0)
    assert arena.reset_temp_allocations()
    assert arena.temp == 0


def test_the_last_temp_of_a_group_lies_below_persistent_memory_until_it_is_given_back() -> None:
    arena = MeasuringArena(ROOM, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    taken = arena.allocate_temp_groups(GROUPS)
    arena.allocate_persistent_buffer(16, 16)
    assert taken is not None
    assert arena.needs.late_need == 32 + 32
    arena.deallocate_temps(taken[1])
    arena.allocate_persistent_buffer(32, 16)
    assert arena.needs.late_need == 28 + 64  # The first group ends at 28.


def test_as_many_temps_as_were_taken_but_not_these_are_not_all() -> None:
    arena = MeasuringArena(ROOM, table_bytes=0)
    arena.deallocate_temps([arena.allocate_temp(8, 4) or 0])
    arena.allocate_temp(8, 4)
    arena.deallocate_temps([16])
    assert not arena.reset_temp_allocations()


def test_groups_are_left_to_others_before_the_tail_is_settled_and_where_they_do_not_fit() -> None:
    arena = MeasuringArena(64, table_bytes=0)
    assert arena.allocate_temp_groups(GROUPS) is None
    arena.allocate_persistent_buffer(16, 16)
    # 8, 13 up to 16, 28 and 32: they fit below a tail at 48, and in 32 bytes, not in 31.
    for size, is_taken in ((32, True), (31, False)):
        arena = MeasuringArena(size + 16, table_bytes=0)
        arena.needs.is_settled = True
        arena.tail = size
        assert (arena.allocate_temp_groups(GROUPS) is not None) is is_taken


def test_temps_that_cannot_be_taken_as_one_are_taken_one_after_the_other() -> None:
    arena = MeasuringArena(64, table_bytes=0)
    assert arena.allocate_temps(((8, 4), (4, 4))) == ((0, 8), 2)
    arena.allocate_persistent_buffer(16, 16)
    assert arena.allocate_temps(((8, 4), (4, 4))) == ((12,), 2)
    assert arena.allocate_temps(((8, 4), (40, 4))) == ((24,), 1)  # 24 + 8 = 32; 40 more are too much below 48.


def test_the_larger_of_head_and_live_temps_lies_below_persistent_memory() -> None:
    arena = MeasuringArena(ROOM, table_bytes=0)
    arena.resize_buffer(64, 16)
    arena.allocate_persistent_buffer(16, 16, label="a")
    assert arena.needs.late_need == 64 + 16
    first, second = arena.allocate_temp(40, 4), arena.allocate_temp(8, 4)
    assert (first, second) == (64, 104)
    arena.allocate_persistent_buffer(16, 16, label="b")
    assert arena.needs.late_need == 112 + 32
    arena.deallocate_temp(104)
    arena.allocate_persistent_buffer(32, 16, label="c")
    assert arena.needs.late_need == 104 + 64


def test_persistent_memory_of_a_wrong_size_or_over_temps_is_refused_as_elsewhere() -> None:
    arena = MeasuringArena(64, table_bytes=0)
    assert arena.resize_buffer(32, 16)
    assert arena.allocate_persistent_buffer(48, 16) is None
    arena.allocate_temp(8, 4)
    assert arena.allocate_persistent_buffer(32, 16) == 32  # The device does not see the temps.
    assert arena.needs.tail_used == 32


def test_the_head_is_refused_as_elsewhere() -> None:
    arena = MeasuringArena(64, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    for size, ok in ((48, True), (48, True), (49, False), (0, True)):
        assert arena.resize_buffer(size, 16) is ok
        assert arena.head == (size if ok else 48)
    arena.allocate_temp(4, 4)
    assert not arena.resize_buffer(0, 16)
    assert arena.needs.non_persistent == 48


def test_a_head_at_an_address_that_is_not_aligned_starts_behind_skipped_bytes() -> None:
    arena = MeasuringArena(ROOM, address=13, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    assert arena.resize_buffer(8, 16)
    assert arena.head == 3 + 8
    assert arena.resize_buffer(11, 1)
    assert arena.head == 11
    assert arena.resize_buffer(11, 16)
    assert arena.head == 3 + 11


def test_the_planners_tables_are_a_need_of_the_planner_and_no_temp() -> None:
    arena = MeasuringArena(ROOM, table_bytes=40)
    arena.allocate_persistent_buffer(16, 16)
    arena.tell(Phase, Stage.PLANNER_ARENA, ())
    assert arena.allocate_temp(1000, 16) == 0
    assert arena.needs.non_persistent == 0
    arena.tell(Phase, Stage.PLAN, ())
    arena.tell(PlanDone, 5, 6, 7, 3)
    # Three buffers of 40 bytes: 120, up to 128.
    assert arena.needs.non_persistent == 128
    binding = arena.needs.smallest_of_all(0, 0)[3]
    assert (binding.kind, binding.floor, binding.size, binding.alignment) == ("planner", 128, 120, 0)
    assert binding.what == "120 bytes of planner tables for 3 buffers"
    assert binding.place == "plan"


def test_tables_that_start_behind_the_head_end_behind_it() -> None:
    arena = MeasuringArena(ROOM, table_bytes=40)
    arena.allocate_persistent_buffer(16, 16)
    arena.resize_buffer(24, 16)
    arena.tell(Phase, Stage.PLANNER_ARENA, ())
    assert arena.allocate_temp(1000, 16) == 32
    arena.tell(PlanDone, 0, 0, 0, 3)
    assert arena.needs.non_persistent == 160  # 32 + 120 = 152


def test_tables_lie_between_multiples_of_16_as_addresses_are() -> None:
    arena = MeasuringArena(ROOM, address=4, table_bytes=40)
    arena.allocate_persistent_buffer(16, 16)
    arena.tell(Phase, Stage.PLANNER_ARENA, ())
    assert arena.allocate_temp(1000, 16) == 12
    arena.tell(PlanDone, 0, 0, 0, 3)
    assert arena.needs.non_persistent == 140  # Addresses 16 + 120 = 136, up to 144.


def test_a_plan_is_compared_between_multiples_of_16_as_addresses_are() -> None:
    arena = MeasuringArena(ROOM, address=4, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    arena.resize_buffer(13, 1)
    arena.tell(PlanFits, 50, 7)
    assert arena.needs.non_persistent == 32 + 64 - 4  # Address 17 up to 32, and 50 up to 64.


def test_a_plan_of_old_versions_is_compared_above_the_head() -> None:
    arena = MeasuringArena(ROOM, table_bytes=0)
    arena.allocate_persistent_buffer(16, 16)
    arena.resize_buffer(20, 16)
    arena.tell(OpEvent, Stage.OP_PREPARE, 1, 2, "RELU", True)
    arena.tell(PlanFits, 50, 7)
    binding = arena.needs.smallest_of_all(0, 0)[3]
    assert (binding.kind, binding.floor, binding.size) == ("plan", 32 + 64, 50)
    assert binding.what == "50 bytes of plan above 20 of scratch requests"
    assert binding.place == "prepare of RELU #2 in subgraph 1"


def test_old_versions_empty_the_temp_section_whatever_is_out() -> None:
    rules: ArenaRules = replace(NEWEST_RULES, checks_temps=False)
    for checks, ok in ((NEWEST_RULES, False), (rules, True)):
        arena = MeasuringArena(ROOM, table_bytes=0, rules=checks)
        arena.allocate_temp(8, 4)
        assert arena.reset_temp_allocations() is ok
        assert arena.temp == (0 if ok else 8)


STEP = ArenaStep(32, 2, 24, None)


def settled(size: int = ROOM, **settings: int) -> MeasuringArena:
    """Return an arena with a tail of 16 bytes and a head of 16."""
    arena = MeasuringArena(size, table_bytes=0, **settings)
    arena.allocate_persistent_buffer(16, 16)
    arena.resize_buffer(16, 16)
    return arena


def test_a_step_is_taken_where_it_fits() -> None:
    # Above a head of 16 the step takes 32 + 24: the tail stands at 72 then, and must have stood further.
    for tail, is_taken in ((72, False), (73, True)):
        arena = settled()
        arena.tail = tail
        assert arena.take_step(STEP) is is_taken
        assert arena.tail == tail - (32 if is_taken else 0)
        assert arena.needs.tail_used == (48 if is_taken else 16)
        assert arena.needs.non_persistent == (40 if is_taken else 16)


def test_a_step_is_not_taken_over_temps_or_before_the_tail_is_settled() -> None:
    fresh = MeasuringArena(ROOM, table_bytes=0)
    assert not fresh.take_step(STEP)
    for temps in ([0], [8], [0, 8]):  # A temp of no bytes is one, too.
        arena = settled()
        for size in temps:
            arena.allocate_temp(size, 4)
        assert not arena.take_step(STEP)
    arena = settled()
    offsets = [arena.allocate_temp(0, 4), arena.allocate_temp(0, 4)]  # Both at 16: their sum of offsets is none.
    assert offsets == [16, 16]
    assert not arena.take_step(STEP)
    arena.deallocate_temps([16, 12])
    assert not arena.take_step(STEP)  # As many as were taken, but not these.


def recorded() -> ArenaStep:
    """Return what 4 bytes of temp below 20 of persistent memory do, then 100 of temp alone."""
    needs = Needs()
    needs.is_settled = True
    needs.below(4, "temp", 4, 4, "", HERE)
    needs.persist(4, 20, 16, 32, "b", HERE)
    needs.below(104, "temp", 100, 4, "", HERE)
    return needs.as_step()


def test_a_step_does_what_is_done_bit_by_bit() -> None:
    assert recorded() == ArenaStep(32, 1, 104, recorded().late)
    here = OpEvent, (Stage.OP_PREPARE, 0, 3, "ADD", True)
    quick, slow = settled(), settled()
    for arena in (quick, slow):
        arena.tell(here[0], *here[1])
    assert quick.take_step(recorded())
    slow.allocate_temp(4, 4)
    slow.allocate_persistent_buffer(20, 16, label="b")
    slow.allocate_temp(100, 4)
    slow.deallocate_temps([16, 20])
    slow.reset_temp_allocations()
    for arena in (quick, slow):
        arena.allocate_persistent_buffer(16, 16, label="c")
    assert quick.needs.smallest_of_all(0, 0) == slow.needs.smallest_of_all(0, 0)
    assert quick.needs.late_need == 16 + 16 + 32 + 104  # head, tail and step
    assert quick.needs.smallest_of_all(0, 0)[3].persist_count == 2
    for name in ("head", "tail_used", "non_persistent", "is_settled", "late_need"):
        assert getattr(quick.needs, name) == getattr(slow.needs, name)
    assert (quick.head, quick.temp, quick.tail) == (slow.head, slow.temp, slow.tail)


def test_a_step_that_needs_less_than_something_before_moves_no_need() -> None:
    needs = Needs()
    needs.is_settled = True
    needs.below(500, "head", 500, 16, "", HERE)
    needs.take_step(recorded(), 16, HERE)
    assert (needs.late_need, needs.non_persistent, needs.tail_used) == (500, 500, 32)
    needs.take_step(recorded(), 500 - 32 - 32 - 104 + 1, HERE)  # 32 of tail before, 32 and 104 in it: a byte more.
    assert (needs.late_need, needs.tail_used) == (501, 64)
