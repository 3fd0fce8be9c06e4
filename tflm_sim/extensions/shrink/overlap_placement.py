"""Offsets for groups of tensors of which some may overlap: outputs that begin some bytes below their inputs.

    offset  |####            each tensor may begin ``distance`` bytes below the one that its operator reads,
            | ####           though both are alive; all other pairs that are alive together lie apart
            |  ####
            +--------> time

First fit: groups in some order, each at the lowest offset that no group before it forbids. Several orders are tried;
the groups that reach the top move to the front, again and again; then single groups move in the best order, at random
from a fixed seed. No clock: the same model gets the same plan. The first fit itself is C (``native/first_fit.c``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from tflm_sim.planners import native
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.units import align_up

MAX_STEPS = 400_000
"""Places that groups forbid each other, looked at altogether; and again where single groups move."""
MAX_MOVES = 1000
"""How often a single group moves, where that is asked for."""


@dataclass(frozen=True, slots=True)
class Alive:
    """When a planned tensor is alive, ``lower <= scope < upper`` as for a ``Buffer``, and its bytes."""

    lower: int
    upper: int
    size: int

    def meets(self, other: Alive) -> bool:
        """Return whether there is a scope at which both are alive."""
        return self.lower < other.upper and other.lower < self.upper


@dataclass(frozen=True, slots=True)
class GroupMember:
    """What lies ``at`` bytes from the start of its group: a tensor, or a buffer (-1) that is none of the plan's."""

    at: int
    alive: Alive
    tensor: int = -1

    @property
    def size(self) -> int:
        return align_up(self.alive.size, BUFFER_ALIGNMENT)


@dataclass(frozen=True, slots=True)
class Group:
    """What lies together, how long any of it is needed, and whether it is a buffer that is none of the plan's."""

    members: tuple[GroupMember, ...]
    alive: Alive
    is_buffer: bool


Interval = tuple[int, int]


def place_groups(
    groups: Sequence[Mapping[int, int]],
    alive: Mapping[int, Alive],
    others: Iterable[Buffer],
    distances: Mapping[Interval, int],
    *,
    thorough: bool = False,
) -> tuple[list[int], int]:
    """Return an offset for each group (multiples of 16), and the end of the highest one.

    Args:
        groups: Tensors that share bytes: offset by tensor.
        alive: When each tensor is alive, and its bytes.
        others: What else lies in the head; its offsets are left to the device.
        distances: (input, output) -> bytes that the input must at least lie above the output.
        thorough: Move single groups, too.
    """
    items = [_group([GroupMember(at, alive[tensor], tensor) for tensor, at in group.items()]) for group in groups]
    items += [_group([GroupMember(0, Alive(each.lower, each.upper, each.size))]) for each in others]
    placement = _Placement(items, distances)
    offsets, head = placement.search(MAX_MOVES if thorough else 0)
    return offsets[: len(groups)], head


def _group(members: Sequence[GroupMember]) -> Group:
    lower, upper = min(each.alive.lower for each in members), max(each.alive.upper for each in members)
    size = max(each.at + each.size for each in members)
    return Group(tuple(members), Alive(lower, upper, size), members[0].tensor < 0)


_FIRST: tuple[Callable[[Alive], tuple[int, ...]], ...] = (
    lambda alive: (-alive.lower, -alive.upper),
    lambda alive: (alive.lower, alive.upper),
    lambda alive: (-alive.size, alive.lower),
    lambda alive: ((alive.upper - 1 - alive.lower) * -alive.size,),
)
"""Orders to begin with: those that begin last, or first, or are largest, or have most bytes for most of the time."""


class _Placement:
    """The problem, and what solves it: for each pair of groups the distances at which they must not lie."""

    def __init__(self, items: Sequence[Group], distances: Mapping[Interval, int]) -> None:
        self.items = items
        self.sizes = [item.alive.size for item in items]
        group_of = {member.tensor: i for i, item in enumerate(items) for member in item.members}
        self.below: list[set[int]] = [set() for _ in items]
        for above, below in distances:
            self.below[group_of[above]].add(group_of[below])
        gaps = list(_gaps(items, distances))
        self.gap_count = len(gaps)
        self.first_fit = native.NativeFirstFit(self.sizes, gaps)

    def search(self, moves: int) -> tuple[list[int], int]:
        """Return the best offsets found with so many moves of single groups, and the end of the highest group."""
        alive = [item.alive for item in self.items]
        orders = [sorted(range(len(alive)), key=lambda i: key(alive[i])) for key in _FIRST]
        # A scratch buffer is in the way of outputs that follow each other downwards; on top of all it is not.
        orders += [sorted(order, key=lambda i: self.items[i].is_buffer) for order in orders]
        allowance = MAX_STEPS // len(orders)
        # What may overlap another group from below finds no room there once that one lies at the bottom.
        orders += [down for order in orders if (down := self._below_first(order)) != order]
        head, offsets = min(self.first_fit.climb(order, allowance) for order in orders)
        if moves:
            order = sorted(range(len(offsets)), key=offsets.__getitem__)
            head, offsets = min((head, offsets), self._moved(order, moves))
        return offsets, head

    def _moved(self, order: list[int], moves: int) -> tuple[int, list[int]]:
        """Return head and offsets once single groups, mostly those at the top, moved in an order."""
        chance = random.Random(0)
        best = head, offsets = self.first_fit.fit(order)
        top = self._top(order, head, offsets)
        for _ in range(min(moves, MAX_STEPS // max(1, self.gap_count))):
            if head <= max(self.sizes):
                break
            moving = chance.choice(top if chance.random() < 0.5 else order)
            old = order.index(moving)
            last = len(order) if chance.random() < 0.5 else old + 1
            new = chance.randrange(last)
            tried = [i for i in order if i != moving]
            tried.insert(new, moving)
            found = self.first_fit.fit(tried, [offsets[i] for i in order[: min(old, new)]], head)
            if found[0] <= head:
                order, (head, offsets) = tried, found
                top = self._top(order, head, offsets)
                best = min(best, found)
        return best

    def _top(self, order: Sequence[int], head: int, offsets: Sequence[int]) -> list[int]:
        """Return the groups that reach the head, in their order."""
        return [i for i in order if offsets[i] + self.sizes[i] == head]

    def _below_first(self, order: Sequence[int]) -> list[int]:
        """Return an order with each group behind those that may overlap it from below."""
        found: dict[int, None] = {}
        for i in order:
            found.update(dict.fromkeys((*sorted(self.below[i]), i)))
        return list(found)


def _gaps(items: Sequence[Group], distances: Mapping[Interval, int]) -> Iterator[native.Gap]:
    """Yield where each group must not begin, counted from each other one that is alive with it."""
    for (j, other), (i, one) in combinations(enumerate(items), 2):
        if one.alive.meets(other.alive):
            for start, end in filter(None, {_gap(a, b, distances) for a, b in product(one.members, other.members)}):
                # All offsets are multiples of the alignment, so that ends are, too.
                yield i, j, start, align_up(end, BUFFER_ALIGNMENT)
                yield j, i, -end, align_up(-start, BUFFER_ALIGNMENT)


def _gap(one: GroupMember, other: GroupMember, distances: Mapping[Interval, int]) -> Interval | None:
    """Return the open interval in which ``one``'s group must not begin, from the start of ``other``'s, or None."""
    if not one.alive.meets(other.alive):
        return None
    above, below = other.size, one.size
    if one.tensor >= 0 and other.tensor >= 0:
        above = min(above, distances.get((one.tensor, other.tensor), above))
        below = min(below, distances.get((other.tensor, one.tensor), below))
    shift = other.at - one.at
    return shift - below, shift + above
