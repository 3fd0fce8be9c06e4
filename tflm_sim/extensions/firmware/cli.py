"""``tflm-sim firmware``: the user's own build. Exit code 0: all models fit, 1: one does not, 3: the answer is unknown.

With ``--strict``, a verdict that depends on an assumption counts as unknown.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.cli.terminal import say, say_json, say_verdict
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.document import firmware_document
from tflm_sim.extensions.firmware.judge import FirmwareVerdict, judge, unknown_operator
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel
from tflm_sim.extensions.firmware.reading.firmware import Firmware, read_firmware
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget, firmware_target
from tflm_sim.extensions.firmware.rooms import ArenaRoom, Subject, embedded_subject, model_name, rooms_for
from tflm_sim.extensions.firmware.text import fact_lines, verdict_lines
from tflm_sim.model.load import load
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import parse_size

ABOUT = """
Use it after a build. It reads the version of TFLM, the kernels, the models and
the arenas from the linked program, so that you need not name them.
"""
EXAMPLES = """
tflm-sim firmware build/app.elf
tflm-sim firmware build/app.elf next_model.tflite
tflm-sim firmware build/app.elf --executed
tflm-sim firmware build/app.elf --arena-symbol g_buffer --ram 256KiB --json
tflm-sim firmware app.bin --target esp32-s3 --limit 80KiB
tflm-sim firmware build/app.elf --library esp-tflite-micro@1.3.5
"""
EXITS = {
    0: "every model works in its arena, under the conditions that the verdict names",
    1: "a model does not work in its arena",
    3: "the file cannot be read, or does not contain enough information",
}


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "firmware", EXAMPLES, about=ABOUT, exits=EXITS)
    parser.add_argument(
        "elf",
        metavar="APP.elf",
        help="the linked program (ELF); or a .bin, .hex or .uf2 file, which contains less information",
    )
    parser.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        help="a .tflite file, sample:NAME, or the symbol of a model in the firmware (default: all models in it)",
    )
    parser.add_argument("--arena-symbol", metavar="NAME", help="the name of the array that is the arena")
    parser.add_argument("--limit", metavar="N", help="the size of the arena, if the program allocates it at run time")
    parser.add_argument("--ram", metavar="N", help="the size of the RAM that contains .data and .bss")
    add_configuration(parser, with_firmware=False)
    parser.add_argument(
        "--strict", action="store_true", help="exit with 3 if the verdict depends on an assumption ('yes, if ...')"
    )
    parser.add_argument(
        "--executed", action="store_true", help="execute the program, and measure the verdicts (see 'run')"
    )
    parser.add_argument("--json", action="store_true", help="print facts and verdicts as one JSON document")


def _reasons(problem: FirmwareError, subjects: Sequence[Subject], args: argparse.Namespace) -> str:
    unknown = (unknown_operator(subject.model, configuration(args)) for subject in subjects)
    return "; ".join(dict.fromkeys((problem.message, *filter(None, unknown))))


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    ram = parse_size(args.ram) if args.ram else None
    firmware = read_firmware(args.elf, arena_symbol=args.arena_symbol, ram=ram)
    if args.arena_symbol and not firmware.arenas:
        raise FirmwareError(f"there is no object named {args.arena_symbol}", path=args.elf)
    if args.executed:
        return _executed(firmware, args)
    return _judged(firmware, args)


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
        _say(firmware, None, [], problem=_reasons(problem, subjects, args), as_json=args.json)
        return problem.exit_code
    configurations = [configuration(args, chosen=target) for target in found.alternatives]
    named = {"planner": args.planner, "resource_variable_count": args.resource_variables}
    settled = frozenset(name for name, value in named.items() if value is not None)
    verdicts = [judge(subject, firmware, configurations, found.conditions, settled=settled) for subject in subjects]
    _say(firmware, found, verdicts, as_json=args.json)
    codes = [verdict.exit_code(is_strict=args.strict) for verdict in verdicts]
    return min(filter(None, codes), default=0)


def _executed(firmware: Firmware, args: argparse.Namespace) -> int:
    """Print the verdicts from executing the program with its models."""
    from tflm_sim.extensions.firmware.emulation.execute import execute
    from tflm_sim.extensions.firmware.judge_measured import measured_verdict

    wrong = next(
        (option for option in ("limit", "arena_symbol", "arena_address", "target") if getattr(args, option)), None
    )
    if wrong is not None:
        raise UsageError(f"--executed measures the program as it is; remove --{wrong.replace('_', '-')}")
    models = [one for one in firmware.models if args.model in (None, model_name(one))]
    if not models:
        raise UsageError(
            "--executed measures the models in the program; for another use 'size FILE --firmware APP.elf --executed'"
        )
    execution = execute(firmware.image)
    verdicts = [measured_verdict(one, model_name(one), execution) for one in models]
    _say(firmware, None, verdicts, measured=f"{execution.core} in {execution.emulator}", as_json=args.json)
    return min(filter(None, (verdict.exit_code(is_strict=args.strict) for verdict in verdicts)), default=0)


def _say(
    firmware: Firmware,
    found: FirmwareTarget | None,
    verdicts: list[FirmwareVerdict],
    *,
    problem: str = "",
    measured: str = "",
    as_json: bool,
) -> None:
    """Print the verdicts, then the facts on which they are based."""
    document = firmware_document(firmware, found, verdicts, problem=problem, measured=measured)
    if as_json:
        say_json(document)
        return
    for line in verdict_lines(document):
        say_verdict(line)
    say("", *fact_lines(document))


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
                "no model in it (no TFL3 flatbuffer can be read); give the .tflite file as the second argument",
                path=firmware.image.path,
            )
        return [embedded_subject(firmware, model, _rooms(firmware, model, args)) for model in firmware.models]
    if args.model in inside:
        model = inside[args.model]
        return [embedded_subject(firmware, model, _rooms(firmware, model, args))]
    named = load(args.model)
    return [Subject(args.model, len(named.source), "from its file", named, _rooms(firmware, None, args))]


def _rooms(firmware: Firmware, model: EmbeddedModel | None, args: argparse.Namespace) -> tuple[ArenaRoom, ...]:
    """Return the arena that the user named by its size, or all arenas that the model may get."""
    address = args.arena_address
    if args.limit is not None:
        name = firmware.arenas[0].name if len(firmware.arenas) == 1 else "an arena"
        return (ArenaRoom(name, parse_size(args.limit), address, addresses=(address or 0,)),)
    rooms = rooms_for(firmware, model, is_named=args.arena_symbol is not None)
    for room in rooms:
        if address is not None and room.address is not None and address != room.address % BUFFER_ALIGNMENT:
            raise UsageError(f"--arena-address {address}: {room.name} lies at {room.address:#x}")
    return rooms
