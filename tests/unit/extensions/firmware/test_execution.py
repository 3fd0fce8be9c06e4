"""Requests of an executed program against those of the simulation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Unpack, cast

import pytest

from tflm_sim import load, simulate
from tflm_sim.arena.events import Event, OpEvent, Persist, Resize, TempFree
from tflm_sim.arena.stages import Stage
from tflm_sim.device.configuration import Settings, configure
from tflm_sim.extensions.firmware import execution
from tflm_sim.extensions.firmware.emulation.event_rows import events_of, rows_of
from tflm_sim.extensions.firmware.emulation.execution import Execution
from tflm_sim.extensions.firmware.execution import agreement
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path

SIMULATION = simulate(load(sample_path("residual")), "cortex-m4", arena_size=1 << 16)


def seen() -> list[Event]:
    """Return the simulation's own events as they come back from an emulator's process."""
    return list(events_of(rows_of(SIMULATION.events), 1 << 16))


def test_the_same_requests_agree_to_the_last() -> None:
    found = agreement(seen(), SIMULATION)
    assert found.agrees
    assert found.compared > 20


def test_the_first_other_size_is_named_with_its_operator() -> None:
    events = seen()
    at = next(number for number, event in enumerate(events) if isinstance(event, Persist) and event.alignment == 16)
    event = events[at]
    assert isinstance(event, Persist)
    events[at] = event._replace(size=event.size + 4)
    found = agreement(events, SIMULATION)
    assert not found.agrees
    assert f"{event.size + 4:,} B of the tail" in found.executed
    assert f"{event.size:,} B of the tail" in found.simulated
    assert "#0 in subgraph 0" in found.place


@pytest.mark.parametrize("is_less", [True, False])
def test_a_kernel_that_asks_for_more_or_less_is_named_and_not_the_next_one(is_less: bool) -> None:
    events = seen()
    asked = [
        number for number, event in enumerate(events) if isinstance(event, OpEvent) and event.stage is Stage.OP_INIT
    ]
    at = next(number for number in asked if isinstance(events[number + 1], Persist)) + 1
    if is_less:
        del events[at]
    else:
        events.insert(at, events[at])
    found = agreement(events, SIMULATION)
    assert found.place == str(events[at - 1])
    assert found.meaning.startswith("the program has another kernel of ")


def test_a_request_that_was_not_seen_agrees_by_the_bytes_that_are_gone() -> None:
    events = seen()
    at = next(number for number, event in enumerate(events) if isinstance(event, Persist))
    event = events[at]
    assert isinstance(event, Persist)
    events[at] = event._replace(size=event.used, alignment=0)
    assert agreement(events, SIMULATION).agrees
    events[at] = event._replace(size=event.used + 4, used=event.used + 4, alignment=0)
    assert agreement(events, SIMULATION).compared == 0


@pytest.mark.parametrize("count", [2, 3])
def test_several_requests_that_were_not_seen_agree_by_the_bytes_that_are_gone(count: int) -> None:
    events = seen()
    at = next(number for number, event in enumerate(events) if isinstance(event, Persist))
    several = [event for event in events[at : at + count] if isinstance(event, Persist)]
    assert len(several) == count
    taken = sum(event.used for event in several)
    events[at : at + count] = [several[-1]._replace(size=taken, used=taken, alignment=0)]
    assert agreement(events, SIMULATION) == agreement(seen(), SIMULATION)
    events[at] = several[-1]._replace(size=taken + 4, used=taken + 4, alignment=0)
    found = agreement(events, SIMULATION)
    assert found.compared == 0
    assert found.meaning.startswith("not every request is seen, as the compiler inlined the allocator's code; or ")


def test_a_resize_that_was_not_seen_agrees_by_the_head_that_it_leaves() -> None:
    events = seen()
    at = next(number for number, event in enumerate(events) if isinstance(event, Resize))
    event = events[at]
    assert isinstance(event, Resize)
    events[at] = event._replace(size=event.head, alignment=0)
    assert agreement(events, SIMULATION) == agreement(seen(), SIMULATION)
    events[at] = event._replace(head=event.head + 16, alignment=0)
    assert not agreement(events, SIMULATION).agrees


def test_what_is_missing_at_the_end_is_told() -> None:
    events = seen()
    last = max(number for number, event in enumerate(events) if isinstance(event, Persist))
    assert agreement(events[:last], SIMULATION).executed == "nothing more"


def test_what_a_program_asks_for_beyond_the_simulation_is_told() -> None:
    found = agreement([*seen(), TempFree(offset=0)], SIMULATION)
    assert (found.agrees, found.executed, found.simulated) == (False, "the temp at 0 given back", "nothing more")


def test_a_program_that_ends_where_an_operator_is_parsed_lacks_it() -> None:
    events = seen()
    parses = (at for at, one in enumerate(events) if isinstance(one, OpEvent) and one.stage is Stage.OP_PARSE)
    found = agreement(events[: next(at for at in parses if isinstance(events[at + 1], Persist)) + 1], SIMULATION)
    assert (found.agrees, found.executed) == (False, "nothing more")
    assert found.place.startswith("parse of ")
    assert "its resolver lacks the operator" in found.meaning


def test_a_program_that_goes_on_where_a_check_halts_was_built_without_it() -> None:
    b = ModelBuilder()
    x, y = (b.tensor((1, 4), TensorType.INT8, scale=1.0) for _ in range(2))
    weights = b.tensor((4, 4), TensorType.INT8, data=bytes(16), scale=1.0, zero_point=3)
    b.operator("FULLY_CONNECTED", [x, weights, -1], [y])
    halted = simulate(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4", kernels="reference", arena_size=4096)
    assert halted.status == "abort"
    found = agreement([*halted.events, TempFree(offset=0)], halted)
    assert (found.agrees, found.executed) == (False, "the temp at 0 given back")
    assert "filter->params.zero_point == 0 does not hold, the device halts" in found.simulated
    assert "NDEBUG" in found.meaning
    last = max(at for at, event in enumerate(halted.events) if isinstance(event, Persist))
    earlier = agreement(halted.events[:last], halted)
    assert (earlier.agrees, earlier.executed) == (False, "nothing more")
    assert "halt" not in earlier.simulated


def shared(*models: str, left_out: int = 0, **settings: Unpack[Settings]) -> tuple[Execution, Firmware]:
    """Return what a program says that has its models on one allocator, and its file, which lacks the last few."""
    size, firsts = 1 << 16, range(1, len(models) + 1)
    events = list(rows_of(simulate(models, "cortex-m4", arena_size=size, **settings).events))
    starts = [at for at, row in enumerate(events) if row.name == Stage.BUILTIN_DATA_ALLOCATOR.value]
    bounds = [0, *starts[1:], len(events)]
    allocations = tuple(
        SimpleNamespace(interpreter=number, status="ok", model=0x1000 * number, events=tuple(events[begin:end]))
        for number, begin, end in zip(firsts, bounds, bounds[1:], strict=False)
    )
    arena = SimpleNamespace(address=0x20000000, size=size, part="all", allocations=allocations, banks=())
    held = [
        SimpleNamespace(address=0x1000 * number, extent=16, model=load(model))
        for number, model in zip(firsts, models[: len(models) - left_out], strict=False)
    ]
    return cast(Execution, SimpleNamespace(arenas=(arena,))), cast(Firmware, SimpleNamespace(models=held))


@pytest.fixture
def on_cortex_m4(monkeypatch: pytest.MonkeyPatch) -> None:
    possible = SimpleNamespace(alternatives=(configure("cortex-m4").target,))
    monkeypatch.setattr(execution, "firmware_target", lambda _: possible)


TWO = ("sample:sine", "sample:residual")


@pytest.mark.usefixtures("on_cortex_m4")
def test_all_models_of_one_allocator_are_compared_in_their_order() -> None:
    alone, both = (execution.compare(*shared(*models)) for models in (TWO[:1], TWO))
    assert both[0].agreement is not None
    assert alone[0].agreement is not None
    assert both[0].agreement.agrees
    assert both[0].agreement.compared > alone[0].agreement.compared > 20
    assert both[0].reason == ""


@pytest.mark.usefixtures("on_cortex_m4")
def test_a_second_model_that_is_not_in_the_file_is_named_and_the_first_is_compared() -> None:
    (alone,), (both,) = execution.compare(*shared(*TWO[:1])), execution.compare(*shared(*TWO, left_out=1))
    assert both.agreement == alone.agreement
    assert both.reason == "AllocateTensors() 2 of 2 is not compared: its model is not in the file"


@pytest.mark.usefixtures("on_cortex_m4")
def test_a_difference_in_the_second_allocate_tensors_says_in_which() -> None:
    seen, file = shared(*TWO)
    file.models[1] = SimpleNamespace(address=0x2000, extent=16, model=load("sample:sine"))  # type: ignore[index]
    (found,) = execution.compare(seen, file)
    assert found.agreement is not None
    assert not found.agreement.agrees
    assert found.agreement.place.endswith(", AllocateTensors() 2")


@pytest.mark.usefixtures("on_cortex_m4")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(), ""),
        (Settings(planner="linear"), "linear planner"),
        (Settings(own_planner=True), "own greedy planner"),
        (Settings(planner="linear", own_planner=True), "own linear planner"),
        (Settings(resource_variables=5), "room for 5 resource variables"),
    ],
)
def test_what_a_file_does_not_say_of_the_set_up_is_found(settings: Settings, words: str) -> None:
    (found,) = execution.compare(*shared(*TWO, **settings))
    assert found.agreement is not None
    assert (found.agreement.agrees, found.agreement.settings) == (True, words)


@pytest.mark.usefixtures("on_cortex_m4")
def test_a_program_with_banks_has_a_planner_of_its_own_whatever_else_it_sets_up() -> None:
    program, file = shared(*TWO, own_planner=True, resource_variables=5)
    program.arenas[0].banks = (SimpleNamespace(is_head=True, is_tail=True, planned=16),)  # type: ignore[misc, assignment]
    (found,) = execution.compare(program, file)
    assert found.agreement is not None
    assert found.agreement.agrees
    assert found.agreement.compared > 100
