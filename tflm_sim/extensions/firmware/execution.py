"""Compare the requests of an executed program with those of the simulation, up to the first difference.

Requests that move memory are compared: persistent and temporary allocations, frees, resizes of the head; and requests
for scratch buffers. If the operators are known on both sides, the operator of each request is compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from typing import NamedTuple

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.events import Event, OpEvent, Persist, Phase, Resize, ScratchRequest, Temp, TempFree, TempReset
from tflm_sim.arena.stages import KERNEL_STEPS, Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.device.configuration import Settings, planner_words
from tflm_sim.document_fields import HIDDEN
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extensions.firmware.emulation.event_rows import events_of
from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation, ExecutedArena, Execution
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.target import firmware_target
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.target import Target
from tflm_sim.units import align_down

_VARIABLE = "MicroResourceVariables::MicroResourceVariable"
_FIRST_EVENTS = 16
"""In which resource variables are made: they come before the model."""
_COMPARED = (Persist, Temp, TempFree, TempReset, Resize, ScratchRequest)
_WITHOUT_OPERATOR = "its AllocateTensors() ends there, as where its resolver lacks the operator: its log says why"
_NOTHING = "nothing more"
_WITHOUT_CHECKS = "the program was built without TFLITE_DCHECK (NDEBUG), and goes on where others halt"
_STEPS = {Stage.OP_PARSE, Stage.OP_INIT, Stage.OP_PREPARE}


class RecordedRequest(NamedTuple):
    """A request, the operator that asked (None outside of operators), what it is for where that is known, and in which
    AllocateTensors(), from 1 on; 0 before the first.
    """

    event: Event
    asker: OpEvent | None
    label: str
    turn: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether the requests of a program and of the simulation of its model are equal.

    Attributes:
        compared: How many requests are the same, from the first on.
        executed: The first request of the program that differs, in words; "" where all agree.
        simulated: That of the simulation, in words.
        place: Who asked.
        meaning: What the difference means, as far as that can be told.
        settings: What the simulation was told of the program's set-up beside its file, "" for nothing.
        op: The operator whose kernel asks for what differs, "" where none does.
    """

    compared: int
    executed: str = ""
    simulated: str = ""
    place: str = ""
    meaning: str = ""
    settings: str = ""
    op: str = field(default="", compare=False, metadata=HIDDEN)

    @property
    def agrees(self) -> bool:
        return not (self.executed or self.simulated)


@dataclass(frozen=True, slots=True)
class Compared:
    """Each AllocateTensors() in an arena, in order, compared with the simulation of their models on one allocator.

    Attributes:
        address: The arena's.
        agreement: How far they agree; null where that cannot be told.
        reason: Why it cannot, or why not of all of them.
    """

    address: int
    agreement: Agreement | None
    reason: str = ""


def compare(
    execution: Execution, firmware: Firmware, other: Model | None = None, interpreter: int = 0
) -> tuple[Compared, ...]:
    """Return how far what is asked in each arena is as the simulation says for the firmware's own target.

    Of the targets that its file leaves possible, it is the one that agrees longest.

    Args:
        execution: What was seen.
        firmware: The same program, read.
        other: The model that was put in the place of its own, None where it kept that.
        interpreter: The number of the one that got it, 0 for each.
    """

    def model_of(allocation: ExecutedAllocation) -> Model | None:
        if other is not None and interpreter in (0, allocation.interpreter):
            return other
        return own_model(firmware, allocation)

    return tuple(_compare(arena, rest, firmware, model_of) for arena, rest in pairs(execution))


def own_model(firmware: Firmware, allocation: ExecutedAllocation) -> Model | None:
    """Return the model of the file with which an AllocateTensors() began, None where it lies elsewhere."""
    at = allocation.model or -1
    return next((one.model for one in firmware.models if one.address <= at < one.address + one.extent), None)


def pairs(execution: Execution) -> Iterator[tuple[ExecutedArena, ExecutedArena | None]]:
    """Yield each arena that was used, with the one for the rest where it holds only what stays."""
    for arena, following in zip_longest(execution.arenas, execution.arenas[1:]):
        if arena.allocations:
            yield arena, following if arena.part == "persistent" else None


def sum_if_known(sizes: Iterable[int | None]) -> int | None:
    """Return the sum of what two arenas need, None where one of them is not known."""
    found = tuple(sizes)
    return None if None in found else sum(filter(None, found))


def _compare(
    arena: ExecutedArena,
    rest: ExecutedArena | None,
    firmware: Firmware,
    model_of: Callable[[ExecutedAllocation], Model | None],
) -> Compared:
    if arena.banks and not any(bank.is_head and bank.is_tail for bank in arena.banks):
        return Compared(arena.address, None, "head and tail have a bank each, by the plan of banks.h")
    models = []
    for allocation in arena.allocations:
        model = model_of(allocation)
        if model is None:
            break
        models.append(model)
        if allocation.status != "ok":
            break
    if not models:
        return Compared(arena.address, None, "its model is not in the file")

    def judged(target: Target, settings: Settings) -> Agreement:
        given = settings.copy()
        given["arena_address"] = arena.address % BUFFER_ALIGNMENT
        other = None if rest is None else rest.size
        simulation = simulate(models, target, arena_size=arena.size, non_persistent_arena_size=other, **given)
        found = agreement(requests(arena, rest, len(models)), simulation)
        of_plan = {_NOTHING, *(_head_words(bank.planned) for bank in arena.banks if bank.is_head)}
        if arena.banks and found.executed in of_plan:
            # TFLM's planner has another plan than the one of banks.h, which may refuse; before, it did not matter.
            return Agreement(found.compared, settings="the planner of banks.h, up to its plan")
        return replace(found, settings=_named(settings))

    try:
        targets = firmware_target(firmware).alternatives
        own: Settings = {"own_planner": True} if arena.banks else {}
        best = max((judged(target, own) for target in targets), key=_rank)
    except TflmSimError as problem:
        return Compared(arena.address, None, str(problem))
    for settings in possible_settings(arena, targets[0]):
        if best.agrees:
            break
        with suppress(UsageError):  # Not every TFLM has every setting.
            best = max(best, *(judged(target, own | settings) for target in targets), key=_rank)
    return Compared(arena.address, best, _left_out(len(models), arena.allocations))


def _rank(one: Agreement) -> tuple[bool, int]:
    return one.agrees, one.compared


def possible_settings(arena: ExecutedArena, target: Target) -> Iterator[Settings]:
    """Yield what a program may have set up that its file does not say; of what it takes itself, by the blocks made."""
    yield Settings(planner="linear")
    yield Settings(own_planner=True)
    yield Settings(planner="linear", own_planner=True)
    made = [row.size for row in arena.allocations[0].events[:_FIRST_EVENTS] if row.kind == "persist"]
    variable = target.sizeof(_VARIABLE)
    for count in dict.fromkeys(size // variable for size in made if size and size % variable == 0):
        yield Settings(resource_variables=count)
    before_model = takewhile(lambda row: row.kind != "phase", arena.allocations[0].events)
    own = tuple(row.size for row in before_model if row.kind == "persist" and row.alignment == BUFFER_ALIGNMENT)
    if own:
        yield Settings(own_requests=own)


def _named(settings: Settings) -> str:
    count = settings.get("resource_variables")
    if count is not None:
        return f"room for {count} resource variables"
    if own := settings.get("own_requests"):
        return f"{sum(own):,} B that it takes of the allocator itself"
    is_own = settings.get("own_planner", False)
    return planner_words(settings.get("planner") or "greedy", is_own) if settings else ""


def _left_out(compared: int, allocations: Sequence[ExecutedAllocation]) -> str:
    if compared == len(allocations):
        return ""
    failed = allocations[compared - 1].status != "ok"
    why = "the one before failed" if failed else "its model is not in the file"
    return f"AllocateTensors() {compared + 1} of {len(allocations)} is not compared: {why}"


def requests(arena: ExecutedArena, rest: ExecutedArena | None, count: int = 1) -> Iterator[Event]:
    """Return the events of the first ``count`` AllocateTensors() in an arena; ``rest``: the other one of two."""
    rows = [row for allocation in arena.allocations[:count] for row in allocation.events]
    if rest is None:
        return events_of(rows, arena.size - -arena.address % BUFFER_ALIGNMENT)
    stays = align_down(arena.address + arena.size, BUFFER_ALIGNMENT) - arena.address
    tail = rest.size - -rest.address % BUFFER_ALIGNMENT
    events = events_of(rows, stays)
    return (event._replace(tail_offset=tail) if isinstance(event, Temp | Resize) else event for event in events)


def agreement(executed: Iterable[Event], simulation: Simulation) -> Agreement:
    """Return how far the requests of a program and of a simulation are the same.

    Args:
        executed: The events of the program's AllocateTensors(), in an arena of the simulation's size.
        simulation: Of their models.
    """
    seen, expected = list(_recorded(executed)), list(_recorded(simulation.events))
    if not any(isinstance(one.event, ScratchRequest) for one in seen):  # Where their function has no name of its own.
        expected = [one for one in expected if not isinstance(one.event, ScratchRequest)]
    seen = list(_in_parts(seen, expected))
    refusing = _refusing(simulation)
    for number, (one, other) in enumerate(zip(seen, expected, strict=False)):
        if not _are_same(one, other):
            op, meaning = _kernel(one, other), _meaning(one, other)
            if any(
                isinstance(each.event, Persist | Resize) and not each.event.alignment for each in seen[: number + 1]
            ):
                meaning = f"not every request is seen, as the compiler inlined the allocator's code; or {meaning}"
            return Agreement(number, _words(one), _words(other), _place(one, other), meaning, op=op)
    shorter = min(len(seen), len(expected))
    if len(seen) == len(expected):
        return Agreement(shorter)
    more = max(seen, expected, key=len)[shorter]
    if len(seen) > shorter and simulation.status == "abort":
        halt = f"a halt ({simulation.failure})"
        return Agreement(shorter, _words(more), halt, _place(more, more), _WITHOUT_CHECKS, op=refusing)
    if len(seen) == shorter and more.asker is not None and more.asker.stage not in KERNEL_STEPS:
        return Agreement(shorter, _NOTHING, _words(more), _place(more, more), _WITHOUT_OPERATOR)
    said = (_words(more), _NOTHING) if len(seen) > shorter else (_NOTHING, _words(more))
    return Agreement(shorter, *said, _place(more, more), _meaning(more, more), op=refusing or _kernel(more, more))


def _recorded(events: Iterable[Event]) -> Iterator[RecordedRequest]:
    asker: OpEvent | None = None
    turn = 0
    for event in events:
        if isinstance(event, OpEvent):
            asker = event if event.stage in _STEPS else None
        elif isinstance(event, Phase):
            asker = None
            turn += event.stage is Stage.BUILTIN_DATA_ALLOCATOR
        elif isinstance(event, _COMPARED):
            label = event.label if isinstance(event, Persist | ScratchRequest) else ""
            yield RecordedRequest(event, asker, label, turn)


def _in_parts(seen: Sequence[RecordedRequest], expected: Sequence[RecordedRequest]) -> Iterator[RecordedRequest]:
    """Yield a program's requests, tail bytes whose requests were not seen in the parts for which the simulation asks.

    Where the compiler inlined the allocator's code, it is only seen how many bytes are gone, of several requests too.
    """
    number = 0
    for one in seen:
        count = 1
        if isinstance(one.event, Persist) and not one.event.alignment:
            count = _count_of(one.event, [other.event for other in expected[number:]])
        yield from expected[number : number + count] if count > 1 else [one]
        number += count


def _count_of(taken: Persist, expected: Iterable[Event]) -> int:
    """Return as how many requests that follow each other the bytes were taken; 1 where they are not those."""
    used = 0
    for count, other in enumerate(expected, 1):
        used += other.used if isinstance(other, Persist) else taken.used
        if used >= taken.used:
            is_end = isinstance(other, Persist) and used == taken.used and other.offset == taken.offset
            return count if is_end else 1
    return 1


def _are_same(one: RecordedRequest, other: RecordedRequest) -> bool:
    return _facts(one.event, other.event) == _facts(other.event, one.event) and (
        one.asker is None or other.asker is None or one.asker[1:3] == other.asker[1:3]
    )


def _facts(event: Event, other: Event) -> tuple[object, ...]:
    """Return what has to be the same; of a request that was not seen, how many bytes are gone."""
    if isinstance(event, Persist):
        is_seen = event.alignment > 0 and isinstance(other, Persist) and other.alignment > 0
        return (Persist, event.offset, event.used, *((event.size, event.alignment) if is_seen else ()))
    if isinstance(event, Resize) and isinstance(other, Resize) and 0 in (event.alignment, other.alignment):
        return (Resize, event.ok, event.head)
    if isinstance(event, ScratchRequest):
        return (ScratchRequest, event.size, event.request)
    return (type(event), *event)


def _words(asked: RecordedRequest) -> str:
    event = asked.event
    label = f" for {asked.label}" if asked.label else ""
    if isinstance(event, Persist):
        return f"{event.size:,} B of the tail (align {event.alignment}) at {event.offset:,}{label}"
    if isinstance(event, ScratchRequest):
        return f"a scratch buffer of {event.size:,} B{label}"
    if isinstance(event, Temp):
        return f"{event.size:,} B of temp (align {event.alignment}) at {event.offset:,}"
    if isinstance(event, Resize):
        return _head_words(event.size) + ("" if event.ok else ", refused")
    if isinstance(event, TempFree):
        return f"the temp at {event.offset:,} given back"
    return "temps reset"


def _head_words(size: int) -> str:
    return f"the head resized to {size:,} B"


def _place(one: RecordedRequest, other: RecordedRequest) -> str:
    asker = _earlier(one, other)
    turn = max(one.turn, other.turn)
    place = str(asker) if asker is not None else "the steps around the operators"
    return place if turn < 2 else f"{place}, AllocateTensors() {turn}"


def _earlier(one: RecordedRequest, other: RecordedRequest) -> OpEvent | None:
    """Return the operator whose kernel asks for more on one side than on the other, None where no operator asks.

    Where the sides are at different operators, the one whose turn comes first asks for what the other side does not.
    """
    askers = [asker for asker in (one.asker, other.asker) if asker is not None]
    order = tuple(Stage)
    return min(askers, key=lambda asker: (order.index(asker.stage), asker.subgraph, asker.op), default=None)


def _kernel(one: RecordedRequest, other: RecordedRequest) -> str:
    """Return the operator whose kernel makes a request that the other side does not, "" where none does."""
    asker = _earlier(one, other)
    return asker.name if asker is not None and asker.stage in KERNEL_STEPS else ""


def _refusing(simulation: Simulation) -> str:
    """Return the operator whose kernel fails or halts in a simulation, "" for none."""
    if simulation.failure is None:
        return ""
    place = ArenaState().fold(simulation.events).place
    return place.name if isinstance(place, OpEvent) and place.stage in KERNEL_STEPS else ""


def _meaning(one: RecordedRequest, other: RecordedRequest) -> str:
    if op := _kernel(one, other):
        return f"the program has another kernel of {op} than the simulation: its library, version or options"
    if isinstance(one.event, Persist) and isinstance(other.event, Persist):
        return "the program makes something of its own in the arena, such as resource variables, or has another TFLM"
    return "the program has another TFLM"
