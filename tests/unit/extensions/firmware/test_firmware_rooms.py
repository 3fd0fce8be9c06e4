"""Which arena a model gets: firmware, calls and models are made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.reading.elf import Section, Symbol
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel
from tflm_sim.extensions.firmware.reading.memory import Region
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall, SetUp
from tflm_sim.extensions.firmware.reading.symbol_names import ArenaSymbol
from tflm_sim.extensions.firmware.rooms import (
    ArenaRoom,
    embedded_subject,
    model_name,
    region_of,
    rooms_for,
    rooms_of,
    used_models,
)

ARENA = 0x2000_0004
REGION = Region(ARENA, ARENA + 100, 0, 100, 0, top=ARENA + 177)
BSS = Section(".bss", 8, 3, ARENA - 4000, 0, 8000, 0)
FIRST, SECOND, THIRD = (
    EmbeddedModel(SimpleNamespace(name=name), ".rodata", address, 16, name)  # type: ignore[arg-type]
    for name, address in (("a", 0x100), ("b", 0x110), ("c", 0x120))
)


def firmware(*calls: InterpreterCall, symbols: tuple[Symbol, ...] = (), is_read: bool = True, **more: Any) -> Any:
    parts = {
        "models": (FIRST, SECOND, THIRD),
        "regions": (REGION,),
        "arenas": (ArenaSymbol("tensor_arena", ARENA, 50, ".bss"),),
        "set_up": SimpleNamespace(arenas=calls if is_read else None, stores=()),
        "image": SimpleNamespace(elf=SimpleNamespace(symbols=symbols, sections=[BSS] * 4)),
        "arena_parts": (),
        "only_takes_allocators": False,
        **more,
    }
    return SimpleNamespace(**parts)


def call(model: EmbeddedModel | None = None, size: int = 64, allocator: int | None = 0, **more: Any) -> InterpreterCall:
    return InterpreterCall(ARENA, size, model=model and model.address, allocator=allocator, **more)


@pytest.mark.parametrize(("is_named", "assumed"), [(True, False), (False, True)])
def test_an_array_is_an_arena_by_its_name_where_no_call_is_read(is_named: bool, assumed: bool) -> None:
    unread = firmware(is_read=False)
    room = ArenaRoom("tensor_arena", 50, ARENA, 77, (4,), is_assumed=assumed)
    assert rooms_for(unread, FIRST, is_named=is_named) == (room,)
    assert rooms_for(firmware(call(FIRST)), FIRST, is_named=True) == (ArenaRoom("tensor_arena", 50, ARENA, 77, (4,)),)


@pytest.mark.parametrize(("at", "is_in"), [(0xFF, False), (0x100, True), (0x10F, True), (0x110, False)])
def test_a_model_gets_the_arena_of_the_call_with_an_address_in_it(at: int, is_in: bool) -> None:
    calls = call(FIRST, 64)._replace(model=at), call(THIRD, 65)
    rooms = rooms_for(firmware(*calls), FIRST, is_named=False)
    assert [room.size for room in rooms] == ([64] if is_in else [64, 65])  # one that no call is given may get any


def test_a_call_whose_model_is_not_known_may_be_anybodys_and_a_replacement_may_get_any() -> None:
    made = firmware(call(FIRST, 64), call(None, 65), call(SECOND, 66), call(SECOND, 66))
    assert [room.size for room in rooms_for(made, FIRST, is_named=False)] == [64, 65]
    assert [room.size for room in rooms_for(made, None, is_named=False)] == [64, 65, 66]


def test_an_arena_from_a_heap_may_start_at_four_places() -> None:
    one = call(FIRST, is_on_heap=True)
    [room] = rooms_for(firmware(one), FIRST, is_named=False)
    assert (room.name, room.address, room.free, room.addresses) == ("the heap", None, None, (0, 4, 8, 12))
    assert room.call == one


@pytest.mark.parametrize(
    ("symbols", "name"),
    [
        ((), f"the bytes at {ARENA:#x}"),
        ((Symbol("arena", ARENA, 64, 1, 3, False),), "arena"),
        ((Symbol("arena", ARENA - 1, 64, 1, 3, False),), "arena + 1"),
        ((Symbol("buffer", ARENA - 2000, 2001, 0, 3, False),), "buffer + 2,000"),
        ((Symbol("buffer", ARENA - 2000, 2000, 1, 3, False),), f"the bytes at {ARENA:#x}"),
        ((Symbol("arena", ARENA, 0, 1, 3, False),), f"the bytes at {ARENA:#x}"),
        ((Symbol("code", ARENA, 64, 2, 3, False),), f"the bytes at {ARENA:#x}"),
    ],
)
def test_an_arena_has_the_name_of_the_object_that_holds_it(symbols: tuple[Symbol, ...], name: str) -> None:
    [room] = rooms_for(firmware(call(FIRST), symbols=symbols), FIRST, is_named=False)
    assert (room.name, room.address, room.free, room.addresses) == (name, ARENA, 77, (4,))


@pytest.mark.parametrize(
    ("calls", "shared", "alone"),
    [
        ([call(FIRST), call(SECOND)], [], True),
        ([call(FIRST, allocator=None), call(SECOND, allocator=None)], [], True),
        ([call(FIRST, allocator=8), call(SECOND, allocator=9)], [], True),
        ([call(FIRST, allocator=8), call(SECOND, allocator=8)], ["b"], False),
        ([call(FIRST, allocator=8), call(SECOND, allocator=8), call(THIRD, allocator=8)], ["b", "c"], False),
        ([call(FIRST, allocator=8), call(FIRST, allocator=8)], ["a"], False),
        ([call(None, allocator=8)], ["b", "c"], True),
        ([call(FIRST, allocator=8), call(None, allocator=8)], ["b", "c"], False),
    ],
)
def test_models_share_an_allocator_or_may(calls: list[InterpreterCall], shared: list[str], alone: bool) -> None:
    room = rooms_for(firmware(*calls), FIRST, is_named=False)[0]
    assert [getattr(model, "name", None) for model in room.shared_with] == shared
    assert room.may_be_alone is alone


@pytest.mark.parametrize("interpreter", ["plain", "recording"])
def test_a_call_makes_the_interpreter_of_its_kind(interpreter: str) -> None:
    assert ArenaRoom("x", 1).allows(interpreter)
    for is_recording in (True, False):
        room = ArenaRoom("x", 1, call=InterpreterCall(is_recording=is_recording))
        assert room.allows(interpreter) is (is_recording == (interpreter == "recording"))


def test_a_subject_has_its_symbol_its_place_and_who_may_be_with_it() -> None:
    room = ArenaRoom("x", 1)
    found = embedded_subject(firmware(only_takes_allocators=True), SECOND, (room,))
    assert (found.name, found.size, found.place, found.rooms) == ("b", 16, "at 0x110 in .rodata", (room,))
    assert found.others == (FIRST.model, THIRD.model)
    nameless = EmbeddedModel(FIRST.model, "", 0x100, 16)
    assert (model_name(nameless), embedded_subject(firmware(), nameless, ()).place) == ("at 0x100", "at 0x100")
    assert embedded_subject(firmware(), SECOND, ()).others == ()


def test_a_region_holds_an_address_or_none_does() -> None:
    assert region_of(firmware(), ARENA + 99) is REGION
    assert region_of(firmware(), ARENA + 100) is None
    [room] = rooms_for(firmware(call(FIRST), regions=()), FIRST, is_named=False)
    assert room.free is None


def test_models_that_no_interpreter_is_given_are_not_used_where_it_is_read_what_each_is_given() -> None:
    def given(*calls: InterpreterCall) -> Any:
        return firmware(set_up=SetUp(calls, True))

    assert used_models(given(call(SECOND))) == (SECOND,)
    assert used_models(given(call(FIRST), call(THIRD))) == (FIRST, THIRD)
    assert used_models(given(call(SECOND), call(None))) == (FIRST, SECOND, THIRD)  # one that is not read
    assert used_models(given()) == (FIRST, SECOND, THIRD)
    assert used_models(given(call(FIRST)._replace(model=0x900))) == (FIRST, SECOND, THIRD)  # a model from elsewhere


def test_what_a_call_says_of_an_arena_is_true_of_one_of_another_size() -> None:
    one = call(FIRST, variables=20, has_two_arenas=True, rest_size=70)
    made = firmware(set_up=SetUp((one,), True))
    for limit in (None, 100):
        [room] = rooms_of(made, limit=limit)
        assert (room.size, room.rest_size, room.call, room.shared_with) == (limit, None, one, ())
        assert room.addresses == (4,)
    [room] = rooms_of(made, limit=100, address=8)
    assert room.addresses == (8,)


def test_a_model_that_replaces_another_stands_beside_the_models_of_the_other_interpreters_alone() -> None:
    alone = call(FIRST, allocator=0x400)
    made = firmware(set_up=SetUp((alone,), True))
    assert [room.shared_with for room in rooms_of(made, limit=100)] == [()]
    both = (alone, call(SECOND, allocator=0x400)._replace(site=1))
    made = firmware(set_up=SetUp(both, True))
    assert [room.shared_with for room in rooms_of(made, limit=100)] == [(SECOND.model,), (FIRST.model,)]
