"""Follows a program from stop to stop and notes what TFLM does in it: arenas, AllocateTensors(), Invoke(), its lines.

    MicroAllocator::Create(arena, size)                      the arena as the program gives it
    SingleArenaBufferAllocator::Create(head, size)           \\ where its size is changed: in the argument, or in the
    ...::AllocatePersistentBuffer() of a new allocator       / object, whose fields are all at their start then
    MicroInterpreter::AllocateTensors() -> status            one result
    MicroInterpreter::Invoke()                               answered with success, or run and measured

The fields of an allocator are found by what they hold, since they moved from version to version: start, end, start,
end, start, one after another, in an allocator that has allocated nothing yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time

from tflm_sim.arena.events import OpEvent, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.emulation.allocations import ALLOCATOR_ROLES, Allocations
from tflm_sim.emulation.emulator import (
    Emulator,
    Reason,
    Stop,
    argument,
    give_back,
    landing,
    return_address,
    set_word,
    text_at,
    words,
)
from tflm_sim.emulation.functions import Watched
from tflm_sim.emulation.measuring import Measuring
from tflm_sim.emulation.operators import find_operators
from tflm_sim.emulation.printf import Arguments, formatted
from tflm_sim.emulation.program import Program
from tflm_sim.emulation.replacing import Replacement, subgraphs_of
from tflm_sim.emulation.seen import Arena, NodeSeen, Result
from tflm_sim.emulation.semihosting import Debugger, Ended
from tflm_sim.emulation.stores import Stores
from tflm_sim.values import dataclass, replace

_FIELDS = 8
"""Words of an allocator among which its fields begin."""
_MOST_OUTPUT = 1 << 20
_MOST_LINES = 2000
_MOST_ARENAS = 32
_INTERPRETER = 64
"""Words of an interpreter among which its allocator stands."""
_ALIGNED = 64
_STACK_ALIGNED = 16
_RETURNED = "the function that was called returned"
_PRINTING = (Watched.PRINT, Watched.REPORT, Watched.LOG)
_INVOKES, _LOOP_S, _MOST_INVOKES = 3, 0.5, 1000
"""Calls of Invoke() without anything new, and seconds of the host's processor from the first of them, after which the
program is taken to be in its main loop; and the calls after which it is, however fast."""


@dataclass(frozen=True, slots=True)
class Interest:
    """What a run is for.

    Attributes:
        keeps_points: Whether the state in which each arena begins is kept.
        is_brief: Whether only what AllocateTensors() returns counts, and not what its allocator does.
        operators: Of each AllocateTensors(), whose Init, Prepare and Eval are then noted.
        measures: Whether stack is measured, and how many calls of Invoke() are run and measured.
        invokes: How many calls of Invoke() after each AllocateTensors() are run.
        runs_invokes: Whether the others are run, too, instead of answered.
        answers_vendors: Whether functions of vendors and operating systems are answered instead of run.
        model: What is put in the place of the program's model, None where it keeps its own.
    """

    keeps_points: bool = False
    is_brief: bool = False
    operators: Sequence[tuple[NodeSeen, ...]] = ()
    measures: bool = False
    invokes: int = 0
    runs_invokes: bool = False
    answers_vendors: bool = False
    model: Replacement | None = None


class Follower:
    """Runs a program and notes.

    Attributes:
        arenas: Every arena, in the order in which they were made.
        ending: Why the program was followed no further.
        is_cut: Whether that is because it did not go on for too long.
        is_lost: Whether that is because it went astray: a fault, a failed check, an end that it says is a failure.
        answered: How many calls of Invoke() were answered with success and not run.
        problem: Why another model cannot be put in the place of its own, "" where nothing is known against it.
        log: What TFLM printed, line by line.
        is_over: Asked after each stop whether all is known.
    """

    def __init__(self, machine: Emulator, program: Program, interest: Interest) -> None:
        self.machine = machine
        self.program = program
        self.debugger = Debugger(_MOST_OUTPUT)
        self.arenas: list[Arena] = []
        self.log: list[str] = []
        self.ending = ""
        self.is_cut = False
        self.is_lost = False
        self.answered = 0
        self.problem = ""
        self.is_over: Callable[[], bool] = lambda: False
        self._interest = interest
        self._layout: int | None = None
        self._given: tuple[int, int] | None = None
        self._current: Arena | None = None
        self._running: Result | None = None
        self._object = 0
        self._allocations: dict[int, Allocations] = {}
        self._returns: dict[int, list[tuple[int, Callable[[], None]]]] = {}
        self._blocks: list[tuple[int, int]] = []
        self._invokes = 0
        self._invoked_since = 0.0
        self._stores = Stores(machine, program, self.arenas, self._blocks)
        self._measuring = Measuring(machine, self._when_returned, self._stores) if interest.measures else None
        self._end: int | None = None
        self._handlers: dict[int, Callable[[], None]] = {}
        self._shifts: dict[int, int] = {}
        self._watch()

    def _watch(self) -> None:
        """Stop where something is to be noted."""
        for role, handle in self._table().items():
            for entry in self.program.functions.get(role, ()):
                if self._interest.is_brief and role in ALLOCATOR_ROLES:
                    self.machine.leave(entry.address)
                    continue
                self._handlers.setdefault(entry.address, handle)
                self._shifts[entry.address] = entry.shift
        for operator in (one for operators in self._interest.operators for one in operators):
            for address, stage in (
                (operator.init, Stage.OP_INIT),
                (operator.prepare, Stage.OP_PREPARE),
                (operator.invoke, Stage.OP_INVOKE),
            ):
                if address is not None and (stage is not Stage.OP_INVOKE or self._interest.invokes):
                    self._handlers.setdefault(address, partial(self._operator, stage))
        if self._interest.answers_vendors:
            for address, value in self.program.answered().items():
                self._handlers.setdefault(address, partial(give_back, self.machine, value))
        self.machine.stop_at([*self._handlers, *self.program.semihosting])

    def _table(self) -> dict[Watched, Callable[[], None]]:
        """Return what happens at which function. Of functions that print, those that others call come last."""
        functions = self.program.functions
        prints = next((role for role in _PRINTING if role in functions), Watched.LOG)
        return {
            Watched.CREATE_ALLOCATOR: self._create_allocator,
            Watched.CREATE_ARENA: self._create_arena,
            **{role: partial(self._allocator, role) for role in ALLOCATOR_ROLES},
            Watched.START_MODEL: self._start_model,
            Watched.COMMIT_PLAN: partial(self._phase, Stage.PLAN),
            Watched.ALLOCATE_TENSORS: self._allocate_tensors,
            Watched.INVOKE if Watched.INVOKE in functions else Watched.INVOKE_SUBGRAPH: self._invoke,
            Watched.ABORT: self._abort,
            Watched.ALLOCATE: self._allocate,
            prints: partial(self._print, 1 if prints is Watched.REPORT else 0),
        }

    def again(self, arena: Arena, size: int, interest: Interest, moved: int | None = None) -> Follower:
        """Return a follower for the program as it stood when ``arena`` began, now with ``size`` bytes.

        ``moved``: where it lies now, None for where the program has it.
        """
        own = self._interest
        interest = replace(
            interest, answers_vendors=own.answers_vendors, model=own.model, runs_invokes=own.runs_invokes
        )
        fresh = Follower(self.machine, self.program, interest)
        fresh._layout = self._layout
        fresh._blocks += self._blocks
        address = arena.address if moved is None else moved
        head = address + arena.head - arena.address
        fresh._current = Arena(address, size, head, arena.is_seen_whole, None, arena.owner, arena.size_argument)
        fresh.arenas.append(fresh._current)
        fresh._resize(fresh._current)
        return fresh

    @property
    def has_other_model(self) -> bool:
        """Whether another model was put in the place of the program's."""
        return self._interest.model is not None

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
                self.is_lost = not self.is_cut
            if not self.ending and self.is_over():
                self.ending = "all that was asked for is known"
        if self._running is not None:
            self._running.ending = self.ending
            if self._current is not None:
                self._current.results.append(self._running)
            self._running = None

    def call(self, address: int, first: int, limit: float) -> int | None:
        """Call a function of the program from where it stands, and return what it returns.

        Args:
            address: The function.
            first: Its first argument.
            limit: As in :meth:`run`.

        Returns:
            None where it does not return; ``ending`` says why.
        """
        self.is_over = lambda: False
        if self._end is None:
            self._end = landing(self.machine)
            self._handlers[self._end] = self._returned
        core = self.machine.core
        stack = self.machine.get("sp") & -_STACK_ALIGNED
        for register, value in (
            ("sp", stack), (core.arguments[0], first), (core.link, self._end | core.code_bit), ("pc", address)
        ):  # fmt: skip
            self.machine.set(register, value)
        handler = self._handlers.get(address)
        if self._interest.measures and handler is not None:
            handler()
        self.run(limit)
        return self.machine.get(core.arguments[0]) if self.ending == _RETURNED else None

    def _returned(self) -> None:
        self.ending = _RETURNED

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
                self.is_lost = ended.status != 0
            return
        expected = self._returns.get(address, [])
        if expected and self.machine.get("sp") >= expected[-1][0]:
            _, act = expected.pop()
            if not expected and address not in self._handlers:
                self.machine.leave(address)
            act()
        handler = self._handlers.get(address)
        if handler is not None:
            handler()
        elif not self.program.is_function(address + self.machine.core.code_bit):
            self.ending = "the function in which it was started returned"

    def _when_returned(self, act: Callable[[], None]) -> None:
        """Have ``act`` called when the function at whose entry the machine stands returns."""
        address = return_address(self.machine)
        self._returns.setdefault(address, []).append((self.machine.get("sp"), act))
        self.machine.stop_at([address])

    # -- arenas ---------------------------------------------------------------------------------------------------

    def _create_allocator(self) -> None:
        self._given = (argument(self.machine, 0), argument(self.machine, 1))

    def _create_arena(self) -> None:
        first = 1 if self.program.has_reporter_first else 0
        head, size = argument(self.machine, first), argument(self.machine, first + 1)
        self._begin(head, size, None, first + 1)

    def _allocate(self) -> None:
        """Note a block of the heap: the program's own data, or an arena whose allocator is not seen to be made."""
        size = argument(self.machine, 0)
        self._when_returned(lambda: self._blocks.append((self.machine.get(self.machine.core.arguments[0]), size)))

    def _block_around(self, head: int, size: int) -> tuple[int, int] | None:
        """Return (address, bytes) of the block of the heap that an arena is, but for what alignment skips."""
        for address, whole in reversed(self._blocks):
            if 0 <= head - address < _ALIGNED and address + whole == head + size:
                return address, whole
        return None

    def _allocator(self, role: Watched) -> None:
        owner = argument(self.machine, 0) - self._shifts[self.machine.get("pc")]
        fields = words(self.machine, owner, _FIELDS + 5)
        at = next((at for at in range(1, _FIELDS) if self._holds_arena(fields[at : at + 5])), None)
        if at is None:
            return
        head, end, *_ = fields[at:]
        if self._is_made_again(head, fields[at : at + 5]):
            self._begin(head, end - head, owner, 0)
        elif self._current is None or (self._current.head, self._current.end) != (head, end):
            known = [one for one in self.arenas if (one.head, one.end) == (head, end)]
            if known:
                self._current = known[-1]
            else:
                self._begin(head, end - head, owner, 0)
        self._layout, self._object = at, owner
        self._allocations.setdefault(head, Allocations(self.machine, at)).begin(role, owner)

    def _holds_arena(self, fields: tuple[int, ...]) -> bool:
        """Whether these are an allocator's fields: of an arena that is known, or one that has allocated nothing."""
        head, end, planned, tail, temp = fields
        if head == planned == temp != 0 and end == tail >= head:
            return True
        is_ordered = head <= planned <= end and head <= tail <= end
        return is_ordered and any((one.head, one.end) == (head, end) for one in self.arenas)

    def _is_made_again(self, head: int, fields: tuple[int, ...]) -> bool:
        """Whether these are the fields of a new allocator where another one has allocated something already."""
        before = self._allocations.get(head)
        return (
            before is not None
            and before.has_taken_of_tail(fields[1])
            and fields == (head, fields[1], head, fields[1], head)
        )

    def _begin(self, head: int, size: int, owner: int | None, size_argument: int) -> None:
        given, self._given = self._given, None
        whole = given if given is not None and 0 <= head - given[0] < _ALIGNED else None
        whole = whole or self.program.object_around(head, size) or self._block_around(head, size)
        if len(self.arenas) >= _MOST_ARENAS:
            self.ending = f"it makes more than {_MOST_ARENAS} arenas"
            return
        point = self.machine.save() if self._interest.keeps_points else None
        address, whole_size = whole or (head, size)
        self._current = Arena(address, whole_size, head, whole is not None, point, owner, size_argument)
        self.arenas.append(self._current)
        self._allocations.pop(head, None)

    def _resize(self, arena: Arena) -> None:
        """Put an arena's place and size where the program has them, in the state in which it begins."""
        whole = max(arena.end - arena.head, 0)
        if arena.owner is None:
            arguments = self.machine.core.arguments
            self.machine.set(arguments[arena.size_argument - 1], arena.head)
            self.machine.set(arguments[arena.size_argument], whole)
            return
        assert self._layout is not None, "an arena that is seen in an object has its fields"
        for index, value in enumerate((arena.head, arena.head + whole, arena.head, arena.head + whole, arena.head)):
            set_word(self.machine, arena.owner + 4 * (self._layout + index), value)

    # -- AllocateTensors() ----------------------------------------------------------------------------------------

    def _allocate_tensors(self) -> None:
        interpreter = argument(self.machine, 0)
        if self._running is None and self._is_interpreter(interpreter):
            if self._interest.model is not None:
                self.ending = self.problem = self._interest.model.tell(interpreter)
                if self.problem:
                    return
            self._current = self._arena_of(interpreter) or self._current
            self._running = result = Result(interpreter=interpreter, pointer=self.machine.get("sp"))
            self._invokes = 0
            if self._measuring is not None and not self._measuring.is_running:
                self._measuring.stack(partial(self._allocated_on, result))
            else:
                self._when_returned(self._allocated)

    def _is_interpreter(self, address: int) -> bool:
        """Whether an interpreter lies there; seen by its model, and asked only where functions have no names."""
        if not self.program.is_unnamed:
            return True
        return any(subgraphs_of(self.machine, one) is not None for one in words(self.machine, address, _INTERPRETER))

    def _arena_of(self, interpreter: int) -> Arena | None:
        """Return the arena in which the allocator of an interpreter lies, by the first address that is in one.

        Of several that were made in the same place, it is the last one.
        """
        found, made = words(self.machine, interpreter, _INTERPRETER), self.arenas[::-1]
        return next((one for value in found for one in made if one.head <= value < one.end), None)

    def _allocated_on(self, result: Result, stack: int) -> None:
        result.stack, result.stores = stack, self._stores.take()
        self._allocated()

    def _allocated(self) -> None:
        result, self._running = self._running, None
        if result is None or self._current is None:
            return
        self._current = self._arena_of(result.interpreter) or self._current
        result.status = self.machine.get(self.machine.core.arguments[0]) & 0xFF
        allocations = self._allocations.get(self._current.head)
        if allocations is not None:
            allocations.settle()
            fields = allocations.fields(self._object)
            result.used = max(fields.planned, fields.temp) - fields.head + fields.end - fields.tail
            result.refused, result.damage = allocations.refused, allocations.damage
            result.events = allocations.take()
            if self._interest.keeps_points and not result.status:
                blocks = (event for event in result.events if isinstance(event, Persist))
                result.operators = find_operators(self.machine, self._current.head, blocks, self.program.is_function)
        self._current.results.append(result)

    def _start_model(self) -> None:
        if self._running is not None:
            self._running.model = argument(self.machine, 1)
        self._phase(Stage.BUILTIN_DATA_ALLOCATOR)

    def _phase(self, stage: Stage) -> None:
        self._tell(Phase(stage))
        self._stores.are_for(None)

    def _tell(self, event: Phase | OpEvent) -> None:
        allocations = self._allocations.get(self._current.head) if self._current is not None else None
        if allocations is not None:
            allocations.settle()
            allocations.events.append(event)

    def _operator(self, stage: Stage) -> None:
        """Note an operator's Init or Prepare, or measure its Eval."""
        if self._current is None:
            return
        number = len(self._current.results) - (self._running is None)
        operators = self._interest.operators[number] if 0 <= number < len(self._interest.operators) else ()
        address = self.machine.get("pc")
        if stage is Stage.OP_INIT and self._running is not None:
            done = sum(isinstance(one, OpEvent) for one in self._allocations[self._current.head].events)
            having = [one for one in operators if one.init is not None]
            found = having[done] if done < len(having) and having[done].init == address else None
        else:
            node = argument(self.machine, 1)
            found = next((one for one in operators if one.node == node), None)
        if found is None:
            return
        if self._running is not None:
            stage = Stage.OP_PREPARE if found.prepare == address and found.init != address else stage
            self._tell(OpEvent(stage, found.subgraph, found.index, found.name, True))
            self._stores.are_for(found)
        elif stage is Stage.OP_INVOKE and self._measuring is not None:
            self._measuring.operator(found)

    # -- Invoke(), and the rest -----------------------------------------------------------------------------------

    def invoke(self, limit: float) -> None:
        """Call Invoke() of the interpreter whose AllocateTensors() returned last, and measure it."""
        entries = self.program.functions.get(Watched.INVOKE, ())
        if entries and self._current is not None and self._current.results:
            self.call(entries[0].address, self._current.results[-1].interpreter, limit)

    def _invoke(self) -> None:
        """Answer Invoke() with success, unless it is to be run."""
        if self._running is not None or self._current is None or not self._current.results:
            return
        if self._measuring is not None and self._measuring.is_running:
            return
        if not self._is_interpreter(argument(self.machine, 0)):
            return
        result = self._current.results[-1]
        self._invokes += 1
        if self._invokes == 1:
            self._invoked_since = process_time()
        if self._measuring is not None and self._invokes <= self._interest.invokes:
            result.invocations.append(self._measuring.invoke())
            return
        if not self._interest.runs_invokes:
            self.answered += 1
            give_back(self.machine, 0)
        more, seconds = self._invokes - self._interest.invokes, process_time() - self._invoked_since
        if more > _MOST_INVOKES or (more > _INVOKES and seconds > _LOOP_S):
            self.ending = "it calls Invoke() again and again"

    def _abort(self) -> None:
        self.ending = f"it reaches {self.program.name_at(self.machine.get('pc'))}()"
        self.is_lost = True

    def _print(self, first: int) -> None:
        """Note what is printed; ``first``: the number of the argument that is the format."""
        text = text_at(self.machine, argument(self.machine, first))
        line = formatted(self.machine, text, Arguments(self.machine, first + 1))
        if len(self.log) < _MOST_LINES:
            self.log.append(line)
            if self._running is not None:
                self._running.log.append(line)
