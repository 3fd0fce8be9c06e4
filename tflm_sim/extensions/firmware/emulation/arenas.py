"""The arenas of a run: where each is created, and the calls of its allocator.

    MicroAllocator::Create(arena, size)                      the arena as the program gives it
    MicroAllocator::Create(arena, size, other, size)         two: what stays, and the rest
    SingleArenaBufferAllocator::Create(head, size)           \\ where its size is changed: in the argument, or in the
    ...::AllocatePersistentBuffer() of a new allocator       / object, whose fields are all at their start then
    PersistentArenaBufferAllocator, of two                   the same, where link-time optimisation hides Create(): the
    NonPersistentArenaBufferAllocator, in the other arena    second object is made later, and changed at its first call

The fields of an allocator are found by what they hold, since they moved from version to version: start, end, start,
end, start, one after another, in an allocator that has allocated nothing yet; of one of two, by its start and end.
Where the compiler inlined Create(), it lies in its arena already, and the fourth has moved down past it: other sizes
then have it where it is, above the tail or beyond the arena's end, and the tail as far below the end as it was.
Source: arena_allocator/persistent_arena_buffer_allocator.h, non_persistent_arena_buffer_allocator.h @ 90b983c.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tflm_sim.arena.events import OpEvent, Phase, ScratchRequest
from tflm_sim.extensions.firmware.emulation.allocations import Allocations
from tflm_sim.extensions.firmware.emulation.emulator import Emulator, Snapshot, argument, set_word, words
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.replacing import model_of
from tflm_sim.extensions.firmware.emulation.seen import Arena, Part
from tflm_sim.units import align_up

INTERPRETER = 64
"""Words of an interpreter among which its allocator stands."""
_FIELDS = 8
"""Words of an allocator among which its fields begin."""
_MAX_ARENAS = 32
_MOST_ARGUMENTS = 6
"""Of a function that makes an allocator: those of an interpreter's constructor until the arena's size, and one more."""
_NEAR_STACK = 1 << 12
"""Bytes above the stack pointer in which a function's caller has its objects."""
_ALIGNED = 64
_BUFFER_ALIGNED = 16
_NO_MEMORY = (0, 0xFFFF_FFFF)
"""What malloc() and sbrk() return where there is none."""
_SIZES = {Part.ALL: 1, Part.PERSISTENT: 1, Part.REST: 3}
"""The number of the argument of Create() that is an arena's size; the one before is the arena."""
_NEW = {Part.ALL: (0, 1, 0, 1, 0), Part.PERSISTENT: (0, 1, 1), Part.REST: (0, 1, 0, 0)}
"""Which of its arena's bounds each field of an allocator holds that has allocated nothing yet."""
_WORD, _TAIL = 4, 3
"""Bytes of a word, of which all consists that Create() puts at the arena's end; the field that has moved then."""


class Arenas:
    """What is seen of the arenas of one run.

    Attributes:
        made: Every arena, in the order in which they were made.
        blocks: (address, bytes) of each block of the heap.
        current: The arena that was made or used last, None before there is one.
        ending: Why the program is followed no further, "" where it is.
        allocators: Where the objects lie whose functions take memory of an arena.
    """

    def __init__(self, machine: Emulator, program: Program, *, keeps_points: bool) -> None:
        self.made: list[Arena] = []
        self.blocks: list[tuple[int, int]] = []
        self.current: Arena | None = None
        self.ending = ""
        self._machine = machine
        self._program = program
        self._keeps_points = keeps_points
        self._layout: int | None = None
        self._before: tuple[int, int] | None = None
        self._elsewhere: list[Arena] = []
        self._given: list[tuple[int, int]] = []
        self._allocations: dict[int, Allocations] = {}
        self.allocators: set[int] = set()

    # -- what the program calls -----------------------------------------------------------------------------------

    def give(self) -> None:
        """Note the arena that MicroAllocator::Create() is given: its first arguments.

        In a program without names they may be later ones, as the compiler may have put Create() into its caller.
        """
        last = _MOST_ARGUMENTS if self._program.is_unnamed else 2
        values = [argument(self._machine, number) for number in range(last)]
        self._given = list(pairwise(values))

    def create(self) -> None:
        """Note the arena that SingleArenaBufferAllocator::Create() is given."""
        first = 1 if self._program.has_reporter_first else 0
        self._begin(argument(self._machine, first), argument(self._machine, first + 1), None, first + 1)

    def create_two(self) -> None:
        """Note both arenas that MicroAllocator::Create() is given."""
        stays, stays_size, rest, rest_size = (argument(self._machine, number) for number in range(4))
        point = self._point()
        first = Arena(stays, stays_size, stays, True, point, None, _SIZES[Part.PERSISTENT], Part.PERSISTENT)
        head = align_up(rest, _BUFFER_ALIGNED)
        self._add_two(first, Arena(rest, rest_size, head, True, point, None, _SIZES[Part.REST], Part.REST))

    def _add_two(self, stays: Arena, rest: Arena) -> None:
        self.made.append(stays)
        self._allocations[stays.head] = Allocations(self._machine, Part.PERSISTENT)
        self._pair(stays, rest)

    def _pair(self, stays: Arena, rest: Arena) -> None:
        """Note the second one of two arenas that belong together."""
        stays.partner, rest.partner, rest.results = rest, stays, stays.results
        self.made.append(rest)
        self.current = stays
        self._allocations[rest.head] = Allocations(self._machine, Part.REST)
        self._allocations[stays.head].join(self._allocations[rest.head])

    def add_block(self, size: int) -> None:
        """Note that a function of the heap returned a block of ``size`` bytes."""
        address = argument(self._machine, 0)
        if address not in _NO_MEMORY:
            self.blocks.append((address, size))

    def allocator(self, role: Watched, shift: int) -> bool:
        """Note a call of an allocator's function; ``shift``: how far inside of the object its address points.

        Returns:
            Whether the object lies on the stack, as one does that is then copied into the arena: its bytes are others'
            before the next call.
        """
        owner = argument(self._machine, 0) - shift
        fields = words(self._machine, owner, _FIELDS + 5)
        found = self._one_of_two(fields) or self._whole(owner, fields) or self._hidden(role, owner, fields)
        if found is not None:
            at, arena = found
            self.allocators.add(owner)
            self._allocations.setdefault(arena.head, Allocations(self._machine, arena.part)).begin(role, owner, at)
        return found is not None and 0 <= owner - self._machine.get("sp") < _NEAR_STACK

    def settle(self) -> None:
        """Find out what the call before did."""
        allocations = self.allocations()
        if allocations is not None:
            allocations.settle()

    def _one_of_two(self, fields: tuple[int, ...]) -> tuple[int, Arena] | None:
        """Return where the fields begin and whose they are, None where they are not those of one of two arenas."""
        pairs = {arena.bounds: arena for arena in self.made if arena.part is not Part.ALL}
        at = next((at for at in range(1, _FIELDS) if fields[at : at + 2] in pairs), None)
        if at is None:
            return None
        arena = pairs[fields[at], fields[at + 1]]
        self.current = arena.partner if arena.part is Part.REST else arena
        return at, arena

    def _hidden(self, role: Watched, owner: int, fields: tuple[int, ...]) -> tuple[int, Arena] | None:
        """Note one of two arenas whose making is not seen, by its allocator that has allocated nothing yet.

        Returns:
            As :meth:`_whole`.
        """
        start, end = fields[1:3]
        part = Part.PERSISTENT if role is Watched.PERSISTENT else Part.REST
        new = tuple((start, end)[one] for one in _NEW[part])
        if not 0 < start < end or fields[1 : 1 + len(new)] != new:
            return None
        if part is Part.PERSISTENT:
            self._begin(start, end - start, owner, 0, part)
            return None if self.current is None else (1, self.current)
        for stays in reversed(self.made):
            if stays.part is Part.PERSISTENT and stays.head <= owner < stays.end:
                return self._hidden_rest(stays, owner, (start, end))
        return None

    def _hidden_rest(self, stays: Arena, owner: int, bounds: tuple[int, int]) -> tuple[int, Arena] | None:
        """Note the other arena of ``stays``, whose allocator at ``owner`` is asked for the first time."""
        if stays.partner is None:
            head, end = bounds
            whole = self._program.object_around(head, end - head)
            address, size = whole or (head, end - head)
            rest = Arena(address, size, head, whole is not None, stays.point, None, 0, Part.REST)
            self._pair(stays, rest)
        elif bounds == self._before:
            self._put_new(owner + 4, stays.partner)
        return None if stays.partner is None else (1, stays.partner)

    def _whole(self, owner: int, fields: tuple[int, ...]) -> tuple[int, Arena] | None:
        """Return where the fields of an allocator of one arena begin, and the arena; None where it has none."""
        at = next((at for at in range(1, _FIELDS) if self._holds_arena(owner, at, fields[at : at + 5])), None)
        if at is None:
            return None
        head, end, _, tail, _ = fields[at : at + 5]
        self._layout = at
        known = [one for one in self.made if one.bounds == (head, end)]
        if not known and any(one.bounds == (head, end) for one in self._elsewhere):
            return None  # It was made before the run was resumed, and allocates only now.
        before = self._allocations.get(head)
        is_again = before is not None and before.has_taken_below(tail) and _is_new(owner, at, fields[at : at + 5])
        if known and not is_again:
            self.current = known[-1]
        else:
            self._begin(head, end - head, owner, 0)
            if self.current is not None and tail < end:
                self.current.taken = (end & -_WORD) - tail
        return None if self.current is None else (at, self.current)

    def _holds_arena(self, owner: int, at: int, fields: tuple[int, ...]) -> bool:
        """Whether these are an allocator's fields: of a new one, or of one whose arena is known."""
        head, end, planned, tail, _ = fields
        is_ordered = head <= planned <= end and head <= tail <= end
        is_known = is_ordered and any(one.bounds == (head, end) for one in self.made)
        return is_known or _is_new(owner, at, fields)

    def _begin(self, head: int, size: int, owner: int | None, size_argument: int, part: Part = Part.ALL) -> None:
        given, self._given = self._given, []
        if self._program.is_unnamed:
            given = [(start, length) for start, length in given if start + length == head + size]
        whole = next(((start, length) for start, length in given if 0 <= head - start < _ALIGNED), None)
        if whole is None and head % _BUFFER_ALIGNED and part is Part.ALL:
            whole = head, size  # a recording allocator begins where it is told to
        whole = whole or self._program.object_around(head, size) or self._block_around(head, size)
        if len(self.made) >= _MAX_ARENAS:
            self.ending = f"it makes more than {_MAX_ARENAS} arenas"
            return
        address, whole_size = whole or (head, size)
        self.current = Arena(address, whole_size, head, whole is not None, self._point(), owner, size_argument, part)
        self.made.append(self.current)
        self._allocations.pop(head, None)

    def _point(self) -> Snapshot | None:
        return self._machine.save() if self._keeps_points else None

    def _block_around(self, head: int, size: int) -> tuple[int, int] | None:
        """Return (address, bytes) of the block of the heap that an arena is, but for what alignment skips."""
        for address, whole in reversed(self.blocks):
            if 0 <= head - address < _ALIGNED and address + whole == head + size:
                return address, whole
        return None

    # -- what is asked --------------------------------------------------------------------------------------------

    def of(self, interpreter: int) -> Arena | None:
        """Return the arena in which the allocator of an interpreter lies, by the first address that is in one.

        Of several that were made in the same place, it is the last one; of two that belong together, what stays.
        """
        arena = self._holding(interpreter)
        if arena is None or self.is_elsewhere(interpreter):
            return None
        return arena.partner if arena.part is Part.REST else arena

    def is_elsewhere(self, interpreter: int) -> bool:
        """Whether the allocator of an interpreter lies in another arena than the one whose size was changed.

        That arena was made before the run was resumed.
        """
        arena = self._holding(interpreter)
        return any(one is arena for one in self._elsewhere)

    def _holding(self, interpreter: int) -> Arena | None:
        found, known = words(self._machine, interpreter, INTERPRETER), [*self.made[::-1], *self._elsewhere]
        return next((one for value in found for one in known if one.head <= value < one.end), None)

    def interpreter(self) -> int:
        """Return the interpreter at whose AllocateTensors() the machine stands.

        Link-time optimisation can put the address of a static one into the function instead of handing it over.
        """
        given, program = argument(self._machine, 0), self._program
        is_code = program.is_function(given | self._machine.core.code_bit)
        is_given = not is_code and model_of(self._machine, given) is not None and self._holding(given) is not None
        static = [] if is_given or program.is_unnamed else self._static_interpreters()
        return static[0] if len(static) == 1 else given

    def _static_interpreters(self) -> list[int]:
        """Return the addresses of objects of the program that hold a model and point into an arena."""
        program = self._program
        spans = (one for one in program.data_spans if program.object_bounds(one.start) == (one.start, one.end))
        held = [one.start for one in spans if model_of(self._machine, one.start, one.end - one.start) is not None]
        return [one for one in held if self._holding(one) is not None]

    def allocations(self) -> Allocations | None:
        """Return what the allocator of the current arena was asked for, None where it was not asked yet."""
        return None if self.current is None else self._allocations.get(self.current.head)

    def tell(self, event: Phase | OpEvent | ScratchRequest) -> None:
        """Note where TFLM is, or what it is asked for that is not its allocator's."""
        allocations = self.allocations()
        if allocations is not None:
            allocations.settle()
            allocations.events.append(event)

    # -- other sizes ----------------------------------------------------------------------------------------------

    def restart(
        self, before: Arenas, arena: Arena, size: int, moved: int | None, other_place: Span | None = None
    ) -> None:
        """Have ``arena``, of another run, of ``size`` bytes, where the machine stands as when it began.

        ``moved``: where it lies now, None for where the program has it; ``other_place``: the same of its partner.
        """
        self._layout = before._layout
        first = next((at for at, one in enumerate(before.made) if one is arena or one is arena.partner), 0)
        self._elsewhere = before.made[:first]
        self.blocks += before.blocks
        self.allocators |= before.allocators
        address = arena.address if moved is None else moved
        head = address + arena.head - arena.address
        fresh = replace(arena, address=address, size=size, head=head, point=None, results=[], partner=None)
        if arena.partner is not None:
            self._before = next(one.bounds for one in (arena, arena.partner) if one.part is Part.REST)
            other = replace(arena.partner, point=None, results=[], partner=None)
            if other_place is not None:
                skipped = other.head - other.address
                start, room = other_place.start, other_place.end - other_place.start
                other = replace(other, address=start, head=start + skipped, size=room)
            self._add_two(*((fresh, other) if arena.part is Part.PERSISTENT else (other, fresh)))
            if other_place is not None:
                self._resize(other)
        else:
            self.current = fresh
            self.made.append(fresh)
        self._resize(fresh)

    def _resize(self, arena: Arena) -> None:
        """Put an arena's place and size where the program has them, in the state in which it begins."""
        start = arena.head if arena.part is Part.ALL else arena.address
        whole = max(arena.end - start, 0)
        if arena.owner is None and arena.size_argument:
            arguments = self._machine.core.arguments
            self._machine.set(arguments[arena.size_argument - 1], start)
            self._machine.set(arguments[arena.size_argument], whole)
        elif arena.owner is not None:
            layout = self._layout if arena.part is Part.ALL else 1
            assert layout is not None, "an arena that is seen in an object has its fields"
            self._put_new(arena.owner + 4 * layout, arena)

    def _put_new(self, place: int, arena: Arena) -> None:
        """Write the fields of a new allocator of ``arena``."""
        for index, number in enumerate(_NEW[arena.part]):
            set_word(self._machine, place + 4 * index, max(arena.bounds[number], arena.head))
        if arena.taken:
            set_word(self._machine, place + 4 * _TAIL, max((arena.end & -_WORD) - arena.taken, arena.head))


def _is_new(owner: int, at: int, fields: tuple[int, ...]) -> bool:
    """Whether an allocator at ``owner``, whose ``fields`` begin at its word ``at``, has just been made.

    It has allocated nothing; or only what Create() puts at the arena's end, itself first, where the compiler inlined
    the code for that.
    """
    head, end, planned, tail, temp = fields
    is_inside = head < tail <= owner and owner + _WORD * (at + len(fields)) <= end
    return head == planned == temp != 0 and (end == tail >= head or is_inside)
