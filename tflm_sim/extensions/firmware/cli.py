"""``tflm-sim firmware``: the user's own build, read; with ``--run`` executed in an emulator (``cli_run.py``).

Exit code 0: all models fit, 1: one does not, 3: the answer is unknown, or a doubt can turn it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from tflm_sim.checks.doubts import EXIT_CODES, settling_lines, with_command, worst
from tflm_sim.cli.options import (
    OF_PROGRAM,
    PAIRED,
    Subparsers,
    add_configuration,
    add_interpreter,
    add_verb,
    configuration,
    first_given,
    refuse_besides,
    typed,
)
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.cli.things import refuse_other_kind
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.document import firmware_document
from tflm_sim.extensions.firmware.emulation.cores import core_of
from tflm_sim.extensions.firmware.emulation.execution import EMULATORS, TIMEOUT_S
from tflm_sim.extensions.firmware.judge import FirmwareVerdict, judge, unknown_operator
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel
from tflm_sim.extensions.firmware.reading.firmware import Firmware, read_firmware
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget, firmware_target
from tflm_sim.extensions.firmware.rooms import (
    ArenaRoom,
    Subject,
    embedded_subject,
    model_name,
    rooms_for,
    rooms_of,
    used_models,
)
from tflm_sim.extensions.firmware.text import fact_lines, verdict_lines
from tflm_sim.model.load import load
from tflm_sim.names import asking
from tflm_sim.numbers import seconds, whole
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.sizes import as_limit, parse_size

ABOUT = """
Use it after a build. It reads the version of TFLM, the kernels, the models and
the arenas from the linked program, so that you need not name them. With --run
it executes the program in an emulator and measures its arenas, with any
kernels, and the stack and the instructions of an Invoke(). That works for
Cortex-M, 32-bit RISC-V and ESP32 programs.
"""
EXAMPLES = """
tflm-sim firmware build/app.elf
tflm-sim firmware build/app.elf --model next_model.tflite
tflm-sim firmware build/app.elf --arena-symbol g_buffer --ram 256KiB --json
tflm-sim firmware app.bin --target esp32-s3 --limit 80KiB
tflm-sim firmware build/app.elf --library esp-tflite-micro@1.3.5
tflm-sim firmware build/app.elf --run
tflm-sim firmware build/app.elf --run --model next_model.tflite
"""
EXITS = {
    0: "every model works in its arena",
    1: "a model does not work in its arena; with --run: an arena is too small, or a store is out of bounds",
    3: "the file cannot be read or executed, or leaves a doubt that can turn the answer ('yes, if ...')",
}
_OF_READING = ("arena_symbol", "limit", "ram", "ethos_u", "own_planner", "custom_ops", *PAIRED)
"""Options that say what is not in the file; an execution measures the program as it is."""
_OF_EXECUTING = ("invoke", "emulator", "time_limit")


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "firmware", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.set_defaults(has_verdict=True)
    parser.add_argument(
        "elf",
        metavar="APP.elf",
        help="the linked program (ELF); or a .bin, .hex or .uf2 file, which contains less information",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="a .tflite file or sample:NAME in the place of the program's models; without --run also the symbol of one "
        "of them (default: all models in the program)",
    )
    parser.add_argument("--json", action="store_true", help="print the answer and what it is based on as one document")
    parser.add_argument("--arena-symbol", metavar="NAME", help="the name of the array that is the arena")
    parser.add_argument("--limit", metavar="N", help="the size of the arena, if the program allocates it at run time")
    parser.add_argument("--ram", metavar="N", help="the size of the RAM that contains .data and .bss")
    add_interpreter(parser, "--model")
    add_configuration(parser, leave_out=("firmware", "board"))
    group = parser.add_argument_group("executing the program, in an emulator that reaches nothing of this machine")
    group.add_argument(
        "--run", dest="is_executed", action="store_true", help="execute the program and measure its arenas"
    )
    group.add_argument(
        "--invoke",
        metavar="N",
        type=typed(whole),
        help="with --run: run N calls of Invoke(), and measure their stack and instructions (default: 1)",
    )
    group.add_argument(
        "--emulator",
        choices=EMULATORS,
        default="",
        help="with --run: the emulator (default: Unicorn if it supports the core, else QEMU)",
    )
    group.add_argument(
        "--time-limit",
        type=typed(seconds),
        metavar="T",
        help=f"with --run: the most processor time, 30s or 10m; one Invoke() gets half of it (default: {TIMEOUT_S}s)",
    )


def run(args: argparse.Namespace) -> int:
    refuse_other_kind(args.elf, "firmware")
    if args.is_executed:
        refuse_besides(args, "is_executed", others=_OF_READING)
        from tflm_sim.extensions.firmware.cli_run import run_program

        return run_program(args)
    if option := first_given(args, _OF_EXECUTING):
        raise UsageError(f"{option} needs --run, which executes the program")
    if args.into < 0 or (args.into and args.model is None):
        raise UsageError("--into N needs --model FILE, and N starts at 1")
    ram = parse_size(args.ram) if args.ram else None
    firmware = read_firmware(args.elf, arena_symbol=args.arena_symbol, ram=ram)
    if args.arena_symbol and not firmware.arenas:
        raise FirmwareError(f"there is no object named {args.arena_symbol}", path=args.elf)
    return _judged(firmware, args)


def _reasons(problem: FirmwareError, subjects: Sequence[Subject], args: argparse.Namespace) -> str:
    unknown = (unknown_operator(subject.model, configuration(args)) for subject in subjects)
    return "; ".join(dict.fromkeys((problem.message, *filter(None, unknown))))


def _judged(firmware: Firmware, args: argparse.Namespace) -> int:
    """Print the verdicts of the simulation on the program's models, for all targets that its file leaves possible."""
    subjects = _subjects(firmware, args)
    try:
        found = firmware_target(
            firmware,
            named=args.target,
            kernels=args.kernels,
            runtime=args.runtime,
            library=args.library,
            interpreter=args.interpreter,
        )
    except FirmwareError as problem:
        _say(firmware, None, [], args, problem=_reasons(problem, subjects, args))
        return problem.exit_code
    configurations = [configuration(args, chosen=target) for target in found.alternatives]
    named = {"planner": args.planner, "resource_variables": args.resource_variables}
    settled = frozenset(name for name, value in named.items() if value is not None)
    verdicts = [judge(subject, firmware, configurations, found.conditions, settled=settled) for subject in subjects]
    _say(firmware, found, verdicts, args)
    return EXIT_CODES[worst(verdict.answer for verdict in verdicts)]


def _say(
    firmware: Firmware,
    found: FirmwareTarget | None,
    verdicts: list[FirmwareVerdict],
    args: argparse.Namespace,
    *,
    problem: str = "",
) -> None:
    """Print the verdicts, then the facts on which they are based, then what would settle a doubt."""
    command = _execution_of(firmware, args)
    is_open = problem or any(verdict.exit_code == EXIT_CODES["if"] for verdict in verdicts)
    settled_by = command if is_open else ""
    verdicts = [replace(each, doubts=with_command(each.doubts, command)) for each in verdicts]
    document = firmware_document(firmware, found, verdicts, problem=problem, settled_by=settled_by)
    if args.json:
        say_json(document)
        return
    for line in verdict_lines(document):
        say_verdict(line)
    say("", *fact_lines(document))
    if last := settling_lines("if", settled_by):
        say("", *last)


def _execution_of(firmware: Firmware, args: argparse.Namespace) -> str:
    """Return the command that executes the program with the same model; "" where no emulator has its core."""
    if firmware.image.elf is None:
        return ""
    try:
        core_of(firmware.image.elf)
    except FirmwareError:
        return ""
    is_inside = args.model in (None, *map(model_name, firmware.models))
    own = {"into": args.into or None}
    if args.limit is not None and not is_inside:  # --run measures in the program's own arena.
        named = {name: getattr(args, name) for name in OF_PROGRAM}
        asked = {"firmware": args.elf, "limit": args.limit, **named, **own, "executed": True}
        return asking("check", args.model, asked)
    return asking("firmware", args.elf, {"run": True, **({} if is_inside else {"model": args.model, **own})})


def _subjects(firmware: Firmware, args: argparse.Namespace) -> list[Subject]:
    """Return the models to judge, with the arenas that they may get.

    Raises:
        FirmwareError: There is no model in the firmware, and none was named.
        ModelError: The named file is no model.
    """
    inside = {model_name(model): model for model in firmware.models}
    if args.model is None:
        if not inside:
            raise FirmwareError(
                "no model in it (no TFL3 flatbuffer can be read); give the .tflite file with --model",
                path=firmware.image.path,
            )
        return [embedded_subject(firmware, model, _rooms(firmware, model, args)) for model in used_models(firmware)]
    if args.model in inside:
        model = inside[args.model]
        return [embedded_subject(firmware, model, _rooms(firmware, model, args))]
    named = load(args.model)
    return [Subject(args.model, len(named.source), "from its file", named, _rooms(firmware, None, args))]


def _rooms(firmware: Firmware, model: EmbeddedModel | None, args: argparse.Namespace) -> tuple[ArenaRoom, ...]:
    """Return the arena that the user named by its size, or all arenas that the model may get."""
    address = args.arena_address
    if args.limit is not None:
        return rooms_of(firmware, limit=as_limit(args.limit, "limit"), model=model, address=address, into=args.into)
    rooms = rooms_for(firmware, model, is_named=args.arena_symbol is not None, into=args.into)
    for room in rooms:
        if address is not None and room.address is not None and address != room.address % BUFFER_ALIGNMENT:
            raise UsageError(f"--arena-address {address}: {room.name} lies at {room.address:#x}")
    return rooms
