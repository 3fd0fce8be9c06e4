"""``diff --lite``: two models, or two saved documents, on the mobile runtime."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.types import Model


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lite", action="store_true", help="compare the allocations of the mobile runtime (LiteRT) instead"
    )


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Compare on the mobile runtime; None without ``--lite``, or without something to compare."""
    if not args.lite or not args.sources:
        return None
    if args.executed or args.split_arenas:
        raise UsageError("--lite is for the mobile runtime; remove --executed and --split-arenas")
    from tflm_sim.extensions.lite.answer_difference import compare  # The runtime is large.

    return compare(args)


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Return nothing: documents of TFLM have no part of another runtime."""
    return {}
