"""A plan in the model's metadata is what TFLM then does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.offline_plan import (
    ArenaSaving,
    arena_saving,
    has_offline_plan,
    with_offline_plan,
    with_plan,
    without_offline_plan,
)
from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.graph.lifetimes import offline_planned_offsets
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.planners.buffers import plan_of
from tflm_sim.planners.by_name import planner
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))


def test_each_tensor_goes_where_the_plan_says(chain: Callable[..., Model]) -> None:
    model = chain(64, 640, 128, 320)
    plan = planner("linear")(head_problem(simulate(model, M4.target)).buffers)
    # 64, 640 and 128 bytes one behind the other: the fourth starts at 832.
    assert plan.offsets == (0, 64, 704, 832)
    planned = simulate(with_offline_plan(model, M4, "linear"), M4.target)
    assert tuple(buffer.offset for buffer in planned.buffers) == plan.offsets
    assert planned.head_bytes == plan.peak == 1152


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", ["gpu_greedy_by_size", "vela_greedy", "hill_climb"])
def test_lifetimes_stay_and_the_tail_too(sample: str, name: str) -> None:
    model = load(sample_path(sample))
    planned = with_offline_plan(model, M4, name, time_limit=0.5)
    before, after = simulate(model, M4.target).unwrap(), simulate(planned, M4.target).unwrap()
    assert planned.path == model.path
    assert after.tail_bytes == before.tail_bytes
    assert [(b.info.first_created, b.info.last_used) for b in after.buffers] == [
        (b.info.first_created, b.info.last_used) for b in before.buffers
    ]


def test_an_unknown_planner_is_refused(chain: Callable[..., Model]) -> None:
    with pytest.raises(UsageError, match="no planner 'best'"):
        with_offline_plan(chain(16, 16), M4, "best")


def test_the_exact_planner_writes_plans_too(chain: Callable[..., Model]) -> None:
    """A chain keeps two neighbours alive: 64 + 640, 640 + 128 = 768, 128 + 320; 768 is enough."""
    planned = with_offline_plan(chain(64, 640, 128, 320), M4, "exact")
    assert simulate(planned, M4.target).head_bytes == 768


def test_a_plan_is_replaced_only_when_asked(chain: Callable[..., Model]) -> None:
    planned = with_offline_plan(chain(64, 640, 128, 320), M4, "linear")
    with pytest.raises(UsageError, match="only on request"):
        with_offline_plan(planned, M4, "exact")
    assert simulate(with_offline_plan(planned, M4, "exact", replace_plan=True), M4.target).head_bytes == 768


def test_every_tensor_of_every_subgraph_has_its_own_offset_and_a_scratch_buffer_has_none() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 8), TensorType.INT8, scale=0.5), builder.tensor((1,), TensorType.INT8, scale=0.25)
    axis = builder.tensor((1,), TensorType.INT32, data=[1])
    builder.operator("SUM", [x, axis], [y])
    branch = builder.add_subgraph()
    a, b = (branch.tensor((1, 8), TensorType.INT8, scale=0.5) for _ in range(2))
    branch.operator("RELU", [a], [b])
    branch.inputs, branch.outputs = [a], [b]
    condition = builder.tensor((1,), TensorType.BOOL)
    result = builder.tensor((1, 8), TensorType.INT8, scale=0.5)
    options = {"then_subgraph_index": branch.index, "else_subgraph_index": branch.index}
    builder.operator("IF", [condition, x], [result], options=options)
    model = parse(builder.build(inputs=[x, condition], outputs=[y, result]))
    simulation = simulate(model, preset("cortex-m4", kernels="reference"))
    infos = [buffer.info for buffer in simulation.buffers]
    # x, y, the condition and IF's result; a and b; the scratch buffers of SUM.
    assert [(info.subgraph, info.tensor) for info in infos[:6]] == [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0), (1, 1)]
    assert {info.tensor for info in infos[6:]} == {-1}
    offsets = [16 + 16 * position for position in range(len(infos))]
    planned = with_plan(model, simulation, plan_of(head_problem(simulation).buffers, offsets))
    # Tensor 2 is the constant axis. The last two are the branch's; nothing is said of scratch buffers.
    assert offline_planned_offsets(planned, 7) == (16, 32, -1, 48, 64, 80, 96)
    assert has_offline_plan(planned)
    assert offline_planned_offsets(without_offline_plan(planned), 7) == (-1,) * 7
    assert without_offline_plan(model) is model


def test_a_saving_is_of_the_head_and_of_the_smallest_arena(chain: Callable[..., Model]) -> None:
    """768 bytes are enough for the chain, which one behind the other takes 64 + 640 + 128 + 320 = 1152."""
    model = chain(64, 640, 128, 320)
    planned = with_offline_plan(model, M4, "linear")
    saving = arena_saving(model, planned, M4)
    assert (saving.head_before, saving.head_after) == (768, 1152)
    assert (saving.saved, saving.binding) == (768 - 1152, "tail")
    assert saving.arena_after - saving.arena_before == 384
    assert arena_saving(planned, model, M4).saved == 384
    assert ArenaSaving(1, 2, 300, 100, "head").saved == 200
