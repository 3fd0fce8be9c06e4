"""``Profile``: how full the head is at each operator, and what each operator costs in the tail, from one simulation.

The splits are chosen on these numbers and then simulated, so they guide the search and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tflm_sim.answers.peak import live_bytes
from tflm_sim.answers.simulation import Simulation
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.extensions.shrink.draft_facts import planned_bytes
from tflm_sim.extensions.shrink.target_sizer import Measured, smallest
from tflm_sim.extensions.shrink.vector_scratch import VectorScratch, vector_scratch
from tflm_sim.model.draft import Draft
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class Profile:
    """A draft on one target, operator by operator of the main subgraph.

    Attributes:
        live: Most bytes alive while each operator runs.
        scratch: Its scratch buffers, each rounded up to 16.
        tail: Persistent bytes that it asks for, without its node and tensors.
        born: First operator at which each planned tensor is alive, by tensor (-1 before the first).
        dies: Last such operator (the number of operators for the model's outputs).
        bytes: Of each planned tensor, rounded up to 16.
        node: Persistent bytes of an operator's node and registration.
        tensor: Persistent bytes of a tensor.
        head: Bytes of the head as TFLM plans it: the peak, and what its greedy planner wastes.
        tail_bytes: All of the tail.
        arena: The smallest arena, both together where there are two.
        gaps: With a plan, by operator: bytes that its input must lie above its output on it, None where they may not
            share bytes. () without a plan.
        vectors: How an operator's scratch depends on its shapes, by operator, where it does.
    """

    live: Sequence[int]
    scratch: Sequence[int]
    tail: Sequence[int]
    born: dict[int, int]
    dies: dict[int, int]
    bytes: dict[int, int]
    node: int
    tensor: int
    head: int
    tail_bytes: int
    arena: int
    gaps: Sequence[int | None] = ()
    vectors: Mapping[int, VectorScratch] = field(default_factory=dict)

    @property
    def peak(self) -> int:
        """Most bytes alive while any operator runs."""
        return max(self.live, default=0)

    def alive_across(self, first: int, end: int, own: frozenset[int]) -> int:
        """Return the bytes of what is alive all through operators [first, end), without the tensors ``own``."""
        return sum(
            size
            for tensor, size in self.bytes.items()
            if self.born[tensor] < first and self.dies[tensor] >= end and tensor not in own
        )


def profile(draft: Draft, simulation: Simulation) -> Profile:
    """Return the profile of a draft whose model was simulated; both count tensors and operators alike."""
    allocation, ledger = simulation.allocation, simulation.ledger
    assert allocation is not None, "only models that work are profiled"
    count = len(draft.operators)
    tail = [0] * count
    for (subgraph, node, _), holding in ledger.ops.items():
        if subgraph == 0 and 0 <= node < count:
            tail[node] += holding.used
    born, dies, sizes = _lifetimes(draft)
    groups, library = ledger.groups, simulation.configuration.target.kernel_library
    tensors = sum(len(subgraph.tensors) for subgraph in simulation.model.subgraphs)
    return Profile(
        live=live_at_operators(simulation, count),
        scratch=_scratch(allocation, count),
        tail=tail,
        born=born,
        dies=dies,
        bytes=sizes,
        node=groups["nodes and registrations"].used // max(1, count) if count else 0,
        tensor=groups["eval tensors"].used // max(1, tensors),
        head=simulation.head_bytes,
        tail_bytes=simulation.tail_bytes,
        arena=smallest(simulation).size,
        vectors={
            index: own
            for index, operator in enumerate(draft.operators)
            if (own := vector_scratch(draft, operator, library)) is not None
        },
    )


def live_at_operators(measured: Measured, count: int) -> list[int]:
    """Return the most bytes alive while each operator of the main subgraph runs, in whatever subgraph it calls."""
    allocation = measured.allocation
    assert allocation is not None, "only models that work are profiled"
    live, operator = [0] * count, -1
    for (subgraph, node), alive in zip(allocation.scopes, live_bytes(allocation), strict=True):
        operator = node if subgraph == 0 else operator
        if operator >= 0:
            live[operator] = max(live[operator], alive)
    return live


def _scratch(allocation: ModelAllocation, count: int) -> list[int]:
    scratch = [0] * count
    for info in (allocation.infos[index] for index in allocation.offsets):
        if info.scratch >= 0 and info.subgraph == 0:
            scratch[info.node] += align_up(info.size, BUFFER_ALIGNMENT)
    return scratch


def _lifetimes(draft: Draft) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Return first operator, last operator and bytes of each planned tensor of the main subgraph."""
    born = {tensor: -1 for tensor in draft.inputs if draft.is_activation(tensor)}
    dies: dict[int, int] = {}
    for index, operator in enumerate(draft.operators):
        for tensor in operator.output_tensors:
            born.setdefault(tensor, index)
        dies.update(dict.fromkeys(operator.named_tensors, index))
    dies.update(dict.fromkeys(draft.outputs, len(draft.operators)))
    sizes = {tensor: planned_bytes(draft, tensor) for tensor in born if not draft.tensors[tensor].is_variable}
    return {tensor: born[tensor] for tensor in sizes}, {tensor: dies.get(tensor, -1) for tensor in sizes}, sizes


class Footprint(NamedTuple):
    """An operator of a rewriting that is being considered: what it reads and writes, by any key, and its scratch.

    ``gap`` is that of ``Profile.gaps``.
    """

    reads: tuple[int, ...]
    writes: int
    bytes: int
    scratch: int = 0
    gap: int | None = None


def peak_of(steps: Sequence[Footprint], given: dict[int, int], kept: frozenset[int]) -> int:
    """Return the most bytes alive in a sequence of steps.

    Args:
        steps: In order; every key is written once.
        given: Bytes of what is alive at the start, by key; each dies with its last reader.
        kept: Keys that stay alive to the end.
    """
    sizes = given | {step.writes: step.bytes for step in steps}
    last = {key: index for index, step in enumerate(steps) for key in step.reads}
    dying = [0] * len(steps)
    for key in last.keys() - kept:
        dying[last[key]] += sizes.get(key, 0)
    unread = sizes.keys() - last.keys() - kept
    alive = peak = sum(given.values())
    for step, ends in zip(steps, dying, strict=True):
        alive += step.bytes
        shared = 0 if step.gap is None else max(0, min(ends, step.bytes - step.gap))
        peak = max(peak, alive + step.scratch - shared)
        alive -= ends + (step.bytes if step.writes in unread else 0)
    return peak
