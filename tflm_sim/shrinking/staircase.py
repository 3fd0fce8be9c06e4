"""Offsets for groups of tensors of which some may overlap: each output a step below its input, like stairs.

    offset  |####            each tensor may begin ``distance`` bytes below the one that its operator reads,
            | ####           though both are alive; all other pairs that are alive together lie apart
            |  ####
            +--------> time

First fit: groups in some order, each at the lowest offset that no group before it forbids. Several orders are tried;
then the groups that reach the top move to the front, again and again. No clock: the same model gets the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.units import align_up
from tflm_sim.values import dataclass

MOST_STEPS = 400_000
"""Places that groups forbid each other, looked at altogether."""


@dataclass(frozen=True, slots=True)
class Alive:
    """When a planned tensor is alive, ``lower <= scope < upper`` as for a ``Buffer``, and its bytes."""

    lower: int
    upper: int
    size: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """What lies ``at`` bytes from the start of its group: a tensor, or a buffer (-1) that is none of the plan's."""

    at: int
    alive: Alive
    tensor: int = -1

    @property
    def size(self) -> int:
        return align_up(self.alive.size, BUFFER_ALIGNMENT)


Group = tuple[GroupMember, ...]
Interval = tuple[int, int]


def place_groups(
    groups: Sequence[Mapping[int, int]],
    alive: Mapping[int, Alive],
    others: Iterable[Buffer],
    steps: Mapping[Interval, int],
) -> tuple[list[int], int]:
    """Return an offset for each group (multiples of 16), and the end of the highest one.

    Args:
        groups: Tensors that share bytes: offset by tensor.
        alive: When each tensor is alive, and its bytes.
        others: What else lies in the head; its offsets are left to the device.
        steps: (input, output) -> bytes that the input must at least lie above the output.
    """
    items: list[Group] = [
        tuple(GroupMember(at, alive[tensor], tensor) for tensor, at in group.items()) for group in groups
    ]
    items += [(GroupMember(0, Alive(each.lower, each.upper, each.size)),) for each in others]
    stairs = _Stairs(items, steps)
    offsets, head = stairs.search()
    return offsets[: len(groups)], head


class _Stairs:
    """The problem: for each pair of groups the distances at which they must not lie."""

    def __init__(self, items: Sequence[Group], steps: Mapping[Interval, int]) -> None:
        self.sizes = [max(member.at + member.size for member in item) for item in items]
        self.lower = [min(member.alive.lower for member in item) for item in items]
        self.upper = [max(member.alive.upper for member in item) for item in items]
        self.is_buffer = [item[0].tensor < 0 for item in items]
        # (j, start, end) for each group: where it must not begin, counted from the start of group j.
        self.forbidden: list[list[tuple[int, int, int]]] = [[] for _ in items]
        group_of = {member.tensor: i for i, item in enumerate(items) for member in item}
        self.below: list[set[int]] = [set() for _ in items]
        for above, below in steps:
            self.below[group_of[above]].add(group_of[below])
        for (j, other), (i, one) in combinations(enumerate(items), 2):
            if self.lower[i] < self.upper[j] and self.lower[j] < self.upper[i]:
                self._forbid(i, j, {_gap(a, b, steps) for a, b in product(one, other)})

    def _forbid(self, i: int, j: int, gaps: set[Interval | None]) -> None:
        """Note where group i must not begin, counted from the start of group j, and the other way round."""
        for start, end in filter(None, gaps):
            self.forbidden[i].append((j, start, end))
            self.forbidden[j].append((i, -end, -start))

    def search(self) -> tuple[list[int], int]:
        """Return the best offsets found, and the end of the highest group."""
        everything = range(len(self.sizes))
        orders = [
            sorted(everything, key=key)
            for key in (
                lambda i: (-self.lower[i], -self.upper[i]),
                lambda i: (self.lower[i], self.upper[i]),
                lambda i: (-self.sizes[i], self.lower[i]),
                lambda i: (self.upper[i] - 1 - self.lower[i]) * -self.sizes[i],
            )
        ]
        # A scratch buffer is in the way where the stairs go on; on top of them it is not.
        orders += [sorted(order, key=lambda i: self.is_buffer[i]) for order in orders]
        allowance = MOST_STEPS // len(orders)
        # What may lie a step below another group finds no room there once that one lies at the bottom.
        orders += [down for order in orders if (down := self._below_first(order)) != order]
        head, offsets = min(self._climb(order, allowance) for order in orders)
        return offsets, head

    def _below_first(self, order: Sequence[int]) -> list[int]:
        """Return an order with each group behind those that may lie a step below it."""
        found: dict[int, None] = {}
        for i in order:
            found.update(dict.fromkeys((*sorted(self.below[i]), i)))
        return list(found)

    def _climb(self, order: list[int], allowance: int) -> tuple[int, list[int]]:
        """Return the best head and offsets: groups at the top move to the front until that helps no more."""
        best = head, offsets = self._fit(order)
        cost, seen = sum(map(len, self.forbidden)), set()
        while allowance > 0:
            allowance -= cost
            top = [i for i in order if offsets[i] + self.sizes[i] == head]
            order = top + [i for i in order if i not in top]
            if tuple(order) in seen:
                break
            seen.add(tuple(order))
            head, offsets = self._fit(order)
            best = min(best, (head, offsets))
        return best

    def _fit(self, order: Sequence[int]) -> tuple[int, list[int]]:
        """Place the groups in an order, each as low as those before it allow; return the highest end and offsets."""
        offsets = [-1] * len(order)
        head = 0
        for i in order:
            gaps = [(at + start, at + end) for j, start, end in self.forbidden[i] if (at := offsets[j]) >= 0]
            gaps.sort()
            offset = 0
            for start, end in gaps:
                if start < offset < end:
                    offset = align_up(end, BUFFER_ALIGNMENT)
                elif start >= offset:
                    break
            offsets[i] = offset
            head = max(head, offset + self.sizes[i])
        return head, offsets


def _gap(one: GroupMember, other: GroupMember, steps: Mapping[Interval, int]) -> Interval | None:
    """Return the open interval in which ``one``'s group must not begin, from the start of ``other``'s, or None."""
    if one.alive.lower >= other.alive.upper or other.alive.lower >= one.alive.upper:
        return None
    above, below = other.size, one.size
    if one.tensor >= 0 and other.tensor >= 0:
        above = min(above, steps.get((one.tensor, other.tensor), above))
        below = min(below, steps.get((other.tensor, one.tensor), below))
    shift = other.at - one.at
    return shift - below, shift + above
