"""``tflm-sim firmware --run``: execute a program. Exit code 0: its arenas work, 1: one does not, 3: it is unknown."""

from __future__ import annotations

import argparse
import math
import os.path
from contextlib import suppress

from tflm_sim.checks.doubts import EXIT_CODES
from tflm_sim.cli.terminal import elapsing, say_verdict, show
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extensions.firmware.contradictions import Contradiction, contradictions
from tflm_sim.extensions.firmware.emulation.execute import execute
from tflm_sim.extensions.firmware.emulation.execution import TIMEOUT_S
from tflm_sim.extensions.firmware.executed_places import ExecutedPlace, answer_with, executed_places
from tflm_sim.extensions.firmware.execution import compare
from tflm_sim.extensions.firmware.execution_text import ExecutionDocument, document_lines, verdicts
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.extensions.firmware.reading.target import firmware_target
from tflm_sim.model.load import load

MAX_INVOKES = 1000
MAX_SECONDS = 100_000


def run_program(args: argparse.Namespace) -> int:
    """Execute the program and print what was measured; return the exit code."""
    invokes = 1 if args.invoke is None else args.invoke
    if not 0 <= invokes <= MAX_INVOKES:
        raise UsageError(f"--invoke {invokes}: the number must be 0 to {MAX_INVOKES}")
    time_limit = TIMEOUT_S if args.time_limit is None else args.time_limit
    if not 1 <= time_limit <= MAX_SECONDS:
        raise UsageError(f"--time-limit must be 1s to {MAX_SECONDS}s")
    if args.into < 0 or (args.into and args.model is None):
        raise UsageError("--into N needs --model FILE, and N starts at 1")
    model = None if args.model is None else load(args.model)
    image = load_image(args.elf)
    with elapsing(f"executing {os.path.basename(args.elf)}"):
        execution = execute(
            image, model=model, invokes=invokes, emulator=args.emulator, timeout=math.floor(time_limit), into=args.into
        )
    firmware = examine(image)
    places: tuple[ExecutedPlace, ...] = ()
    found: tuple[Contradiction, ...] = ()
    with suppress(TflmSimError):  # What cannot be read is said where requests are compared.
        places = executed_places(execution, firmware, model, args.into)
        found = contradictions(execution, firmware, firmware_target(firmware), model, args.into)
    document = ExecutionDocument(
        execution=execution,
        compared=compare(execution, firmware, model, args.into),
        contradictions=found,
        places=places,
        answer=answer_with(execution, places),
    )
    if not args.json:
        for line in verdicts(document):
            say_verdict(line)
    show(document, document_lines, as_json=args.json)
    return EXIT_CODES[document.answer]
