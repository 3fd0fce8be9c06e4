"""Which stores of AllocateTensors() and Invoke() go out of bounds, and which operators write the program's own data.

in bounds    every arena, the banks of a plan of banks.h, the stack, the interpreter, its allocator, devices
own data     static objects and blocks of the heap: told where an operator writes them
outside      everything else

While an operator of Invoke() runs, only its own bytes of the arena are in bounds (``ownership.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from tflm_sim.extensions.firmware.emulation import store_watch
from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.seen import Arena, Into, ObservedOperator, StoreSeen
from tflm_sim.extensions.firmware.emulation.store_watch import Noted, Stored

_BOOKKEEPING = 64
"""Bytes around the blocks of a heap in which malloc() keeps its own records."""
_INTERPRETER = 256
"""Bytes of an interpreter that neither an object nor a block of the heap holds."""
_CALLERS, _MAX_CALLERS = 1 << 16, 1 << 20
"""Bytes of the callers' stack where nothing says where it begins; and the most that they can be."""


class Stores:
    """Watches the stores of one program.

    Args:
        machine: It.
        program: What it executes.
        arenas: Every arena so far; the list grows.
        blocks: (address, bytes) of every block of the heap so far; the list grows.

    Attributes:
        interpreter: Whose AllocateTensors() or Invoke() is watched.
        allocators: Where the objects lie that allocate for it.
        banks: Where its planner may put tensors, besides the arenas.
        own: The bytes of ``guarded`` that each operator may write, all for one that is not there; None outside of
            Invoke(), and where that was not found.
        guarded: The arena, and the banks that are not that.
    """

    def __init__(
        self, machine: Emulator, program: Program, arenas: Sequence[Arena], blocks: Sequence[tuple[int, int]]
    ) -> None:
        self._machine = machine
        self._program = program
        self._arenas = arenas
        self._blocks = blocks
        self._askers: list[ObservedOperator | None] = [None]
        self._asker: ObservedOperator | None = None
        self._noted: Noted | None = None
        self._pointer = 0
        self._pieces: dict[int, Span] = {}
        self.interpreter = 0
        self.allocators: set[int] = set()
        self.banks: Sequence[Span] = ()
        self.own: Mapping[ObservedOperator, Sequence[Span]] | None = None
        self.guarded: Sequence[Span] = ()

    def begin(self, lent: Span, pointer: int) -> None:
        """Watch the function at whose entry the machine stands.

        Args:
            lent: The stack on which it runs.
            pointer: The program's own stack pointer.
        """
        self._pointer = pointer
        inside = [*(arena.span for arena in self._arenas), *self.banks]
        users = [one for one in (self.interpreter, *self.allocators) if not any(each.contains(one) for each in inside)]
        free = [lent, Span(pointer, self._top(pointer)), *inside, *map(self._holder, users)]
        self._askers, self._asker = [None], None
        self._noted = self._machine.noted()
        if self._noted is not None:
            objects = [*self._program.data_spans, *self._heap()]
            self._pieces = store_watch.begin(self._noted, free, objects, self._machine.devices(), self._apart())

    def _apart(self) -> Iterator[Span]:
        """Yield what is guarded in pieces, each of which belongs as a whole to an operator or does not."""
        if self.own is None:
            return
        edges = {edge for spans in self.own.values() for one in spans for edge in (one.start, one.end)}
        for place in self.guarded:
            inside = {edge for edge in edges if place.start < edge < place.end}
            yield from (Span(*ends) for ends in pairwise(sorted({place.start, place.end} | inside)))

    def _holder(self, address: int) -> Span:
        """Return the object or the block of the heap that holds an interpreter or an allocator."""
        bounds = self._program.object_bounds(address)
        if bounds is not None:
            return Span(*bounds)
        blocks = [Span(start, start + size) for start, size in self._blocks if start <= address < start + size]
        return min(blocks, key=lambda one: one.end - one.start, default=Span(address, address + _INTERPRETER))

    def _top(self, pointer: int) -> int:
        """Return where the stack begins from which its callers took theirs."""
        top = self._program.reset_state().get("sp", 0)
        bounds = self._program.object_bounds(pointer)
        if bounds is not None:
            return bounds[1]
        return top if pointer <= top <= pointer + _MAX_CALLERS else pointer + _CALLERS

    def _heap(self) -> list[Span]:
        """Return where blocks of the heap are; where malloc() has no name, where they may be."""
        if self._program.is_unnamed:
            end = max((span.end for span in self._program.data_spans), default=0)
            return [Span(end, self._pointer if self._pointer > end else end + _MAX_CALLERS)]
        if not self._blocks:
            return []
        low = min(address for address, _ in self._blocks)
        return [Span(low - _BOOKKEEPING, max(address + size for address, size in self._blocks) + _BOOKKEEPING)]

    @property
    def asker(self) -> ObservedOperator | None:
        """The operator for which stores are."""
        return self._asker

    def are_for(self, operator: ObservedOperator | None) -> ObservedOperator | None:
        """Note that stores are for an operator from now on; return for which they were until now."""
        before, self._asker = self._asker, operator
        if operator not in self._askers:
            self._askers.append(operator)
        if self._noted is not None:
            self._noted.asker = self._askers.index(operator)
            if self._pieces and self.own is not None:
                store_watch.permit(self._noted, self._pieces, self.own.get(operator) if operator else None)
        return before

    def take(self) -> list[StoreSeen] | None:
        """Return what was seen since the watch began; None where nothing was watched."""
        if self._noted is None:
            return None
        guarded, self._pieces = self._pieces, {}
        seen = map(self._seen, store_watch.end(self._noted, guarded))
        return [one for one in seen if one.into != "data" or one.operator or not one.code_address]

    def _seen(self, one: Stored) -> StoreSeen:
        """Return stores for people; the heap may have grown since the watch began."""
        return StoreSeen(self._askers[one.asker], one.code_address, one.low, one.end, one.times, self._into(one))

    def _into(self, one: Stored) -> Into:
        if one.is_guarded:
            return "arena"
        # Of a program without symbols, only an operator's stores are known to be meant for the arena.
        is_ours = not self._program.is_unnamed or self._askers[one.asker] is not None
        if is_ours and any(one.low == arena.end for arena in self._arenas):
            bounds = self._program.object_bounds(one.low)
            if bounds is None or bounds[0] < one.low:  # No other object begins there.
                return "behind"
        is_inside = one.is_inside or any(span.start <= one.low and one.end <= span.end for span in self._heap())
        return "data" if is_inside else "nothing"
