"""``tflm-sim shrink``: rewrite a model so that unmodified TFLM needs a smaller arena, with the same bytes out."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tflm_sim.cli import options
from tflm_sim.cli.terminal import ProgressLine, fitting, say, say_json
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extras import command_for
from tflm_sim.files import replacing_bytes
from tflm_sim.model.load import load
from tflm_sim.report.shrunk import ExecutedGain, executed_gain_lines, shrunk_document, shrunk_lines
from tflm_sim.shrinking.shrunk import Shrunk
from tflm_sim.units import parse_size

EXAMPLES = """
tflm-sim shrink model.tflite -o small.tflite --target cortex-m4
tflm-sim shrink model.tflite -o small.tflite --target cortex-m4 --target esp32-s3
tflm-sim shrink model.tflite -o small.tflite --goal 64KiB --max-macs 1.10 --max-flash +10%
tflm-sim shrink model.tflite -o small.tflite --offline-plan --prove 20
tflm-sim shrink model.tflite -o small.tflite --firmware build/app.elf --prove 5
tflm-sim shrink model.tflite -o small.tflite --firmware build/app.elf --executed
tflm-sim shrink model.tflite -o small.tflite --int8-io --time-limit 30s
tflm-sim shrink model.tflite --explain
"""
NO_GAIN = 1
EXITS = {
    0: "a smaller model, within the goal if there is one; or the model is within it as it is",
    1: "nothing gains, the goal is not met, or the proof failed",
    3: "the model cannot be rewritten, or cannot be proved",
    4: "TFLM fails on the model as it is",
}


def register(subparsers: options.Subparsers) -> None:
    parser = options.add_verb(
        subparsers,
        "shrink",
        "rewrite a model so that TFLM needs a smaller arena, same bytes out",
        EXAMPLES,
        exits=EXITS,
    )
    parser.add_argument("model", metavar="MODEL", help="a .tflite file, or sample:NAME")
    parser.add_argument("-o", "--output", metavar="OUT.tflite", help="the file to write; without it nothing is written")
    parser.add_argument("--in-place", action="store_true", help="OUT may be MODEL")
    _add_firmware(parser.add_argument_group("firmware"))
    _add_limits(parser.add_argument_group("what the result may cost"))
    _add_passes(parser.add_argument_group("passes that are off by default"))
    parser.add_argument(
        "--prove",
        type=int,
        metavar="N",
        help="run both in the real TFLM on N random inputs and the extremes; a differing byte refuses the result; "
        "with --firmware in that program, executed",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document")
    form.add_argument(
        "--explain",
        action="store_true",
        help="also print each edit, why the outputs stay the same, and what was rejected",
    )


def _add_firmware(firmware: argparse._ArgumentGroup) -> None:
    firmware.add_argument(
        "--target",
        action="append",
        metavar="T",
        help=f"preset (default: {options.TARGET}); several: no arena grows on any of them",
    )
    firmware.add_argument("--firmware", metavar="APP.elf", help="read the target from this linked program")
    options.add_executed(firmware)
    firmware.add_argument("--kernels", metavar="LIB", help="reference, or cmsis_nn or esp_nn, for every target")
    firmware.add_argument("--custom-ops", action="append", default=[], metavar="FILE.py", help="kernels of your own")


def _add_limits(limits: argparse._ArgumentGroup) -> None:
    limits.add_argument("--goal", metavar="N", help="stop at the first result that fits (64KiB), the cheapest in MACs")
    limits.add_argument(
        "--max-macs", type=_ratio, metavar="X", help="multiply-accumulates, as a multiple (default: 1.35)"
    )
    limits.add_argument("--max-flash", metavar="N", help="bytes of the file: 300KiB, +20KiB or +10%%")
    limits.add_argument(
        "--ops",
        metavar="A,B",
        help="operators that may be needed in addition (SLICE,CONCATENATION; none)",
    )
    limits.add_argument(
        "--time-limit",
        type=options.duration,
        metavar="T",
        help="the search ends after 60s, 500ms or 2m with the best so far, which is verified; so it does on Ctrl-C "
        "(default: until nothing gains)",
    )


def _add_passes(passes: argparse._ArgumentGroup) -> None:
    passes.add_argument(
        "--offline-plan",
        action="store_true",
        help="offsets in the metadata, by the exact planner, views and in place",
    )
    passes.add_argument(
        "--kernel-order",
        action="store_true",
        help="with a plan: outputs below their inputs where the kernels' loops allow",
    )
    passes.add_argument(
        "--int8-io",
        action="store_true",
        help="inputs and outputs are the integers inside of the model, without the QUANTIZE or DEQUANTIZE at its rim; "
        "the firmware converts, by the lines that are printed",
    )
    passes.add_argument(
        "--loops",
        action="store_true",
        help="with a plan: stripes as the iterations of a WHILE, which repeat no operator's memory; needs TFLM of "
        "2025-11-10 or newer",
    )
    passes.add_argument("--replan", action="store_true", help="drop the offline plan that the model has")
    passes.add_argument(
        "--force-float", action="store_true", help="rewrite floating point for kernels that may add in another order"
    )
    passes.add_argument("--drop-names", action="store_true", help="also leave out the names of inner tensors (flash)")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb; the exit code is 1 where nothing gained or the goal is not met."""
    if importlib.util.find_spec("numpy") is None:
        raise UsageError(f"shrink needs numpy: {command_for('numpy')}")
    from tflm_sim.shrinking.shrink import shrink

    model = load(args.model)
    _refuse_output(args)
    settings = _settings(args, len(model.source))
    is_measured = options.is_executed(args)
    configurations = _configurations(args)
    with ProgressLine("shrinking", model) as status:
        shrunk = shrink(model, configurations, **settings, progress=status.show)
    executed = _executed(args, shrunk, configurations) if is_measured and shrunk.has_gained else None
    has_gained = _fits(shrunk, executed, None)
    is_met = (has_gained or not is_measured) and _fits(shrunk, executed, settings.get("goal"))
    output = args.output if has_gained or is_met else None
    if output is not None:
        _write(output, shrunk.data)
    if not args.json:
        _say_header(args, configurations)
    _print(args, shrunk, settings.get("goal"), executed, output)
    return 0 if is_met else NO_GAIN


_AS_NAMED = (
    "offline_plan", "kernel_order", "replan", "force_float", "drop_names", "int8_io", "loops", "time_limit", "max_macs",
)  # fmt: skip
"""Options that are settings of ``shrink()`` as they are."""


def _settings(args: argparse.Namespace, before: int) -> dict[str, Any]:
    if args.prove is not None and args.prove < 0:
        raise UsageError(f"--prove {args.prove}: a number of inputs is not negative")
    named = {name: getattr(args, name) for name in _AS_NAMED}
    named |= {"prove_runs": args.prove, "prove_program": args.firmware, "prove_interpreter": args.into}
    texts: tuple[tuple[str, str | None, Callable[[str], object]], ...] = (
        ("goal", args.goal, parse_size),
        ("max_flash", args.max_flash, partial(_flash, before)),
        ("operators", args.ops, _operators),
    )
    named |= {name: read(text) for name, text, read in texts if text is not None}
    return {name: value for name, value in named.items() if value is not None}


def _fits(shrunk: Shrunk, executed: ExecutedGain | None, goal: int | None) -> bool:
    """Whether the result gained, or meets a goal where there is one, in the program itself too where that ran."""
    by_sizes = shrunk.has_gained if goal is None else shrunk.fits(goal)
    return by_sizes and (executed is None or executed.fits(goal))


def _executed(args: argparse.Namespace, shrunk: Shrunk, configurations: Sequence[Configuration]) -> ExecutedGain:
    """Return what the program says of the model before and after."""
    from tflm_sim.checks.measured import measure

    before, after = (
        measure(args.firmware, model, configurations, interpreter=args.into)
        for model in (shrunk.origin, load(shrunk.data))
    )
    return ExecutedGain(
        before=before.facts,
        arena_before=before.smallest,
        after=after.facts,
        arena_after=after.smallest,
    )


def _say_header(args: argparse.Namespace, configurations: Sequence[Configuration]) -> None:
    shown = configurations[:1] if args.firmware else configurations  # The table says what its file leaves open.
    say(*(line for config in shown for line in options.header(args, config)))


def _print(
    args: argparse.Namespace, shrunk: Shrunk, goal: int | None, executed: ExecutedGain | None, output: str | None
) -> None:
    if args.json:
        say_json(shrunk_document(shrunk, goal=goal, output=output, executed=executed))
    else:
        say(*shrunk_lines(shrunk, goal=goal, explain=args.explain, width=fitting()))
        if executed is not None:
            say(*executed_gain_lines(executed))
        if output is not None:
            say(f"{output} is written")
        elif shrunk.has_gained and not _fits(shrunk, executed, None):
            say("nothing is written: the program itself does not need less")
        elif shrunk.has_gained:
            say("nothing is written; -o OUT.tflite writes it")


def _configurations(args: argparse.Namespace) -> list[Configuration]:
    custom_ops = tuple(row for path in args.custom_ops for row in options.load_custom_ops(path))
    if args.firmware:
        if args.target and len(args.target) > 1:
            raise UsageError("--firmware is one target; name at most one --target for what its file does not say")
        named = args.target[0] if args.target else None
        from tflm_sim.cli.linked_program import targets_of_program

        possible = targets_of_program(args.firmware, named=named, kernels=args.kernels)
        return [configure(target, custom_ops=custom_ops) for target in possible]
    names = list(dict.fromkeys(args.target or [options.TARGET]))
    return [configure(name, kernels=args.kernels, custom_ops=custom_ops) for name in names]


def _ratio(text: str) -> float:
    match = re.fullmatch(r"\+(\d+(?:\.\d+)?)%|(\d+(?:\.\d+)?)", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a multiple; write 1.10 or +10%")
    return 1 + float(match[1]) / 100 if match[1] else float(match[2])


def _flash(before: int, text: str) -> int:
    """Return the bytes that --max-flash allows.

    Raises:
        UsageError: Not a size.
    """
    share = re.fullmatch(r"\+(\d+(?:\.\d+)?)%", text.strip())
    if share is not None:
        return before + int(before * float(share[1]) / 100)
    return before + parse_size(text[1:]) if text.startswith("+") else parse_size(text)


def _operators(text: str) -> frozenset[str]:
    """Return the operators that --ops names, none for "none".

    Raises:
        UsageError: No such builtin operator.
    """
    from tflm_sim.model.schema import BUILTIN_OPERATORS

    names = frozenset(name.strip().upper() for name in text.split(",") if name.strip()) - {"NONE"}
    unknown = sorted(names - set(BUILTIN_OPERATORS))
    if unknown:
        raise UsageError(f"--ops: there is no builtin operator '{unknown[0]}'")
    return names


def _refuse_output(args: argparse.Namespace) -> None:
    """Refuse, before the search, to write into a folder that is none, or over the input unless that is asked for."""
    if args.output is None:
        return
    folder = os.path.dirname(args.output) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{args.output} cannot be written: there is no folder {folder}")
    if args.in_place or args.model.startswith("sample:"):
        return
    with contextlib.suppress(OSError):
        if os.path.samefile(args.model, args.output):
            raise UsageError(f"{args.output} is the model itself; --in-place writes over it")


def _write(path: str, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all, and read it again.

    Raises:
        UsageError: It cannot be written.
        TflmSimError: What is read again is not what was written.
    """
    with replacing_bytes(path) as file:
        file.write(data)
    if os.path.isfile(path) and Path(path).read_bytes() != data:
        raise TflmSimError(f"{path}: what was read again is not what was written")
