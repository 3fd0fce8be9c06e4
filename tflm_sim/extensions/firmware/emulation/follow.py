"""Execute a program and measure each of its arenas; this runs in the emulator's process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import process_time
from typing import Literal, NamedTuple

from tflm_sim.arena.stages import Stage
from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.banks import bank_spans, banks_around, given_banks, lacks
from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.event_rows import HeldAddress, rows_of, with_askers
from tflm_sim.extensions.firmware.emulation.execution import (
    ExecutedAllocation,
    ExecutedArena,
    ExecutedBank,
    ExecutedInvoke,
    ExecutedOperator,
    ExecutedStore,
    Execution,
    TriedSize,
)
from tflm_sim.extensions.firmware.emulation.follower import Follower, Purpose
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.replacing import Replacement
from tflm_sim.extensions.firmware.emulation.search import SizeSearch, Unfinished
from tflm_sim.extensions.firmware.emulation.seen import Arena, InvokeSeen, Part, Result, StoreSeen
from tflm_sim.extensions.firmware.emulation.starting import Started, starts
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.units import align_up

RUN_S, _GUESS_S = 3.0, 1.0
"""Seconds of the host's processor for which a program may go on without reaching anything of TFLM, as it starts itself,
and in each way that is guessed after that."""
_TRIAL_S = 1.0
_INVOKES_S = 20.0
"""Seconds of the host's processor for all that a program does whose Invoke() has to be run."""
_ALIGNED = 16
_WORD = 4
_BY_MESSAGES = ", TFLM's functions found by their messages"
_MAX_OUTPUT = 20_000
_PARTS: dict[Part, Literal["all", "persistent", "rest"]] = {
    Part.ALL: "all", Part.PERSISTENT: "persistent", Part.REST: "rest"
}  # fmt: skip


class Runs(NamedTuple):
    """How many calls of Invoke() are run and measured, how many seconds of the host's processor each may take, and of
    which interpreter, by its number, they are called where another model was put into it; 0 for the last of an arena.
    """

    invokes: int
    seconds: float
    interpreter: int


def follow(
    program: Program,
    make: Callable[[bool], Emulator],
    *,
    emulator: str,
    file: str | None,
    invokes: int = 0,
    invoke_seconds: float = 60.0,
    model: Model | None = None,
    interpreter: int = 0,
    sizes: Sequence[int] = (),
) -> Execution:
    """Execute a program.

    Args:
        program: The program.
        make: Makes a machine with the program in it; whether its data stand where start-up code would put them.
        emulator: Its name, for people.
        file: The program's file.
        invokes: How many calls of Invoke() after each AllocateTensors() are run and measured; the others are answered
            with success.
        invoke_seconds: Of the host's processor for one of them, after which it is given up.
        model: What is put in the place of the program's model; None for its own.
        interpreter: The number of the one that gets it, from 1 on; 0 for each.
        sizes: Sizes of each arena that are tried besides.

    Raises:
        FirmwareError: Nothing of TFLM was reached, whichever way it was started, or the model cannot be put there.
    """
    if Watched.ALLOCATE_TENSORS not in program.functions:
        raise FirmwareError(_unnamed(program), path=file)
    start, follower = _reached(program, make, model, interpreter, file)
    return Execution(
        file=file,
        core=program.core.name,
        emulator=emulator,
        start=start.words + (_BY_MESSAGES if program.is_unnamed else ""),
        is_guessed=start.is_guessed,
        ending=follower.ending,
        output=follower.debugger.output[:_MAX_OUTPUT].decode("utf-8", "replace"),
        arenas=tuple(_answers(start, program, follower, Runs(invokes, invoke_seconds, interpreter), sizes)),
    )


def _reached(
    program: Program, make: Callable[[bool], Emulator], model: Model | None, interpreter: int, file: str | None
) -> tuple[Started, Follower]:
    """Return the first way to start the program that reaches AllocateTensors(), and what happened.

    Of ways that are guessed, one in which all of it works goes before one in which something fails: there a function
    may have been started before what it needs.
    """
    reached: list[tuple[Started, Follower]] = []
    for start in starts(program, make):
        follower = _followed_with(start, program, model, interpreter, file)
        reached.append((start, follower))
        results = _results(follower)
        if results and (not start.is_guessed or all(one.status == 0 for one in results)):
            return start, follower
    failing = next((one for one in reached if _results(one[1])), None) or _halted(reached)
    if failing is None:
        ways = "; ".join(f"{start.words}, {follower.ending}" for start, follower in reached)
        raise FirmwareError(f"no AllocateTensors() was reached: {ways}", path=file)
    return failing


def _halted(reached: Sequence[tuple[Started, Follower]]) -> tuple[Started, Follower] | None:
    """Return the program that halts while it makes an arena, before AllocateTensors(): a larger one may be enough."""
    for start, follower in reached:
        if follower.arenas and follower.has_crashed and not start.is_guessed:
            ending = f"{follower.ending}, before AllocateTensors()"
            follower.arenas[-1].results.append(Result(ending=ending, has_crashed=True, number=1))
            return start, follower
    return None


def _results(follower: Follower) -> list[Result]:
    return [result for arena in follower.arenas for result in arena.results]


def _followed_with(
    start: Started, program: Program, model: Model | None, interpreter: int, file: str | None
) -> Follower:
    """Run the program from one of its starts, with another model where one is given.

    Raises:
        FirmwareError: The model cannot be put there, or the program took its own.
    """
    replacement = None if model is None else Replacement(start.machine, program, bytes(model.source), interpreter)
    interest = Purpose(keeps_points=True, answers_vendors=start.is_guessed, model=replacement)
    begin, limit = start.machine.save(), _GUESS_S if start.is_guessed else RUN_S
    follower = _followed(start.machine, program, interest, limit)
    if start.machine.ignores_alignment and _unaligned_model(_results(follower)):
        start.machine.check_alignment()
        start.machine.restore(begin)
        follower = _faulting(follower, _followed(start.machine, program, interest, limit))
    if follower.problem:
        raise FirmwareError(f"the model cannot replace the program's own: {follower.problem}", path=file)
    if model is not None and replacement is not None:
        check_taken(follower, replacement, model, file)
    return follower


def _faulting(follower: Follower, checked: Follower) -> Follower:
    """Return what happened where accesses are checked, also where that is before AllocateTensors()."""
    if _results(checked) or not checked.has_crashed:
        return checked
    for arena in follower.arenas:
        arena.results[:] = [replace(one, status=None, ending=checked.ending, has_crashed=True) for one in arena.results]
    return follower


def _followed(machine: Emulator, program: Program, interest: Purpose, limit: float) -> Follower:
    """Run the program from where it stands, until it has come to nothing for ``limit`` seconds.

    Its calls of Invoke() are answered; where it goes astray because nothing was computed, they are run, too.
    """
    begin = machine.save()
    follower = Follower(machine, program, interest)
    follower.run(limit)
    if not (follower.answered and follower.is_lost):
        return follower
    machine.restore(begin)
    running, until = Follower(machine, program, replace(interest, runs_invokes=True)), process_time() + _INVOKES_S
    running.is_over = lambda: process_time() > until
    running.run(_INVOKES_S)
    follower.says_failure &= running.says_failure  # It may have failed because nothing was computed.
    return max(follower, running, key=lambda one: sum(len(arena.results) for arena in one.arenas))


def check_taken(follower: Follower, replacement: Replacement, model: Model, file: str | None = None) -> None:
    """Refuse a program that took its own model nevertheless.

    Raises:
        FirmwareError: It did, or that cannot be told.
    """
    wanted = list(_operator_names(model))
    for result in _wanted_results(follower, replacement.wanted, file):
        names = [operator.name for operator in result.operators]
        if result.model != replacement.address and (result.model is not None or names != wanted):
            raise FirmwareError("the program uses its own model, not the one that replaced it", path=file)


def _wanted_results(follower: Follower, interpreter: int, file: str | None) -> list[Result]:
    """Return what an interpreter did, by its number from 1; what all did for 0.

    Raises:
        FirmwareError: The program has fewer interpreters.
    """
    results = _results(follower)
    wanted = [result for result in results if interpreter in (0, result.number)]
    if results and not wanted:
        most = max(result.number for result in results)
        raise FirmwareError(f"there is no interpreter {interpreter}: it has {most}", path=file)
    return wanted


def _operator_names(model: Model) -> Iterator[str]:
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            code = dict(enumerate(model.operator_codes)).get(operator.opcode_index)
            name = builtin_operator_name(code.builtin_code) if code else ""
            yield (code.custom_code or name) if code and name == "CUSTOM" else name


def _unnamed(program: Program) -> str:
    """Return why a program without the name of AllocateTensors() cannot be followed."""
    if program.is_unnamed:
        return (
            "it has neither symbols nor the messages by which TFLM's functions are found without them "
            "(TF_LITE_STRIP_ERROR_STRINGS, link-time optimisation): name the ELF file from before it was stripped "
            "(strip -g leaves what is needed)"
        )
    return (
        "none of its functions is MicroInterpreter::AllocateTensors(): it has no TFLM, or link-time optimisation put "
        "it into its caller (link without -flto)"
    )


def _answers(
    start: Started, program: Program, follower: Follower, runs: Runs, sizes: Sequence[int]
) -> Iterator[ExecutedArena]:
    """Yield what is known of each arena. Sizes are searched first: what counts instructions slows the machine down."""
    machine = start.machine
    given = given_banks(machine, program)
    arenas = [arena for arena in follower.arenas if arena.results]
    banks = [banks_around(arena, given) for arena in arenas]
    searches = [SizeSearch(machine, program, follower, arena, _TRIAL_S) for arena in arenas]
    found = [
        _in_banks(arena, held)
        if held
        else _size_found(machine, search, arena, is_misplaced=bool(follower.misplacement(arena.span, arena.results)))
        for search, arena, held in zip(searches, arenas, banks, strict=True)
    ]
    tried = [
        tuple(_tried(search, sizes)) if size.smallest else () for search, size in zip(searches, found, strict=True)
    ]
    for arena, size, others, search, held in zip(arenas, found, tried, searches, banks, strict=True):
        observed = [] if arena.part is Part.REST else _observed(machine, follower, arena, runs)
        answer = _answer(program, follower, arena, size, others, observed, not start.is_direct, held)
        if held:
            answer = replace(answer, part="all", is_exact=True, banks=held)
        if size.fits is False and answer.smallest_arena_multiple_of_16 is not None and arena.part is Part.ALL:
            seen = search.observed(answer.smallest_arena_multiple_of_16)
            again = (
                ()
                if seen is None
                else tuple(_allocation(program, seen[0], one, not start.is_direct) for one in seen[1])
            )
            answer = replace(answer, allocations_at_smallest=again)
        yield answer


def _in_banks(arena: Arena, banks: Sequence[ExecutedBank]) -> _SizeFound:
    """Return what is known of an arena in banks of banks.h: their planner says itself what each must have."""
    fits = _fits(arena.results)
    if fits:
        return _SizeFound(fits, "")
    said = [line.strip() for one in arena.results for line in one.log if line.strip()]
    return _SizeFound(fits, " and ".join(lacks(banks)) or (said[0] if said else _reason(arena.results)))


def _tried(search: SizeSearch, sizes: Sequence[int]) -> Iterator[TriedSize]:
    for size in sizes:
        try:
            yield TriedSize(size, search.works(size))
        except Unfinished:
            yield TriedSize(size, None)


class _SizeFound(NamedTuple):
    """What is known of an arena's size; as in :class:`ExecutedArena`."""

    fits: bool | None
    reason: str
    trials: int = 0
    smallest: int | None = None
    used: int | None = None
    succeeds_from: int | None = None
    below: tuple[str, ...] = ()


def _size_found(machine: Emulator, search: SizeSearch, arena: Arena, *, is_misplaced: bool) -> _SizeFound:
    """Search the smallest size of an arena that works; ``is_misplaced``: whether something else lies where it does."""
    fits, unaligned = _fits(arena.results), _unaligned_model(arena.results)
    has_crashed = any(one.has_crashed for one in arena.results)
    if unaligned and fits and machine.ignores_alignment:
        return _SizeFound(None, f"{unaligned}: a {machine.core.name} may fault where it reads it, and Unicorn does not")
    if unaligned and fits is None and has_crashed:
        return _SizeFound(False, f"{unaligned}: {_reason(arena.results)}")
    if fits and is_misplaced:  # Its size is found where nothing else lies.
        search.move()
    if not fits and not ((fits is False or has_crashed) and search.move()):
        return _SizeFound(fits, _reason(arena.results))
    if fits is None:  # What halts as the program has it works in a larger arena.
        fits = False
    try:
        found = search.smallest()
    except Unfinished as problem:
        size, ending = problem.trial.size, problem.trial.ending
        resumed = f"AllocateTensors() works, but resumed with {size:,} B the program did not: {ending}"
        fits, reason = (None, resumed) if fits else (fits, _reason(arena.results))
        return _SizeFound(fits, reason, search.trials)
    if found is None:
        reason = "AllocateTensors() succeeds, but TFLM hands out memory twice or ignores a refusal on the way"
        return _SizeFound(False, reason, search.trials)
    smallest, succeeds_from = found[0].size, found[1]
    below = search.attempt(smallest - 1, is_brief=True).log
    if search.needs_other:  # Both of two arenas were enlarged, so which of them lacks how much shows in their sizes.
        fits = smallest <= arena.size
    used, reason = found[0].results[-1].used, "" if fits else _reason(arena.results)
    return _SizeFound(fits, reason, search.trials, smallest, used, succeeds_from, below)


def _answer(
    program: Program,
    follower: Follower,
    arena: Arena,
    size: _SizeFound,
    tried: tuple[TriedSize, ...],
    observed: list[Result],
    is_called: bool,
    banks: Sequence[ExecutedBank],
) -> ExecutedArena:
    works, reason = _judged(size, follower, [arena.span, *bank_spans([banks])], observed)
    if works is not False:
        has_crashed = works is None and any(one.has_crashed for one in arena.results)
        # What runs all the same has overwritten what lies below an array; below what a script reserves may be room.
        lacking = _stack_lacks(program, observed, is_called=is_called, is_array=not has_crashed)
        works, reason = (False, lacking) if lacking else (works, reason)
    return ExecutedArena(
        symbol=program.object_name(arena.head),
        part=_PARTS[arena.part],
        address=arena.address,
        size=arena.size,
        is_exact=arena.is_seen_whole,
        fits=size.fits,
        works=works,
        arena_used_bytes=next((one.used for one in reversed(arena.results) if one.status is not None), None),
        smallest_arena=size.smallest,
        smallest_arena_multiple_of_16=None if size.smallest is None else align_up(size.smallest, _ALIGNED),
        arena_used_bytes_at_smallest=size.used,
        succeeds_from=size.succeeds_from,
        log_below=size.below,
        reason=reason,
        allocations=tuple(_allocation(program, arena, result, is_called) for result in observed),
        trials=size.trials,
        tried=tried,
    )


def _judged(
    size: _SizeFound, follower: Follower, places: Sequence[Span], observed: Sequence[Result]
) -> tuple[bool | None, str]:
    """Return whether an arena, and the banks beside it, work with all that was seen, and why they do not."""
    if size.fits is not True:
        return size.fits, size.reason
    if misplaced := next(filter(None, (follower.misplacement(place, observed) for place in places)), ""):
        return False, misplaced
    seen = [_invoke_works(one, is_own=not follower.has_other_model) for each in observed for one in each.invocations]
    seen += [(False, f"AllocateTensors() {bad}") for each in observed if (bad := _bad_stores(each.stores))]
    if follower.program.is_unnamed and follower.says_failure:
        seen.append((None, f"{follower.ending}, and no symbol says whether the arena is as large as what is passed"))
    if unknown := _stack_unknown(follower.program, observed):
        seen.append((None, unknown))
    failing = [one for one in seen if one[0] is False] or [one for one in seen if one[0] is None]
    return failing[0] if failing else (True, size.reason)


def _stack_lacks(program: Program, observed: Sequence[Result], *, is_called: bool, is_array: bool = False) -> str:
    """Return that what was measured on a stack that is lent takes more than its own has; or "".

    Args:
        program: The program.
        observed: What was measured.
        is_called: Whether the program itself came there.
        is_array: Whether only a stack counts that is an array.
    """
    for function, pointer, used in _stacks(observed):
        if is_array and program.object_bounds(pointer - 1) is None:
            continue
        room = program.stack_room(pointer, is_called=is_called)
        if room is not None and (missing := room.exceeded_by(used)) > 0:
            taken = f"{function} uses {used:,} B of stack"
            return f"{taken}, for which {room.reserved_by} of {room.reserved:,} B lacks {missing:,} B"
    return ""


def _stack_unknown(program: Program, observed: Sequence[Result]) -> str:
    """Return that a stack lies among the static objects of a program without symbols, so that its size is not known."""
    for function, pointer, used in _stacks(observed) if program.is_unnamed else ():
        static = (one for one in program.elf.sections if one.is_allocated and 0 < pointer - one.address <= one.size)
        place = next(static, None)
        if place is not None and program.stack_room(pointer, is_called=True) is None:
            where = f"the {used:,} B below {pointer:#x} in {place.name}"
            return f"{function} uses {where} as its stack, and no symbol says how large that is"
    return ""


def _stacks(observed: Sequence[Result]) -> Iterator[tuple[str, int, int]]:
    """Yield each function that was measured, where its stack began, and how many bytes of it it took."""
    runs = [("AllocateTensors()", one.pointer, one.stack) for one in observed]
    runs += [("Invoke()", run.pointer, run.stack) for one in observed for run in one.invocations]
    yield from ((function, pointer, used) for function, pointer, used in runs if used is not None)


def _invoke_works(invocation: InvokeSeen, *, is_own: bool) -> tuple[bool | None, str]:
    """Return whether an Invoke() works, and why not.

    Args:
        invocation: It.
        is_own: Whether the program called it, with its own model and inputs; otherwise what it does with whatever
            stands in its inputs proves nothing against it.
    """
    if invocation.status is None:
        is_broken = invocation.has_crashed and is_own
        return (False if is_broken else None), f"Invoke() does not return: {invocation.ending}"
    if invocation.status:
        return (False if is_own else None), f"Invoke() returned {invocation.status}"
    bad = _bad_stores(invocation.stores)
    return not bad, f"Invoke() {bad}" if bad else ""


def _bad_stores(stores: list[StoreSeen] | None) -> str:
    """Return what was stored where it must not be, "" where nothing was."""
    bad = [one for one in stores or () if one.is_bad]
    if not bad:
        return ""
    first, more = bad[0], f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    whose = f" for {first.operator.name} #{first.operator.index}" if first.operator else ""
    return f"stores {first.end - first.low:,} B {first.where}{whose}{more}"


def _fits(results: list[Result]) -> bool | None:
    if any(one.status for one in results):
        return False
    return None if any(one.status is None for one in results) else True


def _unaligned_model(results: list[Result]) -> str:
    """Return that a model lies where not every instruction may read it; "" where none does."""
    address = next((one.model for one in results if (one.model or 0) % _WORD), None)
    if address is None:
        return ""
    return f"its model, with a table at {address:#x}, is not aligned to {_WORD} bytes (use alignas({_ALIGNED}))"


def _reason(results: list[Result]) -> str:
    failed = next(one for one in results if one.status != 0)
    return f"AllocateTensors() returned {failed.status}" if failed.status is not None else failed.ending


def _observed(machine: Emulator, follower: Follower, arena: Arena, runs: Runs) -> list[Result]:
    """Return each AllocateTensors() once more, with operators, stack and invocations.

    A program into which another model was put does not call Invoke() itself: it may know only its own model's inputs.
    """
    assert arena.point is not None, "an arena of the first run has its state kept"
    machine.restore(arena.point)
    operators = [result.operators for result in arena.results]
    again = follower.restarted(arena, arena.size, Purpose(operators=operators, measures=True, invokes=runs.invokes))
    seen, wanted = again.arenas[0], len(arena.results)
    its_own = 0 if follower.has_other_model else runs.invokes

    again.is_over = lambda: len(seen.results) >= wanted and _are_invoked(seen.results, its_own)
    again.run(runs.seconds if its_own else _TRIAL_S)
    if len(seen.results) < wanted:
        return arena.results
    pairs = list(zip(arena.results, seen.results, strict=False))
    for first, second in pairs:
        second.operators, second.number = first.operators, first.number
    told = [second for _, second in pairs if runs.interpreter in (0, second.number)]
    if follower.has_other_model and told and told[-1].status == 0:
        for _ in range(runs.invokes):
            again.invoke(told[-1].interpreter, runs.seconds)
    return seen.results


def _are_invoked(results: list[Result], times: int) -> bool:
    """Whether each interpreter was invoked so often after its last AllocateTensors() that counts."""
    used = [result for result in results if result.status == 0 or result is results[-1]]
    last = {result.interpreter: result for result in used}.values()
    return all(result.invocations_done >= times for result in last)


def _allocation(program: Program, arena: Arena, result: Result, is_called: bool) -> ExecutedAllocation:
    return ExecutedAllocation(
        interpreter=result.number,
        status=_status(result.status),
        arena_used_bytes=result.used,
        refused=result.refused,
        damage=result.damage,
        ending=result.ending,
        log=tuple(result.log),
        stack=result.stack,
        model=result.model,
        events=tuple(
            rows_of(with_askers(result.events, dict(_owners(result, arena.head)), _functions(program, result)))
        ),
        invocations=tuple(_invocation(program, one, is_called) for one in result.invocations),
        stores=_stores(program, result.stores),
        stack_room=program.stack_room(result.pointer, is_called=is_called),
    )


def _owners(result: Result, head: int) -> Iterator[tuple[int, HeldAddress]]:
    """Yield (offset in the arena, operator) of each address that an operator's node holds."""
    for operator in result.operators:
        for value in operator.holds:
            if value >= head:
                yield value - head, HeldAddress(operator.subgraph, operator.index, operator.name)


def _functions(program: Program, result: Result) -> dict[tuple[Stage, int, int], str]:
    """Return the name of each operator's Init and Prepare, where a symbol says it."""
    found = {
        (stage, operator.subgraph, operator.index): program.name_at(address)
        for operator in result.operators
        for stage, address in ((Stage.OP_INIT, operator.init), (Stage.OP_PREPARE, operator.prepare))
        if address is not None
    }
    return {key: f"{name}()" for key, name in found.items() if name}


def _invocation(program: Program, invocation: InvokeSeen, is_called: bool) -> ExecutedInvoke:
    operators = tuple(
        ExecutedOperator(operator.subgraph, operator.index, operator.name, count)
        for operator, count in invocation.by_operator
    )
    return ExecutedInvoke(
        status=_status(invocation.status),
        ending=invocation.ending,
        stack=invocation.stack,
        instructions=invocation.instructions,
        operators=operators,
        stores=_stores(program, invocation.stores),
        stack_room=program.stack_room(invocation.pointer, is_called=is_called),
    )


def _stores(program: Program, seen: list[StoreSeen] | None) -> tuple[ExecutedStore, ...] | None:
    return None if seen is None else tuple(_store(program, one) for one in seen)


def _store(program: Program, seen: StoreSeen) -> ExecutedStore:
    operator = seen.operator
    symbol, offset = program.near(seen.low)
    return ExecutedStore(
        into=seen.into,
        function=program.name_at(seen.code_address) if seen.code_address else "",
        code_address=seen.code_address,
        subgraph=-1 if operator is None else operator.subgraph,
        op=-1 if operator is None else operator.index,
        name="" if operator is None else operator.name,
        address=seen.low,
        size=seen.end - seen.low,
        times=seen.times,
        symbol=symbol,
        offset=offset,
    )


def _status(status: int | None) -> Literal["ok", "error", "stopped"]:
    return "stopped" if status is None else "error" if status else "ok"
