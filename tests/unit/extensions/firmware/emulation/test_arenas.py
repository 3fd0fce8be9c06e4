"""Arenas that a program makes, known by what it calls and by the fields of allocators that it leaves in memory."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.arena.events import Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.extensions.firmware.emulation import arenas as arenas_module
from tflm_sim.extensions.firmware.emulation.arenas import Arenas
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.seen import Arena, Part

PHASE = Phase(Stage.START)
START, SIZE = 0x2000_0004, 0x1000
HEAD, END = 0x2000_0010, 0x2000_1004
OWNER = 0x2000_5000


@pytest.fixture
def arm(machine: Callable[[str], Any]) -> Any:
    one = machine("ARM")
    one.registers["sp"] = 0x2004_0000
    return one


def arenas_in(
    arm: Any, *, objects: tuple[tuple[int, int], ...] = (), has_reporter_first: bool = False, is_unnamed: bool = False
) -> Arenas:
    """Return the arenas of a program with static objects at (address, size)."""

    def object_around(head: int, size: int) -> tuple[int, int] | None:
        return next((one for one in objects if one[0] <= head < one[0] + 16 and head + size == sum(one)), None)

    program: Any = SimpleNamespace(
        object_around=object_around, has_reporter_first=has_reporter_first, is_unnamed=is_unnamed
    )
    return Arenas(arm, program, keeps_points=False)


def call(arm: Any, *arguments: int) -> None:
    arm.registers |= {f"r{at}": value for at, value in enumerate(arguments)}


def seen(arena: Arena) -> tuple[int, int, int, bool]:
    return arena.address, arena.size, arena.head, arena.is_seen_whole


@pytest.mark.parametrize("has_reporter_first", [False, True])
def test_an_arena_is_what_the_program_gives_before_it_is_aligned(arm: Any, has_reporter_first: bool) -> None:
    arenas = arenas_in(arm, has_reporter_first=has_reporter_first)
    call(arm, START, SIZE)
    arenas.give()
    call(arm, *([0xBAD] if has_reporter_first else []), HEAD, END - HEAD)
    arenas.create()
    assert [seen(one) for one in arenas.made] == [(START, SIZE, HEAD, True)]
    assert arenas.current is arenas.made[0]
    assert arenas.current.size_argument == (2 if has_reporter_first else 1)


@pytest.mark.parametrize(
    ("given", "head", "found"),
    [
        (HEAD, HEAD, (HEAD, SIZE, HEAD, True)),
        (HEAD - 63, HEAD, (HEAD - 63, SIZE, HEAD, True)),
        (HEAD - 64, HEAD, (HEAD, 0x100, HEAD, False)),  # further away than alignment skips: another arena's
        (HEAD + 1, HEAD, (HEAD, 0x100, HEAD, False)),
        (None, HEAD, (HEAD, 0x100, HEAD, False)),
        (None, HEAD + 1, (HEAD + 1, 0x100, HEAD + 1, True)),  # a recording allocator begins where it is told to
    ],
)
def test_what_was_given_and_what_is_made_belong_together(arm: Any, given: int | None, head: int, found: Any) -> None:
    arenas = arenas_in(arm)
    if given is not None:
        call(arm, given, SIZE)
        arenas.give()
    call(arm, head, 0x100)
    arenas.create()
    assert [seen(one) for one in arenas.made] == [found]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((START, SIZE, 1), (START, SIZE, HEAD, True)),
        ((0x300, 0x400, 0x500, START, SIZE, 0), (START, SIZE, HEAD, True)),  # of a constructor of an interpreter
        ((START, SIZE + 1, 1), (HEAD, END - HEAD, HEAD, False)),  # an arena that ends elsewhere
        ((0x300, 0x400, 0x500, 0x600, START, 0x10), (HEAD, END - HEAD, HEAD, False)),
    ],
)
def test_without_names_an_arena_is_what_was_given_with_the_same_end(
    arm: Any, arguments: tuple[int, ...], found: Any
) -> None:
    arenas = arenas_in(arm, is_unnamed=True)
    arm.write_words(arm.get("sp"), *arguments[4:], 0)
    call(arm, *arguments[:4])
    arenas.give()
    arm.write_words(OWNER + 4, HEAD, END, HEAD, END, HEAD)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert [seen(one) for one in arenas.made] == [found]


def test_an_arena_may_be_an_object_or_a_block_of_the_heap(arm: Any) -> None:
    arenas = arenas_in(arm, objects=((0x2001_0008, 0x108),))
    call(arm, 0x2001_0010, 0x100)
    arenas.create()
    for address in (0x2002_0000, 0, 0xFFFF_FFFF, 0x2003_0000 - 63, 0x2003_0000 - 64):
        call(arm, address)
        arenas.add_block(0x140 if address != 0x2003_0000 - 63 else 0x100 + 63)
    assert arenas.blocks == [(0x2002_0000, 0x140), (0x2003_0000 - 63, 0x13F), (0x2003_0000 - 64, 0x140)]
    for head, size in ((0x2002_0000, 0x140), (0x2002_0000, 0x13F), (0x2003_0000, 0x100)):
        call(arm, head, size)
        arenas.create()
    assert [seen(one) for one in arenas.made] == [
        (0x2001_0008, 0x108, 0x2001_0010, True),
        (0x2002_0000, 0x140, 0x2002_0000, True),
        (0x2002_0000, 0x13F, 0x2002_0000, False),  # it ends before the block
        (0x2003_0000 - 63, 0x13F, 0x2003_0000, True),
    ]


def test_more_than_32_arenas_are_an_end(arm: Any) -> None:
    arenas = arenas_in(arm)
    for number in range(32):
        call(arm, 0x2000_0000 + 0x100 * number, 0x100)
        arenas.create()
    assert (len(arenas.made), arenas.ending) == (32, "")
    arenas.create()
    assert (len(arenas.made), arenas.ending) == (32, "it makes more than 32 arenas")


@pytest.mark.parametrize("layout", [1, 2, 7])
def test_a_new_allocator_is_known_by_its_fields_wherever_they_begin(arm: Any, layout: int) -> None:
    arenas = arenas_in(arm, objects=((START, SIZE),))
    place = OWNER + 4 * layout
    arm.write_words(place, HEAD, END, HEAD, END, HEAD)
    call(arm, OWNER + 4, 16, 16)  # the second table of virtual functions is 4 bytes inside
    assert not arenas.allocator(Watched.PERSISTENT, 4)
    arm.write_words(place + 12, END - 16)
    arenas.settle()
    allocations = arenas.allocations()
    assert allocations is not None
    assert allocations.events == [Persist(16, 16, END - HEAD - 16, 16, 16, "", "")]
    assert [seen(one) for one in arenas.made] == [(START, SIZE, HEAD, True)]
    assert arenas.made[0].owner == OWNER
    # The next call is of the same arena.
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert len(arenas.made) == 1
    # A new allocator in its place, which has taken nothing, is another arena.
    arm.write_words(place, HEAD, END, HEAD, END, HEAD)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert len(arenas.made) == 2
    assert arenas.current is arenas.made[1]


@pytest.mark.parametrize(
    ("fields", "is_one"),
    [
        ((HEAD, END, HEAD, END, HEAD), True),
        ((HEAD, HEAD, HEAD, HEAD, HEAD), True),  # an arena of no bytes
        ((HEAD, HEAD - 1, HEAD, HEAD - 1, HEAD), False),
        ((0, END, 0, END, 0), False),
        ((HEAD, END, HEAD, END, HEAD + 16), False),  # it has given something, in an arena that is not known
        ((HEAD, END, HEAD, END - 16, HEAD), False),
    ],
)
def test_what_an_allocator_that_gave_nothing_holds(arm: Any, fields: tuple[int, ...], is_one: bool) -> None:
    arenas = arenas_in(arm)
    arm.write_words(OWNER + 4, *fields)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.TEMP, 0)
    assert bool(arenas.made) is is_one


@pytest.mark.parametrize(
    ("owner", "fields", "is_one"),
    [
        (END - 100, (HEAD, END, HEAD, END - 100, HEAD), True),
        (END - 24, (HEAD, END, HEAD, END - 100, HEAD), True),  # its fields end with the arena
        (END - 20, (HEAD, END, HEAD, END - 100, HEAD), False),
        (END - 104, (HEAD, END, HEAD, END - 100, HEAD), False),  # it lies in memory that is free
        (END - 100, (HEAD, END, HEAD, END - 100, HEAD + 16), False),  # it has given a temporary buffer
        (END - 100, (HEAD, END, HEAD + 16, END - 100, HEAD), False),
        (HEAD, (HEAD, END, HEAD, HEAD, HEAD), False),
    ],
)
def test_an_allocator_that_lies_at_its_arenas_end_has_just_been_made(
    arm: Any, owner: int, fields: tuple[int, ...], is_one: bool
) -> None:
    arenas = arenas_in(arm, objects=((START, SIZE),))
    arm.write_words(owner + 4, *fields)
    call(arm, owner, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert [(*seen(one), one.owner, one.taken) for one in arenas.made] == (
        [(START, SIZE, HEAD, True, owner, 100)] if is_one else []
    )


def test_an_allocator_at_its_arenas_end_that_is_made_again_is_another_one(arm: Any) -> None:
    arenas = arenas_in(arm)
    for tail, made in ((END - 100, 1), (END - 164, 1), (END - 100, 2), (END - 100, 2)):
        arm.write_words(END - 100 + 4, HEAD, END, HEAD, tail, HEAD)
        call(arm, END - 100, 16, 16)
        arenas.allocator(Watched.PERSISTENT, 0)
        arenas.settle()
        assert len(arenas.made) == made


@pytest.mark.parametrize(
    ("owner", "is_on_stack"), [(0x2004_0000, True), (0x2004_0FFF, True), (0x2004_1000, False), (0x2003_FFFC, False)]
)
def test_an_allocator_on_the_stack_is_copied_later(arm: Any, owner: int, is_on_stack: bool) -> None:
    arm.write_words(owner + 4, HEAD, END, HEAD, END, HEAD)
    call(arm, owner, 16, 16)
    assert arenas_in(arm).allocator(Watched.PERSISTENT, 0) is is_on_stack


STAYS, STAYS_SIZE, REST, REST_SIZE = 0x2001_0003, 0x402, 0x2002_0001, 0x800


def two(arm: Any) -> Arenas:
    arenas = arenas_in(arm)
    call(arm, STAYS, STAYS_SIZE, REST, REST_SIZE)
    arenas.create_two()
    return arenas


def test_two_arenas_that_belong_together(arm: Any) -> None:
    arenas = two(arm)
    stays, rest = arenas.made
    assert (seen(stays), stays.part, stays.size_argument) == ((STAYS, STAYS_SIZE, STAYS, True), Part.PERSISTENT, 1)
    assert (seen(rest), rest.part, rest.size_argument) == ((REST, REST_SIZE, 0x2002_0010, True), Part.REST, 3)
    assert stays.partner is rest
    assert rest.partner is stays
    assert rest.results is stays.results
    # What stays ends at a multiple of 16: 0x20010405 & -16.
    assert (stays.bounds, rest.bounds) == ((STAYS, 0x2001_0400), (0x2002_0010, 0x2002_0801))
    arm.write_words(OWNER + 8, *rest.bounds, rest.head + 64, rest.head + 64)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.TEMP, 0)
    assert arenas.current is stays


def test_two_arenas_whose_making_is_hidden_are_known_by_their_first_calls(arm: Any) -> None:
    arenas = arenas_in(arm, objects=((REST, REST_SIZE),))
    arm.write_words(OWNER + 4, 0x2001_0010, 0x2001_0400, 0x2001_0400)  # head, end, tail
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert [(seen(one), one.part, one.owner) for one in arenas.made] == [
        ((0x2001_0010, 0x3F0, 0x2001_0010, False), Part.PERSISTENT, OWNER)
    ]
    before, outside, inside = 0x2001_000F, 0x2001_0400, 0x2001_0010
    for owner in (before, outside, inside):
        arm.write_words(owner + 4, 0x2002_0010, 0x2002_0801, 0x2002_0010, 0x2002_0010)
        call(arm, owner, 16, 16)
        arenas.allocator(Watched.TEMP, 0)
        assert len(arenas.made) == (2 if owner == inside else 1)
    rest = arenas.made[1]
    assert (seen(rest), rest.part, rest.partner) == ((REST, REST_SIZE, 0x2002_0010, True), Part.REST, arenas.made[0])


def test_the_arena_of_an_interpreter_is_the_last_one_that_was_made_where_its_allocator_lies(arm: Any) -> None:
    arenas = two(arm)
    interpreter = 0x2003_0000
    assert arenas.of(interpreter) is None
    arm.write_words(interpreter + 4 * 63, STAYS)
    assert arenas.of(interpreter) is arenas.made[0]
    arm.write_words(interpreter, 0x2002_0800)  # the other one's last byte
    assert arenas.of(interpreter) is arenas.made[0]
    arm.write_words(interpreter, 0x2002_0801)
    call(arm, 0x2002_0800, 0x40)
    arenas.create()
    assert arenas.of(interpreter) is arenas.made[2]
    assert not arenas.is_elsewhere(interpreter)


def test_phases_are_told_between_what_the_allocator_was_asked_for(arm: Any) -> None:
    arenas = arenas_in(arm)
    arenas.tell(PHASE)  # no arena is there yet
    arm.write_words(OWNER + 4, HEAD, END, HEAD, END, HEAD)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    arm.write_words(OWNER + 16, END - 16)
    arenas.tell(PHASE)
    allocations = arenas.allocations()
    assert allocations is not None
    assert allocations.events == [Persist(16, 16, END - HEAD - 16, 16, 16, "", ""), PHASE]


@pytest.mark.parametrize(("moved", "shift"), [(None, 0), (START + 0x100, 0x100)])
def test_a_run_is_resumed_with_an_arena_of_another_size(arm: Any, moved: int | None, shift: int) -> None:
    before = arenas_in(arm)
    for _ in range(2):
        call(arm, START, SIZE)
        before.give()
        call(arm, HEAD, END - HEAD)
        before.create()
    again = arenas_in(arm)
    again.restart(before, before.made[1], 0x200, moved)
    assert [seen(one) for one in again.made] == [(START + shift, 0x200, HEAD + shift, True)]
    assert again.current is again.made[0]
    assert (arm.get("r0"), arm.get("r1")) == (HEAD + shift, START + 0x200 - HEAD)
    interpreter = 0x2003_0000
    arm.write_words(interpreter, HEAD + 0x300)  # in the first arena, which was there before
    assert again.is_elsewhere(interpreter)
    assert again.of(interpreter) is None


def test_an_allocator_in_memory_is_told_its_new_size(arm: Any) -> None:
    before = arenas_in(arm, objects=((START, SIZE),))
    arm.write_words(OWNER + 8, HEAD, END, HEAD, END, HEAD)
    call(arm, OWNER, 16, 16)
    before.allocator(Watched.PERSISTENT, 0)
    for size, end in ((0x200, START + 0x200), (8, HEAD)):  # an arena that ends before its aligned start has no bytes
        again = arenas_in(arm)
        again.restart(before, before.made[0], size, None)
        assert [int.from_bytes(arm.read(OWNER + 8 + 4 * at, 4), "little") for at in range(5)] == [
            HEAD,
            end,
            HEAD,
            end,
            HEAD,
        ]


@pytest.mark.parametrize(
    ("size", "end", "tail"),
    [
        (0x200, START + 0x200, START + 0x200 - 100),
        (0x203, START + 0x203, START + 0x200 - 100),  # what lies at the end is aligned to words
        (0x204, START + 0x204, START + 0x204 - 100),
        (80, START + 80, HEAD),  # it has no room for what lies at its end
    ],
)
def test_an_allocator_that_lies_at_its_arenas_end_is_told_its_new_size_where_it_is(
    arm: Any, size: int, end: int, tail: int
) -> None:
    before = arenas_in(arm, objects=((START, SIZE),))
    arm.write_words(END - 100 + 8, HEAD, END, HEAD, END - 100, HEAD)
    call(arm, END - 100, 16, 16)
    before.allocator(Watched.PERSISTENT, 0)
    again = arenas_in(arm)
    again.restart(before, before.made[0], size, None)
    fields = [int.from_bytes(arm.read(END - 100 + 8 + 4 * at, 4), "little") for at in range(5)]
    assert fields == [HEAD, end, HEAD, tail, HEAD]


@pytest.mark.parametrize(("number", "registers"), [(0, ("r0", "r1")), (1, ("r2", "r3"))])
def test_one_of_two_arenas_gets_another_size(arm: Any, number: int, registers: tuple[str, str]) -> None:
    before = two(arm)
    changed = before.made[number]
    again = arenas_in(arm)
    again.restart(before, changed, 0x300, None)
    assert [one.part for one in again.made] == [Part.PERSISTENT, Part.REST]
    assert [arm.get(name) for name in registers] == [changed.address, 0x300]
    assert again.made[number].size == 0x300
    assert again.made[1 - number].size == before.made[1 - number].size


@pytest.mark.parametrize(
    ("fields", "is_one"),
    [
        ((0x2001_0010, 0x2001_0400, 0x2001_0400), True),
        ((1, 2, 2), True),
        ((0, 0x2001_0400, 0x2001_0400), False),
        ((0x2001_0010, 0x2001_0010, 0x2001_0010), False),  # of no byte
        ((0x2001_0010, 0x2001_0400, 0x2001_03F0), False),  # It has allocated something.
    ],
)
def test_a_hidden_arena_begins_empty(arm: Any, fields: tuple[int, ...], is_one: bool) -> None:
    arenas = arenas_in(arm)
    arm.write_words(OWNER + 4, *fields)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.PERSISTENT, 0)
    assert [(one.address, one.end) for one in arenas.made] == ([fields[:2]] if is_one else [])


@pytest.mark.parametrize(
    ("given", "statics", "is_unnamed", "found"),
    [
        ("interpreter", ["static"], False, "interpreter"),  # It is handed over.
        ("function", ["static"], False, "static"),  # It is not: the register still has something else.
        ("function", ["static"], True, "function"),
        ("function", [], False, "function"),
        ("function", ["static", "other"], False, "function"),
        ("without model", ["static"], False, "static"),
        ("without arena", ["static"], False, "static"),
    ],
)
def test_a_static_interpreter_may_stand_in_the_code(
    arm: Any, monkeypatch: pytest.MonkeyPatch, given: str, statics: list[str], is_unnamed: bool, found: str
) -> None:
    places = dict(
        zip(
            ("interpreter", "function", "static", "other", "without model", "without arena"),
            range(0x2003_0000, 0x2004_0000, 0x1000),
            strict=False,
        )
    )
    arenas = two(arm)
    for name, place in places.items():
        arm.write_words(place, STAYS if name != "without arena" else 0)
    monkeypatch.setattr(
        arenas_module, "model_of", lambda machine, place, *size: None if place == places["without model"] else 1
    )
    spans = [Span(places[name], places[name] + 64) for name in statics]
    objects = {span.start: (span.start, span.end) for span in spans}
    arenas._program = SimpleNamespace(  # type: ignore[assignment]
        is_function=lambda value: value == places["function"] | 1, is_unnamed=is_unnamed,
        data_spans=[*spans, Span(places["other"] + 16, places["other"] + 32)], object_bounds=objects.get,
    )  # fmt: skip
    call(arm, places[given])
    assert arenas.interpreter() == places[found]


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ((HEAD, END, HEAD, HEAD, 0), True),  # all of it in the tail
        ((HEAD, END, END, END, 0), True),  # all of it in the head
        ((HEAD, END, HEAD + 16, END - 16, 0), True),
        ((HEAD, END, HEAD - 1, END - 16, 0), False),
        ((HEAD, END, END + 1, END - 16, 0), False),
        ((HEAD, END, HEAD + 16, HEAD - 1, 0), False),
        ((HEAD, END, HEAD + 16, END + 1, 0), False),
        ((HEAD, END + 1, HEAD + 16, END - 16, 0), False),
    ],
)
def test_an_allocators_fields_are_those_of_an_arena_in_their_order(
    arm: Any, fields: tuple[int, ...], holds: bool
) -> None:
    arenas = arenas_in(arm)
    call(arm, HEAD, END - HEAD)
    arenas.create()
    arm.write_words(OWNER + 4, *fields)
    call(arm, OWNER, 16, 16)
    arenas.allocator(Watched.TEMP, 0)
    assert (len(arenas.made), arenas.allocations() is not None) == (1, holds)
