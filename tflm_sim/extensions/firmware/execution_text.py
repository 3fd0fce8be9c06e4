"""The measurements of an executed program as text, from the same document as the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tflm_sim.checks.doubts import Answer, listed
from tflm_sim.document_fields import INLINE
from tflm_sim.escape import printable
from tflm_sim.extensions.firmware.contradictions import Contradiction
from tflm_sim.extensions.firmware.emulation.execution import (
    ExecutedAllocation,
    ExecutedArena,
    ExecutedInvoke,
    ExecutedStore,
    Execution,
)
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom
from tflm_sim.extensions.firmware.executed_places import ExecutedPlace
from tflm_sim.extensions.firmware.execution import Compared

_INTO = {"nothing": "outside", "arena": "in arena", "behind": "behind", "data": "own data"}
_PARTS = {"all": "", "persistent": ", for what stays", "rest": ", for the rest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionDocument:
    """What happened when a program was executed, and how far the simulation of its models says the same.

    Attributes:
        compared: Of each arena, in order; one of two that belong together.
        contradictions: Where the program's file says another size, or no where it works: what was measured stands.
        places: What only the file says of where arenas lie.
        answer: Whether the program works: that of all its arenas.
    """

    execution: Execution = field(metadata=INLINE)
    compared: tuple[Compared, ...]
    contradictions: tuple[Contradiction, ...]
    places: tuple[ExecutedPlace, ...]
    answer: Answer


def document_lines(document: ExecutionDocument) -> list[str]:
    """Return how the program ran, what was seen, and how far the simulation agrees, one line each."""
    found = (_row("finding", _contradiction(one)) for one in document.contradictions)
    return [*execution_lines(document.execution), "", *_compared_lines(document), *found]


def verdicts(document: ExecutionDocument) -> list[str]:
    """Return for each arena whether it works, and what is needed."""
    places = {place.address: place for place in document.places}
    return [
        _answer(printable(arena.symbol or "an arena"), arena, places.get(arena.address))
        for arena in document.execution.arenas
    ]


def _compared_lines(document: ExecutionDocument) -> Iterator[str]:
    names = {arena.address: printable(arena.symbol) or "an arena" for arena in document.execution.arenas}
    for one in document.compared:
        name = f"{names[one.address]}: " if len(document.compared) > 1 else ""
        yield _compared_line(one, name)
        if one.agreement is not None and one.reason:
            yield _row("", f"{name}{printable(one.reason, 300)}")


def _contradiction(found: Contradiction) -> str:
    """Return both figures, or both answers where the figures are the same."""
    read, executed = (
        "no size" if size is None else f"{size:,} B"
        for size in (found.read_smallest_arena, found.executed_smallest_arena)
    )
    depends = f" {printable(listed(found.conditions), 600)}" if found.conditions else ""
    name = printable(found.model, 200)
    return f"{name} needs {executed}, as executed; reading the file says {read} ({found.read_answer}{depends})"


def _compared_line(compared: Compared, name: str) -> str:
    found = compared.agreement
    if found is None:
        return _row("simulated", f"{name}not compared: {printable(compared.reason, 300)}")
    whose = "those of the simulation" + (f" with: {found.settings}" if found.settings else "")
    if found.agrees:
        return _row("simulated", f"{name}all {found.compared:,} requests to the allocator are {whose}")
    first = f"{name}{found.compared:,} requests are {whose}; then, in {printable(found.place, 100)},"
    return _row("simulated", f"{first} {found.executed} instead of {found.simulated}: {printable(found.meaning, 200)}")


def execution_lines(document: Execution) -> list[str]:
    """Return how the program ran, and what was seen of each arena, one line each."""
    core = f"{'an' if document.core.startswith('E') else 'a'} {document.core}"
    lines = [
        _row("file", f"{printable(document.file or '-', 200)}: executed for {core} in {document.emulator}"),
        _row("run", f"{printable(document.start, 200)}; {printable(document.ending, 300)}"),
    ]
    if document.is_guessed:
        lines.append(_row("caution", "parts of the system around it were made up: on its board it may go another way"))
    allocations = [one for arena in document.arenas for one in arena.allocations]
    lines += _unwatched_lines(one for one in allocations if one.stores is None)
    several = len({one.interpreter for one in allocations}) > 1
    for arena in document.arenas:
        lines += _arena_lines(arena, several=several)
        lines += [_row("", "it does not count: the program goes on in another arena")] * document.is_left(arena)
    return lines


def _unwatched_lines(unwatched: Iterable[ExecutedAllocation]) -> Iterator[str]:
    """Yield the caution about allocations whose stores were not watched."""
    statuses = {(one.status == "ok", one.stack is not None) for one in unwatched}
    if any(has_stack for _, has_stack in statuses):
        yield _row("caution", "stores are not watched in this emulator: what goes out of bounds is not known")
    elif any(is_ok for is_ok, _ in statuses):
        yield _row("caution", "neither the stack nor stores out of bounds were measured")


def _row(name: str, text: str) -> str:
    return f"{name:<10}{text}"


def _result(one: ExecutedAllocation) -> str:
    said = f"{one.arena_used_bytes:,} B used" if one.status == "ok" else f"{one.status} {one.ending}".strip()
    return said if one.stack is None else f"{said}, {one.stack:,} B of stack"


def _arena_lines(arena: ExecutedArena, *, several: bool) -> Iterator[str]:
    name = printable(arena.symbol) if arena.symbol else "an arena"
    yield ""
    for bank in arena.banks:
        parts = [text for text, is_so in (("the head", bank.is_head), ("the tail", bank.is_tail)) if is_so]
        holds = f", with {listed(parts)}" if parts else ""
        size = f"{bank.size:,} B at {bank.address:#010x}"
        yield _row("bank", f"{printable(bank.name)}: {size}, of which {bank.planned:,} B are planned{holds}")
    yield _row("arena", f"{name}{_PARTS[arena.part]}: {arena.size:,} B at {arena.address:#010x}")
    if not arena.is_exact:
        yield _row("caution", "what alignment skips at its start, less than 16 B, was not seen: add it to all sizes")
    for number, one in enumerate(arena.allocations, 1):
        which = f" {number} of {len(arena.allocations)}" if len(arena.allocations) > 1 else ""
        whose = f" of interpreter {one.interpreter}" if several else ""
        yield _row("result", f"AllocateTensors(){which}{whose}: {_result(one)}")
        yield from _allocation_lines(one, shows_log=one.status != "ok" or arena.fits is not True)


def _allocation_lines(one: ExecutedAllocation, *, shows_log: bool) -> Iterator[str]:
    if one.damage:
        yield _row("caution", f"bytes in use are handed out again: {one.damage}")
    if shows_log:
        yield from (_row("log", printable(line, 300)) for line in one.log)
    yield from _stack_lines("AllocateTensors()", one.stack, one.stack_room)
    yield from _store_lines(one.stores)
    for invoke in one.invocations:
        yield from _invoke_lines(invoke)


def _invoke_lines(invoke: ExecutedInvoke) -> Iterator[str]:
    count = "" if invoke.instructions is None else f", {invoke.instructions:,} instructions"
    stack = "" if invoke.stack is None else f", {invoke.stack:,} B of stack"
    if invoke.status == "stopped":
        yield _row("result", f"Invoke(): {invoke.status}: {printable(invoke.ending, 300)}")
    else:
        yield _row("result", f"Invoke(): {invoke.status}{stack}{count}")
    if invoke.instructions:
        for one in invoke.operators:
            share = 100 * one.instructions / invoke.instructions
            where = f"#{one.op}" + (f" of subgraph {one.subgraph}" if one.subgraph else "")
            yield f"{'':<10}{one.instructions:>14,} {share:5.1f} %  {printable(one.name, 60)} {where}"
    yield from _stack_lines("Invoke()", invoke.stack, invoke.stack_room)
    yield from _store_lines(invoke.stores)


MAX_PRINTED = 8
"""Lines that a program prints while it is executed that are shown beside a log."""


def seen_lines(arena: ExecutedArena) -> list[str]:
    """Return what AllocateTensors() and Invoke() did in an arena: results, prints, stack, and stores out of bounds."""
    name = printable(arena.symbol) or "the arena"
    fits = {True: "works", False: "fails", None: "came to no end"}[arena.fits]
    lines = [f"AllocateTensors() {fits} in {name} of {arena.size:,} B" + (f": {arena.reason}" if arena.reason else "")]
    if arena.fits is not True:
        lines += [f"it prints: {printable(line, 300)}" for one in arena.allocations for line in one.log[:MAX_PRINTED]]
    for one in arena.allocations:
        runs: list[tuple[str, ExecutedAllocation | ExecutedInvoke]] = [("AllocateTensors()", one)]
        runs += [("Invoke()", run) for run in one.invocations]
        for function, run in runs:
            if run.status == "stopped":
                lines.append(f"{function} is stopped: {printable(run.ending, 300)}")
            elif run.stack is not None:
                lines.append(f"{function} uses {run.stack:,} B of stack")
            lines += [" ".join(line.split(maxsplit=1)) for line in _stack_lines(function, run.stack, run.stack_room)]
            bad = [store for store in run.stores or () if store.into != "data"]
            lines += [f"a store out of bounds, {' '.join(line.split())}" for line in _store_lines(tuple(bad))]
        if one.stores is None and one.stack is not None:
            lines.append("stores out of bounds are not watched in this emulator")
    return list(dict.fromkeys(lines))


def _stack_lines(function: str, used: int | None, room: StackRoom | None) -> Iterator[str]:
    """Return how much stack there is, and a warning where that is too little."""
    if used is None or room is None:
        return
    callers = "its callers not counted" if room.callers is None else f"{room.callers:,} B of its callers"
    together = (room.callers or 0) + used
    text = (
        f"{together:,} of {room.reserved:,} B ({printable(room.reserved_by, 100)}): {callers}, {used:,} B of {function}"
    )
    yield _row("stack", text)
    if room.exceeded_by(used) > 0:
        yield _row("caution", f"the stack overflows by {room.exceeded_by(used):,} B")


def _store_lines(stores: tuple[ExecutedStore, ...] | None) -> Iterator[str]:
    for one in stores or ():
        who = f"{printable(one.name, 60)} #{one.op}" + (f" of subgraph {one.subgraph}" if one.subgraph > 0 else "")
        where = (f"{printable(one.function, 100)}() at " if one.function else "") + f"{one.code_address:#x}"
        where = where if one.code_address else "instructions that are too many to be told apart"
        times = f" in {one.times:,} stores" if one.times > 1 else ""
        text = f"{one.size:,} B at {one.address:#010x}{times}, {_beside(one)}, by {where}"
        yield _row(_INTO[one.into], text + (f" for {who}" if one.name else ""))


def _beside(store: ExecutedStore) -> str:
    """Return where a store lies beside the object next to it."""
    if not store.symbol:
        return "where no object is"
    name = printable(store.symbol, 100)
    return f"{-store.offset:,} B before {name}" if store.offset < 0 else f"{name} + {store.offset:,}"


def _answer(name: str, arena: ExecutedArena, place: ExecutedPlace | None) -> str:
    mark = {True: "yes", False: "no", None: "cannot be told"}[arena.works]
    if place is not None and place.fault and arena.works is not False:
        mark, arena = "no", replace(arena, reason=place.fault)
    elif place is not None and place.conditions and arena.works:
        mark = f"yes, if {printable(listed(place.conditions), 600)}"
    if arena.banks:
        held = listed(
            [f"{printable(bank.name)} ({bank.size:,} B) needs {bank.needed:,} B" for bank in arena.banks if bank.needed]
        )
        return f"{mark}: {printable(arena.reason, 400)}; {held}" if arena.reason else f"{mark}: {held}"
    if arena.smallest_arena is None:
        return f"{mark}: {name} ({arena.size:,} B): {printable(arena.reason, 400)}"
    whose = "AllocateTensors()" if arena.fits else "it"
    failed = f": {printable(arena.reason, 400)}; {whose}" if arena.reason else ""
    text = f"{mark}: {name} ({arena.size:,} B){failed} needs {arena.smallest_arena:,} B"
    text += f", {arena.smallest_arena_multiple_of_16:,} B as a multiple of 16" if arena.smallest_arena % 16 else ""
    if arena.log_below:
        text += f"; with one byte less: {printable(arena.log_below[0].strip(), 200)}"
    return text
