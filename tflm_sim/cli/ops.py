"""``tflm-sim ops``: the operators that are modelled, and which traces of real TFLM prove each."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from tflm_sim.cli.options import TARGET, Subparsers, add_long, add_verb, program_reader
from tflm_sim.cli.terminal import show_rows
from tflm_sim.ops.registry import coverage, registrations
from tflm_sim.targets.presets import library_target, preset

ABOUT = """
Use it to find out whether a library has an operator.
"""
EXAMPLES = """
tflm-sim ops
tflm-sim ops --target cortex-m4 --kernels cmsis_nn --json
tflm-sim ops --library tflm_esp32@2.0.0
"""


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator, its file upstream, and the models in whose traces it occurs."""

    op: str
    source: str
    models: tuple[str, ...]


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "ops", EXAMPLES, about=ABOUT)
    parser.add_argument("--target", metavar="T", help=f"the processor (default: {TARGET})")
    parser.add_argument("--firmware", metavar="APP.elf", help="read the target from this linked program (ELF)")
    parser.add_argument(
        "--library",
        metavar="L[@V]",
        help="list only the operators of this library; 'tflm-sim libraries' lists the names",
    )
    parser.add_argument("--kernels", metavar="LIB", help="the kernel library (default: the target's)")
    add_long(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document, with the names of the models")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    if args.firmware:
        target = program_reader().possible_targets(args.firmware, named=args.target, kernels=args.kernels)[0]
    elif args.library:
        target = library_target(args.library, name=args.target, kernels=args.kernels)
    else:
        target = preset(args.target or TARGET, kernels=args.kernels)
    models = registrations(replace(target, ethos_u=True))
    proved = coverage()
    rows = [OperatorRow(op, row.file, tuple(proved.get(op, ()))) for op, row in sorted(models.items())]
    untraced = sum(op not in proved for op in models)
    return show_rows(
        rows,
        ("operator", "recorded models", "upstream source"),
        lambda row: (row.op, str(len(row.models)), row.source),
        "",
        f"{len(models)} operators; {untraced} without a recording are tested",
        "against the pip wheel with built models",
        as_json=args.json,
        is_long=args.long,
    )
