"""A diagnosis of a log, a model and a target -> which allocation failed, and the smallest arena.

The log's line has the bytes that were free, so the arena's size need not be known: the tail hangs from the end, and an
arena that is n bytes larger has n bytes more free at the same moment. The simulation is moved to the size at which it
prints the very line of the log, for the operator that the log names (alignment leaves a range, of which the roundest is
taken); where no size does that, the firmware is not the one that was named, and others are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tflm_sim.answers.npu import npu_memory
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import SmallestArena
from tflm_sim.arena.events import Event, LogLine, OpEvent, Persist, Resize, Temp
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.checks.alternatives import MAX_ANSWERS, alternatives
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_types import Count
from tflm_sim.errors import TflmSimError
from tflm_sim.logs.diagnosis import Diagnosis, Refusal, diagnose
from tflm_sim.logs.message_kinds import Role
from tflm_sim.logs.parser import parse_log
from tflm_sim.logs.tflm_messages import BY_KIND
from tflm_sim.model.types import Model
from tflm_sim.ops.custom_operators import remedy
from tflm_sim.ops.registry import registrations
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.target import Target

_MAX_SIZES = 1000
_CHECKED = ("condition", "left", "right", "tensor", "bytes")
_NOT_REGISTERED = ("op_missing", "op_registration", "custom_missing", "custom_unresolved")
_OTHER_REASONS = (Role.MODEL, Role.KERNEL, Role.SEQUENCE)
# "Arena size is too small for all buffers" (until 2022) is what is now a refused resize of the head.
_Request = Persist | Resize | Temp
_SECTIONS = {"plan_too_big": "head"}


_MAX_OPERATORS = 30_000
_LEAST_SIMULATIONS = 64


class SimulationBudget:
    """How many simulations may still be made for one log (mutable): a log of many lines costs no more than a short one.

    Args:
        model: Its operators decide how many: a few seconds' worth.
    """

    def __init__(self, model: Model) -> None:
        operators = sum(len(subgraph.operators) for subgraph in model.subgraphs)
        self.left = max(_MAX_OPERATORS // max(operators, 1), _LEAST_SIMULATIONS)

    def take(self, count: int) -> bool:
        """Take so many simulations; return False, and take none, where fewer are left."""
        if count > self.left:
            return False
        self.left -= count
        return True


@dataclass(frozen=True, slots=True)
class MatchingSetting:
    """A firmware that prints the numbers of a log, though another one was named.

    Attributes:
        options: What tells it from the one that was named, as options.
        smallest: The bytes of the smallest arena there that is a multiple of 16.
    """

    options: str
    smallest: Count


@dataclass(frozen=True, slots=True)
class ExactExplanation:
    """What the simulation adds to a diagnosis.

    Attributes:
        smallest: The smallest arena, None when no size is enough: of the firmware that was named.
        never: Why no size is enough, "" when one is.
        arena_size: The arena in which the simulation prints the log's numbers, None when there is none; of several
            the roundest.
        place: The operator or phase of the allocation that failed there, "" when unknown.
        device_log: What the simulated device prints in that arena.
        contradiction: Why the log cannot come from this model on this target, "" when it can.
        arenas: All the arenas that print the same, as ranges, (smallest, largest), both inclusive.
        settings: Firmwares that print the log's numbers; for a contradiction.
        is_refuted: Whether the numbers of the log prove that the firmware is not the one that was named.
        invoke: Why Invoke() fails though AllocateTensors() works, "" where nothing is known to fail.
    """

    smallest: SmallestArena | None
    never: str
    arena_size: int | None
    place: str
    device_log: tuple[str, ...]
    contradiction: str
    arenas: tuple[tuple[int, int], ...] = ()
    settings: tuple[MatchingSetting, ...] = ()
    is_refuted: bool = False
    invoke: str = ""


def with_library_facts(diagnosis: Diagnosis, target: Target) -> Diagnosis:
    """Return a diagnosis with a note whether the library has an operator that is not registered.

    Args:
        diagnosis: Of a log.
        target: Whose kernels the firmware could link.
    """
    is_missing = any(message.kind in _NOT_REGISTERED for message in diagnosis.messages)
    is_of_another = any(BY_KIND[message.kind].role is Role.FRAMEWORK for message in diagnosis.messages)
    if not is_missing and not is_of_another and (known := remedy(diagnosis.op)):
        return replace(diagnosis, notes=(f"{diagnosis.op}: {known}.", *diagnosis.notes))
    if not is_missing or diagnosis.op in ("", "CUSTOM"):
        return diagnosis
    if diagnosis.op in registrations(target):
        note = f"Add {diagnosis.op} to the op resolver (Add... of MicroMutableOpResolver): {target.runtime} has it."
    elif known := remedy(diagnosis.op):
        note = f"{target.runtime} has no kernel for {diagnosis.op}: {known}."
    else:
        note = (
            f"{target.runtime} has no kernel for {diagnosis.op}, so no resolver can add it: the model must do without, "
            "or the firmware needs a kernel of its own. 'tflm-sim list ops --library NAME' shows what a library has."
        )
    return replace(diagnosis, notes=(note,))


def with_linked_room(diagnosis: Diagnosis, smallest: SmallestArena | None = None) -> Diagnosis:
    """Return a diagnosis of the linker with the arena that would fit, where the size of the one that did not is known.

    Args:
        diagnosis: Of a log.
        smallest: What the model needs, None where that is not known.
    """
    refused = [each for each in diagnosis.messages if BY_KIND[each.kind].role is Role.BUILD and each.number("bytes")]
    # lld counts what is too much after each section of a region: the last and largest number is of all.
    regions = [each.value("region") for each in refused]
    over = max((each.number("bytes") or 0 for each in refused if each.value("region") == regions[0]), default=None)
    if over is None or diagnosis.arena_size is None:
        return diagnosis
    left = diagnosis.arena_size - over
    left -= left % BUFFER_ALIGNMENT if left > 0 else 0
    if left <= 0:
        note = f"Without any arena it would still be {-left:,} B too much."
    else:
        note = f"An arena of {left:,} B would fit"
        if smallest is None:
            note += "."
        elif smallest.size <= left:
            note += f", and this model needs {smallest.size:,} B: yes, it works in that."
        else:
            note += f", but this model needs {smallest.size:,} B: no, {smallest.size - left:,} B more have to be found."
    return replace(diagnosis, notes=(note, *diagnosis.notes))


def with_vela_facts(diagnosis: Diagnosis, model: Model) -> Diagnosis:
    """Return a diagnosis of a model that Vela compiled for an Ethos-U, in the terms of Vela; any other as it is.

    Args:
        diagnosis: Of a log.
        model: What the firmware runs.
    """
    memory = npu_memory(model)
    if not memory:
        return diagnosis
    if any(message.kind in _NOT_REGISTERED for message in diagnosis.messages):
        note = (
            "Vela made the operator ethos-u, which is CUSTOM to TFLM: the firmware has to be built with the Ethos-U "
            "driver and ethos_u/ethosu.cc, and add it (AddEthosU of MicroMutableOpResolver)."
        )
        return replace(diagnosis, notes=(*diagnosis.notes, note))
    if not diagnosis.is_of_the_arena:
        return diagnosis
    largest = max(memory, key=lambda row: max(row.scratch, row.fast_scratch))
    what = f"{max(largest.scratch, largest.fast_scratch):,} B of the arena are what Vela laid out for the Ethos-U"
    smaller = (
        "they get less with --optimise Size, or a smaller --arena-cache-size."
        if not largest.fast_scratch
        else (
            f"its fast scratch ({largest.fast_scratch:,} B), which the driver keeps in SRAM of its own, counts there "
            "too: it gets less with a smaller --arena-cache-size."
        )
    )
    return replace(diagnosis, notes=(*diagnosis.notes, f"{what} ({largest.mode}): {smaller}"))


def explain_failures(
    diagnoses: Sequence[Diagnosis], model: Model, configuration: Configuration
) -> list[ExactExplanation | None]:
    """Find for each failure of a log the arenas in which the simulation fails like it, and the smallest that works.

    None stands for a failure for which no simulations were left; see :class:`SimulationBudget`.

    Raises:
        UnsupportedOpError: We have no model of one of its operators.
    """
    if not diagnoses:
        return []
    roomy, budget = simulate(model, configuration), SimulationBudget(model)
    invoke, explained = _invoke(roomy), (_explained(each, roomy, budget) for each in diagnoses)
    return [each and replace(each, invoke=invoke) for each in explained]


def explain_nothing(model: Model, configuration: Configuration, *, arena_size: int | None) -> ExactExplanation:
    """Say what would fail, for a log that does not say what failed.

    Args:
        model: What the firmware runs.
        configuration: What it was built for.
        arena_size: The firmware's arena in bytes, where it is known.
    """
    roomy = simulate(model, configuration)
    if roomy.smallest is None:
        return ExactExplanation(None, str(roomy.failure), None, "", roomy.log, "")
    found = ExactExplanation(roomy.smallest, "", None, "", (), "", invoke=_invoke(roomy))
    if arena_size is None:
        return found
    simulation = _simulate(model, configuration, arena_size)
    if simulation.fits:
        why = f"in an arena of {arena_size:,} B this model does not fail on this target"
        return replace(found, device_log=simulation.log, contradiction=why)
    place = _place_of_last_refusal(simulation)
    return replace(
        found, arena_size=arena_size, place=place, device_log=simulation.log, arenas=((arena_size, arena_size),)
    )


def _invoke(roomy: Simulation) -> str:
    problem = roomy.invoke_problem
    return "" if problem is None else str(problem)


def _explained(diagnosis: Diagnosis, roomy: Simulation, budget: SimulationBudget) -> ExactExplanation | None:
    if not budget.left:
        return None
    never = "" if roomy.failure is None else str(roomy.failure)
    wanted = [refusal for refusal in diagnosis.refusals if refusal.available is not None]
    if roomy.smallest is None:
        return ExactExplanation(None, never, None, "", roomy.log, "")
    if not wanted:
        return _without_numbers(diagnosis, roomy) if budget.take(1) else None
    found = _find_arenas(wanted, diagnosis, roomy, budget)
    if found is None:
        return None
    sizes, simulation = found
    if not sizes:
        why = _contradiction(wanted, diagnosis, simulation, roomy)
        settings = _explaining_settings(wanted, diagnosis, roomy, budget)
        return ExactExplanation(
            roomy.smallest, never, None, "", simulation.log, why, settings=settings, is_refuted=True
        )
    best = simulation.arena_size
    place = _place_of_last_refusal(simulation)
    return ExactExplanation(roomy.smallest, never, best, place, simulation.log, "", _ranges(sizes))


def _without_numbers(diagnosis: Diagnosis, roomy: Simulation) -> ExactExplanation:
    """Return the explanation for a log without numbers: what happens in the known arena, and the smallest one."""
    if diagnosis.arena_size is None:
        return ExactExplanation(roomy.smallest, "", None, "", (), "")
    size = diagnosis.arena_size
    simulation = _simulate(roomy.model, roomy.configuration, size)
    is_of_the_arena = not any(BY_KIND[message.kind].role in _OTHER_REASONS for message in diagnosis.messages)
    why = f"in an arena of {size:,} B this model does not fail on this target" if is_of_the_arena else ""
    if simulation.fits:
        return ExactExplanation(roomy.smallest, "", None, "", simulation.log, why)
    place = _place_of_last_refusal(simulation)
    return ExactExplanation(roomy.smallest, "", size, place, simulation.log, "", ((size, size),))


def _simulate(model: Model, configuration: Configuration, size: int) -> Simulation:
    return simulate(model, configuration, arena_size=max(size, 0))


def _find_arenas(
    wanted: Sequence[Refusal], diagnosis: Diagnosis, roomy: Simulation, budget: SimulationBudget
) -> tuple[set[int], Simulation] | None:
    """Return the sizes in which the simulation prints the log's lines, and the run in the likeliest of them.

    Without such a size the run is one in the known arena, or in the likeliest one; None without enough simulations.
    """
    known = diagnosis.arena_size
    # An Init that fails is noticed by a later Prepare: with several refusals the first is not the named operator's.
    node = diagnosis.node if len(wanted) == 1 else None
    sizes = [known] if known is not None else _likely_sizes(wanted[0], roomy, node)
    if not budget.take(len(sizes)):
        return None
    tried = [_simulate(roomy.model, roomy.configuration, size) for size in sizes]
    found = _printing(tried, wanted, diagnosis)
    return {each.arena_size for each in found}, next(iter(found + tried), roomy)


def _printing(tried: Sequence[Simulation], wanted: Sequence[Refusal], diagnosis: Diagnosis) -> list[Simulation]:
    """Return the runs that print the log's refusals, without the others where some print all of its lines."""
    said = [(simulation, _diagnose_simulation(simulation)) for simulation in tried]
    loose = [
        (one, ours)
        for one, ours in said
        if ours is not None and _contains(_numbers(ours.refusals), _numbers(wanted)) and _same_node(ours, diagnosis)
    ]
    exact = [one for one, ours in loose if _chain(ours) == _chain(diagnosis)]
    return exact or [one for one, _ in loose]


def _same_node(ours: Diagnosis, diagnosis: Diagnosis) -> bool:
    """Whether the operator that failed is the one of the log, where both name one."""
    if diagnosis.node is None or ours.node is None:
        return True
    return (ours.node, ours.op or diagnosis.op) == (diagnosis.node, diagnosis.op or ours.op)


def _ranges(sizes: set[int]) -> tuple[tuple[int, int], ...]:
    """Return sizes as ranges: those that follow one another by no more than an alignment."""
    ranges: list[tuple[int, int]] = []
    for size in sorted(sizes):
        if ranges and size - ranges[-1][1] <= BUFFER_ALIGNMENT:
            ranges[-1] = ranges[-1][0], size
        else:
            ranges.append((size, size))
    return tuple(ranges)


def _diagnose_simulation(simulation: Simulation) -> Diagnosis | None:
    found = diagnose(parse_log("".join(f"{line}\n" for line in simulation.log).encode()))
    return found[-1] if found else None


def _chain(diagnosis: Diagnosis) -> list[str]:
    """The kinds of TFLM's own lines, with what a kernel checked: its file and line differ between versions."""
    ours = [message for message in diagnosis.messages if BY_KIND[message.kind].role is not Role.APP]
    return [" ".join([row.kind, *(str(row.value(name)) for name in _CHECKED if row.value(name))]) for row in ours]


def _likely_sizes(wanted: Refusal, roomy: Simulation, node: int | None) -> list[int]:
    """The sizes at which an allocation of the wanted size would find the wanted bytes free, give or take alignment.

    Args:
        wanted: What was refused.
        roomy: A run in which everything fits.
        node: The operator whose Prepare failed, where the log names it: only what it asks for counts.
    """
    sizes: list[int] = []
    head = tail_used = 0
    state = ArenaState()
    for event in roomy.events:
        state(event)
        if isinstance(event, Persist):
            tail_used = event.tail_used
        elif isinstance(event, Resize):
            head = event.head
        asks_it = isinstance(event, _Request) and event.size == wanted.requested
        preparing = state.place.op if isinstance(state.place, OpEvent) and state.stage is Stage.OP_PREPARE else None
        if asks_it and node in (None, preparing):
            sizes += _around(_failing_size(event, wanted, head, tail_used))
    return sorted(set(sizes), key=_roundness)[:_MAX_SIZES]


def _failing_size(event: Event, wanted: Refusal, head: int, tail_used: int) -> int:
    """Return the size at which a request that succeeds in a roomy arena finds the wanted bytes free."""
    if isinstance(event, Persist):
        return tail_used + head - (wanted.missing or 0)
    offset = event.offset if isinstance(event, Temp) else 0
    return offset + tail_used + (wanted.available or 0)


def _around(size: int) -> range:
    """Return the sizes from which alignment leaves the same, none for a size below 0."""
    return range(max(size - BUFFER_ALIGNMENT + 1, 0), size + BUFFER_ALIGNMENT) if size >= 0 else range(0)


def _roundness(size: int) -> tuple[bool, bool, bool, int]:
    """Order sizes by how likely a person wrote them."""
    return bool(size % 1024), bool(size % BUFFER_ALIGNMENT), bool(size % 4), -size


def _numbers(refusals: Sequence[Refusal]) -> list[tuple[str, int | None, int | None]]:
    """What two eras' messages for the same refusals have in common."""
    return [(_SECTIONS.get(row.section, row.section), row.requested, row.available) for row in refusals]


def _contains(whole: Sequence[object], part: Sequence[object]) -> bool:
    """Whether ``part`` stands somewhere in ``whole``, without gaps."""
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _place_of_last_refusal(simulation: Simulation) -> str:
    state, place = ArenaState(), ""
    for event in simulation.events:
        state(event)
        if isinstance(event, LogLine) and "equested: " in event.text:
            place = str(state.place)
    return place


def _contradiction(wanted: Sequence[Refusal], diagnosis: Diagnosis, simulation: Simulation, roomy: Simulation) -> str:
    """Say what in the log cannot come from this model on this target."""
    others = "another model, kernel library version, interpreter or TFLM version"
    if diagnosis.arena_size is None:
        return f"{_why_never(wanted[0], roomy)}: {others}"
    found = _diagnose_simulation(simulation)
    if found is None or not found.refusals:
        return f"in an arena of {simulation.arena_size:,} B this model does not fail on this target"
    both = [(a, b) for a, b in zip(wanted, found.refusals, strict=False) if _numbers([a]) != _numbers([b])]
    if not both:
        ends = f"{len(wanted)} refusals, the simulation with {len(found.refusals)}"
        at = f" at node {found.node}" if found.node not in (None, diagnosis.node) else ""
        return f"the log ends with {ends}{at}: {others}"
    log, ours = both[0]
    if ours.requested != log.requested:
        return f"the log asks for {log.requested} bytes, the simulation for {ours.requested}: {others}"
    return (
        f"with {ours.requested} bytes asked for, the log has {log.available} free, the simulation {ours.available}: "
        "another arena size or interpreter"
    )


def _why_never(wanted: Refusal, roomy: Simulation) -> str:
    """Say that this model never asks for that, or never finds so little."""
    if wanted.requested not in {event.size for event in roomy.events if isinstance(event, _Request)}:
        return f"the log asks for {wanted.requested} bytes, this model never does on this target"
    return f"no arena leaves this model {wanted.available} of {wanted.requested} bytes at that place"


def _explaining_settings(
    wanted: Sequence[Refusal], diagnosis: Diagnosis, roomy: Simulation, budget: SimulationBudget
) -> tuple[MatchingSetting, ...]:
    """Return the first firmwares, other in one thing, that print the log's numbers; as far as simulations are left."""
    found: list[MatchingSetting] = []
    for other in alternatives(roomy.configuration):
        if not budget.take(1):
            break
        try:
            run = simulate(roomy.model, other.configuration)
            arenas = _find_arenas(wanted, diagnosis, run, budget) if run.status == "ok" else None
        except TflmSimError:
            continue
        sizes = arenas[0] if arenas is not None else set()
        if sizes and run.smallest is not None:
            found.append(MatchingSetting(other.options, run.smallest.multiple_of_16))
        if len(found) == MAX_ANSWERS:
            break
    return tuple(found)
