"""A plan in the model's metadata is what TFLM then does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.offline_plan import with_offline_plan
from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.planners.registry import planner
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
