"""``--offline-plan``: offsets in the model's metadata, from the exact planner, with views and operators in place.

    aliases            which two tensors could share bytes
    layout             groups of those that may, as one buffer each
    here               which aliases to use; the exact planner places the groups,
    overlap_placement  or this, where that needs less

TFLM keeps to these offsets without a check of its own, and plans scratch buffers around them. Variables stay -1: TFLM
keeps an offline variable alive in its own scopes only. Source: micro_allocator.cc, micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from tflm_sim.extensions.shrink.aliases import Alias, find_aliases
from tflm_sim.extensions.shrink.contracts import COPY, IN_PLACE, OVERLAP, promises
from tflm_sim.extensions.shrink.counted_loops import Place
from tflm_sim.extensions.shrink.draft_facts import element_size, single_output
from tflm_sim.extensions.shrink.layout import Layout, SharingGroup, layout_of
from tflm_sim.extensions.shrink.overlap import needed_distance
from tflm_sim.extensions.shrink.overlap_placement import place_groups
from tflm_sim.extensions.shrink.target_sizer import Measured
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.build import offline_plan
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model
from tflm_sim.planners import exact, native
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up

NODE_LIMIT = 100_000
"""Nodes of the exact search: about a second, and the same file on any machine."""
MAX_ALIASES = 400
"""Aliases that are toggled one by one; beyond, whole kinds of aliases are tried."""
ALIAS_ROUNDS = 2


def plan_offline(
    model: Model,
    measured: Sequence[Measured],
    *,
    with_sharing: bool = True,
    kernel_order: bool = False,
    thorough: bool = False,
    is_aligned: bool = False,
) -> Model | None:
    """Return the model with a plan for all targets, None where the exact planner finds none.

    Args:
        model: Without a plan.
        measured: The model, once a target: lifetimes are the same, scratch buffers may differ.
        with_sharing: Let tensors share bytes; otherwise each has its own.
        kernel_order: Let outputs overlap their inputs, too, where the order of a kernel's loops allows it.
        thorough: Also move single groups of tensors, which takes longer.
        is_aligned: Let every tensor lie at a multiple of 16, also one that is part of another.
    """
    if not native.available():
        return None
    layout = layout_of(model, measured, is_aligned=is_aligned)
    libraries = [each.configuration.target.kernel_library for each in measured]
    aliases = find_aliases(layout.draft, layout.alive, libraries) if with_sharing else []
    best = _best_aliases(layout, aliases)
    groups = layout.groups(best)
    buffers = layout.buffers(groups)
    plan = exact.solve(buffers, node_limit=NODE_LIMIT).plan
    if plan is None:
        return None
    placed: _Placed = groups, plan.offsets
    distances = {**layout.loop_distances, **(overlap_distances(layout, libraries) if kernel_order else {})}
    if distances or aliases:
        choices = (aliases, (), best, _streamed(layout, aliases, -1), _streamed(layout, aliases, 1))
        placed = _overlapping(layout, choices, distances, plan.peak, thorough=thorough) or placed
    placed_groups = zip(*placed, strict=False)
    return with_offsets(model, {tensor: start + at for group, start in placed_groups for tensor, at in group.items()})


_Placed = tuple[Sequence[SharingGroup], Sequence[int]]
"""Groups, and where each begins; what follows is where other buffers begin."""


def _streamed(layout: Layout, aliases: Sequence[Alias], sign: int) -> list[Alias]:
    """Return the aliases with which tiles are written where those lay that were read.

    An elementwise operator takes the place of its youngest input (-1), or of its oldest one (1). A SLICE of a tensor
    that is read whole is none of its bytes but a copy: where the piece belongs, its neighbour's rows may still be read.
    """
    in_place = [alias for alias in aliases if alias.kind == IN_PLACE]
    in_place.sort(key=lambda alias: (alias.operator, sign * layout.alive[alias.parent].lower))
    lone = _lone_slices(layout.draft, aliases)
    return in_place + [alias for alias in aliases if alias.kind == COPY and alias not in lone]


def _lone_slices(draft: Draft, aliases: Sequence[Alias]) -> list[Alias]:
    """Return the aliases of each SLICE that is the only one of its tensor."""
    slices = [alias for alias in aliases if draft.name(draft.operators[alias.operator]) == "SLICE"]
    cuts = Counter(alias.parent for alias in slices)
    return [alias for alias in slices if cuts[alias.parent] == 1]


def _overlapping(
    layout: Layout,
    choices: Iterable[Sequence[Alias]],
    distances: Mapping[tuple[int, int], int],
    lowest: int,
    *,
    thorough: bool,
) -> _Placed | None:
    """Return groups and their offsets with a head below ``lowest``, None where there are none.

    The exact planner takes a group for as large as it ever is, and for as long. Here the bytes of a member are free
    again once nothing in them is alive; and with ``distances`` outputs may begin below their inputs.
    """
    best = None
    for kept in dict.fromkeys(map(tuple, choices)):
        groups = layout.groups(kept)
        offsets, head = place_groups(groups, layout.alive, layout.others, distances, thorough=thorough)
        if head < lowest:
            lowest, best = head, (groups, offsets)
    return best


def with_offsets(model: Model, offsets: dict[int, int]) -> Model:
    """Return the model with a plan for tensors, numbered through all subgraphs; others are planned on the device."""
    draft = Draft(model)
    count = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    planned = [offsets.get(tensor, ONLINE_PLANNED_BUFFER) for tensor in range(count)]
    draft.set_metadata(OFFLINE_MEMORY_ALLOCATION, offline_plan(planned))
    return draft.model()


@dataclass(frozen=True, slots=True)
class Overlap:
    """An operator whose output lies on bytes of an input: how many, and how far the input begins above the output."""

    operator: Place
    source: int
    output: int
    shared: int
    distance: int


def overlaps(measured: Measured) -> list[Overlap]:
    """Return where operators write on what they read."""
    places = {
        (planned.info.subgraph, planned.info.tensor): (planned.offset, planned.offset + planned.info.size)
        for planned in measured.buffers
    }
    found = []
    for number, subgraph in enumerate(measured.model.subgraphs):
        for index, operator in enumerate(subgraph.operators):
            for source, output in product(operator.input_tensors, operator.output_tensors):
                if source >= 0 and {(number, source), (number, output)} <= places.keys():
                    (start, end), (low, high) = places[number, source], places[number, output]
                    shared = min(end, high) - max(start, low)
                    found += [Overlap((number, index), source, output, shared, start - low)] if shared > 0 else []
    return found


def _best_aliases(layout: Layout, aliases: Sequence[Alias]) -> list[Alias]:
    """Return the aliases with the smallest lower bound of the head: whole kinds first, then operator by operator."""
    in_place = [alias for alias in aliases if alias.kind == IN_PLACE]
    copies = [alias for alias in aliases if alias.kind != IN_PLACE]
    starts: list[list[Alias]] = [[], in_place, copies, [*in_place, *copies], [*copies, *in_place]]
    best = min(starts, key=layout.lower_bound)
    if len(aliases) > MAX_ALIASES:
        return best
    for _ in range(ALIAS_ROUNDS):
        better = _hill_climbed(layout, aliases, best)
        if better is best:
            break
        best = better
    return best


def _hill_climbed(layout: Layout, aliases: Sequence[Alias], best: list[Alias]) -> list[Alias]:
    """Return the aliases after others were tried for each operator in turn; the same object where none are better."""
    lowest, crowd = layout.lower_bound(best), _fullest_tensors(layout, best)
    for operator, own in _by_operator(aliases):
        if crowd.isdisjoint(tensor for alias in own for tensor in (alias.parent, alias.child)):
            continue
        rest = [alias for alias in best if alias.operator != operator]
        for tried in (rest, *([*rest, alias] for alias in own), [*own, *rest]):
            if (value := layout.lower_bound(tried)) < lowest:
                best, lowest, crowd = tried, value, _fullest_tensors(layout, tried)
    return best


def _by_operator(aliases: Sequence[Alias]) -> list[tuple[int, list[Alias]]]:
    found: dict[int, list[Alias]] = {}
    for alias in aliases:
        found.setdefault(alias.operator, []).append(alias)
    return sorted(found.items())


def _fullest_tensors(layout: Layout, aliases: Sequence[Alias]) -> frozenset[int]:
    """Return the tensors of the groups that are alive when the head is fullest; aliases of others cannot lower that."""
    groups = layout.groups(aliases)
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


def overlap_distances(layout: Layout, libraries: Sequence[KernelLibrary]) -> dict[tuple[int, int], int]:
    """Return (input, output) -> bytes that the input must lie above the output, where kernels go pixel by pixel."""
    distances = {}
    for part in layout.subgraphs:
        for index, operator in enumerate(part.draft.operators):
            source, output = (*operator.input_tensors, -1)[0], single_output(operator)
            if output is None or source < 0 or source in part.draft.outputs:
                continue
            pair = part.first + source, part.first + output
            if layout.is_handed_on(part.scope_of[index], *pair) and promises(part.draft, operator, OVERLAP, libraries):
                distance = needed_distance(part.draft, operator)
                size = element_size(part.draft, source)
                if distance is not None and size == element_size(part.draft, output):
                    distances[pair] = align_up(distance * size, BUFFER_ALIGNMENT)
    return distances
