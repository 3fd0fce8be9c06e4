"""The smallest arena that works, derived from one roomy run instead of searched.

Nothing that a model asks for depends on the arena's size; only where the tail stands does, because it hangs from the
end. With ``used(r, k)`` the tail bytes taken after the k-th persistent allocation in an arena whose size is r modulo
16, every check that TFLM makes reads

    size - used(r, k) >= floor          floor: bytes that must be free from the arena's start at that moment

From the first allocation that is aligned to 16 on, the tail stands at a multiple of 16 whatever r was, so that all
``used(r, k)`` differ by a constant of r. One running maximum of ``floor + used(0, k)`` is then enough, and a few kept
rows for the allocations before. The smallest size is found for each r; the smallest of the sixteen is the answer.

Not every larger arena works: a size with another remainder may need up to 15 bytes more. ``smallest_multiple_of_16`` is
the size to put in a firmware; from there on every multiple of 16 works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from tflm_sim.answers.place import PlaceTracker
from tflm_sim.arena.dispatcher import Dispatcher
from tflm_sim.arena.events import (
    Observer,
    OpEvent,
    Persist,
    Phase,
    PlanAdd,
    PlanDone,
    Resize,
    Temp,
    TempFree,
)
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.device.constants import MICRO_ARENA_BUFFER_ALIGNMENT
from tflm_sim.device.run import Device, roomy_arena, run
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.units import align_down, align_up

PERIOD = MICRO_ARENA_BUFFER_ALIGNMENT


@dataclass(frozen=True, slots=True)
class Constraint:
    """Something that must fit: ``floor`` bytes from the arena's start below the tail.

    Attributes:
        floor: Bytes.
        tail_used: Bytes of persistent memory at that moment, in an arena that ends at a multiple of 16.
        persist_count: How many persistent allocations those are.
        kind: "tail", "temp", "head" or "planner".
        detail: What is placed there, for people.
        place: The phase or operator.
    """

    floor: int
    tail_used: int
    persist_count: int
    kind: str
    detail: str
    place: str


@dataclass(frozen=True, slots=True)
class SmallestArena:
    """The answer of :func:`smallest_arena`.

    Attributes:
        size: The smallest arena in which AllocateTensors() succeeds, in bytes.
        multiple_of_16: The smallest one that is a multiple of 16, in bytes.
        arena_used_bytes: What ``arena_used_bytes()`` reports in an arena of ``size``.
        binding: What would not fit in a byte less.
    """

    size: int
    multiple_of_16: int
    arena_used_bytes: int
    binding: Constraint


@dataclass(frozen=True, slots=True)
class SplitArenaSizes:
    """The smallest pair of arenas: bytes for persistent memory (a multiple of 16), and bytes for head and temp."""

    persistent: int
    non_persistent: int


class ConstraintObserver(Dispatcher):
    """Collects every constraint of a roomy run that can bind (mutable); an observer.

    Args:
        planner: "greedy" or "linear": the first needs 40 bytes of temp for each buffer.

    Attributes:
        head: Bytes of the head now.
        tail_used: Persistent bytes now.
        non_persistent_need: Bytes from the arena's start that head, temp and planner need at most.
        prefix: The persistent allocations up to the first that is aligned to 16.
        early: Every constraint before it.
        late: The constraint since then that needs most.
    """

    def __init__(self, planner: str) -> None:
        self._per_buffer_size = PER_BUFFER_SIZE if planner == "greedy" else 0
        self._place = PlaceTracker()
        self._live_temps: dict[int, int] = {}
        self._planned_count = 0
        self._planner_start = 0
        self._persist_count = 0
        self._is_settled = False
        self._late_need = -1
        self.head = 0
        self.tail_used = 0
        self.non_persistent_need = 0
        self.prefix: list[Persist] = []
        self.early: list[Constraint] = []
        self.late: Constraint | None = None
        super().__init__(
            {
                Persist: self._persist,
                Temp: self._temp,
                TempFree: self._temp_free,
                Resize: self._resize,
                PlanAdd: self._plan_add,
                PlanDone: self._plan_done,
                OpEvent: self._place,
                Phase: self._place,
            }
        )

    def _persist(self, event: Persist) -> None:
        if not self._is_settled:
            self.prefix.append(event)
            self._is_settled = event.alignment % PERIOD == 0
        self._persist_count += 1
        self.tail_used = event.tail_used
        floor = max(self.head, max(self._live_temps.values(), default=0))
        self._add(floor, "tail", lambda: f"{event.size} bytes (align {event.alignment}) for {event.label}")

    def _temp(self, event: Temp) -> None:
        if self._place.phase == "planner_arena":
            self._planner_start = event.offset
            return
        self._live_temps[event.offset] = event.temp_end
        self._add(event.temp_end, "temp", lambda: f"{event.size} bytes (align {event.alignment})")

    def _temp_free(self, event: TempFree) -> None:
        self._live_temps.pop(event.offset, None)

    def _resize(self, event: Resize) -> None:
        self.head = event.head
        self._add(event.head, "head", lambda: f"{event.size} bytes")

    def _plan_add(self, event: PlanAdd) -> None:
        self._planned_count += 1

    def _plan_done(self, event: PlanDone) -> None:
        tables = self._planned_count * self._per_buffer_size
        floor = align_up(self._planner_start + tables, PERIOD)
        detail = f"{tables} bytes of planner tables for {self._planned_count} buffers"
        self._add(floor, "planner", lambda: detail)
        self._planned_count = 0

    def _add(self, floor: int, kind: str, detail: Callable[[], str]) -> None:
        if kind != "tail" and floor > self.non_persistent_need:
            self.non_persistent_need = floor
        need = floor + self.tail_used
        if self._is_settled and need <= self._late_need:
            return
        constraint = Constraint(floor, self.tail_used, self._persist_count, kind, detail(), str(self._place))
        if self._is_settled:
            self.late, self._late_need = constraint, need
        else:
            self.early.append(constraint)

    def smallest(self, remainder: int) -> tuple[int, int, Constraint]:
        """Solve for arenas that end at an address of ``remainder`` modulo 16.

        Returns:
            The smallest arena size in bytes (of any remainder), the tail bytes in the end, and what binds.
        """
        used = [0]
        tail = end = align_up(sum(event.size + event.alignment for event in self.prefix), PERIOD) + remainder
        for event in self.prefix:
            tail = align_down(tail - event.size, event.alignment)
            used.append(end - tail)
        shift = used[-1] - self.prefix[-1].tail_used if self.prefix else 0
        needs = [(row.floor + used[row.persist_count], row) for row in self.early]
        if self.late is not None:
            needs.append((self._late_need + shift, self.late))
        size, binding = max(needs, key=lambda need: need[0])
        return size, self.tail_used + shift, binding


def smallest_arena(
    model: Model | Sequence[Model], target: Where, *, observers: Iterable[Observer] = (), **settings: Unpack[Settings]
) -> SmallestArena:
    """Return the smallest arena for one model, or for several on one allocator; exact to the byte.

    Args:
        model: One model or several.
        target: What it runs on: a name, a target, or a configuration.
        observers: Who is told of each event of the roomy run.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails in any arena.
        UsageError: An argument has no meaning, or the configuration has two arenas.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    configuration = configure(target, **settings)
    if configuration.is_split:
        raise UsageError("two arenas have a smallest pair: simulate(...).split")
    constraints = ConstraintObserver(configuration.planner)
    device = run(
        [model] if isinstance(model, Model) else list(model),
        configuration,
        arena_size=roomy_arena(configuration.target),
        observers=(constraints, *observers),
    )
    if device.failure is not None:
        raise device.failure
    return smallest_of(constraints, configuration, device)


def smallest_of(constraints: ConstraintObserver, configuration: Configuration, device: Device) -> SmallestArena:
    """Return the smallest arena, given what must fit and the device after a roomy run that succeeded."""
    lost = roomy_arena(configuration.target) - device.arena.size
    return solve(constraints, configuration.target.arena_address, lost=lost)


def smallest_pair(constraints: ConstraintObserver) -> SplitArenaSizes:
    """Return the smallest pair of arenas, both aligned to 16, that meets the constraints of a run on two arenas."""
    return SplitArenaSizes(align_up(constraints.tail_used, PERIOD), constraints.non_persistent_need)


def solve(constraints: ConstraintObserver, address: int, *, lost: int = 0) -> SmallestArena:
    """Return the smallest arena that meets the constraints.

    Args:
        constraints: Of a finished roomy run.
        address: Where the arena starts, modulo 16.
        lost: Bytes at the start that the allocator skips to align itself.
    """
    candidates = []
    for remainder in range(PERIOD):
        need, tail, binding = constraints.smallest(remainder)
        end = address + lost + need
        size = need + (remainder - end) % PERIOD
        candidates.append((size + lost, constraints.head + tail, binding))
    size, used, binding = min(candidates, key=lambda candidate: candidate[0])
    aligned = candidates[address % PERIOD][0]
    return SmallestArena(size, aligned, used, binding)
