"""``tflm-sim check`` without a limit: the models of ``tflm-sim.toml``, or those of them that are named."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from tflm_sim.checks.verdict import remember
from tflm_sim.cli.options import PAIRED, first_given, simulated
from tflm_sim.cli.terminal import fitting, say, say_json, say_verdict
from tflm_sim.errors import UsageError
from tflm_sim.extensions.ci.project import PROJECT_FILE, Cell, Project, cells, read_project
from tflm_sim.extensions.ci.project_text import (
    Review,
    assumed_of,
    exit_code,
    headline_of,
    project_lines,
    review_markdown,
)
from tflm_sim.files import append, replacing
from tflm_sim.report.circumstances import open_kernels, target_line
from tflm_sim.report.sarif import sarif
from tflm_sim.report.verdict_text import verdict_document

_FILE_OPTIONS = (*PAIRED, "ethos_u", "own_planner", "custom_ops", "ram_free", "external_ram", "beside", "baseline")
"""Options that have no meaning beside the file, which says all that."""


def run_project(args: argparse.Namespace) -> int:
    """Judge the models of the ``tflm-sim.toml`` in this folder and print the verdicts; return the exit code."""
    _refuse(args)
    project = read_project()
    judged = replace(project, baseline=None) if args.update_baseline else project
    found = list(cells(judged, args.models or None, simulate=simulated))
    _say_unnamed({os.path.normpath(name) for name in args.models} - {cell.model for cell in found})
    remembered = _remember(project, found) if args.update_baseline else []
    if args.markdown is not None:
        append(args.markdown, review_markdown([Review(cell) for cell in found], about(found), has_base=False))
    if args.sarif is not None:
        with replacing(args.sarif) as file:
            file.write(sarif(verdict for cell in found for verdict, _ in cell.judged))
    if args.json:
        for cell in found:
            say_json(verdict_document(cell.judged, assumed=_assumed(cell), firmware=cell.firmware.label), indent=None)
    else:
        _say(found)
        say(*remembered)
    return exit_code(found)


def _say_unnamed(models: set[str]) -> None:
    """Print which given files are not in the project; refuse those that do not exist."""
    for name in sorted(models):
        if not os.path.exists(name):
            raise UsageError(f"{name}: there is no such file, and {PROJECT_FILE} does not name it")
        say(f"{name}: {PROJECT_FILE} does not name it, so nothing is checked", file=sys.stderr)


def _refuse(args: argparse.Namespace) -> None:
    """Refuse options that the file decides, and a folder without such a file."""
    if option := first_given(args, _FILE_OPTIONS):
        raise UsageError(f"{option} needs --limit or --board; without them, set it in {PROJECT_FILE}")
    if not os.path.exists(PROJECT_FILE):
        raise UsageError(f"give --limit or --board, or write a {PROJECT_FILE} in this folder")


def _say(found: Sequence[Cell]) -> None:
    say_verdict(headline_of(found))
    say(*project_lines(found, width=fitting()))
    say(*(f"{label}: {text}" for label, texts in about(found).items() for text in texts))


def _remember(project: Project, found: Sequence[Cell]) -> list[str]:
    """Write the sizes of the models into the baseline, and return lines that say which."""
    if project.baseline_path is None:
        raise UsageError(f"--update-baseline needs a line 'baseline = \"FILE\"' in {PROJECT_FILE}")
    verdicts = [verdict for cell in found for verdict, _ in cell.judged]
    return remember(project.baseline_path, verdicts)


def about(found: Sequence[Cell]) -> dict[str, list[str]]:
    """Return the TFLM and the kernels of each firmware, by the firmware's label."""
    return {cell.firmware.label: _about(cell) for cell in found}


def _about(cell: Cell) -> list[str]:
    if len(cell.judged) > 1:
        return [f"no library is named: each that people use on {cell.firmware.board}, of which the largest counts"]
    configuration = cell.judged[0][1]
    remarks = open_kernels(configuration, library=cell.firmware.library, kernels=cell.firmware.kernels)
    return [target_line(configuration.target), *remarks]


def _assumed(cell: Cell) -> tuple[str, ...]:
    return tuple(f"--{name}" for name in assumed_of(cell)) if len(cell.judged) == 1 else ("--library",)
