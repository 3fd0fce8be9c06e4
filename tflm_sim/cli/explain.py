"""``tflm-sim explain``: a log, or one pasted line of it -> what failed, and how large the arena must be."""

from __future__ import annotations

import argparse
import os.path
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tflm_sim.answers.npu import npu_memory
from tflm_sim.answers.smallest_arena import SmallestArena
from tflm_sim.checks.alternatives import explaining
from tflm_sim.checks.crash_places import with_operators
from tflm_sim.checks.device_report import compare_report
from tflm_sim.checks.doubts import EXIT_CODES, Answer, answer_of
from tflm_sim.checks.explain_failure import (
    ExactExplanation,
    explain_failures,
    explain_nothing,
    with_library_facts,
    with_linked_room,
    with_vela_facts,
)
from tflm_sim.cli.options import (
    Subparsers,
    add_configuration,
    add_verb,
    arena_size,
    assumed,
    configuration,
    header,
    program_reader,
)
from tflm_sim.cli.terminal import elapsing, say, say_json
from tflm_sim.cli.things import refuse_other_kind
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.document_types import Count
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.files import read
from tflm_sim.logs.crashes import CodePlace
from tflm_sim.logs.diagnosis import Diagnosis, diagnose
from tflm_sim.logs.encodings import as_utf8
from tflm_sim.logs.log_events import ArenaConfigured, ArenaUsed, Damaged, LogEvent, Message
from tflm_sim.logs.parser import parse_log
from tflm_sim.logs.tflm_messages import BY_KIND
from tflm_sim.logs.unknown_errors import UnknownError, unknown_errors
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report.log_text import diagnosis_lines, event_lines
from tflm_sim.units import format_size

ABOUT = """
Use it if your firmware prints an error. Give the whole log, or one line of it.
"""
EXAMPLES = """
tflm-sim explain boot.log
tflm-sim explain "Failed to resize buffer. Requested: 9216, available 8000, missing: 1216"
tflm-sim explain boot.log --arena-size 26080 --model okay_nabu.tflite --target esp32-s3
tflm-sim explain boot.log --firmware build/app.elf --run
"""
MAX_LOG_BYTES = 1 << 30
"""Bytes; 'board read' reads a longer one piece by piece."""
MAX_FIGURES = 4
"""Figures of a log for the arena in use that are compared."""
MAX_SHOWN = 50
"""Failures of a log that are printed."""

EXITS = {0: "no failure is in the log", 1: "a failure is explained", 3: "what the log says is not understood"}
"""And 2, 3 of every verb: wrong options, a file that cannot be read."""
_SEND = (
    "the whole log from the device's start on: TFLM's own lines come before those of the program",
    "--model MODEL with --library or --target, and --arena-size N: what would fail in that arena",
    "--firmware APP.elf: where in the program an address is",
)
"""What makes a log that is not understood one that is."""


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure of a log, and what the simulation adds.

    Attributes:
        places: Where the program was when it was stopped, the innermost first; with --firmware functions and lines.
        missing: The most bytes that were missing for an allocation.
        exact: null without a model.
    """

    diagnosis: Diagnosis = field(metadata=INLINE)
    places: tuple[CodePlace, ...]
    missing: Count | None
    exact: ExactExplanation | None


@dataclass(frozen=True, slots=True)
class PrintedUse:
    """What a log says that the arena has in use, beside what the simulation says.

    Attributes:
        line: Where it stands.
        printed_least, printed_most: The figure, bytes; they differ where the firmware rounded.
        simulated: What ``arena_used_bytes()`` says with the model and these options; null where setup fails.
        with_options: Options with which the figure comes, where it is another one.
    """

    line: Count
    printed_least: Count
    printed_most: Count
    simulated: Count | None
    with_options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationDocument:
    """The failures of a log.

    Attributes:
        answer: "no" where a failure is explained, "yes" where none is in the log, "cannot tell" where the log is not
            understood.
        unknown: Lines that speak of an error and that are not known.
        simulated: With a model, where no failure of the log is explained: what the simulation says.
        used: With a model: each figure of the log for the arena in use, beside the simulation's.
        executed: With --run: what the program did when it was executed, or why it cannot be, a sentence each.
        assumed: With a model: the options that the answer depends on and that were not given.
    """

    schema_version: Literal[1] = 1
    kind: Literal["explanation"] = "explanation"
    answer: Answer
    failures: tuple[FailureRow, ...]
    unknown: tuple[UnknownError, ...] = ()
    simulated: ExactExplanation | None = None
    used: tuple[PrintedUse, ...] = ()
    executed: tuple[str, ...] = ()
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "explain", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("log", metavar="LOG", help="a file, - for standard input, or a line of a log in quotes")
    parser.add_argument("--arena-size", metavar="N", help="the size of the firmware's arena: 26080, 64KiB")
    parser.add_argument(
        "--model", metavar="MODEL", help="the model, for an exact answer: a .tflite file, or sample:NAME"
    )
    add_configuration(parser)
    parser.add_argument(
        "--run",
        dest="is_executed",
        action="store_true",
        help="with --firmware: execute the program in an emulator, and say what it does: result, stack, stores out of "
        "bounds",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 1 for a failure that is explained, 3 where nothing is understood, else 0."""
    if args.is_executed and not args.firmware:
        raise UsageError("--run needs --firmware, the program that is executed")
    data = _read(args.log)
    events = parse_log(data)
    unknown, last = unknown_errors(data, events)
    size, config = arena_size(args), _configuration(args)
    diagnoses = diagnose(events, arena_size=size, last_line=last)
    found = [with_library_facts(each, config.target) for each in diagnoses]
    exact: Sequence[ExactExplanation | None] = [None] * len(found)
    simulated = None
    model = None if args.model is None else load(args.model)
    if model is None:
        found = [with_linked_room(each) for each in found]
    else:
        found, exact, config = _explained(found, model, config)
        if not found:
            simulated = explain_nothing(model, config, arena_size=size or _arena_of(events))
    places = [_places(args, diagnosis, config) for diagnosis in found]
    is_understood = bool(events) and not (unknown or any(isinstance(event, Damaged) for event in events))
    answer: Answer = "no" if found else answer_of(is_understood or None)
    used = () if model is None else tuple(_used(events, model, config))
    executed = _executed(args, model) if args.is_executed else ()
    if args.json:
        missing = None if args.model is None else assumed(args, config)
        document = _document(answer, found, places, exact, unknown, simulated, missing)
        say_json(replace(document, used=used, executed=executed))
        return EXIT_CODES[answer]
    if args.model is not None:
        say(*header(args, config))
    _say(events, found, places, exact)
    say(*(f"line {each.line} is not known: {each.text}" for each in unknown))
    say(*(line for each in used for line in _used_lines(each)))
    say(*(f"  executed  {line}" for line in executed))
    if args.firmware and not args.is_executed:
        say("  more      with --run the program is executed in an emulator: result, stack, stores out of bounds")
    if not found:
        say("no failure is in this log" if is_understood else _not_understood(events, unknown))
        say(*([] if is_understood else [f"  give      {what}" for what in _SEND]))
        say(*(exact_lines(simulated) if simulated is not None else []))
    elif args.model is None and any(diagnosis.is_of_the_arena for diagnosis in found):
        say("--model MODEL, with --target or --library, gives the smallest arena that works")
    return EXIT_CODES[answer]


def _places(args: argparse.Namespace, diagnosis: Diagnosis, config: Configuration) -> tuple[CodePlace, ...]:
    """Return where the program was when it was stopped, with what its file says of that."""
    places = diagnosis.places
    if args.firmware and places:
        known = program_reader().places(args.firmware, [place.address for place in places])
        places = tuple(one if one.file else other for one, other in zip(places, known, strict=True))
    return with_operators(places, config.target)


def _configuration(args: argparse.Namespace) -> Configuration:
    """Return what the firmware was built for; without a model a program that does not tell it can be looked at, too."""
    try:
        return configuration(args)
    except (UsageError, FirmwareError):
        if not args.firmware or args.model is not None:
            raise
        return configuration(argparse.Namespace(**{**vars(args), "firmware": None}))


def _executed(args: argparse.Namespace, model: Model | None) -> tuple[str, ...]:
    """Return what the program of ``--firmware`` does where its core can be executed, or why that cannot be."""
    try:
        with elapsing(f"executing {os.path.basename(args.firmware)}"):
            return tuple(program_reader().seen(args.firmware, model))
    except (FirmwareError, UsageError) as error:
        return (f"not: {error}; sizes, symbols and the simulation remain",)


def _used(events: Sequence[LogEvent], model: Model, config: Configuration) -> Iterator[PrintedUse]:
    """Yield the log's figures for the arena in use, each once, beside those of the simulation."""
    seen: set[tuple[int, int]] = set()
    for event in events:
        if not isinstance(event, ArenaUsed) or (event.low, event.high) in seen or len(seen) == MAX_FIGURES:
            continue
        seen.add((event.low, event.high))
        compared = compare_report(event, model, config)
        simulated = compared.figures[0].simulated if compared.figures else None
        others = [] if compared.is_equal else explaining(event, model, config)
        yield PrintedUse(event.line, event.low, event.high, simulated, tuple(one.options for one, _ in others))


def _used_lines(used: PrintedUse) -> list[str]:
    """Return whether a figure of the log is the simulation's, and with what else it comes."""
    printed = (
        f"{used.printed_most:,} B" if used.printed_least == used.printed_most else f"about {used.printed_most:,} B"
    )
    if used.simulated is None:
        return [f"  compared  line {used.line} has {printed} in use; the simulation's setup fails"]
    if used.printed_least <= used.simulated <= used.printed_most:
        return [f"  compared  line {used.line} has {printed} in use, as the simulation has"]
    first = f"  compared  line {used.line} has {printed} in use, the simulation {used.simulated:,} B"
    if used.with_options:
        return [f"{first}; it comes with {' or '.join(used.with_options)}"]
    return [f"{first}: another model, or a setting that was not tried"]


def _arena_of(events: Sequence[LogEvent]) -> int | None:
    """Return the size that the log gives for the arena."""
    return next((event.size for event in reversed(events) if isinstance(event, ArenaConfigured)), None)


def _not_understood(events: Sequence[LogEvent], unknown: Sequence[UnknownError]) -> str:
    if unknown or events:
        return "what failed is not understood; these help:"
    return "nothing of TensorFlow Lite Micro is in this log, and no failure that is known; these help:"


def _explained(
    found: list[Diagnosis], model: Model, config: Configuration
) -> tuple[list[Diagnosis], list[ExactExplanation | None], Configuration]:
    """Return the diagnoses with what the model adds, and the configuration, with a kernel that the model proves."""
    found = [with_vela_facts(each, model) for each in found]
    if npu_memory(model) and any(each.is_of_the_arena for each in found):  # so it has the kernel
        config = replace(config, target=replace(config.target, ethos_u=True))
    exact = explain_failures(found, model, config)
    smallest = next((each.smallest for each in exact if each is not None), None)
    return [with_linked_room(each, smallest) for each in found], exact, config


def _read(log: str) -> bytes:
    if log == "-":
        return as_utf8(read(log, most=MAX_LOG_BYTES))
    if os.path.exists(log):
        refuse_other_kind(log, "explain")
        return as_utf8(read(log, most=MAX_LOG_BYTES))
    if not re.search(r"\s", log):
        raise UsageError(f"there is no file '{log}'; put a line of a log in quotes")
    return log.replace("\\n", "\n").encode("utf-8", "surrogateescape") + b"\n"


def _say(
    events: list[LogEvent],
    found: list[Diagnosis],
    places: Sequence[tuple[CodePlace, ...]],
    exact: Sequence[ExactExplanation | None],
) -> None:
    if not found:
        for event in events:
            say(*_fact_lines(event))
    for diagnosis, at, more in zip(found[:MAX_SHOWN], places, exact, strict=False):
        say(*diagnosis_lines(diagnosis, at), *(exact_lines(more) if more is not None else []))
    if len(found) > MAX_SHOWN:
        say(f"and {len(found) - MAX_SHOWN:,} more failures like these; --json lists them")
    if any(each is not None for each in exact) and (left := sum(each is None for each in exact)):
        say(f"{left:,} of the {len(found):,} failures are not simulated: too many for one log; give one of their lines")


def _fact_lines(event: LogEvent) -> list[str]:
    """Return what a line says where no line says that something failed."""
    if isinstance(event, ArenaConfigured):
        return [f"line {event.line}: the program says that its arena has {format_size(event.size)}"]
    if isinstance(event, Message):
        says, note = BY_KIND[event.kind].meaning(dict(event.values))
        return [f"line {event.line}: {note or says}"]
    return event_lines(event)


def exact_lines(exact: ExactExplanation) -> list[str]:
    lines = []
    if exact.place and exact.arena_size is not None:
        lines.append(f"  {_arenas(exact)}, at: {exact.place}")
    if exact.contradiction:
        lines.append(f"  but       {exact.contradiction}")
        lines += [f"  with      {each.options} these numbers come" for each in exact.settings]
    if exact.invoke:
        lines.append(f"  simulated {exact.invoke}")
    if exact.smallest is None:
        return [*lines, f"  smallest  no arena is enough: {exact.never}"]
    if exact.is_refuted:
        return [*lines, f"  smallest  {_of_settings(exact, exact.smallest)}"]
    best = exact.smallest
    return [*lines, f"  smallest  {format_size(best.size)}; as a multiple of 16: {best.multiple_of_16:,} B"]


def _of_settings(exact: ExactExplanation, named: SmallestArena) -> str:
    """Return the smallest arena where the log proves that the firmware is not the one that was named."""
    sizes: dict[int, list[str]] = {}
    for each in exact.settings:
        sizes.setdefault(each.smallest, []).append(each.options)
    if not sizes:
        return (
            f"not known: of no setting that was tried these numbers come; {named.multiple_of_16:,} B with the settings "
            "above, which the log refutes"
        )
    if len(sizes) == 1:
        (size,) = sizes
        refuted = f"not the {named.multiple_of_16:,} B of the settings above"
        return f"{size:,} B, a multiple of 16, with each of these; {refuted}"
    each_of = "; ".join(f"{size:,} B with {' or '.join(options)}" for size, options in sizes.items())
    return f"as a multiple of 16: {each_of}; the program, or the library's version, decides which it is"


def _arenas(exact: ExactExplanation) -> str:
    (first, last), *others = exact.arenas
    if first == last and not others:
        return f"exactly   in an arena of {format_size(first)}"
    ranges = " or ".join(f"{low:,} to {high:,} B" if low != high else f"{low:,} B" for low, high in exact.arenas)
    return f"so it is  in an arena of {ranges} (the roundest: {exact.arena_size:,} B)"


def _document(
    answer: Answer,
    found: list[Diagnosis],
    places: Sequence[tuple[CodePlace, ...]],
    exact: Sequence[ExactExplanation | None],
    unknown: Sequence[UnknownError],
    simulated: ExactExplanation | None,
    missing: tuple[str, ...] | None,
) -> ExplanationDocument:
    rows = (
        FailureRow(diagnosis, at, diagnosis.missing, more)
        for diagnosis, at, more in zip(found, places, exact, strict=True)
    )
    return ExplanationDocument(
        answer=answer, failures=tuple(rows), unknown=tuple(unknown), simulated=simulated, assumed=missing
    )
