"""``tflm-sim firmware --run``: execute a program. Exit code 0: its arenas work, 1: one does not, 3: it is unknown."""

from __future__ import annotations

import argparse
import math

from tflm_sim.cli.terminal import say_verdict, show
from tflm_sim.errors import UsageError
from tflm_sim.extensions.firmware.emulation.execute import execute
from tflm_sim.extensions.firmware.emulation.execution import TIMEOUT_S
from tflm_sim.extensions.firmware.execution import compare
from tflm_sim.extensions.firmware.execution_text import ExecutionDocument, document_lines, verdicts
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.model.load import load

MAX_INVOKES = 1000
MAX_SECONDS = 100_000


def run_program(args: argparse.Namespace) -> int:
    """Execute the program and print what was measured; return the exit code."""
    if not 0 <= args.invoke <= MAX_INVOKES:
        raise UsageError(f"--invoke {args.invoke}: the number must be 0 to {MAX_INVOKES}")
    time_limit = TIMEOUT_S if args.time_limit is None else args.time_limit
    if not 1 <= time_limit <= MAX_SECONDS:
        raise UsageError(f"--time-limit must be 1s to {MAX_SECONDS}s")
    if args.into < 0 or (args.into and args.model is None):
        raise UsageError("--into N needs --model FILE, and N starts at 1")
    model = None if args.model is None else load(args.model)
    image = load_image(args.elf)
    execution = execute(
        image,
        model=model,
        invokes=args.invoke,
        emulator=args.emulator,
        timeout=math.floor(time_limit),
        interpreter=args.into,
    )
    compared = compare(execution, examine(image), model, args.into)
    document = ExecutionDocument(execution=execution, compared=compared, answer=execution.answer)
    if not args.json:
        for line in verdicts(document):
            say_verdict(line)
    show(document, document_lines, as_json=args.json)
    return execution.exit_code
