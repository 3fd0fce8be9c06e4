"""The plan of a model, event by event: temps that only planning has, the planner's answers, and the head."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import AllocInfo, Event, LogLine, Phase, PlanAdd, PlanDone, PlanFits, PlanOffset, Temp
from tflm_sim.arena.stages import Stage
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.static_memory_plan import StaticMemoryPlan
from tflm_sim.errors import ArenaOverflowError, UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Scratch, Steps
from tflm_sim.planners.greedy import GreedyMemoryPlanner
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4", kernels="reference")
INT8 = TensorType.INT8


def asking(count: int, *, spare: int = 0, **settings: object) -> Simulation:
    """Simulate an operator that asks for scratch buffers of 16 bytes, on a model with tensors that nothing names."""

    def prepare(node: Node) -> Steps[None]:
        for _ in range(count):
            yield Scratch(16)

    builder = ModelBuilder()
    x, y, *_ = (builder.tensor((1, 16), INT8) for _ in range(2 + spare))
    builder.custom("MINE", [x], [y])
    row = OpModel("MINE", None, None, prepare, "mine.cc")
    return simulate(parse(builder.build(inputs=[x], outputs=[y])), M4, custom_ops=[row], **settings)  # type: ignore[arg-type]


def of_plan(simulation: Simulation) -> list[Event]:
    """Return the events from the plan's beginning to the first of the input tensors."""
    events = list(simulation.events)
    stages = [event.stage if isinstance(event, Phase) else None for event in events]
    return events[stages.index(Stage.PLAN) : stages.index(Stage.INPUT_TENSORS)]


def temps(events: list[Event]) -> list[tuple[int, int]]:
    return [(event.size, event.alignment) for event in events if isinstance(event, Temp)]


def test_planning_takes_a_pointer_a_subgraph_and_24_bytes_a_tensor_and_scratch_buffer() -> None:
    *own, (_, alignment) = temps(of_plan(asking(3)))
    assert own == [(4, 4), (24 * (2 + 3), 4)]
    assert alignment == 16  # The planner's, all that is left.
    assert temps(of_plan(asking(0)))[:2] == [(4, 4), (24 * 2, 4)]


def test_the_events_of_a_plan_are_numbered_from_the_first_row_and_buffer() -> None:
    events = of_plan(asking(1, spare=1))
    assert [event for event in events if isinstance(event, AllocInfo)] == [
        AllocInfo(0, 0, 0, -1, -1, 16, True, 0, 1, -1),
        AllocInfo(1, 0, 1, -1, -1, 16, True, 1, 1, -1),
        AllocInfo(2, 0, 2, -1, -1, 16, True, -1, -1, -1),
        AllocInfo(3, 0, -1, 0, 0, 16, True, 1, 1, -1),
    ]
    assert [event for event in events if isinstance(event, PlanAdd)] == [
        PlanAdd(0, 16, 16, 0, 1, -1),
        PlanAdd(1, 16, 16, 1, 1, -1),
        PlanAdd(2, 16, 16, -1, -1, -1),
        PlanAdd(3, 16, 16, 1, 1, -1),
    ]
    assert [(event.info, event.planner_index) for event in events if isinstance(event, PlanOffset)] == [
        (index, index) for index in range(4)
    ]


def test_the_head_is_the_largest_plan_so_far(chain: Callable[..., Model]) -> None:
    done = simulate([chain(16, 16), chain(160, 160), chain(32, 32)], M4)
    plans = [
        (event.head_usage, event.previous_max_head, event.buffer_count)
        for event in done.events
        if isinstance(event, PlanDone)
    ]
    assert plans == [(32, 0, 2), (320, 32, 2), (64, 320, 2)]
    assert done.head_bytes == 320


def test_old_versions_plan_each_subgraph_with_all_scratch_buffers() -> None:
    builder = ModelBuilder()
    other = builder.add_subgraph()
    for graph in (builder, other):
        x, y = (graph.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
        graph.operator("RELU", [x], [y])
    other.inputs, other.outputs = [x], [y]
    done = simulate(
        parse(builder.build(inputs=[0], outputs=[1])), "cortex-m4", kernels="reference", runtime="2021-05-25"
    )
    first, tables, second, more = temps(of_plan(done))
    assert first == second == (2 * 24, 4)
    assert tables[1] == more[1] == 16
    infos = [(event.info, event.subgraph) for event in done.events if isinstance(event, AllocInfo)]
    assert infos == [(0, 0), (1, 0), (2, 1), (3, 1)]


def test_a_plan_of_old_versions_may_take_all_that_is_free() -> None:
    for size, fits in ((112, True), (113, False)):
        events: list[Event] = []
        arena = SingleArenaBufferAllocator(130, observers=[events.append])
        arena.head = arena.temp = 10  # Free is from 16 to 128.
        planner = GreedyMemoryPlanner()
        plan = StaticMemoryPlan(arena, M4, planner, ())
        planner.init(1000)
        planner.add_buffer(size, 0, 1)
        if fits:
            plan._check_plan()
            assert events == [PlanFits(112, 112)]
            continue
        with pytest.raises(ArenaOverflowError, match=r"^head: the plan of 113 bytes does not fit$"):
            plan._check_plan()
        assert events[-1] == LogLine("Arena size is too small for all buffers. Needed 113 but only 112 was available.")


@pytest.mark.parametrize(("count", "status"), [(0, "ok"), (1, "abort"), (2, "abort")])
def test_scratch_handles_that_did_not_fit_are_used_all_the_same(
    monkeypatch: pytest.MonkeyPatch, count: int, status: str
) -> None:
    monkeypatch.setattr(MicroAllocator, "_scratch_handles", lambda *_: False)
    done = asking(count)
    assert done.status == status
    assert count == 0 or str(done.failure) == "the scratch handles did not fit: a null pointer is used"


def rows(done: Simulation) -> list[tuple[int, int]]:
    allocation = done.allocation
    assert allocation is not None
    return [(info.first_created, info.last_used) for info in allocation.infos]


def test_tensors_that_are_to_be_preserved_live_to_the_last_scope(chain: Callable[..., Model]) -> None:
    model = chain(16, 16, 16, 16)
    assert rows(simulate(model, M4)) == [(0, 1), (1, 2), (2, 3), (3, 3)]
    assert rows(simulate(model, M4, preserved={(0, 0), (0, 2)})) == [(0, 3), (1, 2), (2, 3), (3, 3)]


@pytest.mark.parametrize("pair", [(1, 0), (0, 4), (0, -1), (-1, 0), (2**70, 2**70)])
def test_a_tensor_to_be_preserved_that_no_model_has_is_refused(
    chain: Callable[..., Model], pair: tuple[int, int]
) -> None:
    with pytest.raises(UsageError) as refused:
        simulate(chain(16, 16, 16, 16), M4, preserved=[pair])
    assert str(refused.value) == f"preserved: no model has a tensor {pair[1]} in subgraph {pair[0]}"


def test_one_of_the_models_has_the_tensor_to_be_preserved(chain: Callable[..., Model]) -> None:
    assert simulate([chain(16, 16), chain(16, 16, 16, 16)], M4, preserved=[(0, 3)]).status == "ok"


def test_a_tensor_that_nothing_names_is_not_preserved() -> None:
    assert rows(asking(0, spare=1, preserved={(0, 0), (0, 2)})) == [(0, 1), (1, 1), (-1, -1)]
