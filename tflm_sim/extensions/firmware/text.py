"""A firmware's facts and answers as text, from the same document as the JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.checks.doubts import first_words, listed, turning
from tflm_sim.checks.program_need import bank_words
from tflm_sim.escape import printable
from tflm_sim.extensions.firmware.document import FirmwareDocument, FirmwareVerdictRow, Placed, RamFacts
from tflm_sim.extensions.firmware.ram_parts import ram_parts
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT


def verdict_lines(document: FirmwareDocument) -> list[str]:
    """Return the answers, one line a model, or the line that says why there is none."""
    problem = [f"cannot be told: {printable(document.problem, 600)}"] if document.problem else []
    return [*(_answer(row, document) for row in document.verdicts), *problem]


def _arena_fact_lines(document: FirmwareDocument) -> Iterator[str]:
    for arena in document.arenas:
        at = f"{_bytes(arena.size)} at {arena.address:#010x}{_where(arena, 'modulo 16: {}')}"
        yield _row("arena", f"{printable(arena.symbol)}: {at}")
    for name in document.arena_pointers if not document.arenas else ():
        yield _row("arena", f"{printable(name)} is a pointer: its arena is allocated at run time, say --limit N")


def fact_lines(document: FirmwareDocument) -> Iterator[str]:
    """Return what the file says, and how it is known."""
    what = document.processor or "processor not said"
    yield _row("file", f"{printable(document.file or '-', 200)}: {document.format}, {printable(what)}")
    for ground in document.grounds:
        yield _row(ground.part, f"{ground.how}: {printable(ground.value, 120)} ({printable(ground.grounds, 300)})")
    for name, sizes in document.disagreeing.items():
        several = " and ".join(map(_bytes, sizes))
        yield _row("caution", f"{name} takes {several} in different source files: they were built with different flags")
    for model in document.models:
        label = printable(model.symbol) if model.symbol else f"at {model.address:#010x}"
        unused = "" if model.is_used else "; no interpreter is given it, so it is not judged"
        where = _where(model, "not aligned to 16 (modulo 16: {})")
        yield _row("model", f"{label}: {_bytes(model.size)}{where}{unused}")
    yield from _arena_fact_lines(document)
    if document.operators is not None:
        yield _row("operators", f"{len(document.operators)} registered: {', '.join(document.operators)}")
    for region in document.ram:
        yield _row("RAM", _region(region))
        yield from _bar(ram_parts(region, document.arenas))


_BAR, _COLUMNS = 24, 66
"""Blocks of all bars together, and columns of a line behind its title."""


def _bar(parts: Mapping[str, int]) -> Iterator[str]:
    """Yield the parts of a RAM as bars of one scale, as many in a line as 80 columns hold."""
    line, whole = "", max(sum(parts.values()), 1)
    for name, size in parts.items():
        part = f"{name} {'█' * max(1, round(_BAR * size / whole))} {_bytes(size)}"
        if line and len(line) + len(part) > _COLUMNS:
            yield _row("", line)
            line = ""
        line += f"  {part}" if line else part
    if line:
        yield _row("", line)


def _bytes(size: int) -> str:
    return f"{size:,} B"


def _row(name: str, text: str) -> str:
    return f"{name:<12}{text}"


def _where(place: Placed, when_odd: str) -> str:
    section = f" in {printable(place.section)}" if place.section else ""
    odd = place.address % BUFFER_ALIGNMENT
    return section + (f", {when_odd.format(odd)}" if odd else "")


def _region(region: RamFacts) -> str:
    parts = [f"{_bytes(region.initialised)} initialised", f"{_bytes(region.zeroed)} zeroed"]
    parts += [f"{_bytes(region.set_aside)} set aside in sections"] if region.set_aside else []
    if region.stack is not None:
        parts.append(f"{_bytes(region.stack)} stack")
    if region.heap is not None:
        parts.append(f"{_bytes(region.heap)} heap")
    if region.free is None:
        tail = "; where it ends is not said: give its size with --ram"
    else:
        tail = f"; {_bytes(region.free)} free up to {printable(region.grounds)}"
    return f"{region.start:#010x}: {', '.join(parts)}{tail}"


def _answer(row: FirmwareVerdictRow, document: FirmwareDocument) -> str:
    """Return the paragraph that a person wants after a build."""
    where = f"model {printable(row.model)} ({_bytes(row.model_size)} {printable(row.place)})"
    if row.arena is not None and row.arena_size is not None:
        both = "" if row.other_arena_size is None else f", and another one of {_bytes(row.other_arena_size)}"
        where += f" in {printable(row.arena)} ({_bytes(row.arena_size)}{both})"
    doubts = [replace(doubt, text=printable(doubt.text, 200)) for doubt in row.doubts]
    if row.works is None:
        texts = [doubt.text for doubt in turning(doubts)]
        taken = f"; all of this, if {listed(texts)}" if texts else ""
        return f"{first_words(None)}: {where}: {_reason(row, document)}{taken}"
    return f"{first_words(row.works, doubts)}: {where}: {_reason(row, document)}"


def _reason(row: FirmwareVerdictRow, document: FirmwareDocument) -> str:
    if row.cases and row.works is None and any(case.works is not None for case in row.cases):
        return f"the file does not say which of these it is: {_cases(row)}"
    most = f" (at most: {_cases(row)})" if row.cases else ""
    return _one_reason(row, document) + most


def _cases(row: FirmwareVerdictRow) -> str:
    """Return what is needed in each case that the file leaves open, those that need the same together."""
    groups: dict[tuple[int | None, bool | None], list[str]] = {}
    for each in row.cases:
        groups.setdefault((each.smallest_arena, each.works), []).append(printable(each.case, 120))
    verdicts = {None: "", True: ", which fits", False: ", which does not fit"}
    parts = []
    for (need, fits), cases in sorted(groups.items(), key=lambda group: -(group[0][0] or math.inf)):
        verdict = verdicts[fits if row.works is None else None]
        parts.append(f"{_spans(cases)}: " + ("fails" if need is None else f"{_bytes(need)}{verdict}"))
    if len(parts) > _MAX_CASES:
        parts = [*parts[: _MAX_CASES - 1], f"{len(parts) - _MAX_CASES} more, which --json lists", parts[-1]]
    return "; ".join(parts) + _source(row)


def _source(row: FirmwareVerdictRow) -> str:
    options = [option for words, option in _SOURCES.items() if any(words in each.case for each in row.cases)]
    return f"; say it with {' or '.join(options)}" if options else ""


_MAX_CASES = 6
_SOURCES = {
    "TFLM ": "--runtime",
    " enums": "--target",
    " interpreter": "--interpreter",
    " of ": "--arena-symbol",
    "variables in ": "--resource-variables or --variable-arena",
}
"""What a case says, and the option that decides it."""


def _spans(cases: Sequence[str]) -> str:
    """Return cases, newest first, with their versions of TFLM as one span."""
    versions: dict[str, list[str]] = {}
    for case in cases:
        first, _, rest = case.partition(", ")
        version, rest = (first, rest) if first.startswith("TFLM ") else ("", case)
        versions.setdefault(rest, []).append(version)
    texts = []
    for rest, found in versions.items():
        span = found[0] if len(set(found)) == 1 else f"{found[-1]} to {found[0].removeprefix('TFLM ')}"
        texts.append(", ".join(part for part in (span, rest) if part))
    return " or ".join(texts)


def _not_registered(row: FirmwareVerdictRow, document: FirmwareDocument) -> str:
    need = row.smallest_arena_multiple_of_16
    names = ", ".join(row.missing_operators)
    needs = "" if need is None else f"; its arena would be {_bytes(need)}"
    not_found = (f"Didn't find op for builtin opcode '{row.missing_operators[0]}'",)
    return f"not registered: {names}; AllocateTensors() will fail{_printed(not_found, document)}{needs}"


def _fitting(needed: int, multiple_of_16: int, arena_size: int) -> str:
    spare = arena_size - multiple_of_16
    if spare < 0:
        return f"needs {_bytes(needed)} of its {_bytes(arena_size)} ({_bytes(multiple_of_16)} as a multiple of 16)"
    return f"needs {_bytes(multiple_of_16)}" + (f"; you can give back {_bytes(spare)}" if spare else ", all of it")


def _in_some_arena(row: FirmwareVerdictRow, document: FirmwareDocument) -> str:
    """Say whether every arena has room, or that one has to be named."""
    if row.works is None or row.arena is not None:
        return "; which arena it gets is not said: name it with --arena-symbol, or its size with --limit"
    if not document.arenas:
        return ", which the arena of each interpreter has" if row.works else ", more than any interpreter's arena has"
    held = "which each of them has" if row.works else "more than any of them has"
    arenas = ", ".join(f"{printable(arena.symbol)} ({_bytes(arena.size)})" for arena in document.arenas)
    return f", {held}: {arenas}"


def _one_reason(row: FirmwareVerdictRow, document: FirmwareDocument) -> str:
    needed, multiple_of_16 = row.smallest_arena, row.smallest_arena_multiple_of_16
    if row.missing_operators and not row.reason:
        return _not_registered(row, document)
    if row.reason or needed is None or multiple_of_16 is None:
        return printable(row.reason, 400)
    if row.banks:
        return f"needs {bank_words(row.banks)}"
    if row.smallest_split_arenas is not None:
        return _of_two(row, row.smallest_split_arenas, document)
    if row.arena_size is None:
        return f"needs {_bytes(multiple_of_16)}{_in_some_arena(row, document)}"
    if row.works:
        return _fitting(needed, multiple_of_16, row.arena_size)
    printed = _printed(row.log, document) if row.log or not row.cases else ""
    failure = f"too small by {_bytes(needed - row.arena_size)}: AllocateTensors() will fail{printed}"
    return f"{failure}; {_remedy(multiple_of_16, row.arena_size, row.ram_free)}"


def _of_two(row: FirmwareVerdictRow, needed: SplitArenaSizes, document: FirmwareDocument) -> str:
    """Return what each of two arenas needs, and of how much it is too small."""
    both = f"needs {_bytes(needed.persistent)} for what stays and {_bytes(needed.non_persistent)} for the rest"
    if row.works is not False or row.arena_size is None or row.other_arena_size is None:
        return both
    missing = (needed.persistent - row.arena_size, needed.non_persistent - row.other_arena_size)
    words = ("the one for what stays", "the one for the rest")
    small = [f"{word} by {_bytes(size)}" for word, size in zip(words, missing, strict=True) if size > 0]
    why = f"too small: {' and '.join(small)}: " if small else ""
    return f"{why}AllocateTensors() will fail{_printed(row.log, document)}; {both}"


def _remedy(needed: int, size: int, free: int | None) -> str:
    if free is None:
        return f"set {_bytes(needed)}"
    if needed - size <= free:
        return f"{_bytes(free)} of RAM are free: set {_bytes(needed)}"
    return f"it needs {_bytes(needed)}, and only {_bytes(free)} of RAM are free"


def _printed(log: tuple[str, ...], document: FirmwareDocument) -> str:
    if not log or not log[0] or not document.prints_messages:
        return " without a message"
    return f" and print `{printable(log[0], 200)}`"
