"""What TFLM needs in the bank of the head and in that of the tail, whoever plans the tensors.

    head's bank      | temps of Prepare, scratch requests, AllocationInfo ... | before the plan; then | the plan ... |
    tail's bank                                                                       | ... <- persistent memory |

With a planner of the firmware's own (``MicroAllocator::Create(arena, size, planner)``) no planner's tables lie in the
head. Where head and tail have a bank each, a subclass of ``MicroAllocator`` gives them theirs, and the allocator's
objects are variables of the firmware, in none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.answers.simulation import Simulation
from tflm_sim.arena.events import Persist, PlanDone, Resize, Temp
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class ArenaNeeds:
    """Bytes beside the plan, all of them multiples of 16.

    Attributes:
        tail: Persistent memory, with the allocator's objects in it.
        together_before: The most that temps and tail take together until the plan is made; they share a bank.
        tail_apart: Persistent memory without the allocator's objects.
        head_before: The most that temps take until the plan is made, where the tail has another bank.
    """

    tail: int
    together_before: int
    tail_apart: int
    head_before: int

    def of_bank(self, planned: int, number: int, *, head: int, tail: int) -> tuple[int, int]:
        """Return the bytes of persistent memory in a bank, and those that it must have in all.

        Args:
            planned: Bytes from its start to the end of what is planned there.
            number: The bank's.
            head: The number of the head's bank.
            tail: That of persistent memory.
        """
        persistent = before = 0
        if number == tail:
            persistent = self.tail if head == tail else self.tail_apart
        if number == head:
            before = self.together_before if head == tail else self.head_before
        return persistent, max(planned + persistent, before)


def arena_needs(simulation: Simulation) -> ArenaNeeds:
    """Return what a roomy simulation with one arena and a planner of the firmware's own needs beside the plan."""
    found = _Needs().fold(simulation.events)
    numbers = (found.tail_used, found.together, found.apart, found.head_most)
    return ArenaNeeds(*(align_up(number, BUFFER_ALIGNMENT) for number in numbers))


class _Needs(ArenaState):
    """Collects them from events (mutable)."""

    def __init__(self) -> None:
        self.together = self.apart = self.head_most = 0
        self._is_planned = False
        super().__init__(
            {Persist: self._persisted, Temp: self._taken, Resize: self._resized, PlanDone: self._plan_done}
        )

    def _persisted(self, event: Persist) -> None:
        if self.stage is not Stage.CREATE:
            self.apart = align_up(self.apart + event.size, event.alignment)
        if not self._is_planned:
            self.together = max(self.together, self.floor_below(event) + event.tail_used)

    def _taken(self, event: Temp) -> None:
        if self.stage is not Stage.PLANNER_ARENA:
            self._reach(event.temp_end)

    def _resized(self, event: Resize) -> None:
        if not self._is_planned:
            self._reach(event.head)

    def _reach(self, end: int) -> None:
        self.head_most = max(self.head_most, end)
        self.together = max(self.together, end + self.tail_used)

    def _plan_done(self, _: PlanDone) -> None:
        self._is_planned = True
