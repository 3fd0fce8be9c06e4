"""What a firmware's file says about its models and arenas, as one document; ``firmware_text`` has it in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.checks.doubts import Answer, Doubt, answer_of, fits_of, worst
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.document_fields import HIDDEN
from tflm_sim.document_types import Count
from tflm_sim.extensions.firmware.judge import FirmwareVerdict
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Ground
from tflm_sim.extensions.firmware.reading.memory import Region
from tflm_sim.extensions.firmware.reading.snapshot import StructMismatch
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget
from tflm_sim.extensions.firmware.rooms import used_models


@dataclass(frozen=True, slots=True)
class Placed:
    """A model or an arena in the program.

    Attributes:
        is_used: Whether an interpreter is given the model, as far as that was read; an unused one is not judged.
    """

    symbol: str
    section: str
    address: Count
    size: Count
    is_used: bool = True


@dataclass(frozen=True, slots=True)
class RamFacts:
    """A region of RAM, and what is in it; null where the file does not say.

    Attributes:
        grounds: What says where it ends.
    """

    start: Count
    initialised: Count
    zeroed: Count
    set_aside: Count
    stack: Count | None
    heap: Count | None
    end: Count | None
    free: int | None
    grounds: str = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """What the model needs in one of the cases that the file leaves open.

    Attributes:
        case: What is the case there: a version of TFLM, the size of enums, an arena.
        works: Whether it works there if no doubt is right; None where the arena is not known.
        fits: The same with every doubt: null where it hangs on one.
    """

    case: str
    smallest_arena: Count | None
    works: bool | None = field(metadata=HIDDEN)
    fits: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmwareVerdictRow:
    """Whether a model works in its arena.

    Attributes:
        answer: "if" where a doubt can turn it.
        works: Whether it works if no doubt is right; None where it cannot be told.
        fits: The answer as true or false; null where it is "if" or "cannot tell".
        model_size: Its bytes.
        place: Where it lies: a section and an address, or its file.
        arena_size: Bytes; of two arenas, of the one for what stays.
        other_arena_size: Of two arenas, of the one for the rest.
        smallest_arena: Bytes, of two arenas or of several banks all together.
        banks: Where a plan of banks.h says what lies in which bank, what each needs.
        smallest_split_arenas: Where there are two arenas, what each needs.
        arena_used_bytes: In this arena; in a roomy one where it does not work or none is known.
        missing_operators: In the order in which the device asks for them.
        doubts: What the answer takes for granted.
        cases: What the file leaves open, where it matters.
    """

    model: str
    model_size: Count = field(metadata=HIDDEN)
    place: str = field(metadata=HIDDEN)
    arena: str | None
    arena_size: Count | None
    other_arena_size: Count | None
    arena_address: Count | None
    answer: Answer
    works: bool | None = field(metadata=HIDDEN)
    fits: bool | None
    smallest_arena: Count | None
    smallest_arena_multiple_of_16: Count | None
    smallest_split_arenas: SplitArenaSizes | None
    banks: tuple[BankNeed, ...]
    arena_used_bytes: Count | None
    missing_operators: tuple[str, ...]
    ram_free: int | None
    reason: str
    doubts: tuple[Doubt, ...]
    cases: tuple[CaseRow, ...]
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmwareDocument:
    """What a linked program says, and whether its models fit; sizes and addresses are bytes.

    Attributes:
        firmware: The version of this document.
        structs: Measured sizes by name.
        disagreeing: Structs that have several sizes in different source files.
        problem: Why there is no answer.
        answer: Whether the models work: the worst of their answers.
        fits: The same as true or false; null where it is "if" or "cannot tell".
        settled_by: The command that executes the program, where that would settle what its file leaves open; "" where
            it leaves nothing open, or no emulator has its core.
    """

    firmware: Literal[2] = 2
    file: str | None
    format: str
    processor: str | None
    grounds: tuple[Ground, ...]
    structs: dict[str, Count]
    disagreeing: dict[str, tuple[Count, ...]] = field(metadata=HIDDEN)
    mismatches: tuple[StructMismatch, ...]
    models: tuple[Placed, ...]
    arenas: tuple[Placed, ...]
    arena_pointers: tuple[str, ...]
    operators: tuple[str, ...] | None
    prints_messages: bool
    compression: bool
    ram: tuple[RamFacts, ...]
    problem: str
    answer: Answer
    fits: bool | None
    verdicts: tuple[FirmwareVerdictRow, ...]
    settled_by: str = ""


def firmware_document(
    firmware: Firmware,
    found: FirmwareTarget | None,
    verdicts: Sequence[FirmwareVerdict],
    *,
    problem: str = "",
    settled_by: str = "",
) -> FirmwareDocument:
    """Return facts and answers; ``problem``: why there is no answer; ``settled_by``: the command that would tell."""
    used = used_models(firmware)
    answer: Answer = "cannot tell" if problem else worst(verdict.answer for verdict in verdicts)
    grounds, mismatches = (found.grounds, found.mismatches) if found else ((), ())
    return FirmwareDocument(
        file=firmware.image.path,
        format=firmware.image.format,
        processor=firmware.processor.description if firmware.processor else None,
        grounds=grounds,
        structs={name: row.size for name, row in firmware.debug.structs.items()} if firmware.debug else {},
        disagreeing=dict(firmware.debug.disagreeing) if firmware.debug else {},
        mismatches=mismatches,
        models=tuple(Placed(row.symbol, row.piece, row.address, row.extent, row in used) for row in firmware.models),
        arenas=placed_arenas(firmware),
        arena_pointers=tuple(firmware.arena_pointers),
        operators=tuple(sorted(firmware.operators)) if firmware.operators is not None else None,
        prints_messages=firmware.prints_messages,
        compression=firmware.has_compression,
        ram=tuple(map(ram_facts, firmware.regions)),
        problem=problem,
        answer=answer,
        fits=fits_of(answer),
        verdicts=tuple(map(_verdict_row, verdicts)),
        settled_by=settled_by,
    )


def placed_arenas(firmware: Firmware) -> tuple[Placed, ...]:
    return tuple(Placed(row.name, row.section, row.address, row.size) for row in firmware.arenas)


def ram_facts(region: Region) -> RamFacts:
    return RamFacts(
        start=region.start,
        initialised=region.data,
        zeroed=region.zeroed,
        set_aside=region.reserved,
        stack=region.stack,
        heap=region.heap,
        end=region.top,
        free=region.free,
        grounds=region.grounds,
    )


def _verdict_row(verdict: FirmwareVerdict) -> FirmwareVerdictRow:
    arena = verdict.arena
    return FirmwareVerdictRow(
        model=verdict.model,
        model_size=verdict.model_size,
        place=verdict.place,
        arena=None if arena is None else arena.name,
        arena_size=None if arena is None else arena.size,
        other_arena_size=None if arena is None else arena.rest_size,
        arena_address=None if arena is None else arena.address,
        answer=verdict.answer,
        works=verdict.fits,
        fits=fits_of(verdict.answer),
        smallest_arena=verdict.needed,
        smallest_arena_multiple_of_16=verdict.multiple_of_16,
        smallest_split_arenas=verdict.split,
        banks=verdict.banks,
        arena_used_bytes=verdict.used,
        missing_operators=tuple(verdict.missing),
        ram_free=None if arena is None else arena.free,
        reason=verdict.reason,
        doubts=verdict.doubts,
        cases=tuple(
            CaseRow(row.case, row.needed, row.fits, fits_of(answer_of(row.fits, verdict.doubts)))
            for row in verdict.cases
        ),
        log=tuple(verdict.log),
    )
