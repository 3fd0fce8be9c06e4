"""``tflm-sim list``: what can be named: targets, libraries, boards, operators; each in its module ``list_WHAT.py``."""

from __future__ import annotations

import argparse
from importlib import import_module

from tflm_sim.cli.options import SETTINGS, Subparsers, add_configuration, add_verb
from tflm_sim.errors import UsageError

ABOUT = """
Use it to find the names for --target, --library and --board, or to find out
whether a library has an operator. A whole name shows all that is known of it.
"""
EXAMPLES = """
tflm-sim list targets
tflm-sim list targets cortex-m4
tflm-sim list libraries esp
tflm-sim list boards nano33ble
tflm-sim list boards --long
tflm-sim list ops CONV_2D --library tflm_esp32@2.0.0
tflm-sim list ops --target cortex-m4 --kernels cmsis_nn --json
"""
WHAT = ("targets", "libraries", "boards", "ops")
OF_OPS = ("target", "board", "firmware", "library", "runtime", "kernels")


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "list", EXAMPLES, about=ABOUT)
    parser.add_argument(
        "what",
        metavar="WHAT",
        choices=WHAT,
        help="targets: processors with their compiler's ABI, a TFLM and kernels, and what each is verified against; "
        "libraries: what brings TFLM to a firmware, and which TFLM each contains; boards: their memory, target and "
        "kernels; ops: the modelled operators, and how many recordings of real TFLM contain each",
    )
    parser.add_argument("word", nargs="?", default="", metavar="WORD", help="list only the rows with this word")
    parser.add_argument("--long", action="store_true", help="print all columns, with the sources")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    left_out = [name for name in SETTINGS if name not in OF_OPS]
    add_configuration(parser, leave_out=left_out, title="with ops")


def run(args: argparse.Namespace) -> int:
    given = [f"--{name}" for name in OF_OPS if getattr(args, name) is not None]
    if given and args.what != "ops":
        raise UsageError(f"{given[0]} goes with 'list ops'")
    code: int = import_module(f"tflm_sim.cli.list_{args.what}").run(args)
    return code
