"""``--bank`` of ``size``, ``check``, ``report``, ``plan`` and ``shrink``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.cli.options import first_given, refuse_besides
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model

_WITHOUT = {
    "size": ("jsonl", "map", "arena_size", "executed", "split_arenas", "boards", "targets", "firmware"),
    "check": ("limit", "ram_free", "external_ram", "beside", "executed", "baseline", "update_baseline", "firmware"),
    "report": ("arena_size", "executed", "split_arenas", "firmware"),
    "plan": ("planners", "all", "csv", "print_memory_plan", "firmware"),
    "shrink": ("goal", "offline_plan", "kernel_order", "loops", "executed", "firmware", "stream", "advise"),
}
"""Options of a verb that answer another question than banks."""


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    """Add ``--bank``, and for ``plan`` what can be made of it."""
    group = parser.add_argument_group("RAM in several banks")
    group.add_argument(
        "--bank",
        dest="banks",
        action="append",
        default=[],
        metavar="NAME=SIZE[@ADDRESS]",
        help="a bank that tensors may have, the fastest first: --bank dtcm=64KiB --bank psram=2MiB; of a --board its "
        "NAME is enough" + ("; with it the slow banks' bytes are to become fewer" if verb == "shrink" else ""),
    )
    if verb == "plan":
        group.add_argument(
            "-o", "--output", metavar="BANKS.h", help="write the plan as a planner for the firmware, in C++"
        )
        group.add_argument(
            "--curve", action="store_true", help="also show the trade: the fastest bank against slow traffic"
        )


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Carry out ``plan``, ``check`` and the pictures of ``report``; None for the verb's own answer."""
    if not args.banks:
        if verb == "plan" and (option := first_given(args, ("output", "curve"))):
            raise UsageError(f"{option} goes with --bank NAME=SIZE, given for each bank")
        return None
    refuse_besides(args, "banks", others=_WITHOUT[verb])
    from tflm_sim.extensions.banks import cli  # Most who type these verbs have one bank.

    if verb == "shrink":
        args.minimised = cli.aim(args)
        return None
    return cli.answer(verb, args)


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Return what TFLM's own ``Create`` can do with the banks."""
    if not args.banks:
        return {}
    from tflm_sim.extensions.banks import cli

    return cli.parts(args, model, configuration)
