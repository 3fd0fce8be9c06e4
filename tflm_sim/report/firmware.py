"""What a firmware's file says about its models and arenas: lines for people, and one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tflm_sim.checks.firmware import FirmwareVerdict
from tflm_sim.documents import Count
from tflm_sim.escape import printable
from tflm_sim.firmware.firmware import Firmware
from tflm_sim.firmware.memory import Region
from tflm_sim.firmware.target import FirmwareTarget


def firmware_lines(
    firmware: Firmware, found: FirmwareTarget | None, verdicts: Sequence[FirmwareVerdict], *, problem: str = ""
) -> list[str]:
    """Return the facts, then the answers, one line each; ``problem`` is why there is none."""
    answers = [_answer(verdict, firmware) for verdict in verdicts]
    return [
        *_fact_lines(firmware, found),
        *answers,
        *([f"cannot be told: {printable(problem, 600)}"] if problem else []),
    ]


def _fact_lines(firmware: Firmware, found: FirmwareTarget | None) -> Iterator[str]:
    what = firmware.processor.description if firmware.processor else "processor not said"
    yield _row("file", f"{printable(firmware.image.path or '-', 200)}: {firmware.image.format}, {printable(what)}")
    for ground in found.grounds if found else ():
        mark = "" if ground.is_proved else "assumed: "
        yield _row(ground.part, f"{mark}{printable(ground.value, 120)} ({printable(ground.grounds, 300)})")
    for name, sizes in firmware.debug.disagreeing.items() if firmware.debug else ():
        several = " and ".join(f"{size} B" for size in sizes)
        yield _row("caution", f"{name} takes {several} in different source files: they were built with different flags")
    for model in firmware.models:
        odd = "" if model.address % 16 == 0 else f", not aligned to 16 (modulo 16: {model.address % 16})"
        yield _row("model", f"{_label(model.symbol, model.address)}: {_bytes(model.extent)}{_in(model.piece)}{odd}")
    for arena in firmware.arenas:
        odd = "" if arena.address % 16 == 0 else f", modulo 16: {arena.address % 16}"
        yield _row(
            "arena",
            f"{printable(arena.name)}: {_bytes(arena.size)} at {arena.address:#010x}{_in(arena.section)}{odd}",
        )
    for name in firmware.arena_pointers if not firmware.arenas else ():
        yield _row("arena", f"{printable(name)} is a pointer: its arena is allocated at run time, say --limit N")
    yield from _option_lines(firmware)
    for region in firmware.regions:
        yield _row("RAM", _region(region))


def _option_lines(firmware: Firmware) -> Iterator[str]:
    if firmware.operators is not None:
        yield _row("operators", f"{len(firmware.operators)} registered: {', '.join(sorted(firmware.operators))}")


def _bytes(size: int) -> str:
    return f"{size:,} B"


def _row(name: str, text: str) -> str:
    return f"{name:<12}{text}"


def _label(symbol: str, address: int) -> str:
    return printable(symbol) if symbol else f"at {address:#010x}"


def _in(section: str) -> str:
    return f" in {printable(section)}" if section else ""


def _region(region: Region) -> str:
    parts = [f"{_bytes(region.data)} initialised", f"{_bytes(region.zeroed)} zeroed"]
    parts += [f"{_bytes(region.reserved)} set aside in sections"] if region.reserved else []
    if region.stack is not None:
        parts.append(f"{_bytes(region.stack)} stack")
    if region.heap is not None:
        parts.append(f"{_bytes(region.heap)} heap")
    if region.free is None:
        tail = "; where it ends is not said: give its size with --ram"
    else:
        tail = f"; {_bytes(region.free)} free up to {printable(region.grounds)}"
    return f"{region.start:#010x}: {', '.join(parts)}{tail}"


def _answer(verdict: FirmwareVerdict, firmware: Firmware) -> str:
    """Return the paragraph that a person wants at the end of a build."""
    mark = {True: "yes", False: "no", None: "cannot be told"}[verdict.fits]
    where = f"model {printable(verdict.model)} ({_bytes(verdict.model_size)} {printable(verdict.place)})"
    if verdict.arena is not None:
        where += f" in {printable(verdict.arena.name)} ({_bytes(verdict.arena.size)})"
    return f"{mark}: {where}: {_reason(verdict, firmware)}"


def _reason(verdict: FirmwareVerdict, firmware: Firmware) -> str:
    if verdict.by_snapshot and verdict.fits is None and verdict.arena is not None:
        return (
            f"which TFLM is linked decides, and the file does not say: {_by_snapshot(verdict)}; name it with --runtime"
        )
    most = f" (at most; {_by_snapshot(verdict)})" if verdict.by_snapshot else ""
    return _one_reason(verdict, firmware) + most


def _by_snapshot(verdict: FirmwareVerdict) -> str:
    """Return what each TFLM that is left needs, those that need the same together."""
    groups: dict[int | None, list[str]] = {}
    for snapshot, need in verdict.by_snapshot:
        groups.setdefault(need, []).append(snapshot)
    parts = []
    for need, snapshots in groups.items():
        span = snapshots[0] if len(snapshots) == 1 else f"{snapshots[-1]} to {snapshots[0]}"
        parts.append(f"{span} {'fails' if need is None else _bytes(need)}")
    return ", ".join(parts)


def _one_reason(verdict: FirmwareVerdict, firmware: Firmware) -> str:
    if verdict.missing:
        names = ", ".join(verdict.missing)
        needs = "" if verdict.multiple_of_16 is None else f"; its arena would be {_bytes(verdict.multiple_of_16)}"
        return f"not registered: {names}; AllocateTensors() will fail{_printed(_not_found(verdict), firmware)}{needs}"
    if verdict.needed is None or verdict.multiple_of_16 is None:
        return printable(verdict.reason, 400)
    if verdict.arena is None:
        return (
            f"needs {_bytes(verdict.multiple_of_16)}; which arena it gets is not said: "
            "name it with --arena-symbol, or its size with --limit"
        )
    if verdict.fits:
        spare = verdict.arena.size - verdict.multiple_of_16
        needs = f"needs {_bytes(verdict.multiple_of_16)}"
        if spare < 0:
            return f"{_bytes(verdict.needed)} are enough, though the smallest multiple of 16 is not here"
        return f"{needs}; you can give back {_bytes(spare)}" if spare else f"{needs}, all of it"
    return _too_small(verdict, verdict.needed, verdict.multiple_of_16, firmware)


def _too_small(verdict: FirmwareVerdict, needed: int, multiple_of_16: int, firmware: Firmware) -> str:
    assert verdict.arena is not None, "it is too small for something"
    free, grows_by = verdict.arena.free, multiple_of_16 - verdict.arena.size
    text = (
        f"too small by {_bytes(needed - verdict.arena.size)}: AllocateTensors() will fail"
        f"{_printed(verdict.log, firmware)}"
    )
    if free is None:
        return f"{text}; set {_bytes(multiple_of_16)}"
    if grows_by <= free:
        return f"{text}; {_bytes(free)} of RAM are free: set {_bytes(multiple_of_16)}"
    return f"{text}; it needs {_bytes(multiple_of_16)}, and only {_bytes(free)} of RAM are free"


def _not_found(verdict: FirmwareVerdict) -> tuple[str, ...]:
    return (f"Didn't find op for builtin opcode '{verdict.missing[0]}'",)


def _printed(log: Iterable[str], firmware: Firmware) -> str:
    first = next(iter(log), "")
    if not first or not firmware.prints_messages:
        return " without a message"
    return f" and print `{printable(first, 200)}`"


# -- the document -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroundFacts:
    """Why a part of the target is what it is; without proof it is assumed."""

    part: str
    value: str
    grounds: str
    proved: bool


@dataclass(frozen=True, slots=True)
class MismatchFacts:
    """A struct whose size in the file is not that of our table."""

    struct: str
    measured: Count
    table: Count


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model in the program."""

    symbol: str
    section: str
    address: Count
    size: Count


@dataclass(frozen=True, slots=True)
class ArenaPlace:
    """An arena in the program."""

    symbol: str
    section: str
    address: Count
    size: Count


@dataclass(frozen=True, slots=True)
class RamFacts:
    """A region of RAM, and what is in it; null where the file does not say."""

    start: Count
    initialised: Count
    zeroed: Count
    set_aside: Count
    stack: Count | None
    heap: Count | None
    end: Count | None
    free: int | None


@dataclass(frozen=True, slots=True)
class SnapshotNeed:
    """What the model needs under one of the versions of TFLM that the file can hold."""

    snapshot: str
    smallest_arena: Count | None


@dataclass(frozen=True, slots=True)
class FirmwareVerdictRow:
    """Whether a model fits its arena; ``fits`` is null where it cannot be told."""

    model: str
    arena: str | None
    arena_size: Count | None
    arena_address: Count | None
    fits: bool | None
    smallest_arena: Count | None
    smallest_arena_multiple_of_16: Count | None
    arena_used_bytes: Count | None
    missing_operators: tuple[str, ...]
    ram_free: int | None
    reason: str
    by_snapshot: tuple[SnapshotNeed, ...]
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmwareDocument:
    """What a linked program says, and whether its models fit; sizes and addresses are bytes.

    Attributes:
        firmware: The version of this document.
        structs: Measured sizes by name.
        problem: Why there is no answer.
    """

    firmware: Literal[1] = 1
    file: str | None
    format: str
    processor: str | None
    grounds: tuple[GroundFacts, ...]
    structs: dict[str, Count]
    mismatches: tuple[MismatchFacts, ...]
    models: tuple[ModelPlace, ...]
    arenas: tuple[ArenaPlace, ...]
    arena_pointers: tuple[str, ...]
    operators: tuple[str, ...] | None
    prints_messages: bool
    compression: bool
    ram: tuple[RamFacts, ...]
    problem: str
    verdicts: tuple[FirmwareVerdictRow, ...]


def firmware_document(
    firmware: Firmware, found: FirmwareTarget | None, verdicts: Sequence[FirmwareVerdict], *, problem: str = ""
) -> FirmwareDocument:
    """Return facts and answers; ``problem``: why there is no answer."""
    grounds, mismatches = (found.grounds, found.mismatches) if found else ((), ())
    return FirmwareDocument(
        file=firmware.image.path,
        format=firmware.image.format,
        processor=firmware.processor.description if firmware.processor else None,
        grounds=tuple(GroundFacts(row.part, row.value, row.grounds, row.is_proved) for row in grounds),
        structs={name: row.size for name, row in firmware.debug.structs.items()} if firmware.debug else {},
        mismatches=tuple(MismatchFacts(*row) for row in mismatches),
        models=tuple(ModelPlace(row.symbol, row.piece, row.address, row.extent) for row in firmware.models),
        arenas=tuple(ArenaPlace(row.name, row.section, row.address, row.size) for row in firmware.arenas),
        arena_pointers=tuple(firmware.arena_pointers),
        operators=tuple(sorted(firmware.operators)) if firmware.operators is not None else None,
        prints_messages=firmware.prints_messages,
        compression=firmware.has_compression,
        ram=tuple(map(_ram, firmware.regions)),
        problem=problem,
        verdicts=tuple(map(_verdict_row, verdicts)),
    )


def _ram(region: Region) -> RamFacts:
    return RamFacts(
        start=region.start,
        initialised=region.data,
        zeroed=region.zeroed,
        set_aside=region.reserved,
        stack=region.stack,
        heap=region.heap,
        end=region.top,
        free=region.free,
    )


def _verdict_row(verdict: FirmwareVerdict) -> FirmwareVerdictRow:
    arena = verdict.arena
    return FirmwareVerdictRow(
        model=verdict.model,
        arena=None if arena is None else arena.name,
        arena_size=None if arena is None else arena.size,
        arena_address=None if arena is None else arena.address,
        fits=verdict.fits,
        smallest_arena=verdict.needed,
        smallest_arena_multiple_of_16=verdict.multiple_of_16,
        arena_used_bytes=verdict.used,
        missing_operators=tuple(verdict.missing),
        ram_free=None if arena is None else arena.free,
        reason=verdict.reason,
        by_snapshot=tuple(SnapshotNeed(*row) for row in verdict.by_snapshot),
        log=tuple(verdict.log),
    )
