"""What a firmware can be: each question that its file leaves open multiplies the cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.firmware import cases as firmware_cases
from tflm_sim.extensions.firmware.cases import FirmwareCase, possible_cases
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.rooms import ArenaRoom, Subject
from tflm_sim.model.types import Model
from tflm_sim.targets.presets import preset

PLAIN = Configuration(preset("cortex-m4"))
RECORDING = replace(PLAIN, interpreter="recording")


@pytest.fixture
def models(chain: Callable[..., Model]) -> list[Model]:
    return [chain(8, 8 * number) for number in (1, 2, 3, 4)]


def firmware(*, has: bool | None = None, length: int | None = None) -> Any:
    return SimpleNamespace(own_planners=(), has_resource_variables=has, set_up=SimpleNamespace(table_length=length))


def cases(
    model: Model,
    *rooms: ArenaRoom,
    others: tuple[Model, ...] = (),
    configurations: tuple[Configuration, ...] = (PLAIN,),
    settled: frozenset[str] = frozenset(),
    made: Any = None,
) -> list[FirmwareCase]:
    subject = Subject("m", 1, "", model, rooms, others)
    return possible_cases(subject, made or firmware(), configurations, settled)


def called(**more: Any) -> ArenaRoom:
    return ArenaRoom("x", 1000, call=InterpreterCall(**more))


def test_a_model_without_an_arena_is_one_case(models: list[Model]) -> None:
    [case] = cases(models[0])
    assert (case.models, case.configuration, case.room, case.call) == ((models[0],), PLAIN, None, None)
    assert case.words == {
        "TFLM": f"TFLM {PLAIN.target.runtime.snapshot}",
        "enums": "short enums",
        "kernels": f"kernels optimized for {PLAIN.target.runtime.optimize_kernels_for}",
        "interpreter": "plain interpreter",
        "arena": "",
        "allocator": "an allocator for this model alone",
        "planner": "a greedy planner",
        "table": "the table for its resource variables in this arena",
    }


def test_arenas_and_addresses_are_cases_in_order(models: list[Model]) -> None:
    rooms = ArenaRoom("x", 1000, addresses=(0, 4)), ArenaRoom("y", 2000, addresses=(8,))
    found = cases(models[0], *rooms)
    assert [(case.words["arena"], case.words.get("address")) for case in found] == [
        ("in x of 1,000 B", "at 0 modulo 16"),
        ("in x of 1,000 B", "at 4 modulo 16"),
        ("in y of 2,000 B", None),
    ]
    assert [case.configuration.target.arena_address for case in found] == [0, 4, 8]


def test_a_call_makes_an_interpreter_of_its_kind_and_equal_cases_are_one(models: list[Model]) -> None:
    both = (PLAIN, RECORDING, PLAIN)
    for is_recording, kind in ((False, "plain"), (True, "recording")):
        [case] = cases(models[0], called(is_recording=is_recording), configurations=both)
        assert case.configuration.interpreter == kind
    assert len(cases(models[0], ArenaRoom("x", 1), configurations=both)) == 2


@pytest.mark.parametrize(
    ("call", "settled", "planners"),
    [
        ({}, (), ["greedy"]),
        ({"preserves_all_tensors": True}, (), ["linear"]),
        ({"has_own_planner": True}, (), ["greedy", "linear"]),
        ({"has_own_planner": True, "preserves_all_tensors": True}, (), ["linear"]),  # one of TFLM's, made outside
        ({"has_own_planner": True}, ("planner",), ["greedy"]),
        ({"preserves_all_tensors": True}, ("planner",), ["greedy"]),
    ],
)
def test_the_call_leaves_planners_open(
    models: list[Model], call: dict[str, bool], settled: tuple[str, ...], planners: list[str]
) -> None:
    found = cases(models[0], called(**call), settled=frozenset(settled))
    assert [case.configuration.planner for case in found] == planners
    assert [case.words["planner"] for case in found] == [f"a {planner} planner" for planner in planners]
    assert {case.configuration.own_planner for case in found} == {call.get("has_own_planner", False)}


def test_a_recording_interpreter_keeps_its_planner(models: list[Model]) -> None:
    room = called(is_recording=True, preserves_all_tensors=True)
    [case] = cases(models[0], room, configurations=(RECORDING,))
    assert case.configuration.planner == "greedy"


@pytest.mark.parametrize(
    ("others", "alone", "places"),
    [
        (0, False, ["alone"]),
        (1, True, ["alone", "first", "second"]),
        (1, False, ["first", "second"]),
        (2, False, ["first", "first", "second", "third", "second", "third"]),
        (2, True, ["alone", "first", "first", "second", "third", "second", "third"]),
        (3, True, ["alone"]),
        (3, False, []),
    ],
)
def test_models_on_one_allocator_come_in_every_order(
    models: list[Model], others: int, alone: bool, places: list[str]
) -> None:
    more = tuple(models[1 : 1 + others])
    room = replace(called(), shared_with=more, may_be_alone=alone)
    words = {place: f"the models share an allocator, this one the {place}" for place in ("first", "second", "third")}
    words["alone"] = "an allocator for this model alone"
    found = cases(models[0], room)
    assert [case.words["allocator"] for case in found] == [words[place] for place in places]
    for case, place in zip(found, places, strict=True):
        assert len(case.models) == (1 if place == "alone" else 1 + others)
        assert case.models[0 if place == "alone" else ("first", "second", "third").index(place)] is models[0]


def test_without_a_call_it_is_the_subject_that_knows_who_may_be_there(models: list[Model]) -> None:
    others = (models[1],)
    room = ArenaRoom("x", 1000, shared_with=(models[2],))
    assert firmware_cases.sharers_of(Subject("m", 1, "", models[0], (), others), None) == others
    assert firmware_cases.sharers_of(Subject("m", 1, "", models[0], (), others), room) == others
    assert firmware_cases.sharers_of(Subject("m", 1, "", models[0]), called()) == ()
    assert [len(case.models) for case in cases(models[0], others=others)] == [1, 2, 2]


@pytest.mark.parametrize(
    ("variables", "arena", "count", "size"), [(0, 64, 0, None), (3, 0, 3, None), (3, None, 3, None), (3, 64, 3, 64)]
)
def test_the_call_says_how_many_variables_and_in_which_arena(
    models: list[Model], variables: int, arena: int | None, count: int, size: int | None
) -> None:
    [case] = cases(models[0], called(variables=variables, variable_arena=arena))
    found = case.configuration
    assert (found.resource_variables, found.variable_arena, case.words["table"]) == (count, size, "")


HERE = "the table for its resource variables in this arena"
ELSEWHERE = "the table for its resource variables in another arena"


@pytest.mark.parametrize(
    ("names", "has", "length", "settled", "rows"),
    [
        ({"v"}, None, None, (), [(None, None, HERE), (None, 1 << 20, ELSEWHERE)]),
        ({"v"}, True, 5, (), [(5, None, HERE), (5, 1 << 20, ELSEWHERE)]),
        ({"v"}, False, 5, (), [(None, None, HERE)]),
        (set(), True, 5, (), [(None, None, HERE)]),
        ({"v"}, True, 5, ("resource_variables",), [(None, None, "")]),
    ],
)
def test_a_table_that_no_call_tells_of_may_be_elsewhere(
    models: list[Model],
    monkeypatch: pytest.MonkeyPatch,
    names: set[str],
    has: bool | None,
    length: int | None,
    settled: tuple[str, ...],
    rows: list[tuple[int | None, int | None, str]],
) -> None:
    monkeypatch.setattr(firmware_cases, "resource_variable_names", lambda _model: names)
    found = cases(models[0], settled=frozenset(settled), made=firmware(has=has, length=length))
    usual = PLAIN.resource_variables
    assert [
        (case.configuration.resource_variables, case.configuration.variable_arena, case.words["table"])
        for case in found
    ] == [(usual if count is None else count, size, where) for count, size, where in rows]


def test_a_table_whose_arena_was_named_is_not_asked_for(models: list[Model]) -> None:
    placed = replace(PLAIN, resource_variables=2, variable_arena=100)
    [case] = cases(models[0], called(variables=3), configurations=(placed,))
    assert (case.configuration.resource_variables, case.words["table"]) == (2, "")


def test_a_case_fits_to_the_byte(models: list[Model]) -> None:
    alone = FirmwareCase((models[0],), PLAIN, None)
    smallest = alone.roomy().smallest
    assert smallest is not None
    assert (alone.fits(), alone.sized(), alone.answer()) == (None, None, smallest.size)
    for size, fits in ((smallest.size - 1, False), (smallest.size, True)):
        case = replace(alone, room=ArenaRoom("x", size))
        sized = case.sized()
        assert sized is not None
        assert (case.fits(), case.answer(), sized.arena_size, sized.status == "ok") == (fits, fits, size, fits)
