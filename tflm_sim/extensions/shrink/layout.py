"""``Layout``: tensors that may share bytes, put into groups, each at its place in its group.

    CONCATENATION of a and b          group of 96 B:   [ a 32 ][ b 64 ]      a and b are written where they belong
    RELU in place                     group of 64 B:   [ x = y        ]

Two members may share a byte while both are alive only if both hold the same there (the hashes of ``verify`` tell),
or if the one is read in place by the operator that writes the other, where a contract says that its kernel may.
What a loop of ``counted_loops`` carries is one group from the start: TFLM copies nothing between equal addresses.
A loop that reads one tensor row by row while it writes another may write it over the rows that were read.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, product

import numpy as np

from tflm_sim.answers.planned_problem import planned_buffer
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.extensions.shrink.aliases import Alias
from tflm_sim.extensions.shrink.contracts import COPY, wanted_alignments
from tflm_sim.extensions.shrink.counted_loops import CountedLoop, carried, carried_distances, counted_loops, loop_parts
from tflm_sim.extensions.shrink.draft_facts import element_size
from tflm_sim.extensions.shrink.machine import Machine, fresh_inputs
from tflm_sim.extensions.shrink.overlap_placement import Alive
from tflm_sim.extensions.shrink.symbolic import Hashes
from tflm_sim.extensions.shrink.target_sizer import Measured
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.units import align_up

SharingGroup = dict[int, int]
"""Tensors that share bytes: how many bytes from the group's start each begins, by tensor."""


@dataclass(frozen=True, slots=True)
class PlacedSubgraph:
    """A subgraph as the main one of a draft, the number of its first tensor, and the scope of each operator."""

    draft: Draft
    first: int
    scope_of: dict[int, int]


@dataclass(slots=True)
class Layout:
    """What can share bytes with what (mutable: it remembers which tensors agree).

    Attributes:
        model, draft: The model.
        alive: Planned tensors of the main subgraph, and of those of counted loops, whose tensors are numbered on.
        scope_of: The scope of each operator of the main subgraph.
        subgraphs: The main subgraph, and the body of each counted loop.
        others: Everything else in the head: scratch, tensors of other subgraphs.
        carried: Tensors that have one address: those that hold the same value in and around a loop.
        loop_distances: (a, b) -> bytes that a must lie above b, where a loop reads a row by row while it writes b.
        alignment: Bytes at whose multiples a tensor must lie, where that is more than 1.
    """

    model: Model
    draft: Draft
    alive: dict[int, Alive]
    scope_of: dict[int, int]
    others: list[Buffer]
    subgraphs: list[PlacedSubgraph] = field(default_factory=list)
    carried: list[list[int]] = field(default_factory=list)
    loop_distances: dict[tuple[int, int], int] = field(default_factory=dict)
    alignment: dict[int, int] = field(default_factory=dict)
    _hashes: Sequence[Hashes | None] = ()
    _agree: dict[tuple[int, int, int], bool] = field(default_factory=dict)

    def carry(self, loop: CountedLoop, starts: Sequence[int]) -> None:
        """Note what a loop carries; ``starts`` are the numbers of the subgraphs' first tensors."""
        groups = [
            [place for subgraph, tensor in group if (place := starts[subgraph] + tensor) in self.alive]
            for group in carried(self.draft, loop)
        ]
        self.carried += groups
        begun = _begun_unwritten(self.draft, loop)
        for tensor in begun.intersection(self.alive):
            self.alive[tensor] = replace(self.alive[tensor], lower=self.scope_of[loop.operator])
        for a, b, distance in carried_distances(self.draft, loop):
            if self.draft.operators[loop.operator].input_tensors[b] in begun:
                pairs = product(groups[a], groups[b])
                self.loop_distances.update(dict.fromkeys(pairs, align_up(distance, BUFFER_ALIGNMENT)))

    def lower_bound(self, aliases: Sequence[Alias]) -> int:
        """Return bytes below which no plan brings the head, whatever its offsets are."""
        return lower_bound(self.buffers(self.groups(aliases)))

    def groups(self, aliases: Sequence[Alias]) -> list[SharingGroup]:
        """Return groups of tensors that share bytes; aliases that are not safe are left out."""
        group_of: dict[int, SharingGroup] = {tensor: {tensor: 0} for tensor in self.alive}
        for tensors in self.carried:
            # What one loop writes may be what the next one reads: both their groups are one.
            together = dict.fromkeys((each for tensor in tensors for each in group_of[tensor]), 0)
            group_of.update(dict.fromkeys(together, together))
        for alias in aliases:
            one, other = group_of[alias.parent], group_of[alias.child]
            shift = one[alias.parent] + alias.offset - other[alias.child]
            if one is not other and self._is_safe(alias, one, other, shift):
                joined = _joined(one, other, shift)
                if not any(at % self.alignment.get(tensor, 1) for tensor, at in joined.items()):
                    group_of.update(dict.fromkeys(joined, joined))
        return list({id(group): group for group in group_of.values()}.values())

    def _is_safe(self, alias: Alias, one: SharingGroup, other: SharingGroup, shift: int) -> bool:
        """Return whether the tensors of one group may share bytes with those of another one, ``shift`` bytes up."""
        for a, at_a in one.items():
            for b, at_b in other.items():
                distance = at_b + shift - at_a
                first, second = self.alive[a], self.alive[b]
                if distance >= first.size or -distance >= second.size:
                    continue
                if first.meets(second) and not self._may_share(alias, a, b, distance):
                    return False
        return True

    def _may_share(self, alias: Alias, a: int, b: int, distance: int) -> bool:
        """Return whether two tensors that are alive together may lie ``distance`` bytes apart and overlap."""
        if self.agree(a, b, distance):
            return True
        if alias.kind == COPY or {a, b} != {alias.parent, alias.child}:
            return False
        if (distance if a == alias.parent else -distance) != alias.offset:
            return False
        is_read_later = alias.parent in self.draft.outputs
        return not is_read_later and self.is_handed_on(self.scope_of[alias.operator], alias.parent, alias.child)

    def is_handed_on(self, scope: int, source: int, output: int) -> bool:
        """Return whether a scope is the last at which one tensor is alive and the first at which another one is."""
        both = source in self.alive and output in self.alive
        return both and self.alive[source].upper - 1 == scope == self.alive[output].lower

    def agree(self, a: int, b: int, distance: int) -> bool:
        """Return whether two tensors hold the same in the bytes that they share when b begins ``distance`` behind a."""
        key = (a, b, distance)
        if key not in self._agree:
            self._agree[key] = self._compare(a, b, distance)
        return self._agree[key]

    @property
    def hashes(self) -> Sequence[Hashes | None]:
        """What each tensor holds, after one invocation from an unknown state on unknown inputs."""
        if not self._hashes:
            machine = Machine(self.model)
            machine.forget()
            with np.errstate(over="ignore"):
                machine.run(fresh_inputs(machine, "any"))
            self._hashes = machine.values
        return self._hashes

    def _compare(self, a: int, b: int, distance: int) -> bool:
        if max(a, b) >= len(self.draft.tensors):
            return False
        size = element_size(self.draft, a)
        one, other = self.hashes[a], self.hashes[b]
        if one is None or other is None or size != element_size(self.draft, b) or distance % size:
            return False
        first, second, step = one.ravel(), other.ravel(), distance // size
        if step < 0:
            first, second, step = second, first, -step
        count = min(first.size - step, second.size)
        return bool(np.array_equal(first[step : step + count], second[:count]))

    def buffers(self, groups: Sequence[SharingGroup]) -> list[Buffer]:
        """Return the planner's problem: a buffer for each group, then everything else."""
        found = []
        for group in groups:
            size = max(at + align_up(self.alive[tensor].size, BUFFER_ALIGNMENT) for tensor, at in group.items())
            lower = min(self.alive[tensor].lower for tensor in group)
            upper = max(self.alive[tensor].upper for tensor in group)
            found.append(Buffer(align_up(size, BUFFER_ALIGNMENT), lower, upper))
        return found + self.others


def _joined(one: SharingGroup, other: SharingGroup, shift: int) -> SharingGroup:
    """Return both groups as one, the other one ``shift`` bytes up; the lowest member begins at 0."""
    joined = one | {tensor: at + shift for tensor, at in other.items()}
    lowest = min(joined.values())
    return {tensor: at - lowest for tensor, at in joined.items()}


def layout_of(model: Model, measured: Sequence[Measured], *, is_aligned: bool = False) -> Layout:
    """Return what there is to place, with the scratch buffers of the target that needs most.

    Args:
        model: Without a plan.
        measured: The model, once a target.
        is_aligned: Let every tensor lie at a multiple of 16, not only those that a kernel wants there.
    """
    allocation = measured[0].allocation
    assert allocation is not None, "only models that work are planned"
    draft = Draft(model)
    loops = counted_loops(draft)
    starts = [*accumulate((len(subgraph.tensors) for subgraph in model.subgraphs), initial=0)]
    planned = {0}.union(*((loop.condition, loop.body) for loop in loops))
    alive, others = _tensor_lifetimes(allocation, planned, starts)
    layout = Layout(model, draft, alive, _scopes_of(allocation, 0), others + _scratch_buffers(measured))
    for loop in loops:
        layout.carry(loop, starts)
    for index, part in loop_parts(model):
        layout.subgraphs.append(PlacedSubgraph(part, starts[index], _scopes_of(allocation, index)))
    libraries = [each.configuration.target.kernel_library for each in measured]
    for index in planned:
        for tensor, alignment in wanted_alignments(model, index, libraries).items():
            layout.alignment[starts[index] + tensor] = alignment
    if is_aligned:
        layout.alignment = dict.fromkeys(alive, BUFFER_ALIGNMENT)
    return layout


def _scopes_of(allocation: ModelAllocation, index: int) -> dict[int, int]:
    """Return the scope of each operator of a subgraph."""
    return {operator: scope for scope, (subgraph, operator) in enumerate(allocation.scopes) if subgraph == index}


def _tensor_lifetimes(
    allocation: ModelAllocation, planned: Container[int], starts: Sequence[int]
) -> tuple[dict[int, Alive], list[Buffer]]:
    """Return when the tensors of the planned subgraphs are alive, by tensor; and a buffer for each other tensor."""
    alive: dict[int, Alive] = {}
    others: list[Buffer] = []
    for info in (allocation.infos[index] for index in allocation.offsets):
        own = planned_buffer(info)
        if info.tensor >= 0 and info.subgraph in planned:
            alive[starts[info.subgraph] + info.tensor] = Alive(own.lower, own.upper, info.size)
        elif info.tensor >= 0:
            others.append(own)
    return alive, others


def _begun_unwritten(draft: Draft, loop: CountedLoop) -> set[int]:
    """Return the tensors that a loop carries from the start though nobody writes them: so far they hold nothing."""
    written = {*draft.inputs, *draft.producers()}
    return {
        tensor
        for tensor in draft.operators[loop.operator].input_tensors
        if draft.is_activation(tensor) and not draft.tensors[tensor].is_variable and tensor not in written
    }


def _scratch_buffers(measured: Sequence[Measured]) -> list[Buffer]:
    """Return a buffer for all scratch buffers of a lifetime, as large as on the target that needs most of them."""
    most: dict[tuple[int, int], int] = {}
    for each in measured:
        own: dict[tuple[int, int], int] = {}
        for buffer in (planned_buffer(planned.info) for planned in each.buffers if planned.info.tensor < 0):
            key = buffer.lower, buffer.upper
            own[key] = own.get(key, 0) + align_up(buffer.size, BUFFER_ALIGNMENT)
        most = {key: max(own.get(key, 0), most.get(key, 0)) for key in own | most}
    return [Buffer(size, lower, upper) for (lower, upper), size in most.items()]
