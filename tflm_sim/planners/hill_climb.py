"""Hill climb, as Vela has it: place buffers one by one, then swap the order of those that pushed the highest one up.

A buffer goes to the lowest free offset. What it rests on is its *predecessor*::

                        .-------.
                        |   D   |      order A, B, C, D: D ends highest, it is the bottleneck
    .-------------------'-------'      D rests on B and B rests on A: swapping any two of
    |         B         |              A, B, C and D may lower it
    |-+-----------------'---.
    |A|               | C   |
    '-'---------------'-----'

The first order is by *urgency*, the most bytes alive at any moment of a buffer's life. The search ends at the lower
bound, or when 500 swaps in a row did not help. It is deterministic. ``HillClimb`` is the readable truth; the C core
takes the same steps and is used where it was built.

Source: ethosu/vela/hillclimb_allocation.py @ ethos-u-vela 5.2.0
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from tflm_sim.errors import PlanningError
from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer, Plan, plan_of
from tflm_sim.planners.deadline import NEVER, Deadline, deadline_in
from tflm_sim.units import align_up

NOT_PLACED = -1
NO_PREDECESSOR = -1
SWAPS_UNTIL_STUCK = 50
"""Swaps without improvement after which more buffers may be swapped."""
SWAPS_UNTIL_GIVE_UP = 500
"""Swaps without improvement after which the search ends."""
RUN_LENGTH = 50


class SwapSearch(Protocol):
    """A search that can be run in pieces; ``best_offsets`` is a plan at any time."""

    @property
    def is_done(self) -> bool:
        """Whether the lower bound is reached, or nothing helped for a long time."""

    @property
    def best_offsets(self) -> Sequence[int]:
        """The best offsets so far, in bytes."""

    def run(self, iterations: int) -> None:
        """Try up to ``iterations`` swaps."""


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the best plan that hill climbing finds; fixed offsets, which Vela does not have, are kept.

    Args:
        buffers: What to place.
        time_limit: Seconds after which the best plan so far is returned; listing who is alive with whom is not
            interrupted and takes a second at most. A KeyboardInterrupt has the same effect. None: until nothing helped
            for a long time, which takes minutes where thousands of buffers are alive together.

    Raises:
        PlanningError: More than 2^26 times a buffer is alive with another one: the first plan would not come soon.
    """
    deadline = deadline_in(time_limit)
    return finish(_start(buffers, deadline), buffers, deadline=deadline, run_length=RUN_LENGTH)


def finish(search: SwapSearch, buffers: Sequence[Buffer], *, deadline: Deadline, run_length: int) -> Plan:
    """Run ``search`` to its end, the deadline or a KeyboardInterrupt and return its best plan.

    The clock is looked at every ``run_length`` swaps.
    """
    try:
        while not search.is_done and not deadline.is_over:
            search.run(run_length)
    except KeyboardInterrupt:
        pass
    return plan_of(buffers, search.best_offsets)


def _start(buffers: Sequence[Buffer], deadline: Deadline) -> SwapSearch:
    """Return the search in C, or in Python where C was not built or a value does not fit its 32 bits."""
    count = count_neighbours(buffers)
    if count > native.NativeHillClimb.MAX_NEIGHBOURS:
        most = native.NativeHillClimb.MAX_NEIGHBOURS
        raise PlanningError(f"hill_climb lists who is alive with whom: {count:,} times here, and at most {most:,}")
    if native.available():
        with suppress(PlanningError):
            return native.NativeHillClimb(native.rows(buffers), count, deadline)
    return HillClimb(buffers, deadline)


def count_neighbours(buffers: Sequence[Buffer]) -> int:
    """Return how many buffers are alive together with each, in sum."""
    lowers, uppers = sorted(b.lower for b in buffers), sorted(b.upper for b in buffers)
    return sum(bisect_left(lowers, b.upper) - bisect_right(uppers, b.lower) - 1 for b in buffers)


class HillClimb:
    """The search in Python (mutable).

    A run of placements that exceeds the best size stops there. What it did not reach keeps its ``end``, ``turn`` and
    ``predecessor`` of an earlier run, and the choice of the next swap reads them, as upstream.
    """

    def __init__(self, buffers: Sequence[Buffer], deadline: Deadline = NEVER) -> None:
        count = len(buffers)
        self._buffers = buffers
        self._random = random.Random(1)
        self._neighbours = neighbours(buffers, deadline)
        self._address = [NOT_PLACED if buffer.offset is None else buffer.offset for buffer in buffers]
        self._end = [0 if buffer.offset is None else buffer.offset + buffer.size for buffer in buffers]
        self._predecessor = [NO_PREDECESSOR] * count
        self._turn = [0] * count
        self._target = max((*live_bytes(buffers).values(), *self._end), default=0)
        self._order = first_order(buffers)
        self._best_order = self._order.copy()
        self._iteration = 0
        self._give_up_at = SWAPS_UNTIL_GIVE_UP
        self._best_size = self._place_all(limit=None)
        self.best_offsets: Sequence[int] = self._address.copy()

    @property
    def is_done(self) -> bool:
        """Whether the lower bound is reached, or nothing helped for a long time."""
        return self._best_size <= self._target or self._iteration >= self._give_up_at

    def run(self, iterations: int) -> None:
        """Try up to ``iterations`` swaps."""
        for _ in range(iterations):
            if self.is_done:
                return
            if not self._swap():
                self._give_up_at = self._iteration
                return
            size = self._place_all(limit=self._best_size)
            if size > self._best_size:
                self._order = self._best_order.copy()
            else:
                if size < self._best_size:
                    self._give_up_at = self._iteration + SWAPS_UNTIL_GIVE_UP
                self._best_size = size
                self._best_order = self._order.copy()
                self.best_offsets = self._address.copy()
            self._iteration += 1

    def _place_all(self, *, limit: int | None) -> int:
        """Place the buffers in order until one ends above ``limit``; return the highest end."""
        for index in self._order:
            self._address[index] = NOT_PLACED
        size = max((self._end[i] for i, buffer in enumerate(self._buffers) if buffer.offset is not None), default=0)
        for turn, index in enumerate(self._order):
            self._place(index)
            self._turn[index] = turn
            size = max(size, self._end[index])
            if limit is not None and size > limit:
                break
        return size

    def _place(self, index: int) -> None:
        """Put a buffer at the lowest aligned offset at which it meets no placed neighbour."""
        buffer = self._buffers[index]
        address, predecessor = 0, NO_PREDECESSOR
        moved = True
        while moved:
            moved = False
            for other in self._neighbours[index]:
                begin, end = self._address[other], self._end[other]
                if begin != NOT_PLACED and begin < address + buffer.size and address < end:
                    address, predecessor, moved = align_up(end, buffer.alignment), other, True
        self._address[index] = address
        self._end[index] = address + buffer.size
        self._predecessor[index] = predecessor

    def _swap(self) -> bool:
        """Swap the order of buffers that may lower the bottleneck; False when there are not two of them."""
        bottleneck = max(range(len(self._end)), key=self._end.__getitem__)
        turns = list(dict.fromkeys(self._turns_below([bottleneck, *self._neighbours[bottleneck]])))
        if len(turns) < 2:
            return False
        top = self._buffers[bottleneck]
        distant = [turn for turn in turns if not top.is_alive_with(self._buffers[self._order[turn]])]
        first = self._pick(distant) if self._random.randint(0, 100) < 30 and distant else self._pick(turns)
        second = turns[self._random.randint(0, len(turns) - 2)]
        self._exchange(first, turns[-1] if first == second else second)
        if self._iteration - (self._give_up_at - SWAPS_UNTIL_GIVE_UP) > SWAPS_UNTIL_STUCK:
            turns = list(dict.fromkeys([*turns, *self._turns_around(distant)]))
            self._exchange(self._pick(turns), self._pick(turns))
        return True

    def _turns_around(self, turns: list[int]) -> Iterator[int]:
        """Yield the turns of the buffers that are alive with those of ``turns`` and may be moved."""
        around = (other for turn in turns for other in self._neighbours[self._order[turn]])
        return (self._turn[other] for other in around if self._is_free(other))

    def _turns_below(self, buffers: Iterable[int]) -> Iterable[int]:
        """Yield the turns of ``buffers`` and of all that they rest on."""
        for index in buffers:
            below = index
            while below != NO_PREDECESSOR:
                if self._is_free(below):
                    yield self._turn[below]
                below = self._predecessor[below]

    def _is_free(self, index: int) -> bool:
        return self._buffers[index].offset is None

    def _pick(self, turns: Sequence[int]) -> int:
        return turns[self._random.randint(0, len(turns) - 1)]

    def _exchange(self, first: int, second: int) -> None:
        self._order[first], self._order[second] = self._order[second], self._order[first]


def neighbours(buffers: Sequence[Buffer], deadline: Deadline = NEVER) -> list[list[int]]:
    """Return for each buffer those alive together with it, by the first moment that they share, then by index.

    Raises:
        NoPlanInTime: The deadline came first.
    """
    result: list[list[int]] = [[] for _ in buffers]
    alive: list[int] = []
    for index in deadline.watch(sorted(range(len(buffers)), key=lambda i: buffers[i].lower)):
        alive = [other for other in alive if buffers[other].upper > buffers[index].lower]
        for other in alive:
            result[index].append(other)
            result[other].append(index)
        alive.append(index)
    for index, others in deadline.watch(enumerate(result)):
        begin = buffers[index].lower
        others.sort(key=lambda other: (max(begin, buffers[other].lower), other))
    return result


def live_bytes(buffers: Sequence[Buffer]) -> dict[int, int]:
    """Return the bytes alive at each moment at which a buffer is first used, ascending."""
    change: dict[int, int] = {}
    for buffer in buffers:
        change[buffer.lower] = change.get(buffer.lower, 0) + buffer.size
        change[buffer.upper] = change.get(buffer.upper, 0) - buffer.size
    moments = {buffer.lower for buffer in buffers}
    live, result = 0, {}
    for moment in sorted(change):
        live += change[moment]
        if moment in moments:
            result[moment] = live
    return result


def first_order(buffers: Sequence[Buffer]) -> list[int]:
    """Return the buffers that may be placed: by urgency, then long-lived, early, large ones first, then by index."""
    live = live_bytes(buffers)
    moments, amounts = list(live), list(live.values())

    def key(index: int) -> tuple[int, int, int, int]:
        lower, upper = buffers[index].lower, buffers[index].upper
        urgency = max(amounts[bisect_left(moments, lower) : bisect_left(moments, upper)])
        return (-urgency, lower - upper, lower, -buffers[index].size)

    return sorted((index for index, buffer in enumerate(buffers) if buffer.offset is None), key=key)
