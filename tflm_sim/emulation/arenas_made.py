"""The arenas that a program makes, seen by the follower as they are made, and made once more with another size.

    MicroAllocator::Create(arena, size)                      the arena as the program gives it
    SingleArenaBufferAllocator::Create(head, size)           \\ where its size is changed: in the argument, or in the
    ...::AllocatePersistentBuffer() of a new allocator       / object, whose fields are all at their start then

The fields of an allocator are found by what they hold, since they moved from version to version: start, end, start,
end, start, one after another, in an allocator that has allocated nothing yet.
"""

from __future__ import annotations

from tflm_sim.emulation.allocations import Allocations
from tflm_sim.emulation.emulator import Emulator, set_word, words
from tflm_sim.emulation.functions import Watched
from tflm_sim.emulation.program import Program
from tflm_sim.emulation.seen import Arena, Result

_FIELDS = 8
"""Words of an allocator among which its fields begin."""
_MOST_ARENAS = 32
_INTERPRETER = 64
"""Words of an interpreter among which its allocator stands."""
_ALIGNED = 64


class ArenasMade:
    """Notes the arenas of one run.

    Attributes:
        arenas: Every one, in the order in which they were made.
        current: The one in use, None before the first.
        blocks: (address, bytes) of every block of the heap: the program's own data, or an arena that is not seen to be
            made.
        given: (address, bytes) of the arena that the program gives next, before it is aligned.
        problem: Why no more are noted, "" while they are.
    """

    def __init__(self, machine: Emulator, program: Program, *, keeps_points: bool) -> None:
        self.arenas: list[Arena] = []
        self.current: Arena | None = None
        self.blocks: list[tuple[int, int]] = []
        self.given: tuple[int, int] | None = None
        self.problem = ""
        self._machine = machine
        self._program = program
        self._keeps_points = keeps_points
        self._layout: int | None = None
        self._owner = 0
        self._allocations: dict[int, Allocations] = {}

    def begin(self, head: int, size: int, owner: int | None, size_argument: int = 0) -> None:
        """Note an arena that begins here; what its owner and the argument are, :class:`Arena` says."""
        given, self.given = self.given, None
        if len(self.arenas) >= _MOST_ARENAS:
            self.problem = f"it makes more than {_MOST_ARENAS} arenas"
            return
        whole = given if given is not None and 0 <= head - given[0] < _ALIGNED else None
        whole = whole or self._program.object_around(head, size) or self._block_around(head, size)
        point = self._machine.save() if self._keeps_points else None
        address, whole_size = whole or (head, size)
        self.current = Arena(address, whole_size, head, whole is not None, point, owner, size_argument)
        self.arenas.append(self.current)
        self._allocations.pop(head, None)

    def begin_again(self, before: ArenasMade, arena: Arena, size: int, address: int) -> None:
        """Make an arena of another run once more, in the state in which it began, elsewhere or of another size."""
        self._layout = before._layout
        self.blocks += before.blocks
        head = address + arena.head - arena.address
        self.current = Arena(address, size, head, arena.is_seen_whole, None, arena.owner, arena.size_argument)
        self.arenas.append(self.current)
        self._write(self.current)

    def use(self, role: Watched, owner: int) -> None:
        """Note a call of an allocator, which lies at ``owner``, and its arena if it is a new one."""
        fields = words(self._machine, owner, _FIELDS + 5)
        at = next((at for at in range(1, _FIELDS) if self._are_fields(fields[at : at + 5])), None)
        if at is None:
            return
        head, end, *_ = fields[at:]
        if self._is_made_again(head, fields[at : at + 5]):
            self.begin(head, end - head, owner)
        elif self.current is None or (self.current.head, self.current.end) != (head, end):
            known = [one for one in self.arenas if (one.head, one.end) == (head, end)]
            if known:
                self.current = known[-1]
            else:
                self.begin(head, end - head, owner)
        self._layout, self._owner = at, owner
        self._allocations.setdefault(head, Allocations(self._machine, at)).begin(role, owner)

    def use_arena_of(self, interpreter: int) -> None:
        """Go on with the arena in which the allocator of an interpreter lies, by the first address that is in one.

        Of several that were made in the same place, it is the last one.
        """
        found, made = words(self._machine, interpreter, _INTERPRETER), self.arenas[::-1]
        of_it = (one for value in found for one in made if one.head <= value < one.end)
        self.current = next(of_it, self.current)

    def allocations(self) -> Allocations | None:
        """Return the calls of the current arena's allocator, up to now; None where none was seen."""
        found = self._allocations.get(self.current.head) if self.current is not None else None
        if found is not None:
            found.settle()
        return found

    def conclude(self, result: Result) -> None:
        """Note in ``result`` what AllocateTensors() asked of the current arena's allocator."""
        allocations = self.allocations()
        if allocations is not None:
            fields = allocations.fields(self._owner)
            result.used = max(fields.planned, fields.temp) - fields.head + fields.end - fields.tail
            result.refused, result.damage = allocations.refused, allocations.damage
            result.events = allocations.take()

    def _are_fields(self, fields: tuple[int, ...]) -> bool:
        """Whether these are an allocator's fields: of an arena that is known, or one that has allocated nothing."""
        head, end, planned, tail, temp = fields
        if head == planned == temp != 0 and end == tail >= head:
            return True
        is_ordered = head <= planned <= end and head <= tail <= end
        return is_ordered and any((one.head, one.end) == (head, end) for one in self.arenas)

    def _is_made_again(self, head: int, fields: tuple[int, ...]) -> bool:
        """Whether these are the fields of a new allocator where another one has allocated something already."""
        before, end = self._allocations.get(head), fields[1]
        return before is not None and before.has_taken_of_tail(end) and fields == (head, end, head, end, head)

    def _block_around(self, head: int, size: int) -> tuple[int, int] | None:
        """Return (address, bytes) of the block of the heap that an arena is, but for what alignment skips."""
        for address, whole in reversed(self.blocks):
            if 0 <= head - address < _ALIGNED and address + whole == head + size:
                return address, whole
        return None

    def _write(self, arena: Arena) -> None:
        """Put an arena's place and size where the program has them, in the state in which it begins."""
        whole = max(arena.end - arena.head, 0)
        if arena.owner is None:
            arguments = self._machine.core.arguments
            self._machine.set(arguments[arena.size_argument - 1], arena.head)
            self._machine.set(arguments[arena.size_argument], whole)
            return
        assert self._layout is not None, "an arena that is seen in an object has its fields"
        for index, value in enumerate((arena.head, arena.head + whole, arena.head, arena.head + whole, arena.head)):
            set_word(self._machine, arena.owner + 4 * (self._layout + index), value)
