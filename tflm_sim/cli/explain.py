"""``tflm-sim explain``: a log, or one pasted line of it -> what failed, and how large the arena must be."""

from __future__ import annotations

import argparse
import os.path
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tflm_sim.answers.npu import npu_memory
from tflm_sim.checks.explain_failure import ExactExplanation, explain_failure, with_library_facts, with_vela_facts
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, arena_size, assumed, configuration, header
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.cli.things import refuse_other_kind
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.document_types import Count
from tflm_sim.errors import UsageError
from tflm_sim.files import read
from tflm_sim.logs.diagnosis import Diagnosis, diagnose
from tflm_sim.logs.encodings import as_utf8
from tflm_sim.logs.log_events import LogEvent
from tflm_sim.logs.parser import parse_log
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report.log_text import diagnosis_lines, event_lines
from tflm_sim.units import format_size

ABOUT = """
Use it if your firmware prints an error. Give the whole log, or one line of it.
"""
EXAMPLES = """
tflm-sim explain boot.log
tflm-sim explain "Failed to resize buffer. Requested: 33488, available 20472, missing: 13016"
tflm-sim explain boot.log --arena-size 26080 --model okay_nabu.tflite --target esp32-s3
"""
MAX_LOG_BYTES = 1 << 30
"""Bytes; 'board read' reads a longer one piece by piece."""

EXITS = {0: "the log contains a known message", 1: "the log contains no known message"}


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure of a log, and what the simulation adds.

    Attributes:
        missing: The most bytes that were missing for an allocation.
        exact: null without a model.
    """

    diagnosis: Diagnosis = field(metadata=INLINE)
    missing: Count | None
    exact: ExactExplanation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationDocument:
    """The failures of a log.

    Attributes:
        assumed: With a model: the options that the answer depends on and that were not given.
    """

    schema_version: Literal[1] = 1
    kind: Literal["explanation"] = "explanation"
    failures: tuple[FailureRow, ...]
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "explain", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("log", metavar="LOG", help="a file, - for standard input, or a line of a log in quotes")
    parser.add_argument("--arena-size", metavar="N", help="the size of the firmware's arena: 26080, 64KiB")
    parser.add_argument(
        "--model", metavar="MODEL", help="the model, for an exact answer: a .tflite file, or sample:NAME"
    )
    add_configuration(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb: exit code 0 when the log contains a known message, else 1."""
    events = parse_log(_read(args.log))
    size, config = arena_size(args), configuration(args)
    found = [with_library_facts(each, config.target) for each in diagnose(events, arena_size=size)]
    exact: Sequence[ExactExplanation | None] = [None] * len(found)
    if args.model is not None:
        found, exact, config = _explained(found, load(args.model), config)
    if args.json:
        say_json(_document(found, exact, None if args.model is None else assumed(args, config)))
    elif args.model is not None:
        say(*header(args, config))
        _say(events, found, exact)
    else:
        _say(events, found, exact)
        if any(diagnosis.is_of_the_arena for diagnosis in found):
            say("--model MODEL, with --target or --library, gives the smallest arena that works")
    return 0 if events else 1


def _explained(
    found: list[Diagnosis], model: Model, config: Configuration
) -> tuple[list[Diagnosis], list[ExactExplanation | None], Configuration]:
    """Return the diagnoses with what the model adds, and the configuration, with a kernel that the model proves."""
    found = [with_vela_facts(each, model) for each in found]
    if npu_memory(model) and any(each.is_of_the_arena for each in found):  # so it has the kernel
        config = replace(config, target=replace(config.target, ethos_u=True))
    return found, [explain_failure(each, model, config) for each in found], config


def _read(log: str) -> bytes:
    if log == "-":
        return as_utf8(sys.stdin.buffer.read())
    if os.path.exists(log):
        refuse_other_kind(log, "explain")
        return as_utf8(read(log, most=MAX_LOG_BYTES))
    if not re.search(r"\s", log):
        raise UsageError(f"there is no file '{log}'; put a line of a log in quotes")
    return log.replace("\\n", "\n").encode("utf-8", "surrogateescape") + b"\n"


def _say(events: list[LogEvent], found: list[Diagnosis], exact: Sequence[ExactExplanation | None]) -> None:
    if not events:
        say("nothing of TensorFlow Lite Micro is in this log")
        return
    if not found:
        for event in events:
            say(*event_lines(event))
        say("no failure is in this log")
    for diagnosis, more in zip(found, exact, strict=True):
        say(*diagnosis_lines(diagnosis), *(exact_lines(more) if more is not None else []))


def exact_lines(exact: ExactExplanation) -> list[str]:
    """Return what the simulation adds."""
    lines = []
    if exact.place and exact.arena_size is not None:
        lines.append(f"  {_arenas(exact)}, at: {exact.place}")
    if exact.contradiction:
        lines.append(f"  but       {exact.contradiction}")
        lines += [f"  with      {options} these numbers come" for options in exact.settings]
    if exact.smallest is None:
        return [*lines, f"  smallest  no arena is enough: {exact.never}"]
    best = exact.smallest
    return [*lines, f"  smallest  {format_size(best.size)}; as a multiple of 16: {best.multiple_of_16:,} B"]


def _arenas(exact: ExactExplanation) -> str:
    (first, last), *others = exact.arenas
    if first == last and not others:
        return f"exactly   in an arena of {format_size(first)}"
    ranges = " or ".join(f"{low:,} to {high:,} B" if low != high else f"{low:,} B" for low, high in exact.arenas)
    return f"so it is  in an arena of {ranges} (the roundest: {exact.arena_size:,} B)"


def _document(
    found: list[Diagnosis], exact: Sequence[ExactExplanation | None], missing: tuple[str, ...] | None
) -> ExplanationDocument:
    rows = (FailureRow(diagnosis, diagnosis.missing, more) for diagnosis, more in zip(found, exact, strict=True))
    return ExplanationDocument(failures=tuple(rows), assumed=missing)
