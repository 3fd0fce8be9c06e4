"""Follows a program from stop to stop and notes what TFLM does: arenas, AllocateTensors(), what it prints.

    MicroAllocator::Create(arena, size)                      the arena as the program gives it
    SingleArenaBufferAllocator::Create(head, size)           \\ where its size is changed: in the argument, or in the
    ...::AllocatePersistentBuffer() of a new allocator       / object, whose fields are all at their start then
    MicroInterpreter::AllocateTensors() -> status            one result

The fields of an allocator are found by what they hold, since they moved from version to version: start, end, start,
end, start, one after another, in an allocator that has allocated nothing yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tflm_sim.emulation.allocations import ALLOCATOR_ROLES, Allocations
from tflm_sim.emulation.emulator import (
    Emulator,
    Reason,
    Snapshot,
    Stop,
    argument,
    give_back,
    return_address,
    set_word,
    text_at,
    words,
)
from tflm_sim.emulation.functions import Watched
from tflm_sim.emulation.printf import Arguments, formatted
from tflm_sim.emulation.program import Program
from tflm_sim.emulation.semihosting import Debugger, Ended
from tflm_sim.values import dataclass, field

_FIELDS = 8
"""Words of an allocator among which its fields begin."""
_MOST_OUTPUT = 1 << 20
_MOST_LINES = 2000
_MOST_ARENAS = 32
_PRINTING = (Watched.PRINT, Watched.REPORT, Watched.LOG)
_INVOKES = 3
"""Calls of Invoke() without anything new after which the program is taken to be in its main loop."""


@dataclass(slots=True)
class Result:
    """One AllocateTensors().

    Attributes:
        status: What it returned; None where it did not return.
        used: ``arena_used_bytes()`` afterwards.
        refused: How many requests for memory were refused.
        damage: What was handed out although it was in use, "" where nothing was.
        log: What TFLM printed meanwhile.
        ending: Why it did not return, "" where it did.
    """

    status: int | None = None
    used: int = 0
    refused: int = 0
    damage: str = ""
    log: list[str] = field(default_factory=list)
    ending: str = ""


@dataclass(slots=True)
class Arena:
    """An arena as the program made it.

    Attributes:
        address: As the program gives it.
        size: Bytes, as the program gives them.
        head: Where TFLM's use of it begins, aligned.
        is_seen_whole: Whether address and size were seen, and not only what was left of them after alignment.
        point: The state in which its size can still be changed.
        owner: The allocator whose fields hold its size there; None where it is an argument.
        size_argument: The number of the argument that holds it.
        results: Each AllocateTensors() in it.
    """

    address: int
    size: int
    head: int
    is_seen_whole: bool
    point: Snapshot | None
    owner: int | None
    size_argument: int = 0
    results: list[Result] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.address + self.size

    @property
    def padding(self) -> int:
        """Bytes before the aligned start."""
        return self.head - self.address


class Follower:
    """Runs a program and notes.

    Attributes:
        arenas: Every arena, in the order in which they were made.
        ending: Why the program was followed no further.
        is_cut: Whether that is because it did not go on for too long.
        log: What TFLM printed, line by line.
    """

    def __init__(
        self, machine: Emulator, program: Program, *, keeps_points: bool = True, is_brief: bool = False
    ) -> None:
        self.machine = machine
        self.program = program
        self.debugger = Debugger(_MOST_OUTPUT)
        self.arenas: list[Arena] = []
        self.log: list[str] = []
        self.ending = ""
        self.is_cut = False
        self.is_over: Callable[[], bool] = lambda: False
        self._keeps_points = keeps_points
        self._layout: int | None = None
        self._given: tuple[int, int] | None = None
        self._current: Arena | None = None
        self._running: Result | None = None
        self._object = 0
        self._allocations: Allocations | None = None
        self._returns: dict[int, tuple[int, Callable[[], None]]] = {}
        self._invokes = 0
        self._handlers: dict[int, Callable[[], None]] = {}
        self._shifts: dict[int, int] = {}
        for role, handle in self._table().items():
            if is_brief and role in ALLOCATOR_ROLES:
                for entry in program.functions.get(role, ()):
                    machine.leave(entry.address)
                continue
            for entry in program.functions.get(role, ()):
                self._handlers.setdefault(entry.address, handle)
                self._shifts[entry.address] = entry.shift
        machine.stop_at([*self._handlers, *program.semihosting])

    def _table(self) -> dict[Watched, Callable[[], None]]:
        """Return what happens at which function. Of functions that print, those that others call come last."""
        prints = next((role for role in _PRINTING if role in self.program.functions), Watched.LOG)
        return {
            Watched.CREATE_ALLOCATOR: self._create_allocator,
            Watched.CREATE_ARENA: self._create_arena,
            **{role: partial(self._allocator, role) for role in ALLOCATOR_ROLES},
            Watched.ALLOCATE_TENSORS: self._allocate_tensors,
            Watched.INVOKE: self._invoke,
            Watched.ABORT: self._abort,
            prints: partial(self._print, 1 if prints is Watched.REPORT else 0),
        }

    def again(self, arena: Arena, size: int, *, is_brief: bool) -> Follower:
        """Return a follower for the program as it stood when ``arena`` began, now with ``size`` bytes."""
        fresh = Follower(self.machine, self.program, keeps_points=False, is_brief=is_brief)
        fresh._layout = self._layout
        fresh._current = Arena(
            arena.address, size, arena.head, arena.is_seen_whole, None, arena.owner, arena.size_argument
        )
        fresh.arenas.append(fresh._current)
        fresh._resize(fresh._current)
        return fresh

    # -- running --------------------------------------------------------------------------------------------------

    def run(self, limit: float) -> None:
        """Follow the program until it ends, is over, or has run for ``limit`` seconds of the host's processor."""
        self.ending = ""
        while not self.ending:
            stop = self.machine.run(limit)
            if stop.reason is Reason.ADDRESS:
                self._at(stop.address)
            else:
                self.ending, self.is_cut = self._words(stop, limit), stop.reason is Reason.LIMIT
            if not self.ending and self.is_over():
                self.ending = "all that was asked for is known"
        if self._running is not None:
            self._running.ending = self.ending
            self._running = None

    def _words(self, stop: Stop, limit: float) -> str:
        where = self.program.place(stop.address)
        if stop.reason is Reason.LIMIT:
            return f"it did not go on within {limit:g} s of the host's time {where}"
        about = f" {stop.target:#x}" if stop.target is not None else ""
        return f"it {stop.text}{about} {where}"

    def _at(self, address: int) -> None:
        if address in self.program.semihosting:
            ended = self.debugger.answer(self.machine)
            if isinstance(ended, Ended):
                self.ending = "it ended" + (f" with status {ended.status}" if ended.status else "")
            return
        expected = self._returns.get(address)
        if expected is not None and self.machine.get("sp") >= expected[0]:
            del self._returns[address]
            self.machine.leave(address) if address not in self._handlers else None
            expected[1]()
        handler = self._handlers.get(address)
        if handler is not None:
            handler()

    def _when_returned(self, act: Callable[[], None]) -> None:
        """Have ``act`` called when the function at whose entry the machine stands returns."""
        address = return_address(self.machine)
        self._returns[address] = (self.machine.get("sp"), act)
        self.machine.stop_at([address])

    # -- what happens at functions --------------------------------------------------------------------------------

    def _create_allocator(self) -> None:
        self._given = (argument(self.machine, 0), argument(self.machine, 1))

    def _create_arena(self) -> None:
        first = 0 if self.program.allocator_is_static else 1
        head, size = argument(self.machine, first), argument(self.machine, first + 1)
        self._begin(head, size, None, first + 1)

    def _allocator(self, role: Watched) -> None:
        owner = argument(self.machine, 0) - self._shifts[self.machine.get("pc")]
        fields = words(self.machine, owner, _FIELDS + 5)
        at = next((at for at in range(1, _FIELDS) if self._holds_arena(fields[at : at + 5])), None)
        if at is None:
            return
        head, end, *_ = fields[at:]
        if self._current is None or (self._current.head, self._current.end) != (head, end):
            known = [one for one in self.arenas if (one.head, one.end) == (head, end)]
            if known:
                self._current = known[-1]
            else:
                self._begin(head, end - head, owner, 0)
        self._layout, self._object = at, owner
        if self._allocations is None:
            self._allocations = Allocations(self.machine, at)
        self._allocations.begin(role, owner)

    def _holds_arena(self, fields: tuple[int, ...]) -> bool:
        """Whether these are an allocator's fields: of an arena that is known, or one that has allocated nothing."""
        head, end, planned, tail, temp = fields
        if head == planned == temp != 0 and end == tail >= head:
            return True
        return (
            head <= planned <= end
            and head <= tail <= end
            and any((one.head, one.end) == (head, end) for one in self.arenas)
        )

    def _begin(self, head: int, size: int, owner: int | None, size_argument: int) -> None:
        given, self._given = self._given, None
        whole = given if given is not None and 0 <= head - given[0] < 64 else None
        whole = whole or self.program.object_around(head, size)
        if len(self.arenas) >= _MOST_ARENAS:
            self.ending = f"it makes more than {_MOST_ARENAS} arenas"
            return
        point = self.machine.save() if self._keeps_points else None
        address, whole_size = whole or (head, size)
        self._current = Arena(address, whole_size, head, whole is not None, point, owner, size_argument)
        self.arenas.append(self._current)

    def _allocate_tensors(self) -> None:
        if self._running is None:
            self._running = Result()
            self._invokes = 0
            self._when_returned(self._allocated)

    def _allocated(self) -> None:
        result, self._running = self._running, None
        if result is None or self._current is None:
            return
        result.status = self.machine.get(self.machine.core.arguments[0]) & 0xFF
        if self._allocations is not None:
            self._allocations.settle()
            fields = self._allocations.fields(self._object)
            result.used = max(fields.planned, fields.temp) - fields.head + fields.end - fields.tail
            result.refused, result.damage = self._allocations.refused, self._allocations.damage
        self._current.results.append(result)

    def _invoke(self) -> None:
        if self._current is None or not self._current.results:
            return
        self._invokes += 1
        give_back(self.machine, 0)
        if self._invokes > _INVOKES:
            self.ending = "it calls Invoke() again and again"

    def _abort(self) -> None:
        self.ending = f"it reaches {self.program.name_at(self.machine.get('pc'))}()"

    def _print(self, first: int) -> None:
        """Note what is printed; ``first``: the number of the argument that is the format."""
        text = text_at(self.machine, argument(self.machine, first))
        self._note(formatted(self.machine, text, Arguments(self.machine, first + 1)))

    def _note(self, line: str) -> None:
        if len(self.log) < _MOST_LINES:
            self.log.append(line)
            if self._running is not None:
                self._running.log.append(line)

    # -- another size ---------------------------------------------------------------------------------------------

    def _resize(self, arena: Arena) -> None:
        """Put an arena's size where the program has it, in the state in which it begins."""
        whole = max(arena.end - arena.head, 0)
        if arena.owner is None:
            self.machine.set(self.machine.core.arguments[arena.size_argument], whole)
            return
        assert self._layout is not None, "an arena that is seen in an object has its fields"
        for index in (1, 3):
            set_word(self.machine, arena.owner + 4 * (self._layout + index), arena.head + whole)
