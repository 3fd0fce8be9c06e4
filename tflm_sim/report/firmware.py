"""What a firmware's file says about its models and arenas: lines for people, and one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tflm_sim.checks.firmware import FirmwareVerdict
from tflm_sim.escape import printable
from tflm_sim.firmware.firmware import Firmware
from tflm_sim.firmware.memory import Region
from tflm_sim.firmware.target import FirmwareTarget

VERSION = 1
"""Of the JSON document."""


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


def firmware_document(
    firmware: Firmware, found: FirmwareTarget | None, verdicts: Sequence[FirmwareVerdict], *, problem: str = ""
) -> dict[str, Any]:
    """Return facts and answers as JSON values; sizes and addresses are bytes. ``problem``: why there is no answer."""
    return {
        "firmware": VERSION,
        "file": firmware.image.path,
        "format": firmware.image.format,
        "processor": firmware.processor.description if firmware.processor else None,
        "grounds": [
            {"part": ground.part, "value": ground.value, "grounds": ground.grounds, "proved": ground.is_proved}
            for ground in (found.grounds if found else ())
        ],
        "structs": {name: struct.size for name, struct in firmware.debug.structs.items()} if firmware.debug else {},
        "mismatches": [
            {"struct": name, "measured": size, "table": table}
            for name, size, table in (found.mismatches if found else ())
        ],
        "models": [
            {"symbol": model.symbol, "section": model.piece, "address": model.address, "size": model.extent}
            for model in firmware.models
        ],
        "arenas": [
            {"symbol": arena.name, "section": arena.section, "address": arena.address, "size": arena.size}
            for arena in firmware.arenas
        ],
        "arena_pointers": list(firmware.arena_pointers),
        "operators": sorted(firmware.operators) if firmware.operators is not None else None,
        "prints_messages": firmware.prints_messages,
        "compression": firmware.has_compression,
        "ram": [
            {
                "start": region.start,
                "initialised": region.data,
                "zeroed": region.zeroed,
                "set_aside": region.reserved,
                "stack": region.stack,
                "heap": region.heap,
                "end": region.top,
                "free": region.free,
            }
            for region in firmware.regions
        ],
        "problem": problem,
        "verdicts": [_verdict_document(verdict) for verdict in verdicts],
    }


def _verdict_document(verdict: FirmwareVerdict) -> dict[str, Any]:
    arena = verdict.arena
    return {
        "model": verdict.model,
        "arena": None if arena is None else arena.name,
        "arena_size": None if arena is None else arena.size,
        "arena_address": None if arena is None else arena.address,
        "fits": verdict.fits,
        "smallest_arena": verdict.needed,
        "smallest_arena_multiple_of_16": verdict.multiple_of_16,
        "arena_used_bytes": verdict.used,
        "missing_operators": list(verdict.missing),
        "ram_free": None if arena is None else arena.free,
        "reason": verdict.reason,
        "by_snapshot": [{"snapshot": name, "smallest_arena": need} for name, need in verdict.by_snapshot],
        "log": list(verdict.log),
    }
