"""``check`` without a limit: the models of ``tflm-sim.toml``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.types import Model


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    """Add nothing: it is the absence of ``--limit`` and ``--board`` that asks for the project."""


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Judge the models of the project's file; None where a limit or a board is given."""
    if args.limit is not None or args.board is not None:
        return None
    from tflm_sim.extensions.ci.cli_check import run_project

    return run_project(args)


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    """Return nothing."""
    return {}
