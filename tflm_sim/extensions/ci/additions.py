"""The models of ``tflm-sim.toml``: ``check`` without a limit, and ``diff --base`` with the pull request's comment."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.types import Model


def add_options(verb: str, parser: argparse.ArgumentParser) -> None:
    """Add the options of ``diff``; in ``check`` it is the absence of ``--limit`` and ``--board`` that asks for them."""
    if verb != "diff":
        return
    group = parser.add_argument_group("all models of tflm-sim.toml, before and after a change")
    group.add_argument(
        "--base",
        metavar="COMMIT",
        help="compare them with those of this commit, and print the comment of a pull request, in Markdown (with "
        "--comment or --markdown the default in CI is the base of the pull or merge request)",
    )
    group.add_argument(
        "--comment", action="store_true", help="in CI: write the comment of the pull or merge request, or update it"
    )
    group.add_argument(
        "--markdown", metavar="FILE", help="append the text to this file, such as a CI's step summary, instead"
    )


def answer(verb: str, args: argparse.Namespace) -> int | None:
    """Judge or compare the models of the project's file; None where something else is asked for."""
    if verb == "diff":
        if not (args.base or args.comment or args.markdown):
            return None
        from tflm_sim.extensions.ci.cli_diff import compare_project

        return compare_project(args)
    if args.limit is not None or args.board is not None:
        return None
    from tflm_sim.extensions.ci.cli_check import run_project

    return run_project(args)


def parts(verb: str, args: argparse.Namespace, model: Model, configuration: Configuration) -> Mapping[str, object]:
    return {}
