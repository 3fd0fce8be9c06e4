"""``with_offline_plan``: a model whose own metadata says where its tensors go, as any planner places them.

TFLM's greedy planner keeps to the offsets of ``OfflineMemoryAllocation`` and plans only the scratch buffers itself, so
that another planner's result runs on an unchanged firmware.
"""

from __future__ import annotations

import struct
from dataclasses import replace

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.simulate import simulate_configuration
from tflm_sim.device.configuration import Configuration
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.load import parse
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import Model
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.planners.registry import planner

_VERSION, _SUBGRAPH = 1, 0


def with_offline_plan(
    model: Model, configuration: Configuration, planner_name: str, *, time_limit: float | None = None
) -> Model:
    """Return the model with the offsets that the named planner gives its tensors.

    Args:
        model: The model.
        configuration: Whose lifetimes and scratch buffers are planned.
        planner_name: A key of :data:`~tflm_sim.planners.registry.PLANNERS`.
        time_limit: Seconds for a planner that searches.

    Raises:
        SimulatedFailure: The model fails without the plan.
        UsageError: An unknown planner, or one that refuses.
        ModelError: The file cannot be rewritten.
    """
    simulation = simulate_configuration([model], configuration)
    problem = head_problem(simulation)
    plan = planner(planner_name)(problem.buffers, time_limit=time_limit)
    starts, count = [], 0
    for subgraph in model.subgraphs:
        starts.append(count)
        count += len(subgraph.tensors)
    offsets = [ONLINE_PLANNED_BUFFER] * count
    for buffer, offset in zip(simulation.buffers, plan.offsets, strict=True):
        if buffer.info.tensor >= 0:
            offsets[starts[buffer.info.subgraph] + buffer.info.tensor] = offset
    payload = struct.pack(f"<3I{count}i", _VERSION, _SUBGRAPH, count, *offsets)
    planned = parse(with_metadata(bytes(model.source), OFFLINE_MEMORY_ALLOCATION, payload))
    return replace(planned, path=model.path)
