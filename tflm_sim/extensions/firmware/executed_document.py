"""What ``--executed`` shows: the documents of ``size`` and ``report`` with figures that were measured in a program.

If all requests equal those of the simulation, its other answers are valid too: lifetimes, the plan, the allocation that
decides the size. It may take kernels of the program's own as they were seen (``seen_kernels``). Otherwise only the
measurements are shown, and the rest is empty.
"""

from __future__ import annotations

import os.path
from dataclasses import replace

from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.planned_problem import planned_buffer
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.arena.events import Event, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.escape import printable
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena
from tflm_sim.extensions.firmware.executed_facts import ExecutedFacts
from tflm_sim.extensions.firmware.executed_text import facts_lines
from tflm_sim.extensions.firmware.execution import requests
from tflm_sim.extensions.firmware.measured import MeasuredModel
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.bank_pictures import bank_pictures, in_banks
from tflm_sim.report.document import SizeDocument, configuration_facts, model_facts
from tflm_sim.report.picture import Picture
from tflm_sim.report.picture_builder import PictureBuilder
from tflm_sim.report.size_answer import SizeAnswer, Tail, TailGroup, TailOperator, size_answer
from tflm_sim.report.take_picture import take_picture
from tflm_sim.report.text import about_line, answer_lines


def measured_document(model: Model, measured: MeasuredModel) -> SizeDocument:
    is_simulated = measured.is_simulated
    return SizeDocument(
        model=model_facts(model),
        configuration=configuration_facts(measured.configuration),
        answer=size_answer(simulate(model, measured.exact)) if is_simulated else _answer(measured),
        parts={"executed": measured.facts},
    )


def measured_lines(model: Model, measured: MeasuredModel, *, has_ledger: bool = True) -> list[str]:
    """Return the same for people; ``has_ledger``: with a list of what every byte is used for."""
    document, config = measured_document(model, measured), measured.exact
    target = config.target
    name = printable(os.path.basename(model.path or "its own model"))
    head = [f"{name} on {printable(target.name)}, executed", about_line(config), *facts_lines(measured.facts), ""]
    return [*head, *answer_lines(document.answer, target.arena_address, has_ledger=has_ledger)]


def measured_pictures(model: Model, measured: MeasuredModel) -> tuple[Picture, ...]:
    """Return the picture of a model that was executed, of several banks one each: what AllocateTensors() did there."""
    if not measured.banks:
        return (_picture(model, measured),)
    own = measured.own
    return bank_pictures(
        measured_document(model, measured),
        _events(measured),
        own.size - -own.address % BUFFER_ALIGNMENT,
        title=_title(measured),
        simulation=_as_planned(model, measured),
        status="ok" if own.fits else "error",
        failure="" if own.fits else own.reason,
    )


def _title(measured: MeasuredModel) -> str:
    facts = measured.facts
    same = "tensors where banks.h puts them" if measured.banks else _sameness(facts)
    return f"{measured.configuration.target.name}, executed for a {facts.core} in {facts.emulator}: {same}"


def _as_planned(model: Model, measured: MeasuredModel) -> Simulation | None:
    """Return a simulation that asks a planner for the buffers of the program's plan; None where none does."""
    simulation = simulate(model, measured.configuration, own_planner=True)
    if simulation.failure is not None:
        return None
    asked = [planned_buffer(planned.info) for planned in simulation.buffers]
    planned = sorted(row for bank in measured.banks for row in bank.buffers)
    is_same = [(one.size, one.lower, one.upper - 1) for one in asked] == [tuple(row[2:]) for row in planned]
    return simulation if is_same else None


def _picture(model: Model, measured: MeasuredModel) -> Picture:
    document = measured_document(model, measured)
    title = _title(measured)
    if measured.is_simulated:
        own_size = measured.own.size if measured.rest is None else None
        picture = take_picture(model, measured.exact, arena_size=own_size, title=title)
        log = measured.own.allocations[0].log if picture.failure else ()
        return replace(picture, size=document, device_log=log)
    rest = measured.rest
    split_at = 0 if rest is None else rest.size - -rest.address % BUFFER_ALIGNMENT
    failure = "" if measured.own.fits else measured.own.reason
    builder = PictureBuilder(measured.configuration.planner, split_at=split_at).fold(_events(measured), failure)
    return Picture(
        title=title,
        size=document,
        arena_bytes=split_at + measured.own.size - -measured.own.address % BUFFER_ALIGNMENT,
        split_at=split_at,
        status="ok" if measured.own.fits else "error",
        failure=failure,
        **builder.drawn(),
        op_names=document.answer.operators,
        subgraph_names=tuple(subgraph.name or f"subgraph_{at}" for at, subgraph in enumerate(model.subgraphs)),
        scopes=(),
        residents=(),
        live_bytes=(),
        limits=builder.tightest() if measured.rest is None and not failure else (),
        remedies=(),
    )


def _sameness(facts: ExecutedFacts) -> str:
    """Return how far the requests are those of the simulation, in a few words."""
    if facts.kernels_as_seen:
        return f"{', '.join(map(printable, facts.kernels_as_seen))} as executed, all other requests as simulated"
    return "other requests than simulated" if facts.difference else "all requests as simulated"


def _events(measured: MeasuredModel) -> list[Event]:
    return list(requests(measured.own, measured.rest))


def _ledger(measured: MeasuredModel, count: int) -> TailLedger:
    """Return who holds the tail after the first ``count`` AllocateTensors(); nobody where one of them failed."""
    arena = measured.arena
    events = (Phase(Stage.CREATE), *requests(arena, measured.rest, count)) if arena.fits else ()
    return TailLedger().fold(events)


def _tail(whole: TailLedger, first: TailLedger) -> Tail:
    """Return who holds the tail: of an arena that several interpreters share, operators are those of the first."""
    return Tail(
        tuple(TailGroup(what, row.requested, row.used, row.count) for what, row in whole.groups.items()),
        tuple(
            TailOperator(subgraph, index, op, row.requested, row.used, row.count)
            for (subgraph, index, op), row in first.ops.items()
        ),
    )


def _answer(measured: MeasuredModel) -> SizeAnswer:
    """Return what was seen; an AllocateTensors() that failed in the program's own arena says nothing of the tail."""
    arena = measured.arena
    ledger = _ledger(measured, len(arena.allocations))
    used = (arena.arena_used_bytes if arena.fits else arena.arena_used_bytes_at_smallest) or 0
    tail, works = ledger.tail_used, measured.smallest is not None
    whole = arena if measured.rest is None else _without_sizes(arena)
    answer = SizeAnswer(
        status="ok" if works else "error",
        smallest_arena_bytes=whole.smallest_arena,
        smallest_arena_multiple_of_16=whole.smallest_arena_multiple_of_16,
        arena_used_bytes_at_smallest=whole.arena_used_bytes_at_smallest,
        smallest_split_arenas_bytes=_split(measured),
        arena_used_bytes=used,
        head_bytes=(used - tail if tail else 0) if arena.fits else None,
        tail_bytes=tail if arena.fits else None,
        recorded={},
        log=arena.allocations[0].log,
        failure=None if works else arena.reason or "no size was found for one of its two arenas",
        binding=None,
        tail=_tail(ledger, _ledger(measured, 1)),
        operators=_operators(measured),
        buffers=(),
        peak=None,
        passes_unnoticed_from_bytes=whole.succeeds_from if whole.succeeds_from != whole.smallest_arena else None,
    )
    return in_banks(answer, measured.banks) if measured.banks else answer


def _without_sizes(arena: ExecutedArena) -> ExecutedArena:
    return replace(
        arena,
        smallest_arena=None,
        smallest_arena_multiple_of_16=None,
        arena_used_bytes_at_smallest=None,
        succeeds_from=None,
    )


def _split(measured: MeasuredModel) -> SplitArenaSizes | None:
    """Return the sizes of two arenas, None where there is one, or where one of the two is not known."""
    first, rest = measured.arena.smallest_arena_multiple_of_16, measured.rest
    if rest is None or first is None or rest.smallest_arena is None:
        return None
    return SplitArenaSizes(first, rest.smallest_arena)


def _operators(measured: MeasuredModel) -> tuple[tuple[str, ...], ...]:
    rows = {(row.subgraph, row.op): row.name for row in measured.arena.allocations[0].events if row.op >= 0}
    return tuple(_names(rows, subgraph) for subgraph in range(max((one for one, _ in rows), default=-1) + 1))


def _names(rows: dict[tuple[int, int], str], wanted: int) -> tuple[str, ...]:
    last = max((index for subgraph, index in rows if subgraph == wanted), default=-1)
    return tuple(rows.get((wanted, index), "") for index in range(last + 1))
