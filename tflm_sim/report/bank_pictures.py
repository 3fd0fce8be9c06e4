"""A model whose tensors lie in several banks of RAM, by a program's banks.h: its size, and a picture a bank.

events of one AllocateTensors() --+-- what stays             --> the bank of the tail
                                  +-- head, temps            --> the bank of the head
buffers, as a simulation has them + where the plan puts each --> every bank
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.simulation import Simulation
from tflm_sim.arena.events import Event, Persist, Phase, PlanOffset, Resize, Temp, TempFree, TempReset
from tflm_sim.arena.stages import Stage
from tflm_sim.checks.program_need import BankNeed, ProgramNeed
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.document import SizeDocument, size_document
from tflm_sim.report.picture import Picture, Resident
from tflm_sim.report.picture_builder import PictureBuilder
from tflm_sim.report.size_answer import SizeAnswer, Status, tail_of
from tflm_sim.report.take_picture import residents_of, subgraph_names, title_of
from tflm_sim.units import align_up, format_size

_OF_HEAD = (Temp, TempFree, TempReset, Resize)


def in_banks(answer: SizeAnswer, banks: tuple[BankNeed, ...]) -> SizeAnswer:
    """Return an answer about one arena as one about banks: what is only true of one arena is left out."""
    return replace(
        answer,
        smallest_arena_bytes=None,
        smallest_arena_multiple_of_16=None,
        arena_used_bytes_at_smallest=None,
        smallest_split_arenas_bytes=None,
        head_bytes=next((bank.planned for bank in banks if bank.is_head), None),
        binding=None,
        buffers=(),
        peak=None,
        passes_unnoticed_from_bytes=None,
        bank_needs=banks,
    )


def program_size(need: ProgramNeed, parts: Mapping[str, object]) -> SizeDocument:
    """Return what a model needs in the banks of a program that was read."""
    assert need.simulation is not None, "its banks are known"
    size = size_document(need.simulation, parts=parts, candidates=need.candidates)
    ledger = TailLedger().fold(_events(need))
    of_head = next((bank.planned for bank in need.banks if bank.is_head and bank.is_tail), 0)
    answer = replace(
        in_banks(size.answer, need.banks),
        arena_used_bytes=of_head + ledger.tail_used,
        tail_bytes=ledger.tail_used,
        tail=tail_of(ledger),
    )
    return replace(size, answer=answer)


def _events(need: ProgramNeed) -> list[Event]:
    """Return what happens in the banks: the allocator's objects lie in none where head and tail have a bank each."""
    assert need.simulation is not None, "its banks are known"
    events = list(need.simulation.events)
    if any(bank.is_head and bank.is_tail for bank in need.banks):
        return events
    found: list[Event] = []
    stage, taken = Stage.START, 0
    for event in events:
        stage = event.stage if isinstance(event, Phase) else stage
        if not isinstance(event, Persist):
            found.append(event)
        elif stage is not Stage.CREATE:
            end, before = event.offset + event.tail_used, taken
            taken = align_up(taken + event.size, event.alignment)
            found.append(event._replace(offset=end - taken, used=taken - before, tail_used=taken))
    return found


def program_pictures(need: ProgramNeed, parts: Mapping[str, object]) -> tuple[Picture, ...]:
    """Return a picture of each bank of a program that was read."""
    simulation = need.simulation
    assert simulation is not None, "its banks are known"
    fails = need.works is False
    return bank_pictures(
        program_size(need, parts),
        _events(need),
        simulation.arena_size,
        title=title_of(need.configuration, None),
        simulation=simulation,
        status="error" if fails else "ok",
        failure=need.reason if fails else "",
    )


def bank_pictures(
    size: SizeDocument,
    events: Sequence[Event],
    arena_bytes: int,
    *,
    title: str,
    simulation: Simulation | None,
    status: Status = "ok",
    failure: str = "",
) -> tuple[Picture, ...]:
    """Return a picture of each bank that the plan uses, as large as it must be.

    Args:
        size: What the model needs, in banks.
        events: Of AllocateTensors().
        arena_bytes: Of the arena of what stays in these events.
        title: What it is all about.
        simulation: One that asks a planner for the buffers of the plan; None where none is known to.
        status: "error" where AllocateTensors() fails.
        failure: Why.
    """
    banks = size.answer.bank_needs
    assert banks is not None, "it is an answer about banks"
    allocation = None if simulation is None or failure else simulation.allocation
    labels = () if simulation is None else simulation.ledger.scratch_labels
    residents = () if allocation is None else residents_of(allocation, labels)
    scopes = () if allocation is None else tuple(allocation.scopes)
    found = []
    for bank in banks:
        if not bank.needed:
            continue
        builder = PictureBuilder("linear", split_at=bank.needed - arena_bytes)
        placed = tuple(_placed(residents, bank))
        found.append(
            Picture(
                title=f"{_words(bank)}; {title}",
                size=size,
                arena_bytes=bank.needed,
                split_at=0,
                status=status,
                failure=failure,
                **builder.fold(_of_bank(bank, events), failure).drawn(),
                op_names=size.answer.operators,
                subgraph_names=() if simulation is None else subgraph_names(simulation.model),
                scopes=scopes if placed else (),
                residents=placed,
                live_bytes=tuple(_live_bytes(placed, scope) for scope in range(len(scopes) if placed else 0)),
                limits=(),
                remedies=(),
            )
        )
    return tuple(found)


def _live_bytes(residents: Sequence[Resident], scope: int) -> int:
    return sum(align_up(row.size, BUFFER_ALIGNMENT) for row in residents if row.first <= scope <= row.last)


def _words(bank: BankNeed) -> str:
    parts = [words for words, is_so in (("the head", bank.is_head), ("the tail", bank.is_tail)) if is_so]
    of = "" if bank.size is None else f" of {bank.size:,} B"
    return f"{bank.name}{of}: {format_size(bank.needed)}" + (f", with {' and '.join(parts)}" if parts else "")


def _of_bank(bank: BankNeed, events: Sequence[Event]) -> Iterator[Event]:
    """Yield what happens in a bank; the head's last size is the plan's there."""
    last = max((at for at, event in enumerate(events) if isinstance(event, Resize) and event.ok), default=-1)
    here = {each.number: position for position, each in enumerate(bank.buffers)}
    for at, event in enumerate(events):
        if isinstance(event, PlanOffset):
            if event.planner_index in here:
                yield event._replace(planner_index=here[event.planner_index])
            continue
        if at == last and bank.is_head and isinstance(event, Resize):
            yield event._replace(size=bank.planned, head=bank.planned)
        elif not (isinstance(event, Persist) and not bank.is_tail) and not (
            isinstance(event, _OF_HEAD) and not bank.is_head
        ):
            yield event


def _placed(residents: Sequence[Resident], bank: BankNeed) -> Iterator[Resident]:
    """Yield the buffers that a plan puts into a bank, in the order in which TFLM asks for them."""
    here = [residents[each.number]._replace(offset=each.offset) for each in bank.buffers if residents]
    for row in here:
        ends = row.offset + row.size
        sharing = sum(other.offset < ends and row.offset < other.offset + other.size for other in here) - 1
        yield row._replace(sharing=max(sharing, 0) if row.size > 0 else 0)
