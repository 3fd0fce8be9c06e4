"""``with_offline_plan``: a model whose own metadata says where its tensors go, as any planner places them.

TFLM's greedy planner keeps to the offsets of ``OfflineMemoryAllocation`` and plans only the scratch buffers itself, so
that another planner's result runs on an unchanged firmware.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Unpack

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Settings, Where
from tflm_sim.document_fields import named
from tflm_sim.document_types import Count
from tflm_sim.errors import UsageError, expect
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION, byte_length
from tflm_sim.model.build import offline_plan
from tflm_sim.model.load import ModelLike, load, parse
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Plan
from tflm_sim.planners.by_name import planner
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class ArenaSaving:
    """What a plan in the metadata changes, in bytes: the head, and the smallest arena that works.

    Attributes:
        head_before: The head as the device plans it.
        head_after: The head with the plan; scratch buffers are still placed by the device.
        arena_before: The smallest arena without the plan.
        arena_after: The smallest arena with it.
        binding: What would not fit if the arena with the plan were a byte smaller: "head", "tail", "temp" or "planner"
            (the planner's tables).
    """

    head_before: Count = field(metadata=named("head_before_bytes"))
    head_after: Count = field(metadata=named("head_after_bytes"))
    arena_before: Count = field(metadata=named("smallest_before_bytes"))
    arena_after: Count = field(metadata=named("smallest_after_bytes"))
    binding: str

    @property
    def saved(self) -> int:
        """Bytes of the arena; negative when it has to be larger."""
        return self.arena_before - self.arena_after


def has_offline_plan(model: Model) -> bool:
    """Return whether the model's own metadata says where tensors go."""
    return any(entry.name == OFFLINE_MEMORY_ALLOCATION for entry in model.metadata)


def without_offline_plan(model: Model) -> Model:
    """Return the model with a plan that leaves every tensor to the device's planner; unchanged if it has no plan."""
    return _with_offsets(model, [ONLINE_PLANNED_BUFFER] * _tensor_count(model)) if has_offline_plan(model) else model


def with_planned_variables(simulation: Simulation) -> Model:
    """Return the model with a plan for its variables alone, so that TFLM asks the planner for them, not the tail.

    The offsets lie behind all that the device's own planner places, so that it overlaps nothing with them either.

    Raises:
        UsageError: It has no variables, or some in another subgraph than the first, or TFLM is too old.
        ModelError: The file cannot be rewritten.
    """
    model, runtime = simulation.model, simulation.configuration.target.runtime
    if not runtime.has("offline_variables"):
        raise UsageError(f"TFLM of {runtime.snapshot} takes all variables from the tail")
    if any(tensor.is_variable for subgraph in model.subgraphs[1:] for tensor in subgraph.tensors):
        raise UsageError("variables behind the first subgraph cannot be planned: TFLM looks for their offsets in it")
    offsets, end = [ONLINE_PLANNED_BUFFER] * _tensor_count(model), simulation.head_bytes
    for tensor in simulation.unwrap().allocations[0].subgraph_tensors[0]:
        if tensor.tensor.is_variable:
            offsets[tensor.index] = end
            end += align_up(byte_length(tensor), BUFFER_ALIGNMENT)
    if end == simulation.head_bytes:
        raise UsageError("the model has no variable tensors that a planner could place")
    return _with_offsets(model, offsets)


def with_offline_plan(
    model: ModelLike,
    target: Where,
    planner_name: str,
    *,
    time_limit: float | None = None,
    replace_plan: bool = False,
    **settings: Unpack[Settings],
) -> Model:
    """Return the model with the offsets that the named planner gives its tensors.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        target: What it runs on: a name, a target, or a configuration; its scratch buffers are planned too.
        planner_name: A key of :data:`~tflm_sim.planners.by_name.PLANNERS`.
        time_limit: Seconds; None for the planner's own limit, 60 of the exact one.
        replace_plan: Plan again where the model has a plan already.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: The model fails without the plan.
        UsageError: An unknown planner, one that refuses, or a model that has a plan which is not to be replaced.
        ModelError: The file cannot be rewritten.
    """
    model = load(model)
    if not expect(replace_plan, bool, "replace_plan as a truth value") and has_offline_plan(model):
        raise UsageError("the model already has an offline plan, which is replaced only on request")
    model = without_offline_plan(model)
    simulation = simulate(model, target, **settings)
    problem = head_problem(simulation)
    return with_plan(model, simulation, planner(planner_name)(problem.buffers, time_limit=time_limit))


def with_plan(model: Model, simulation: Simulation, plan: Plan) -> Model:
    """Return the model with the offsets that ``plan`` gives the buffers of its simulation; scratch buffers get none.

    Raises:
        ModelError: The file cannot be rewritten.
    """
    starts = [*accumulate((len(subgraph.tensors) for subgraph in model.subgraphs), initial=0)]
    offsets = [ONLINE_PLANNED_BUFFER] * _tensor_count(model)
    for buffer, offset in zip(simulation.buffers, plan.offsets, strict=True):
        if buffer.info.tensor >= 0:
            offsets[starts[buffer.info.subgraph] + buffer.info.tensor] = offset
    return _with_offsets(model, offsets)


def arena_saving(model: Model, planned: Model, target: Where, **settings: Unpack[Settings]) -> ArenaSaving:
    """Compare the arena of a model with that of the same model with a plan.

    Raises:
        SimulatedFailure: One of them fails in any arena.
        UsageError: The configuration has two arenas.
    """
    before, after = (smallest_arena(each, target, **settings) for each in (model, planned))
    heads = [simulate(each, target, **settings).head_bytes for each in (model, planned)]
    return ArenaSaving(heads[0], heads[1], before.size, after.size, after.binding.kind)


def _tensor_count(model: Model) -> int:
    return sum(len(subgraph.tensors) for subgraph in model.subgraphs)


def _with_offsets(model: Model, offsets: Sequence[int]) -> Model:
    planned = parse(with_metadata(bytes(model.source), OFFLINE_MEMORY_ALLOCATION, offline_plan(offsets)))
    return replace(planned, path=model.path)
