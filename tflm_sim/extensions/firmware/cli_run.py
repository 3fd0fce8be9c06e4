"""``tflm-sim run``: execute a program. Exit code 0: its arenas work, 1: one does not, 3: the answer is unknown."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_interpreter, add_verb, duration
from tflm_sim.cli.terminal import say_verdict, show
from tflm_sim.errors import UsageError
from tflm_sim.extensions.firmware.emulation.execute import TIMEOUT_S, execute
from tflm_sim.extensions.firmware.emulation.execution import EMULATORS
from tflm_sim.extensions.firmware.execution import compare
from tflm_sim.extensions.firmware.execution_text import ExecutionDocument, document_lines, verdicts
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.model.load import load

ABOUT = """
Use it if the program has kernels of its own, or to measure the stack and the
instructions. It works for Cortex-M, 32-bit RISC-V and ESP32 programs.
"""
EXAMPLES = """
tflm-sim run build/app.elf
tflm-sim run build/app.elf --invoke 1
tflm-sim run build/app.elf --model another.tflite --invoke 1
tflm-sim run build/app.elf --json
"""
MAX_INVOKES = 1000
MAX_SECONDS = 100_000
EXITS = {
    1: "an arena is too small, or a store is out of bounds",
    3: "the file cannot be executed, or the answer is unknown",
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "run", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument("elf", metavar="APP.elf", help="the linked program")
    parser.add_argument(
        "--model", metavar="FILE", help="replace the program's model by this one; its operators and kernels stay"
    )
    add_interpreter(parser, "--model")
    parser.add_argument(
        "--invoke",
        metavar="N",
        type=int,
        default=0,
        help="run N calls of Invoke(), and measure their stack and instructions (default: 0)",
    )
    parser.add_argument(
        "--emulator",
        choices=EMULATORS,
        default="",
        help="the emulator (default: Unicorn if it supports the core, else QEMU)",
    )
    parser.add_argument(
        "--time-limit",
        type=duration,
        metavar="T",
        default=TIMEOUT_S,
        help=f"the most processor time: 30s or 10m; one Invoke() gets half of it (default: {TIMEOUT_S}s)",
    )
    parser.add_argument("--json", action="store_true", help="print the measurements as one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    if not 0 <= args.invoke <= MAX_INVOKES:
        raise UsageError(f"--invoke {args.invoke}: the number must be 0 to {MAX_INVOKES}")
    if not 1 <= args.time_limit <= MAX_SECONDS:
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
        timeout=int(args.time_limit),
        interpreter=args.into,
    )
    compared = compare(execution, examine(image), model, args.into)
    document = ExecutionDocument(execution=execution, compared=compared)
    if not args.json:
        for line in verdicts(document):
            say_verdict(line)
    show(document, document_lines, as_json=args.json)
    return execution.exit_code
