"""What must fit into an arena: every check of a run in a large arena that can fail in a smaller one.

Nothing that a model asks for depends on the arena's size; only where the tail stands does, because it hangs from the
end. With ``used(r, k)`` the tail bytes taken after the k-th persistent allocation in an arena whose size is r modulo
16, every check that TFLM makes reads

    size - used(r, k) >= floor          floor: bytes that must be free from the arena's start at that moment

From the first allocation that is aligned to 16 on, the tail stands at a multiple of 16 whatever r was, so that all
``used(r, k)`` differ by a constant of r. One running maximum of ``floor + used(0, k)`` is then enough, and a few kept
rows for the allocations before. The smallest size is found for each r; the smallest of the sixteen is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.arena.events import OpEvent, Phase
from tflm_sim.document_fields import DERIVED, named
from tflm_sim.units import align_up

if TYPE_CHECKING:
    from typing import Annotated

    from tflm_sim.document_types import Count, OneOf

PERIOD = 16
"""``MicroArenaBufferAlignment()``, bytes: sizes of one remainder modulo this behave alike."""

_WORDS: dict[str, Callable[[Constraint], str]] = {
    "tail": lambda row: f"{row.size} bytes (align {row.alignment}) for {row.label}",
    "temp": lambda row: f"{row.size} bytes (align {row.alignment})",
    "head": lambda row: f"{row.size} bytes",
    "plan": lambda row: f"{row.size} bytes of plan above {row.label} of scratch requests",
    "planner": lambda row: f"{row.size} bytes of planner tables for {row.label} buffers",
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """Something that must fit: ``floor`` bytes from the arena's start below the tail.

    Attributes:
        floor: Bytes.
        tail_used: Bytes of persistent memory at that moment, in an arena that ends at a multiple of 16.
        persist_count: How many persistent allocations those are.
        kind: "tail", "temp", "head", "plan" or "planner".
        size: Bytes that are placed there.
        alignment: Of them, in bytes.
        label: What they are for.
        place: The phase or operator.
        what: What is placed there, for people.
    """

    floor: Count
    tail_used: Count
    persist_count: Count
    kind: Annotated[str, OneOf("tail", "temp", "head", "plan", "planner")]
    size: Count
    alignment: Count
    label: str
    place: str = field(metadata=named("where"))
    what: str = field(init=False, compare=False, metadata=DERIVED)

    def __post_init__(self) -> None:
        object.__setattr__(self, "what", _WORDS[self.kind](self))


PlaceFacts = tuple[Callable[..., OpEvent | Phase], tuple[object, ...]]
"""A phase or operator as its kind of event and the facts, from which the event is made only where somebody reads it."""


class _ConstraintRow(NamedTuple):
    """A constraint while constraints are collected; ``need`` is its floor plus the bytes of the tail at that moment."""

    need: int
    persist_count: int
    floor: int
    tail_used: int
    kind: str
    size: int
    alignment: int
    label: str
    place: PlaceFacts


_make_row: Callable[[tuple[object, ...]], _ConstraintRow] = partial(tuple.__new__, _ConstraintRow)
"""What :class:`_ConstraintRow` makes, in a third of the time: this is called for every allocation."""


class ArenaStep(NamedTuple):
    """What a run of allocations does, counted from where head and tail stand before it.

    Attributes:
        tail: Bytes by which the tail grows.
        persist_count: Persistent allocations.
        non_persistent: How far temps reach, in bytes.
        late: The constraint that needs most bytes; None where nothing was requested.
    """

    tail: int
    persist_count: int
    non_persistent: int
    late: _ConstraintRow | None


class Needs:
    """Collects every constraint of a run in a large arena that can fail in a smaller one (mutable).

    Attributes:
        head: Bytes of the head now.
        tail_used: Persistent bytes now.
        non_persistent: Bytes from the arena's start that head, temp and planner need at most.
        is_settled: Whether the tail stands at a multiple of 16 from now on.
        late_need: The most that a constraint since then needs, bytes; -1 until then.
    """

    __slots__ = (
        "_early",
        "_late",
        "_persist_count",
        "_prefix",
        "head",
        "is_settled",
        "late_need",
        "non_persistent",
        "tail_used",
    )

    def __init__(self) -> None:
        self.head = 0
        self.tail_used = 0
        self.non_persistent = 0
        self.is_settled = False
        self.late_need = -1
        self._persist_count = 0
        self._prefix: list[tuple[int, int, int]] = []  # size, alignment, tail_used: up to the first aligned to 16
        self._early: list[_ConstraintRow] = []
        self._late: _ConstraintRow | None = None

    def persist(self, floor: int, size: int, alignment: int, tail_used: int, label: str, place: PlaceFacts) -> None:
        """Record a persistent allocation, with ``floor`` bytes in use below the tail."""
        if not self.is_settled:
            self._prefix.append((size, alignment, tail_used))
            self.is_settled = alignment % PERIOD == 0
        self._persist_count += 1
        self.tail_used = tail_used
        if (need := floor + tail_used) > self.late_need:
            self._add(need, floor, "tail", size, alignment, label, place)

    def below(self, floor: int, kind: str, size: int, alignment: int, label: str, place: PlaceFacts) -> None:
        """Record that ``floor`` bytes from the arena's start are in use by head, temp or planner.

        No bytes always fit, wherever they would begin: TFLM subtracts unsigned, compares the size with the difference,
        and writes nothing then. Source: AllocateTemp(), ResizeBuffer() in single_arena_buffer_allocator.cc @ 90b983c.
        """
        if size == 0:
            return
        if floor > self.non_persistent:
            self.non_persistent = floor
        if (need := floor + self.tail_used) > self.late_need:
            self._add(need, floor, kind, size, alignment, label, place)

    def plan(self, needed: int, address: int, place: PlaceFacts) -> None:
        """Record that a plan of ``needed`` bytes must fit above the head, from ``address`` on."""
        floor = align_up(align_up(address + self.head, PERIOD) + needed, PERIOD) - address
        self.below(floor, "plan", needed, PERIOD, str(self.head), place)

    def tables(self, start: int, size: int, buffer_count: int, address: int, place: PlaceFacts) -> None:
        """Record the planner's tables, which get all free bytes from ``start`` on, between multiples of 16.

        A planner without buffers, or with its tables elsewhere, writes nothing there. How much it gets does not matter
        then, and GetAvailableMemory() and AllocateTemp() do not fail where it is less than nothing.
        """
        floor = align_up(address + start + size, PERIOD) - address
        self.below(floor, "planner", size, 0, str(buffer_count), place)

    def _add(self, need: int, floor: int, kind: str, size: int, alignment: int, label: str, place: PlaceFacts) -> None:
        row = _make_row((need, self._persist_count, floor, self.tail_used, kind, size, alignment, label, place))
        if self.is_settled:
            self._late, self.late_need = row, need
        else:
            self._early.append(row)

    def as_step(self) -> ArenaStep:
        """Return everything that was recorded as one step; the tail must have been settled from the start."""
        return ArenaStep(self.tail_used, self._persist_count, self.non_persistent, self._late)

    def take_step(self, step: ArenaStep, head: int, place: PlaceFacts) -> None:
        """Record a step above ``head`` bytes, after which all temps are freed."""
        late = step.late
        if late is not None and (need := head + self.tail_used + late.need) > self.late_need:
            self.late_need = need
            count, tail_used = self._persist_count + late.persist_count, self.tail_used + late.tail_used
            what = late.kind, late.size, late.alignment, late.label
            self._late = _make_row((need, count, head + late.floor, tail_used, *what, place))
        if step.non_persistent:
            self.non_persistent = max(self.non_persistent, head + step.non_persistent)
        self.tail_used += step.tail
        self._persist_count += step.persist_count

    def smallest_of_all(
        self, address: int, lost: int, ends: Container[int] = range(PERIOD)
    ) -> tuple[int, int | None, int, Constraint]:
        """Return the smallest arena, from those for every remainder modulo 16.

        Args:
            address: Where the arena starts, modulo 16.
            lost: Bytes at the start that the allocator skips to align itself.
            ends: Remainders of the arena's end for which the constraints hold.

        Returns:
            The smallest arena in bytes, the smallest one that is a multiple of 16, the tail bytes in the former, and
            what does not fit in a byte less. Where no multiple of 16 ends so, the second is None.
        """
        early = self._early_needs()
        candidates = {}
        for remainder in range(PERIOD):
            need, tail, row = self._solve(remainder, *early[remainder % len(early)])
            end = address + lost + need
            if remainder in ends:
                candidates[remainder] = (need + (remainder - end) % PERIOD + lost, tail, row)
        size, tail, binding = min(candidates.values(), key=itemgetter(0))
        aligned = candidates.get(address % PERIOD)
        return size, aligned and aligned[0], tail, _constraint(binding)

    def _early_needs(self) -> list[tuple[int, _ConstraintRow | None, int]]:
        """Return, by remainder, what decides before the tail is settled: the need, its row, and the tail bytes then.

        Remainders behave alike up to the largest alignment of those allocations; from the first one that has it on,
        they differ by a constant.
        """
        prefix = self._prefix[:-1] if self.is_settled else self._prefix
        alignments = [alignment for _, alignment, _ in prefix]
        period = max(alignments, default=PERIOD)
        first = alignments.index(period) + 1 if alignments else 0
        before = [row for row in self._early if row.persist_count < first]
        after = max(self._early[len(before) :], key=itemgetter(0), default=None)  # The rows rise by their counts.
        found = []
        for remainder in range(period):
            used = _tails_used(prefix[:first], remainder)
            shift = used[-1] - (prefix[first - 1][2] if first else 0)
            needs = [(row.floor + used[row.persist_count], row) for row in before]
            if after is not None:
                needs.append((after.need + shift, after))
            most, binding = max(needs, key=itemgetter(0), default=(-1, None))
            found.append((most, binding, prefix[-1][2] + shift if prefix else 0))
        return found

    def _solve(
        self, remainder: int, most: int, binding: _ConstraintRow | None, used: int
    ) -> tuple[int, int, _ConstraintRow]:
        """Return the smallest size of any remainder, the tail bytes in the end, and what decides it."""
        shift = 0
        if self._prefix:
            if self.is_settled:
                size, alignment, _ = self._prefix[-1]
                used += size + (remainder - used - size) % alignment
            shift = used - self._prefix[-1][2]
        if self._late is not None and self.late_need + shift > most:
            most, binding = self.late_need + shift, self._late
        assert binding is not None, "a run that succeeded asked for something"
        return most, self.tail_used + shift, binding


def _tails_used(prefix: Sequence[tuple[int, int, int]], remainder: int) -> list[int]:
    """Return the tail bytes before some allocations and after each, in an arena whose end has a remainder modulo 16."""
    used = [0]
    tail = end = remainder
    for size, alignment, _ in prefix:
        tail = (tail - size) // alignment * alignment
        used.append(end - tail)
    return used


def _constraint(row: _ConstraintRow) -> Constraint:
    kind, facts = row.place
    return Constraint(
        row.floor, row.tail_used, row.persist_count, row.kind, row.size, row.alignment, row.label, str(kind(*facts))
    )
