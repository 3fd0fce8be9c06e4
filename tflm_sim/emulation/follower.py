"""Follows a program from stop to stop and notes what TFLM does in it: arenas, AllocateTensors(), Invoke(), its lines.

MicroAllocator::Create(), the allocator's functions      the arenas that are made: arenas_made.py
MicroInterpreter::AllocateTensors() -> status            one result
MicroInterpreter::Invoke()                               answered with success, or run and measured
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time

from tflm_sim.arena.events import OpEvent, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.emulation.allocations import ALLOCATOR_ROLES
from tflm_sim.emulation.arenas_made import ArenasMade
from tflm_sim.emulation.emulator import (
    Emulator,
    Reason,
    Stop,
    argument,
    give_back,
    landing,
    return_address,
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

_MOST_OUTPUT = 1 << 20
_MOST_LINES = 2000
_INTERPRETER = 64
"""Words of an interpreter among which its model stands."""
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

    def operators_of(self, number: int) -> tuple[NodeSeen, ...]:
        """Return the operators of an AllocateTensors(), by its number; () where none are of interest."""
        return self.operators[number] if 0 <= number < len(self.operators) else ()


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
        self._made = ArenasMade(machine, program, keeps_points=interest.keeps_points)
        self.arenas = self._made.arenas
        self.log: list[str] = []
        self.ending = ""
        self.is_cut = False
        self.is_lost = False
        self.answered = 0
        self.problem = ""
        self.is_over: Callable[[], bool] = lambda: False
        self._interest = interest
        self._running: Result | None = None
        self._returns: dict[int, list[tuple[int, Callable[[], None]]]] = {}
        self._invokes = 0
        self._invoked_since = 0.0
        self._stores = Stores(machine, program, self.arenas, self._made.blocks)
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
        for address, stage in self._operator_functions():
            self._handlers.setdefault(address, partial(self._operator, stage))
        if self._interest.answers_vendors:
            for address, value in self.program.answered().items():
                self._handlers.setdefault(address, partial(give_back, self.machine, value))
        self.machine.stop_at([*self._handlers, *self.program.semihosting])

    def _operator_functions(self) -> Iterator[tuple[int, Stage]]:
        """Yield where the functions of operators are that are of interest, and what they do."""
        for operator in (one for operators in self._interest.operators for one in operators):
            if operator.init is not None:
                yield operator.init, Stage.OP_INIT
            if operator.prepare is not None:
                yield operator.prepare, Stage.OP_PREPARE
            if operator.invoke is not None and self._interest.invokes:
                yield operator.invoke, Stage.OP_INVOKE

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
        fresh._made.begin_again(self._made, arena, size, arena.address if moved is None else moved)
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
            if self._made.current is not None:
                self._made.current.results.append(self._running)
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
        self._made.given = (argument(self.machine, 0), argument(self.machine, 1))

    def _create_arena(self) -> None:
        first = 1 if self.program.has_reporter_first else 0
        self._made.begin(argument(self.machine, first), argument(self.machine, first + 1), None, first + 1)
        self.ending = self._made.problem or self.ending

    def _allocate(self) -> None:
        """Note a block of the heap."""
        size = argument(self.machine, 0)
        self._when_returned(lambda: self._made.blocks.append((self.machine.get(self.machine.core.arguments[0]), size)))

    def _allocator(self, role: Watched) -> None:
        self._made.use(role, argument(self.machine, 0) - self._shifts[self.machine.get("pc")])
        self.ending = self._made.problem or self.ending

    # -- AllocateTensors() ----------------------------------------------------------------------------------------

    def _allocate_tensors(self) -> None:
        interpreter = argument(self.machine, 0)
        if self._running is None and self._is_interpreter(interpreter):
            if self._interest.model is not None:
                self.ending = self.problem = self._interest.model.tell(interpreter)
                if self.problem:
                    return
            self._made.use_arena_of(interpreter)
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

    def _allocated_on(self, result: Result, stack: int) -> None:
        result.stack, result.stores = stack, self._stores.take()
        self._allocated()

    def _allocated(self) -> None:
        result, self._running = self._running, None
        if result is None or self._made.current is None:
            return
        self._made.use_arena_of(result.interpreter)
        result.status = self.machine.get(self.machine.core.arguments[0]) & 0xFF
        self._made.conclude(result)
        arena = self._made.current
        if self._interest.keeps_points and not result.status:
            blocks = (event for event in result.events if isinstance(event, Persist))
            result.operators = find_operators(self.machine, arena.head, blocks, self.program.is_function)
        arena.results.append(result)

    def _start_model(self) -> None:
        if self._running is not None:
            self._running.model = argument(self.machine, 1)
        self._phase(Stage.BUILTIN_DATA_ALLOCATOR)

    def _phase(self, stage: Stage) -> None:
        self._tell(Phase(stage))
        self._stores.are_for(None)

    def _tell(self, event: Phase | OpEvent) -> None:
        allocations = self._made.allocations()
        if allocations is not None:
            allocations.events.append(event)

    def _operator(self, stage: Stage) -> None:
        """Note an operator's Init or Prepare, or measure its Eval."""
        found = self._operator_here(stage)
        if found is None:
            return
        if self._running is not None:
            address = self.machine.get("pc")
            stage = Stage.OP_PREPARE if found.prepare == address and found.init != address else stage
            self._tell(OpEvent(stage, found.subgraph, found.index, found.name, True))
            self._stores.are_for(found)
        elif stage is Stage.OP_INVOKE and self._measuring is not None:
            self._measuring.operator(found)

    def _operator_here(self, stage: Stage) -> NodeSeen | None:
        """Return the operator whose function begins here, None where it is of no interest.

        An Init is not given its node: they are called in the operators' order.
        """
        arena = self._made.current
        if arena is None:
            return None
        operators = self._interest.operators_of(len(arena.results) - (self._running is None))
        if stage is not Stage.OP_INIT or self._running is None:
            node = argument(self.machine, 1)
            return next((one for one in operators if one.node == node), None)
        return self._next_init([one for one in operators if one.init is not None])

    def _next_init(self, operators: Sequence[NodeSeen]) -> NodeSeen | None:
        allocations = self._made.allocations()
        done = sum(isinstance(one, OpEvent) for one in allocations.events) if allocations is not None else 0
        return next((one for one in operators[done : done + 1] if one.init == self.machine.get("pc")), None)

    # -- Invoke(), and the rest -----------------------------------------------------------------------------------

    @property
    def _allocated_last(self) -> Result | None:
        """The last AllocateTensors() in the current arena, None where none has returned or one is running."""
        done = self._made.current.results if self._made.current is not None and self._running is None else []
        return done[-1] if done else None

    def invoke(self, limit: float) -> None:
        """Call Invoke() of the interpreter whose AllocateTensors() returned last, and measure it."""
        entries, result = self.program.functions.get(Watched.INVOKE, ()), self._allocated_last
        if entries and result is not None:
            self.call(entries[0].address, result.interpreter, limit)

    def _invoke(self) -> None:
        """Answer Invoke() with success, unless it is to be run."""
        result, measuring = self._allocated_last, self._measuring
        is_inside = measuring is not None and measuring.is_running
        if result is None or is_inside or not self._is_interpreter(argument(self.machine, 0)):
            return
        self._invokes += 1
        if self._invokes == 1:
            self._invoked_since = process_time()
        if measuring is not None and self._invokes <= self._interest.invokes:
            result.invocations.append(measuring.invoke())
            return
        if not self._interest.runs_invokes:
            self.answered += 1
            give_back(self.machine, 0)
        self._end_of_loop()

    def _end_of_loop(self) -> None:
        """End where the program does nothing but call Invoke()."""
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
