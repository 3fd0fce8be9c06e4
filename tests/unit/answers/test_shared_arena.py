"""Several models on one allocator: tails add up, the head is the largest plan."""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.answers.simulation import simulate
from tflm_sim.model.types import Model
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4")


def test_tails_add_up_and_the_head_is_the_largest_plan(chain: Callable[..., Model]) -> None:
    small, large = chain(16, 16), chain(160, 160)
    alone = [simulate(model, M4) for model in (small, large)]
    both = simulate([small, large], M4)
    assert [run.head_bytes for run in alone] == [32, 320]  # input and output of one RELU live together
    assert both.head_bytes == 320
    allocator_objects = 36 + 44 + 36  # SingleArenaBufferAllocator, GreedyMemoryPlanner, MicroAllocator
    assert both.tail_bytes == sum(run.tail_bytes for run in alone) - allocator_objects


def test_the_order_of_the_models_does_not_change_the_head(chain: Callable[..., Model]) -> None:
    models = [chain(160, 160), chain(16, 16)]
    assert simulate(models, M4).head_bytes == simulate(models[::-1], M4).head_bytes == 320


def test_the_plan_of_each_model_is_reported(chain: Callable[..., Model]) -> None:
    both = simulate([chain(16, 16), chain(160, 160)], M4)
    assert [buffer.offset for buffer in both.buffers] == [16, 0, 160, 0]
