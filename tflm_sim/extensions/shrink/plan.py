"""``--offline-plan``: offsets in the model's metadata, from the exact planner, with views and operators in place.

    links    which two tensors could share bytes              layout   groups of those that may, as one buffer each
    plan     which links to use; the exact planner places the groups, or ``staircase``, where that needs less

TFLM keeps to these offsets without a check of its own, and plans scratch buffers around them. Variables stay -1: TFLM
keeps an offline variable alive in its own scopes only. Source: micro_allocator.cc, micro_allocation_info.cc @ 90b983c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from tflm_sim.extensions.shrink.contracts import COPY, DIAGONAL, IN_PLACE, promises
from tflm_sim.extensions.shrink.counted import Place
from tflm_sim.extensions.shrink.diagonal import needed_distance
from tflm_sim.extensions.shrink.draft_facts import element_size, single_output
from tflm_sim.extensions.shrink.layout import Layout, SharingGroup, layout_of
from tflm_sim.extensions.shrink.links import SharingLink, find_links
from tflm_sim.extensions.shrink.sizing import Measured
from tflm_sim.extensions.shrink.staircase import place_groups
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
MAX_LINKS = 400
"""Links that are toggled one by one; beyond, whole kinds of links are tried."""
LINK_ROUNDS = 2


def plan_offline(
    model: Model,
    measured: Sequence[Measured],
    *,
    with_sharing: bool = True,
    kernel_order: bool = False,
    thorough: bool = False,
) -> Model | None:
    """Return the model with a plan for all targets, None where the exact planner finds none.

    Args:
        model: Without a plan.
        measured: The model, once a target: lifetimes are the same, scratch buffers may differ.
        with_sharing: Let tensors share bytes; otherwise each has its own.
        kernel_order: Also diagonally, where the order of a kernel's loops allows it.
        thorough: Also move single groups of tensors, which takes longer.
    """
    if not native.available():
        return None
    layout = layout_of(model, measured)
    libraries = [each.configuration.target.kernel_library for each in measured]
    links = find_links(layout.draft, layout.alive, libraries) if with_sharing else []
    best = _best_links(layout, links)
    groups = layout.groups(best)
    buffers = layout.buffers(groups)
    plan = exact.solve(buffers, node_limit=NODE_LIMIT).plan
    if plan is None:
        return None
    placed: _Placed = groups, plan.offsets
    steps = {**layout.loop_steps, **(find_steps(layout, libraries) if kernel_order else {})}
    if steps or links:
        choices = (links, (), best, _streamed(layout, links, -1), _streamed(layout, links, 1))
        placed = _on_stairs(layout, choices, steps, plan.peak, thorough=thorough) or placed
    return with_offsets(model, _tensor_offsets(*placed))


_Placed = tuple[Sequence[SharingGroup], Sequence[int]]
"""Groups, and where each begins; what follows is where other buffers begin."""


def _tensor_offsets(groups: Sequence[SharingGroup], starts: Sequence[int]) -> dict[int, int]:
    pairs = zip(groups, starts, strict=False)
    return {tensor: start + at for group, start in pairs for tensor, at in group.items()}


def _streamed(layout: Layout, links: Sequence[SharingLink], sign: int) -> list[SharingLink]:
    """Return the links with which stripes are written where those lay that were read.

    An elementwise operator takes the place of its youngest input (-1), or of its oldest one (1). A SLICE of a tensor
    that is read whole is none of its bytes but a copy: where the piece belongs, its neighbour's rows may still be read.
    """
    in_place = [link for link in links if link.kind == IN_PLACE]
    in_place.sort(key=lambda link: (link.operator, sign * layout.alive[link.parent].lower))
    lone = _lone_slices(layout.draft, links)
    return in_place + [link for link in links if link.kind == COPY and link not in lone]


def _lone_slices(draft: Draft, links: Sequence[SharingLink]) -> list[SharingLink]:
    """Return the links of each SLICE that is the only one of its tensor."""
    slices = [link for link in links if draft.name(draft.operators[link.operator]) == "SLICE"]
    cuts = Counter(link.parent for link in slices)
    return [link for link in slices if cuts[link.parent] == 1]


def _on_stairs(
    layout: Layout,
    choices: Iterable[Sequence[SharingLink]],
    steps: Mapping[tuple[int, int], int],
    lowest: int,
    *,
    thorough: bool,
) -> _Placed | None:
    """Return groups and their offsets with a head below ``lowest``, None where there are none.

    The exact planner takes a group for as large as it ever is, and for as long. Here the bytes of a member are free
    again once nothing in them is alive; and with ``steps`` outputs may begin below their inputs.
    """
    best = None
    for kept in dict.fromkeys(map(tuple, choices)):
        groups = layout.groups(kept)
        offsets, head = place_groups(groups, layout.alive, layout.others, steps, thorough=thorough)
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


def _best_links(layout: Layout, links: Sequence[SharingLink]) -> list[SharingLink]:
    """Return the links with the smallest lower bound of the head: whole kinds first, then operator by operator."""
    in_place = [link for link in links if link.kind == IN_PLACE]
    copies = [link for link in links if link.kind != IN_PLACE]
    starts: list[list[SharingLink]] = [[], in_place, copies, [*in_place, *copies], [*copies, *in_place]]
    best = min(starts, key=layout.lower_bound)
    if len(links) > MAX_LINKS:
        return best
    for _ in range(LINK_ROUNDS):
        better = _hill_climbed(layout, links, best)
        if better is best:
            break
        best = better
    return best


def _hill_climbed(layout: Layout, links: Sequence[SharingLink], best: list[SharingLink]) -> list[SharingLink]:
    """Return the links after other ones were tried for each operator in turn; the same object where none are better."""
    lowest, crowd = layout.lower_bound(best), _fullest_tensors(layout, best)
    for operator, own in _by_operator(links):
        if crowd.isdisjoint(tensor for link in own for tensor in (link.parent, link.child)):
            continue
        rest = [link for link in best if link.operator != operator]
        for tried in (rest, *([*rest, link] for link in own), [*own, *rest]):
            if (value := layout.lower_bound(tried)) < lowest:
                best, lowest, crowd = tried, value, _fullest_tensors(layout, tried)
    return best


def _by_operator(links: Sequence[SharingLink]) -> list[tuple[int, list[SharingLink]]]:
    found: dict[int, list[SharingLink]] = {}
    for link in links:
        found.setdefault(link.operator, []).append(link)
    return sorted(found.items())


def _fullest_tensors(layout: Layout, links: Sequence[SharingLink]) -> frozenset[int]:
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
    steps = {}
    for part in layout.subgraphs:
        for index, operator in enumerate(part.draft.operators):
            source, output = (*operator.input_tensors, -1)[0], single_output(operator)
            if output is None or source < 0 or source in part.draft.outputs:
                continue
            pair = part.first + source, part.first + output
            if layout.is_handed_on(part.scope_of[index], *pair) and promises(part.draft, operator, DIAGONAL, libraries):
                distance = needed_distance(part.draft, operator)
                size = element_size(part.draft, source)
                if distance is not None and size == element_size(part.draft, output):
                    steps[pair] = align_up(distance * size, BUFFER_ALIGNMENT)
    return steps
