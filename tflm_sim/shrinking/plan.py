"""``--offline-plan``: offsets in the model's metadata, from the exact planner, with views and operators in place.

Tensors that may share bytes are put into one group, each at its place in the group; the exact planner places groups::

    CONCATENATION of a and b          group of 96 B:   [ a 32 ][ b 64 ]      a and b are written where they belong
    RELU in place                     group of 64 B:   [ x = y        ]

Two members may share a byte while both are alive only if both hold the same there (the hashes of ``verify`` tell),
or if the one is read in place by the operator that writes the other, where a contract says that its kernel may.
What a counted loop carries (``counted``) is one group from the start: TFLM copies nothing between equal addresses.
A loop that reads one tensor row by row while it writes another may write it over the rows that were read.

TFLM keeps to these offsets without a check of its own, and plans scratch buffers around them. Variables stay -1: TFLM
keeps an offline variable alive in its own scopes only. Source: micro_allocator.cc, micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, product

import numpy as np

from tflm_sim.answers.planned_problem import planned_buffer
from tflm_sim.answers.simulation import Simulation
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import BINARY, UNARY, VIEWS
from tflm_sim.model.types import Model, Operator
from tflm_sim.planners import exact, native
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.shrinking.contracts import COPY, DIAGONAL, IN_PLACE, promised, use_of
from tflm_sim.shrinking.counted import CountedLoop, carried, counted_loops, distances
from tflm_sim.shrinking.diagonal import needed_distance
from tflm_sim.shrinking.fuse import slice_bounds
from tflm_sim.shrinking.graph import axis_option, element_size, elements, integers, shape, single_output
from tflm_sim.shrinking.machine import Machine, fresh_inputs
from tflm_sim.shrinking.staircase import Alive, place_groups
from tflm_sim.shrinking.symbolic import Hashes
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up
from tflm_sim.values import dataclass, field, replace

NODE_LIMIT = 100_000
"""Nodes of the exact search: about a second, and the same file on any machine."""
MOST_LINKS = 400
"""Links that are toggled one by one; beyond, whole kinds of links are tried."""
CLIMBS = 2


@dataclass(frozen=True, slots=True)
class SharingLink:
    """Two tensors of one operator that could share bytes: ``child`` begins ``offset`` bytes behind ``parent``."""

    operator: int
    kind: str
    parent: int
    child: int
    offset: int


@dataclass(slots=True)
class Layout:
    """What can share bytes with what (mutable: it remembers which tensors agree).

    Attributes:
        model, draft: The model.
        alive: Planned tensors of the main subgraph, and of those of counted loops, whose tensors are numbered on.
        scope_of: The scope of each operator of the main subgraph.
        others: Everything else in the head: scratch, tensors of other subgraphs.
        carried: Tensors that have one address: those that hold the same value in and around a loop.
        loop_steps: (a, b) -> bytes that a must lie above b, where a loop reads a row by row while it writes b.
    """

    model: Model
    draft: Draft
    alive: dict[int, Alive]
    scope_of: dict[int, int]
    others: list[Buffer]
    carried: Sequence[Sequence[int]] = ()
    loop_steps: Mapping[tuple[int, int], int] = field(default_factory=dict)
    _hashes: Sequence[Hashes | None] = ()
    _agree: dict[tuple[int, int, int], bool] = field(default_factory=dict)

    def lower_bound(self, links: Sequence[SharingLink]) -> int:
        """Return bytes below which no plan brings the head, whatever its offsets are."""
        return lower_bound(self.buffers(self.groups(links)))

    def groups(self, links: Sequence[SharingLink]) -> list[dict[int, int]]:
        """Return groups of tensors that share bytes, each as offset by tensor; links that are not safe are left out."""
        group_of = {tensor: {tensor: 0} for tensor in self.alive}
        for tensors in self.carried:
            # What one loop writes may be what the next one reads: both their groups are one.
            together = dict.fromkeys((each for tensor in tensors for each in group_of[tensor]), 0)
            group_of.update(dict.fromkeys(together, together))
        for link in links:
            one, other = group_of[link.parent], group_of[link.child]
            if one is other:
                continue
            shift = one[link.parent] + link.offset - other[link.child]
            if not self._is_safe(link, one, other, shift):
                continue
            one.update({tensor: at + shift for tensor, at in other.items()})
            lowest = min(one.values())
            for tensor in one:
                one[tensor] -= lowest
                group_of[tensor] = one
        unique: dict[int, dict[int, int]] = {id(group): group for group in group_of.values()}
        return list(unique.values())

    def _is_safe(self, link: SharingLink, one: dict[int, int], other: dict[int, int], shift: int) -> bool:
        """Return whether the tensors of one group may share bytes with those of another one, ``shift`` bytes up."""
        for a, at_a in one.items():
            for b, at_b in other.items():
                distance = at_b + shift - at_a
                first, second = self.alive[a], self.alive[b]
                if distance >= first.size or -distance >= second.size:
                    continue
                are_together = first.lower < second.upper and second.lower < first.upper
                if are_together and not self._may_share(link, a, b, distance):
                    return False
        return True

    def _may_share(self, link: SharingLink, a: int, b: int, distance: int) -> bool:
        """Return whether two tensors that are alive together may lie ``distance`` bytes apart and overlap."""
        if self.agree(a, b, distance):
            return True
        if link.kind == COPY or {a, b} != {link.parent, link.child}:
            return False
        if (distance if a == link.parent else -distance) != link.offset:
            return False
        return self.is_handed_on(link.operator, link.parent, link.child)

    def is_handed_on(self, operator: int, source: int, output: int) -> bool:
        """Return whether an operator is the last to need one tensor and the first to write another one."""
        scope = self.scope_of[operator]
        is_read_later = source in self.draft.outputs
        return not is_read_later and self.alive[source].upper - 1 == scope == self.alive[output].lower

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

    def buffers(self, groups: Sequence[dict[int, int]]) -> list[Buffer]:
        """Return the planner's problem: a buffer for each group, then everything else."""
        found = []
        for group in groups:
            size = max(at + align_up(self.alive[tensor].size, BUFFER_ALIGNMENT) for tensor, at in group.items())
            lower = min(self.alive[tensor].lower for tensor in group)
            upper = max(self.alive[tensor].upper for tensor in group)
            found.append(Buffer(align_up(size, BUFFER_ALIGNMENT), lower, upper))
        return found + self.others


def plan_offline(
    model: Model, simulations: Sequence[Simulation], *, with_sharing: bool = True, kernel_order: bool = False
) -> Model | None:
    """Return the model with a plan for all targets, None where the exact planner finds none.

    Args:
        model: Without a plan.
        simulations: Of the model, one a target: lifetimes are the same, scratch buffers may differ.
        with_sharing: Let tensors share bytes; otherwise each has its own.
        kernel_order: Also diagonally, where the order of a kernel's loops allows it.
    """
    if not native.available():
        return None
    layout = layout_of(model, simulations)
    libraries = [simulation.configuration.target.kernel_library for simulation in simulations]
    links = find_links(layout.draft, layout.alive, libraries) if with_sharing else []
    best = _best_links(layout, links)
    groups = layout.groups(best)
    buffers = layout.buffers(groups)
    plan = exact.solve(buffers, node_limit=NODE_LIMIT).plan
    if plan is None:
        return None
    starts: Sequence[int] = plan.offsets
    steps = {**layout.loop_steps, **(find_steps(layout, libraries) if kernel_order else {})}
    if steps or links:
        groups, starts = _on_stairs(layout, (links, (), best, _streamed(layout, links)), steps, plan.peak) or (
            groups,
            starts,
        )
    return with_offsets(
        model,
        {tensor: start + at for group, start in zip(groups, starts, strict=False) for tensor, at in group.items()},
    )


def _streamed(layout: Layout, links: Sequence[SharingLink]) -> list[SharingLink]:
    """Return the links with which stripes are written where those lay that were read.

    An elementwise operator takes the place of its youngest input. A SLICE of a tensor that is read whole is none of
    its bytes but a copy: where the piece belongs, its neighbour's rows may still be read.
    """
    in_place = [link for link in links if link.kind == IN_PLACE]
    in_place.sort(key=lambda link: (link.operator, -layout.alive[link.parent].lower))
    names = [layout.draft.name(operator) for operator in layout.draft.operators]
    slices = [link for link in links if names[link.operator] == "SLICE"]
    cuts = Counter(link.parent for link in slices)
    lone = [link for link in slices if cuts[link.parent] == 1]
    return in_place + [link for link in links if link.kind == COPY and link not in lone]


def _on_stairs(
    layout: Layout, choices: Iterable[Sequence[SharingLink]], steps: dict[tuple[int, int], int], lowest: int
) -> tuple[list[dict[int, int]], list[int]] | None:
    """Return groups and their offsets with a head below ``lowest``, None where there are none.

    The exact planner takes a group for as large as it ever is, and for as long. Here the bytes of a member are free
    again once nothing in them is alive; and with ``steps`` outputs may begin below their inputs.
    """
    best = None
    for kept in dict.fromkeys(map(tuple, choices)):
        groups = layout.groups(kept)
        offsets, head = place_groups(groups, layout.alive, layout.others, steps)
        if head < lowest:
            lowest, best = head, (groups, offsets)
    return best


def with_offsets(model: Model, offsets: dict[int, int]) -> Model:
    """Return the model with a plan for tensors, numbered through all subgraphs; others are planned on the device."""
    draft = Draft(model)
    count = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    planned = [offsets.get(tensor, ONLINE_PLANNED_BUFFER) for tensor in range(count)]
    draft.set_metadata(OFFLINE_MEMORY_ALLOCATION, struct.pack(f"<3I{len(planned)}i", 1, 0, len(planned), *planned))
    return draft.model()


@dataclass(frozen=True, slots=True)
class Overlap:
    """An operator whose output lies on bytes of an input: how many, and how far the input begins above the output."""

    operator: int
    source: int
    output: int
    shared: int
    distance: int


def overlaps(simulation: Simulation) -> list[Overlap]:
    """Return where operators of the main subgraph write on what they read."""
    places = {
        planned.info.tensor: (planned.offset, planned.offset + planned.info.size)
        for planned in simulation.buffers
        if planned.info.tensor >= 0 and planned.info.subgraph == 0
    }
    found = []
    for index, operator in enumerate(simulation.model.subgraphs[0].operators):
        for source, output in product(operator.input_tensors, operator.output_tensors):
            if source in places and output in places:
                (start, end), (low, high) = places[source], places[output]
                shared = min(end, high) - max(start, low)
                found += [Overlap(index, source, output, shared, start - low)] if shared > 0 else []
    return found


def layout_of(model: Model, simulations: Sequence[Simulation]) -> Layout:
    """Return what there is to place, with the scratch buffers of the target that needs most."""
    allocation = simulations[0].allocation
    assert allocation is not None, "only models that work are planned"
    draft = Draft(model)
    loops = counted_loops(draft)
    starts = [*accumulate((len(subgraph.tensors) for subgraph in model.subgraphs), initial=0)]
    planned = {0}.union(*((loop.condition, loop.body) for loop in loops))
    alive: dict[int, Alive] = {}
    others: list[Buffer] = []
    for index in allocation.offsets:
        info = allocation.infos[index]
        if info.subgraph in planned and info.tensor >= 0:
            own = planned_buffer(info)
            alive[starts[info.subgraph] + info.tensor] = Alive(own.lower, own.upper, info.size)
        elif info.tensor >= 0:
            others.append(planned_buffer(info))
    others += _scratch_buffers(simulations)
    scope_of = {operator: scope for scope, (subgraph, operator) in enumerate(allocation.scopes) if subgraph == 0}
    groups: list[list[int]] = []
    loop_steps: dict[tuple[int, int], int] = {}
    for loop in loops:
        own_groups = [
            [place for subgraph, tensor in group if (place := starts[subgraph] + tensor) in alive]
            for group in carried(draft, loop)
        ]
        groups += own_groups
        begun = _begun_unwritten(draft, loop)
        for tensor in begun.intersection(alive):
            alive[tensor] = replace(alive[tensor], lower=scope_of[loop.operator])
        for a, b, distance in distances(draft, loop):
            if draft.operators[loop.operator].input_tensors[b] in begun:
                pairs = product(own_groups[a], own_groups[b])
                loop_steps.update(dict.fromkeys(pairs, align_up(distance, BUFFER_ALIGNMENT)))
    return Layout(model, draft, alive, scope_of, others, groups, loop_steps)


def _begun_unwritten(draft: Draft, loop: CountedLoop) -> set[int]:
    """Return the tensors that a loop carries from the start though nobody writes them: so far they hold nothing."""
    written = {*draft.inputs, *draft.producers()}
    return {
        tensor
        for tensor in draft.operators[loop.operator].input_tensors
        if draft.is_activation(tensor) and not draft.tensors[tensor].is_variable and tensor not in written
    }


def _scratch_buffers(simulations: Sequence[Simulation]) -> list[Buffer]:
    """Return a buffer for all scratch buffers of a lifetime, as large as on the target that needs most of them."""
    most: dict[tuple[int, int], int] = {}
    for simulation in simulations:
        own: dict[tuple[int, int], int] = {}
        for buffer in (planned_buffer(planned.info) for planned in simulation.buffers if planned.info.tensor < 0):
            key = buffer.lower, buffer.upper
            own[key] = own.get(key, 0) + align_up(buffer.size, BUFFER_ALIGNMENT)
        most = {key: max(own.get(key, 0), most.get(key, 0)) for key in own | most}
    return [Buffer(size, lower, upper) for (lower, upper), size in most.items()]


def _best_links(layout: Layout, links: Sequence[SharingLink]) -> list[SharingLink]:
    """Return the links with the smallest lower bound of the head: whole kinds first, then operator by operator."""
    in_place = [link for link in links if link.kind == IN_PLACE]
    copies = [link for link in links if link.kind != IN_PLACE]
    starts: list[list[SharingLink]] = [[], in_place, copies, [*in_place, *copies], [*copies, *in_place]]
    best = min(starts, key=layout.lower_bound)
    if len(links) > MOST_LINKS:
        return best
    for _ in range(CLIMBS):
        better = _climbed(layout, links, best)
        if better is best:
            break
        best = better
    return best


def _climbed(layout: Layout, links: Sequence[SharingLink], best: list[SharingLink]) -> list[SharingLink]:
    """Return the links after other ones were tried for each operator in turn; the same object where none are better."""
    lowest, crowd = layout.lower_bound(best), _crowd(layout, best)
    for operator, own in _by_operator(links):
        if crowd.isdisjoint(tensor for link in own for tensor in (link.parent, link.child)):
            continue
        rest = [link for link in best if link.operator != operator]
        for tried in (rest, *([*rest, link] for link in own), [*own, *rest]):
            if (value := layout.lower_bound(tried)) < lowest:
                best, lowest, crowd = tried, value, _crowd(layout, tried)
    return best


def _by_operator(links: Sequence[SharingLink]) -> list[tuple[int, list[SharingLink]]]:
    found: dict[int, list[SharingLink]] = {}
    for link in links:
        found.setdefault(link.operator, []).append(link)
    return sorted(found.items())


def _crowd(layout: Layout, links: Sequence[SharingLink]) -> frozenset[int]:
    """Return the tensors of the groups that are alive when the head is fullest; links of others cannot lower that."""
    groups = layout.groups(links)
    buffers = layout.buffers(groups)
    change: dict[int, int] = {}
    for each in buffers:
        size = align_up(each.size, BUFFER_ALIGNMENT)
        change[each.lower] = change.get(each.lower, 0) + size
        change[each.upper] = change.get(each.upper, 0) - size
    times = sorted(change)
    _, fullest = max(zip(accumulate(change[time] for time in times), times, strict=True), default=(0, 0))
    pairs = zip(groups, buffers, strict=False)  # the groups' buffers come first
    return frozenset(tensor for group, each in pairs if each.lower <= fullest < each.upper for tensor in group)


def find_steps(layout: Layout, libraries: Sequence[KernelLibrary]) -> dict[tuple[int, int], int]:
    """Return (input, output) -> bytes that the input must lie above the output, where kernels go pixel by pixel."""
    draft, steps = layout.draft, {}
    for index, operator in enumerate(draft.operators):
        source, output = (*operator.input_tensors, -1)[0], single_output(operator)
        if output not in layout.alive or source not in layout.alive:
            continue
        is_handed_on = layout.is_handed_on(index, source, output)
        if is_handed_on and promised(use_of(draft.name(operator), operator, draft.tensors), DIAGONAL, libraries):
            distance = needed_distance(draft, operator)
            size = element_size(draft, source)
            if distance is not None and size == element_size(draft, output):
                steps[source, output] = align_up(distance * size, BUFFER_ALIGNMENT)
    return steps


def find_links(draft: Draft, alive: dict[int, Alive], libraries: Sequence[KernelLibrary]) -> list[SharingLink]:
    """Return every two tensors that could be one group as far as the kernels of all libraries promise."""
    found: list[SharingLink] = []
    for index, operator in enumerate(draft.operators):
        pairs = _sharing_pairs(draft, operator, libraries) if operator.output_tensors else []
        found += [
            SharingLink(index, *pair) for pair in pairs if pair[1] in alive and pair[2] in alive and pair[1] != pair[2]
        ]
    return found


def _sharing_pairs(
    draft: Draft, operator: Operator, libraries: Sequence[KernelLibrary]
) -> list[tuple[str, int, int, int]]:
    """Return the fields of an operator's links, apart from its index."""
    name = draft.name(operator)
    use = use_of(name, operator, draft.tensors)
    if promised(use, COPY, libraries):
        return [(COPY, *pair) for pair in _COPIED[name](draft, operator)]
    if promised(use, IN_PLACE, libraries):
        output = operator.output_tensors[0]
        return [(IN_PLACE, tensor, output, 0) for tensor in _replaced(draft, operator, name)]
    return []


def _replaced(draft: Draft, operator: Operator, name: str) -> list[int]:
    """Return the inputs whose bytes an elementwise operator may write its output to."""
    output = operator.output_tensors[0]
    inputs = operator.input_tensors
    count, size = elements(draft, output), element_size(draft, output)
    if name not in UNARY | BINARY | {"SOFTMAX"}:
        return []
    places = inputs[:1] if name not in BINARY or name == "PRELU" else inputs[:2]
    fits = [
        tensor
        for tensor in places
        if elements(draft, tensor) == count
        and (element_size(draft, tensor) == size or (name == "QUANTIZE" and element_size(draft, tensor) > size))
    ]
    return fits if len(set(places)) == len(places) else []


_Copied = list[tuple[int, int, int]]
"""(whole tensor, part of it, bytes from its start) for each piece that an operator copies byte by byte."""


def _viewed(draft: Draft, operator: Operator) -> _Copied:
    source, output = operator.input_tensors[0], operator.output_tensors[0]
    return [(source, output, 0)] if elements(draft, source) == elements(draft, output) else []


def _joined(draft: Draft, operator: Operator) -> _Copied:
    inputs, output = operator.input_tensors, operator.output_tensors[0]
    axis = axis_option(draft, operator, len(shape(draft, output)))
    return _parts(draft, output, inputs, axis) if len(set(inputs)) == len(inputs) else []


def _divided(draft: Draft, operator: Operator) -> _Copied:
    name, inputs = draft.name(operator), operator.input_tensors
    whole = inputs[1] if name == "SPLIT" else inputs[0]
    numbers = integers(draft, inputs[0] if name == "SPLIT" else inputs[-1]) if name != "UNPACK" else None
    rank = len(shape(draft, whole))
    axis = numbers[0] % rank if numbers else axis_option(draft, operator, rank)
    return _parts(draft, whole, operator.output_tensors, axis)


def _sliced(draft: Draft, operator: Operator) -> _Copied:
    bounds = slice_bounds(draft, operator)
    if bounds is None:
        return []
    return _at(draft, operator.input_tensors[0], operator.output_tensors[0], [start for start, _ in bounds])


def _padded(draft: Draft, operator: Operator) -> _Copied:
    paddings = integers(draft, operator.input_tensors[1])
    if paddings is None:
        return []
    return _at(draft, operator.output_tensors[0], operator.input_tensors[0], paddings[::2])


_COPIED: Mapping[str, Callable[[Draft, Operator], _Copied]] = {
    **dict.fromkeys(VIEWS, _viewed),
    **dict.fromkeys(("CONCATENATION", "PACK"), _joined),
    **dict.fromkeys(("SPLIT", "SPLIT_V", "UNPACK"), _divided),
    **dict.fromkeys(("SLICE", "STRIDED_SLICE"), _sliced),
    **dict.fromkeys(("PAD", "PADV2"), _padded),
}
"""What each operator with a contract to copy copies."""


def _parts(draft: Draft, whole: int, parts: Sequence[int], axis: int) -> list[tuple[int, int, int]]:
    """Return where each part lies in the whole if all dimensions before ``axis`` are 1."""
    if any(size != 1 for size in shape(draft, whole)[:axis]):
        return []
    found, offset = [], 0
    for part in parts:
        found.append((whole, part, offset))
        offset += elements(draft, part) * element_size(draft, part)
    return found


def _at(draft: Draft, whole: int, part: int, starts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return where a part that begins at ``starts`` lies in the whole; whether it is in one piece, the hashes tell."""
    offset = 0
    for size, start in zip(shape(draft, whole), starts, strict=True):
        offset = offset * size + start
    return [(whole, part, offset * element_size(draft, whole))]
