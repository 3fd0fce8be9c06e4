"""Which segments to split: every operator above a bound on the head must lie in a split whose own peak is below it.

    head   |    ##  <- bound H: the segments that cover what sticks out, at the least cost
           |####==##====##
           +-------------> operators

For one H that is a shortest path over the operators: go on to the next one if it is below H, or jump behind a split
whose peak is. The cost is what the tail grows by, and a price on multiplications. Many H are solved; the best plans are
simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tflm_sim.extensions.shrink import channels, loops, tiling
from tflm_sim.extensions.shrink.draft_facts import shape
from tflm_sim.extensions.shrink.passes import label_of
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.extensions.shrink.split import AXES, CHANNELS, COLUMNS, ROWS, Split
from tflm_sim.extensions.shrink.stopping import UNSTOPPED, Stopping
from tflm_sim.extensions.shrink.tile_rules import rule
from tflm_sim.model.draft import Draft

LOWEST_SHARE = 0.45
"""Operators with less than this share of the peak are not worth a split, as long as what is above them stays there."""
MAX_BOUNDS = 96
MAX_VARIANTS = 8
MAX_SINGLE_SPLITS = 12
MAC_PRICES = (0.0, 0.002, 0.05)
"""Bytes that a thousand multiplications more are worth: what is cheap in memory, and what is cheap in time."""


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """Splits that do not touch each other, and what they are expected to give.

    Attributes:
        arena: Bytes, estimated.
        macs: Multiply-accumulates in addition.
        head: Bytes of the arena's head, estimated.
    """

    splits: tuple[Split, ...]
    arena: int
    macs: int
    head: int = 0

    @property
    def operators(self) -> int:
        """How many operators the parts have."""
        return sum(len(split.parts) * (split.end - split.first) for split in self.splits)


def all_splits(
    draft: Draft, facts: Profile, budget: float, stopping: Stopping = UNSTOPPED, *, share: float = LOWEST_SHARE
) -> list[Split]:
    """Return every split that covers an operator near the peak and adds at most ``budget`` multiplications."""
    axes, find = (AXES[ROWS], AXES[COLUMNS]), tiling.tile_splits
    found = [split for axis in axes for split in _tiled(draft, facts, axis, budget, stopping, find, share)]
    consumers = draft.consumers()
    for first in stopping.watch(range(len(draft.operators))):
        for end, chain in channels.chains(draft, first, consumers):
            if _is_high(facts, first, end, share):
                found += channels.channel_splits(draft, facts, first, end, chain)
    return [split for split in found if split.peak < _worth(facts, split)]


def loop_splits(
    draft: Draft, facts: Profile, budget: float, stopping: Stopping = UNSTOPPED, *, share: float = LOWEST_SHARE
) -> list[Split]:
    """Return every loop over tiles that covers an operator near the peak and adds at most ``budget``."""
    axes, find = (AXES[ROWS], AXES[COLUMNS]), loops.loop_splits
    found = [split for axis in axes for split in _tiled(draft, facts, axis, budget, stopping, find, share)]
    return [split for split in found if split.peak < _worth(facts, split)]


def _tiled(
    draft: Draft,
    facts: Profile,
    axis: int,
    budget: float,
    stopping: Stopping,
    find: Callable[[Draft, Profile, tiling.OperatorSegment, float, int], Iterator[Split]],
    share: float,
) -> Iterator[Split]:
    """Yield what ``find`` finds along an axis in each segment that is worth a look."""
    rules = [rule(draft, operator, axis) for operator in draft.operators]
    for first in stopping.watch(range(len(draft.operators))):
        for segment in tiling.segments(draft, axis, first, rules, facts.dies):
            planned = all(t in facts.bytes for t in (segment.source, segment.result, *segment.side))
            _, height, width, _ = shape(draft, segment.source)
            if axis == AXES[COLUMNS] and height == width:
                continue  # columns give what rows give
            if not planned or not _is_high(facts, segment.first, segment.end, share):
                continue
            yield from find(draft, facts, segment, budget, _worth(facts, segment))


def _is_high(facts: Profile, first: int, end: int, share: float) -> bool:
    """Return whether one of the operators is near the peak: above a share of it."""
    return max(facts.live[first:end]) > facts.peak * share


def _worth(facts: Profile, segment: tiling.OperatorSegment | Split) -> int:
    """Return the bytes below which a split's own peak must be."""
    return max(facts.head, *facts.live[segment.first : segment.end])


def plans(facts: Profile, splits: Sequence[Split], budget: float, stopping: Stopping = UNSTOPPED) -> list[SplitPlan]:
    """Return the plans for many bounds on the head, the smallest estimated arena first."""
    by_first: dict[int, list[Split]] = {}
    for split in splits:
        by_first.setdefault(split.first, []).append(split)
    found: dict[tuple[Split, ...], SplitPlan] = {}
    for bound in stopping.watch(_bounds(facts, splits)):
        for price in MAC_PRICES:
            chosen = _cheapest(facts, by_first, bound, price / 1000)
            if chosen is None:
                break
            if chosen and sum(split.macs for split in chosen) <= budget:
                found[chosen] = _estimated(facts, chosen)
    if facts.head > facts.peak:
        # The greedy planner wastes bytes, and may waste fewer on another split, even on one with a higher peak.
        for split in _halves(facts, splits):
            arena = max(split.peak, facts.peak) + facts.tail_bytes + split.tail
            found.setdefault((split,), SplitPlan((split,), arena, split.macs))
    return sorted(found.values(), key=lambda plan: (plan.arena, plan.macs))


def plans_with_loops(
    facts: Profile, splits: Sequence[Split], loops: Sequence[Split], budget: float, stopping: Stopping = UNSTOPPED
) -> list[SplitPlan]:
    """Return the plans with a loop at least, the smallest estimated arena first.

    Also those with loops alone: the estimates are rough, and beside copies that seem to need a little less there may be
    no loop at all.
    """
    found = (*plans(facts, [*splits, *loops], budget, stopping), *plans(facts, loops, budget, stopping))
    with_loops = {plan.splits: plan for plan in found if any(split.is_loop for split in plan.splits)}
    return sorted(with_loops.values(), key=lambda plan: (plan.arena, plan.macs))


def _bounds(facts: Profile, splits: Sequence[Split]) -> list[int]:
    """Return the bounds on the head that are solved, ascending."""
    bounds = sorted({bound for bound in (*(s.peak for s in splits), *facts.live) if bound < facts.peak})
    if len(bounds) <= MAX_BOUNDS:
        return bounds
    return [bounds[index * len(bounds) // MAX_BOUNDS] for index in range(MAX_BOUNDS)]


def _estimated(facts: Profile, chosen: tuple[Split, ...]) -> SplitPlan:
    """Return splits with the arena that they are expected to need."""
    covered = {index for split in chosen for index in range(split.first, split.end)}
    rest = max((alive for i, alive in enumerate(facts.live) if i not in covered), default=0)
    head = max(rest, *(split.peak for split in chosen))
    arena = head + facts.tail_bytes + sum(split.tail for split in chosen)
    return SplitPlan(chosen, arena, sum(split.macs for split in chosen), head)


def _halves(facts: Profile, splits: Sequence[Split]) -> list[Split]:
    """Return the cheapest splits into two parts that cover an operator at the peak."""
    at_peak = {index for index, alive in enumerate(facts.live) if alive == facts.peak}
    halves = [s for s in splits if len(s.parts) == 2 and at_peak & set(range(s.first, s.end))]
    return sorted(halves, key=lambda split: (split.macs, split.peak))[:MAX_SINGLE_SPLITS]


def variants(plan: SplitPlan, splits: Sequence[Split], budget: float) -> list[SplitPlan]:
    """Return plans in which one split is exchanged for another of its segment, on which the planner may waste less."""
    found: list[SplitPlan] = []
    for index, split in enumerate(plan.splits):
        others = [
            other
            for other in splits
            if (other.first, other.end) == (split.first, split.end) and other != split and other.kind != COLUMNS
        ]
        for other in sorted(others, key=lambda other: other.peak + other.tail)[
            : max(2, MAX_VARIANTS // len(plan.splits))
        ]:
            macs = plan.macs - split.macs + other.macs
            if macs <= budget:
                chosen = (*plan.splits[:index], other, *plan.splits[index + 1 :])
                found.append(SplitPlan(chosen, plan.arena, macs))
    return found[:MAX_VARIANTS]


def _cheapest(facts: Profile, by_first: dict[int, list[Split]], bound: int, price: float) -> tuple[Split, ...] | None:
    """Return the cheapest splits that bring every operator to ``bound`` bytes or below, None where none do."""
    count = len(facts.live)
    costs: list[float | None] = [None] * count + [0.0]
    steps: list[Split | None] = [None] * count
    for index in range(count - 1, -1, -1):
        best = costs[index + 1] if facts.live[index] <= bound else None
        for split in by_first.get(index, ()):
            rest = costs[split.end]
            if split.peak <= bound and rest is not None:
                cost = rest + split.tail + price * split.macs + 1
                if best is None or cost < best:
                    best, steps[index] = cost, split
        costs[index] = best
    return None if costs[0] is None else tuple(_taken(steps))


def _taken(steps: Sequence[Split | None]) -> Iterator[Split]:
    """Yield the splits on the way from the first operator on: a step says which split begins there, if any."""
    index = 0
    while index < len(steps):
        step = steps[index]
        if step is not None:
            yield step
        index = index + 1 if step is None else step.end


def apply(draft: Draft, facts: Profile, chosen: Sequence[Split]) -> list[Edit]:
    """Rewrite the draft with the splits of a plan and return an ``Edit`` for each."""
    edits: list[Edit] = []
    tiled = {AXES[split.kind] for split in chosen if split.kind != CHANNELS}
    rules = {axis: [rule(draft, operator, axis) for operator in draft.operators] for axis in tiled}
    consumers = draft.consumers()
    for split in sorted(chosen, key=lambda split: split.first, reverse=True):
        where = f"{label_of(draft, split.first)} to {label_of(draft, split.end - 1)}"
        if split.kind == CHANNELS:
            parts = channels.apply_channels(draft, split, consumers)
        else:
            apply_tiles = loops.apply_loop if split.is_loop else tiling.apply_tiles
            parts = apply_tiles(draft, split, rules[AXES[split.kind]], facts.dies)
        shares = [{"share": part.share, "computed": part.computed} for part in parts]
        how = f"{len(parts)} iterations of a loop" if split.is_loop else f"{len(parts)} parts"
        numbers = {"kind": split.kind, "parts": shares, "macs": split.macs}
        edits.append(Edit(where, f"run in {how} by {split.kind}", numbers))
    return edits[::-1]
