"""``--advise`` of ``size`` and ``report``: what ``shrink`` would save."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.cli.options import refuse_besides
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.types import Model

_WITHOUT = ("jsonl", "map", "arena_size", "executed")
"""Options that answer something else than which arena the model needs."""


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--advise", action="store_true", help="also say how much 'shrink' would save (takes seconds)")


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Refuse ``--advise`` where there is nothing to advise on; the verb itself answers."""
    if args.advise:
        refuse_besides(args, "advise", others=_WITHOUT)
    return None


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    if not args.advise:
        return {}
    from tflm_sim.extensions.shrink.advice import advice  # It needs numpy.

    return {"advice": advice(model, configuration)}


def advice_lines(advice: str) -> list[str]:
    return [advice]
