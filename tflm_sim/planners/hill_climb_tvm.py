"""Hill climb, as TVM's unified static memory planner has it: place buffers by size, then swap two in the order.

A buffer goes to the lowest offset at which it meets none of its *conflicts*, the buffers alive together with it. One
with the highest end is drawn. Of its conflicts that were placed earlier one changes places with another of them, or
with one that was placed earlier than any of its conflicts::

    order  A B C D E          E ends highest, it conflicts with B and D, and D with A: B or D changes places with
                              B, D or A
    order  A D C B E          worse: taken back, but for the first attempts accepted now and then

The search ends when the plan is as small as the bytes alive at one moment, or after 500 attempts. As in simulated
annealing the answer is the plan accepted last, which may be larger than one before. It is deterministic: the random
numbers are those of the C library that TVM calls.

Three things differ. Buffers have no names, so of those with equal size and as many conflicts the earlier in the list
comes first. An offset is aligned for the buffer itself, not for the one below it; where all are aligned alike that is
the same. There is one memory pool, without a limit.

Source: src/tir/usmp/algo/hill_climb.cc @ apache/tvm 01e0423
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from tflm_sim.errors import NoPlanInTime, UsageError
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.deadline import NEVER, Deadline, deadline_in
from tflm_sim.planners.hill_climb import finish, live_bytes, neighbours
from tflm_sim.units import align_up

MAX_ATTEMPTS = 500
_ACCEPT_WORSE_PERCENT = 50
_ONLY_CONFLICTS_PERCENT = 26


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the plan that the search accepted last.

    Args:
        buffers: What to place.
        time_limit: Seconds after which the search ends. A KeyboardInterrupt has the same effect. None: after 500
            attempts, which take minutes where thousands of buffers are alive together.

    Raises:
        UsageError: A buffer has a fixed offset, which this planner does not know.
        NoPlanInTime: The first plan was not ready in time.
    """
    if any(buffer.offset is not None for buffer in buffers):
        raise UsageError("TVM's hill climb cannot plan buffers with a fixed offset")
    deadline = deadline_in(time_limit)
    return finish(HillClimbTvm(buffers, deadline), buffers, deadline=deadline, run_length=1)


def rand_r(seed: int) -> Callable[[], int]:
    """Return a function that draws 31 random bits as glibc's ``rand_r`` does from ``seed``."""
    state = seed

    def draw() -> int:
        nonlocal state
        result = 0
        for bits in (11, 10, 10):
            state = (state * 1103515245 + 12345) & 0xFFFFFFFF
            result = (result << 10) ^ ((state >> 16) & ((1 << bits) - 1))
        return result

    return draw


class HillClimbTvm:
    """The search (mutable); ``best_offsets``, in bytes, are those of the plan accepted last."""

    def __init__(self, buffers: Sequence[Buffer], deadline: Deadline = NEVER) -> None:
        self._buffers = buffers
        self._deadline = deadline
        self._conflicts = neighbours(buffers, deadline)
        self._target = max(live_bytes(buffers).values(), default=0)
        self._draw = rand_r(0)
        self._attempts = 1
        self._swapped = (0, 0)
        self._order = sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, -len(self._conflicts[i])))
        self._turn = [0] * len(buffers)
        for turn, index in enumerate(self._order):
            self._turn[index] = turn
        self._accept(self._placed([0] * len(buffers), first_turn=0))

    @property
    def is_done(self) -> bool:
        """Whether as few bytes as are alive at one moment are reached, or all attempts are made."""
        return self._size <= self._target or self._attempts >= MAX_ATTEMPTS

    def run(self, iterations: int) -> None:
        """Make up to ``iterations`` attempts."""
        with suppress(NoPlanInTime):
            for _ in range(iterations):
                if self.is_done:
                    return
                self._attempt()

    def _attempt(self) -> None:
        """Swap two buffers in the order, judge the plan, and take the swap back if it is refused.

        Where there are not two to swap it is the swap before that is taken back, as upstream.
        """
        self._choose_swap()
        changed = (turn for turn, index in enumerate(self._order) if index != self._accepted_order[turn])
        offsets = self._placed(self.best_offsets, first_turn=next(changed, len(self._order)))
        if self._is_acceptable(self._end_of(offsets)):
            self._accept(offsets)
        else:
            self._swap()
        self._attempts += 1

    def _is_acceptable(self, size: int) -> bool:
        if size < self._size:
            return True
        return self._draw() % 100 < _ACCEPT_WORSE_PERCENT * (size - self._size) // size // self._attempts

    def _accept(self, offsets: list[int]) -> None:
        self.best_offsets: Sequence[int] = offsets
        self._size = self._end_of(offsets)
        self._accepted_order = self._order.copy()

    def _end_of(self, offsets: Sequence[int]) -> int:
        return max((offset + buffer.size for offset, buffer in zip(offsets, self._buffers, strict=True)), default=0)

    def _placed(self, offsets: Sequence[int], *, first_turn: int) -> list[int]:
        """Return ``offsets`` with the buffers from ``first_turn`` on placed anew."""
        result = list(offsets)
        for turn in self._deadline.watch(range(first_turn, len(self._order))):
            index = self._order[turn]
            buffer, offset = self._buffers[index], 0
            placed = (other for other in self._conflicts[index] if self._turn[other] < turn)
            for begin, end in sorted((result[other], result[other] + self._buffers[other].size) for other in placed):
                if offset + buffer.size <= begin:
                    break
                offset = max(offset, align_up(end, buffer.alignment))
            result[index] = offset
        return result

    def _highest(self) -> list[int]:
        ends = zip(self.best_offsets, self._buffers, strict=True)
        return sorted(self._turn[i] for i, (offset, buffer) in enumerate(ends) if offset + buffer.size == self._size)

    def _choose_swap(self) -> None:
        """Swap the turns of two buffers that may lower one with the highest end, if there are two."""
        turn = self._pick(self._highest())
        conflicts = self._conflicts[self._order[turn]]
        below = sorted(self._turn[other] for other in conflicts if self._turn[other] < turn)
        second = sorted(earlier for other in conflicts for earlier in self._earlier(other))
        if not below:
            return
        first = self._pick(below)
        other_turn = self._pick_other(first, below, second)
        if other_turn != first:
            self._swapped = (first, other_turn)
            self._swap()

    def _pick_other(self, first: int, below: list[int], second: list[int]) -> int:
        """Draw until it is another turn than ``first``; once where there may be no other."""
        while True:
            use_second = second and self._draw() % 100 >= _ONLY_CONFLICTS_PERCENT
            turn = self._pick(second if use_second else below)
            if turn != first or (len(second) < 2 and len(below) < 2):
                return turn

    def _earlier(self, index: int) -> list[int]:
        return [self._turn[other] for other in self._conflicts[index] if self._turn[other] < self._turn[index]]

    def _pick(self, turns: Sequence[int]) -> int:
        return turns[self._draw() % len(turns)]

    def _swap(self) -> None:
        for turn, index in zip(self._swapped, [self._order[turn] for turn in reversed(self._swapped)], strict=True):
            self._order[turn] = index
            self._turn[index] = turn
