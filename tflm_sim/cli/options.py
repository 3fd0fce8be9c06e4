"""Arguments that several verbs share, and how they become values."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tflm_sim.allocator.configuration import Configuration
from tflm_sim.cli.custom_ops import load_custom_ops
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.samples import sample_path
from tflm_sim.target.presets import target

Subparsers = Any  # argparse._SubParsersAction, which argparse does not export.


def add_verb(subparsers: Subparsers, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """Add a verb's parser: ``summary`` for the list of verbs, ``examples`` (one a line) below its own help."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="examples:\n" + "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_configuration(parser: argparse.ArgumentParser, *, with_planner: bool = True) -> None:
    """Add the options that say what the firmware is; without ``--planner`` it is the greedy one."""
    group = parser.add_argument_group("firmware")
    group.add_argument(
        "--target", default="cortex-m4", metavar="T", help="preset (default: %(default)s); see 'targets'"
    )
    group.add_argument("--kernels", metavar="LIB", help="reference, or cmsis_nn or esp_nn with an optional @VERSION")
    group.add_argument("--ethos-u", action="store_true", help="the firmware links the Ethos-U driver")
    group.add_argument("--interpreter", choices=("plain", "recording"), help="default: the target's, mostly plain")
    if with_planner:
        group.add_argument(
            "--planner",
            choices=("greedy", "linear"),
            default="greedy",
            help="linear: preserve_all_tensors; default: greedy",
        )
    else:
        parser.set_defaults(planner="greedy")
    group.add_argument(
        "--resource-variables",
        type=int,
        metavar="N",
        help="room that the firmware makes for resource variables (default: as many as the model names)",
    )
    group.add_argument(
        "--custom-ops", action="append", default=[], metavar="FILE.py", help="kernels of your own: its OpModel values"
    )


def configuration(args: argparse.Namespace, *, is_split: bool = False) -> Configuration:
    """Return what :func:`add_configuration`'s options say; ``is_split`` for a verb that knows two arenas.

    Raises:
        UsageError: An unknown target or kernel library, or a file without custom operators.
    """
    chosen = replace(target(args.target, kernels=args.kernels), ethos_u=args.ethos_u)
    interpreter = args.interpreter or chosen.interpreter
    own = tuple(row for path in args.custom_ops for row in load_custom_ops(path))
    return Configuration(chosen, interpreter, args.planner, args.resource_variables, is_split=is_split, custom_ops=own)


def load_model(name: str) -> Model:
    """Load a .tflite file, or a shipped sample (``sample:NAME``).

    Raises:
        UsageError: No such sample.
        ModelError: The file cannot be read as a model.
    """
    prefix, _, sample = name.partition(":")
    return load(sample_path(sample) if prefix == "sample" else name)
