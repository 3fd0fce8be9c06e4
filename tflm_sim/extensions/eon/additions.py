"""``-D`` and ``--to-tflite`` of ``size``: for sources of Edge Impulse's EON compiler."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.extensions.eon import MADE_BY
from tflm_sim.model.types import Model


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a source of Edge Impulse's EON compiler (..._compiled.cpp, or a .zip with one)")
    group.add_argument(
        "-D",
        dest="macros",
        action="append",
        type=_macro,
        default=[],
        metavar="NAME[=VALUE]",
        help="a macro of the firmware's build, such as EI_MAX_OVERFLOW_BUFFER_COUNT=64",
    )
    group.add_argument("--to-tflite", metavar="OUT.tflite", help="write its model as a .tflite file instead")


def _macro(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is neither NAME nor NAME=VALUE")
    return name, value or "1"


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Write the model of a source; None without ``--to-tflite``."""
    if args.to_tflite is None:
        return None
    from tflm_sim.extensions.eon.needs import write_model  # Most who type "size" have no such source.

    return write_model(args)


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Refuse macros, which a model has not; nothing is added to its document."""
    if args.macros:
        raise UsageError(f"-D is for a source of {MADE_BY}, but {model.path} is a model")
    return {}
