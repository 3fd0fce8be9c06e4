"""Follow a program from stop to stop, and record what TFLM does: arenas, AllocateTensors(), Invoke(), printed lines.

Create(), allocators' functions                          recorded by arenas.py
MicroInterpreter::AllocateTensors() -> status            one result
MicroInterpreter::Invoke()                               answered with success, or run and measured
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

from tflm_sim.arena.events import OpEvent, Persist, Phase, ScratchRequest
from tflm_sim.arena.stages import Stage
from tflm_sim.extensions.firmware.emulation.allocations import ALLOCATOR_ROLES
from tflm_sim.extensions.firmware.emulation.arenas import INTERPRETER, Arenas
from tflm_sim.extensions.firmware.emulation.banks import bank_spans, given_banks
from tflm_sim.extensions.firmware.emulation.emulator import (
    WAITS,
    Emulator,
    Reason,
    Stop,
    argument,
    give_back,
    return_address,
    return_stub,
    text_at,
)
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.measuring import Measuring
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.operators import find_operators
from tflm_sim.extensions.firmware.emulation.ownership import own_spans
from tflm_sim.extensions.firmware.emulation.printf import Arguments, formatted
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.replacing import Interpreters, Replacement, model_of
from tflm_sim.extensions.firmware.emulation.seen import Arena, ObservedOperator, Part, Result, ScratchAsked
from tflm_sim.extensions.firmware.emulation.semihosting import Debugger, Ended
from tflm_sim.extensions.firmware.emulation.stores import Stores

_MAX_OUTPUT = 1 << 20
_MAX_LINES = 2000
_STACK_ALIGNED = 16
_MORE_TIME = "; a longer `timeout=` gives it more"
_RETURNED = "the function that was called returned"
_PRINTING = (Watched.PRINT, Watched.REPORT, Watched.LOG)
_IDLE = frozenset({*_PRINTING, Watched.ALLOCATE})
"""Functions with which a program can go on for ever."""
_LEAST_S = 0.01
_INVOKES, _LOOP_S, _MAX_INVOKES = 3, 0.5, 1000
"""Calls of Invoke() without anything new, and seconds of the host's processor from the first of them, after which the
program is taken to be in its main loop; and the calls after which it is, however fast."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a run is for: what is recorded, and what is replaced.

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
    operators: Sequence[tuple[ObservedOperator, ...]] = ()
    measures: bool = False
    invokes: int = 0
    runs_invokes: bool = False
    answers_vendors: bool = False
    model: Replacement | None = None


class Follower:
    """Runs a program, stops at TFLM's functions, and records what it sees.

    Attributes:
        ending: Why the program was followed no further.
        is_cut: Whether that is because it did not go on for too long.
        is_lost: Whether that is because it went astray: a fault, a failed check, an end that it says is a failure.
        has_crashed: Whether it is lost, and does not only wait for what never comes.
        says_failure: Whether it ended with a status that means a failure.
        answered: How many calls of Invoke() were answered with success and not run.
        problem: Why another model cannot be put in the place of its own, "" where nothing is known against it.
        log: What TFLM printed, line by line.
        is_over: Asked after each stop whether all is known.
    """

    def __init__(self, machine: Emulator, program: Program, interest: Purpose) -> None:
        self.machine = machine
        self.program = program
        self.debugger = Debugger(_MAX_OUTPUT)
        self.log: list[str] = []
        self.ending = ""
        self.is_cut = False
        self.is_lost = False
        self.has_crashed = False
        self.says_failure = False
        self.answered = 0
        self.problem = ""
        self.is_over: Callable[[], bool] = lambda: False
        self._interest = interest
        self._book = Arenas(machine, program, keeps_points=interest.keeps_points)
        self._interpreters = Interpreters()
        self._running: Result | None = None
        self._invoked: Result | None = None
        self._returns: dict[int, list[tuple[int, Callable[[], None]]]] = {}
        self._idle_invokes = 0
        self._idle_since = 0.0
        self._stores = Stores(machine, program, self.arenas, self._book.blocks)
        self._stores.allocators = self._book.allocators
        self._scratch: list[ScratchAsked] = []
        self._measuring = Measuring(machine, self._when_returned, self._stores) if interest.measures else None
        self._end: int | None = None
        self._handlers: dict[int, Callable[[], None]] = {}
        self._idle = set(program.semihosting)
        self._shifts: dict[int, int] = {}
        self._watch()

    def _watch(self) -> None:
        """Set stops at the functions that matter for the run's purpose."""
        for role, handle in self._table().items():
            for entry in self.program.functions.get(role, ()):
                if self._interest.is_brief and role in ALLOCATOR_ROLES:
                    self.machine.leave(entry.address)
                    continue
                if entry.address not in self._handlers and role in _IDLE:
                    self._idle.add(entry.address)
                self._handlers.setdefault(entry.address, handle)
                self._shifts[entry.address] = entry.shift
        for address in self._operator_functions():
            self._handlers.setdefault(address, self._operator)
        if self._interest.answers_vendors:
            for address, answer in self.program.answered().items():
                if address not in self._handlers:
                    self._idle.add(address)
                    self._handlers[address] = partial(answer, self.machine)
        self.machine.stop_at([*self._handlers, *self.program.semihosting])

    def _operator_functions(self) -> Iterator[int]:
        for operator in (one for operators in self._interest.operators for one in operators):
            runs = operator.invoke if self._interest.invokes else None
            yield from (address for address in (operator.init, operator.prepare, runs) if address is not None)

    def _table(self) -> dict[Watched, Callable[[], None]]:
        """Return what happens at which function. Of functions that print, those that others call come last."""
        functions = self.program.functions
        prints = next((role for role in _PRINTING if role in functions), Watched.LOG)
        return {
            Watched.CREATE_ALLOCATOR: self._book.give,
            Watched.CREATE_TWO: self._book.create_two,
            Watched.CREATE_ARENA: self._book.create,
            **{role: partial(self._allocator, role) for role in ALLOCATOR_ROLES},
            Watched.START_MODEL: self._start_model,
            Watched.REQUEST_SCRATCH: self._request_scratch,
            Watched.COMMIT_PLAN: partial(self._phase, Stage.PLAN),
            Watched.ALLOCATE_TENSORS: self._allocate_tensors,
            Watched.INVOKE if Watched.INVOKE in functions else Watched.INVOKE_SUBGRAPH: self._invoke,
            Watched.ABORT: self._abort,
            Watched.ALLOCATE: self._allocate,
            prints: partial(self._print, 1 if prints is Watched.REPORT else 0),
        }

    def restarted(
        self, arena: Arena, size: int, interest: Purpose, moved: int | None = None, other: Span | None = None
    ) -> Follower:
        """Return a follower for the program as it stood when ``arena`` began, now with ``size`` bytes.

        ``moved``: where it lies now, None for where the program has it. ``other``: where the other one of two that
        belong together lies now.
        """
        own = self._interest
        interest = replace(
            interest, answers_vendors=own.answers_vendors, model=own.model, runs_invokes=own.runs_invokes
        )
        fresh = Follower(self.machine, self.program, interest)
        fresh._interpreters = self._interpreters
        fresh._book.restart(self._book, arena, size, moved, other)
        return fresh

    @property
    def arenas(self) -> list[Arena]:
        """Every arena, in the order in which they were made."""
        return self._book.made

    def misplacement(self, place: Span, results: Sequence[Result]) -> str:
        """Return what else lies where an arena or a bank is, in words; "" where nothing is known to."""
        program, name = self.program, self.program.object_name(place.start)
        bounds, size = program.object_bounds(place.start), place.end - place.start
        if bounds is not None:
            room = bounds[1] - place.start
            if room < size:
                return f"{size:,} B are passed for {name or 'an object'}, which has {room:,} B there"
        elif over := program.object_within(place.start, place.end):
            return f"it lies over {over}"
        seen = [(one.pointer, one.stack) for one in results]
        seen += [(one.pointer, one.stack) for result in results for one in result.invocations]
        for pointer, used in seen:
            if place.start < pointer < place.end and not (bounds and bounds[0] <= pointer < bounds[1]):
                return f"the stack lies in it: its pointer is {pointer:#x}"
            if used is not None and pointer - used < place.end <= pointer:
                return f"the stack grows down into it, to {pointer - used:#x}"
        return ""

    @property
    def has_other_model(self) -> bool:
        """Whether another model was put in the place of the program's."""
        return self._interest.model is not None

    # -- running --------------------------------------------------------------------------------------------------

    def run(self, limit: float) -> None:
        """Follow the program until it ends, is over, or has come to nothing for ``limit`` seconds of processor time.

        Functions that are answered, lines that it prints and blocks of its heap are nothing: it may ask a device, print
        or allocate for ever.
        """
        self.ending = ""
        since = process_time()
        while not self.ending:
            is_measured = self._measuring is not None and self._measuring.is_running
            left = max(since + limit - process_time(), _LEAST_S)
            stop = self.machine.run(left, is_quiet=is_measured or self._running is not None)
            if stop.reason is Reason.ADDRESS and stop.address in self._idle:
                if process_time() - since > limit:
                    stop = Stop(Reason.LIMIT, stop.address)
            else:
                since = process_time()
            if stop.reason is Reason.ADDRESS:
                self._at(stop.address)
                self.ending = self.ending or self._book.ending
            else:
                self.ending, self.is_cut = self._words(stop, limit), stop.reason is Reason.LIMIT
                self.is_lost = not self.is_cut
                self.has_crashed = self.is_lost and stop.text != WAITS
            if not self.ending and self.is_over():
                self.ending = "all that was asked for is known"
        self._end_running()

    def _end_running(self) -> None:
        """Close the records of functions that were running when the program stopped."""
        if self._measuring is not None:
            ending = self.ending + (_MORE_TIME if self.is_cut else "")
            self._measuring.cut(ending, has_crashed=self.has_crashed)
        result, self._running, arena = self._running, None, self._book.current
        if result is not None and arena is not None:
            result.ending, result.has_crashed = self.ending, self.has_crashed
            self._finish_allocation(result)
            arena.results.append(result)

    def call(self, address: int, arguments: Sequence[int], limit: float) -> int | None:
        """Call a function of the program from where it stands, and return what it returns.

        Args:
            address: The function.
            arguments: Its arguments, those of registers.
            limit: As in :meth:`run`.

        Returns:
            None where it does not return; ``ending`` says why.
        """
        self.is_over = lambda: False
        if self._end is None:
            self._end = return_stub(self.machine)
            self._handlers[self._end] = self._returned
        core = self.machine.core
        stack = self.machine.get("sp") & -_STACK_ALIGNED
        self.machine.set("pc", address)
        self.machine.set("sp", stack)
        for register, value in zip((core.link, *core.arguments), (self._end | core.code_bit, *arguments), strict=False):
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
                self.is_lost = self.has_crashed = self.says_failure = ended.status != 0
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
        elif not self.program.is_code(address):
            self.ending = "the function in which it was started returned"

    def _when_returned(self, act: Callable[[], None]) -> None:
        """Call ``act`` when the current function, at whose entry the machine is, returns."""
        address = return_address(self.machine)
        self._returns.setdefault(address, []).append((self.machine.get("sp"), act))
        self.machine.stop_at([address])

    def _allocate(self) -> None:
        """Record a block of the heap: the program's own data, or an arena whose creation was not seen."""
        self._when_returned(partial(self._book.add_block, argument(self.machine, 0)))

    def _allocator(self, role: Watched) -> None:
        is_passing = self._book.allocator(role, self._shifts[self.machine.get("pc")])
        if is_passing:
            self._when_returned(self._book.settle)

    # -- AllocateTensors() ----------------------------------------------------------------------------------------

    def _allocate_tensors(self) -> None:
        interpreter = self._book.interpreter()
        is_ours = self._is_interpreter(interpreter) and not self._book.is_elsewhere(interpreter)
        if self._running is None and is_ours:
            self._stores.interpreter = interpreter
            model, number = self._interest.model, self._number(interpreter)
            if model is not None:
                self.ending = self.problem = model.tell(interpreter, number)
                if self.problem:
                    return
            self._book.current = self._book.of(interpreter) or self._book.current
            self._stores.own, self._scratch = None, []
            if self._measuring is not None:
                self._stores.banks = bank_spans(given_banks(self.machine, self.program))
            self._running = result = Result(interpreter=interpreter, number=number, pointer=self.machine.get("sp"))
            if Watched.START_MODEL not in self.program.functions:
                result.model = model_of(self.machine, interpreter)
            self._idle_invokes = 0
            if self._measuring is not None and not self._measuring.is_running:
                self._measuring.stack(partial(self._allocated_on, result))
            else:
                self._when_returned(self._allocated)

    def _number(self, interpreter: int) -> int:
        if not (self._interest.keeps_points or self.has_other_model):
            return 0
        return self._interpreters.number(self.machine, interpreter, self._interest.model)

    def _is_interpreter(self, address: int) -> bool:
        """Whether an interpreter lies there; seen by its model, and asked only where functions have no names."""
        return not self.program.is_unnamed or model_of(self.machine, address) is not None

    def _allocated_on(self, result: Result, stack: int | None) -> None:
        result.stack, result.stores = stack, self._stores.take()
        self._allocated()

    def _allocated(self) -> None:
        result, self._running = self._running, None
        if result is None:
            return
        self._book.current = arena = self._book.of(result.interpreter) or self._book.current
        if arena is None:
            self.ending = "link-time optimisation hides where its arena is made (link without -flto)"
            return
        result.status = self.machine.get(self.machine.core.arguments[0]) & 0xFF
        self._finish_allocation(result)
        if self._interest.keeps_points and not result.status:
            blocks = (event for event in result.events if isinstance(event, Persist))
            result.operators = find_operators(self.machine, arena.head, blocks, self.program.is_function)
        arena.results.append(result)

    def _finish_allocation(self, result: Result) -> None:
        """Record what the allocator did in an AllocateTensors()."""
        allocations = self._book.allocations()
        if allocations is not None:
            result.used, result.refused, result.damage = allocations.total()
            result.scratch = tuple(self._scratch)
            result.events = allocations.take()

    def _start_model(self) -> None:
        if self._running is not None:
            self._running.model = argument(self.machine, 1)
        self._phase(Stage.BUILTIN_DATA_ALLOCATOR)

    def _request_scratch(self) -> None:
        """Note a scratch buffer that an operator asks for: this, bytes, and where its number goes."""
        operator = self._stores.asker
        if operator is not None:
            size = argument(self.machine, 1)
            self._book.tell(ScratchRequest(size, operator.subgraph, len(self._scratch), ""))
            self._scratch.append(ScratchAsked((operator.subgraph, operator.index), size))

    def _phase(self, stage: Stage) -> None:
        self._book.tell(Phase(stage))
        self._stores.are_for(None)

    def _operator(self) -> None:
        """Note an operator's Init or Prepare, or measure its Eval.

        One function can be several of these, of several operators, where the linker folds what is equal.
        """
        address = self.machine.get("pc")
        if self._running is None:
            found = self._by_node(self._invoked)
            if found is not None and found.invoke == address and self._measuring is not None:
                self._measuring.operator(found)
            return
        stage, found = Stage.OP_INIT, self._initialised(address)
        if found is None:
            stage, found = Stage.OP_PREPARE, self._by_node(self._running)
            if found is None or found.prepare != address:
                return
        self._book.tell(OpEvent(stage, found.subgraph, found.index, found.name, True))
        self._stores.are_for(found)

    def _operators(self, result: Result | None) -> tuple[ObservedOperator, ...]:
        """Return the operators of an AllocateTensors(), as the first run found them."""
        arena, known = self._book.current, self._interest.operators
        if arena is None or arena is not self.arenas[0]:
            return ()
        ended = next((number for number, one in enumerate(arena.results) if one is result), len(arena.results))
        return known[ended] if ended < len(known) else ()

    def _by_node(self, result: Result | None) -> ObservedOperator | None:
        """Return the operator whose node the function at whose entry the machine stands is given."""
        node = argument(self.machine, 1)
        return next((one for one in self._operators(result) if one.node == node), None)

    def _initialised(self, address: int) -> ObservedOperator | None:
        """Return the operator whose Init comes next, if it is at ``address``: they come first, in order."""
        allocations = self._book.allocations()
        done = sum(isinstance(one, OpEvent) for one in allocations.events) if allocations is not None else 0
        having = [one for one in self._operators(self._running) if one.init is not None]
        return having[done] if done < len(having) and having[done].init == address else None

    # -- Invoke(), and the rest -----------------------------------------------------------------------------------

    def invoke(self, interpreter: int, limit: float) -> None:
        """Call Invoke() of an interpreter whose AllocateTensors() returned, and measure it."""
        entries = self.program.functions.get(Watched.INVOKE, ())
        if entries:
            self.call(entries[0].address, [interpreter], limit)

    def _invoke(self) -> None:
        """Answer Invoke() with success, unless it is to be run."""
        address, measuring = argument(self.machine, 0), self._measuring
        result = self._result_of(address)
        is_inside = self._running is not None or (measuring is not None and measuring.is_running)
        is_elsewhere = self._book.is_elsewhere(address)
        if is_inside or (result is None and not is_elsewhere) or not self._is_interpreter(address):
            return
        if measuring is not None and result is not None and not is_elsewhere and self._is_to_be_measured(result):
            self._idle_invokes, self._invoked = 0, result
            self._stores.interpreter = result.interpreter
            self._stores.own = self._own_spans(result)
            result.invocations.append(measuring.invoke())
            return
        if not self._interest.runs_invokes:
            self.answered += 1
            give_back(self.machine, 0)
        self._end_of_loop()

    def _own_spans(self, result: Result) -> dict[ObservedOperator, tuple[Span, ...]] | None:
        """Return which bytes of the arena each operator may write, None where that is not known."""
        arena = self._book.current
        if arena is None or arena.part is not Part.ALL or Watched.REQUEST_SCRATCH not in self.program.functions:
            return None
        whole = Span(arena.head, arena.end)
        self._stores.guarded = [whole, *(bank for bank in self._stores.banks if not bank.contains(arena.head))]
        return own_spans(self.machine, self._stores.guarded, self._operators(result), result.events, result.scratch)

    def _is_to_be_measured(self, result: Result) -> bool:
        is_observed = any(one is result for one in self.arenas[0].results)
        return is_observed and len(result.invocations) < self._interest.invokes

    def _end_of_loop(self) -> None:
        """End the run where the program only calls Invoke() again and again."""
        if self._idle_invokes == 0:
            self._idle_since = process_time()
        self._idle_invokes += 1
        more, seconds = self._idle_invokes, process_time() - self._idle_since
        if more > _MAX_INVOKES or (more > _INVOKES and seconds > _LOOP_S):
            self.ending = "it calls Invoke() again and again"

    def _result_of(self, address: int) -> Result | None:
        """Return the last AllocateTensors() of the interpreter at ``address``, or of what holds the address.

        The last one in the current arena where none is its own; None before there is one.
        """
        near = [
            (result.interpreter, number, arena)
            for arena in self.arenas
            for number, result in enumerate(arena.results)
            if 0 <= address - result.interpreter < 4 * INTERPRETER
        ]
        if near:
            nearest = max(row[0] for row in near)
            _, number, self._book.current = [row for row in near if row[0] == nearest][-1]
            return self._book.current.results[number]
        arena = self._book.current
        return arena.results[-1] if arena is not None and arena.results else None

    def _abort(self) -> None:
        self.ending = f"it reaches {self.program.name_at(self.machine.get('pc'))}()"
        self.is_lost = self.has_crashed = True

    def _print(self, first: int) -> None:
        text = text_at(self.machine, argument(self.machine, first))
        line = formatted(self.machine, text, Arguments(self.machine, first + 1))
        if len(self.log) < _MAX_LINES:
            self.log.append(line)
            if self._running is not None:
                self._running.log.append(line)
