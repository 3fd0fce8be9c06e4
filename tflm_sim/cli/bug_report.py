"""``tflm-sim bug-report``: what a maintainer needs to know, without the model's weights or names."""

from __future__ import annotations

import argparse
import hashlib
import platform
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Literal

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.cli.terminal import say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import OPTIONAL
from tflm_sim.document_types import OneOf
from tflm_sim.errors import TflmSimError
from tflm_sim.model.inputs import read_input
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model
from tflm_sim.planners import native
from tflm_sim.provenance import made_by

ABOUT = """
Attach the output when you report a bug.
"""
EXAMPLES = """
tflm-sim bug-report
tflm-sim bug-report model.tflite --target esp32-s3 > report.json
"""
_PACKAGES = ("cffi", "numpy", "pyserial", "rich", "pyelftools", "distributed")


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "bug-report", EXAMPLES, about=ABOUT)
    parser.add_argument("model", nargs="?", metavar="MODEL", help="the model that the bug is about")
    add_configuration(parser)


@dataclass(frozen=True, slots=True)
class ModelAbout:
    """A model without its names and weights; what could not be read is left out."""

    sha256: str
    bytes: int
    subgraphs: int | None = field(default=None, metadata=OPTIONAL)
    tensors: int | None = field(default=None, metadata=OPTIONAL)
    operators: dict[str, int] | None = field(default=None, metadata=OPTIONAL)
    metadata: tuple[str | None, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class TargetAbout:
    """The target, kernels and settings for which the model was sized."""

    name: str
    kernels: str
    runtime: str
    interpreter: str
    planner: str


@dataclass(frozen=True, slots=True)
class AnswerAbout:
    """The answer of the simulation; sizes are bytes."""

    status: str
    smallest_arena: int | None
    arena_used_bytes: int
    head: int
    tail: int
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BugReport:
    """What a maintainer needs to know; what is about a model is left out where none is given."""

    schema_version: Literal[1] = 1
    tflm_sim: str
    planner_core: Annotated[str, OneOf("C", "Python")]
    python: str
    system: str
    packages: dict[str, str]
    model: ModelAbout | None = field(default=None, metadata=OPTIONAL)
    target: TargetAbout | None = field(default=None, metadata=OPTIONAL)
    answer: AnswerAbout | None = field(default=None, metadata=OPTIONAL)
    error: str | None = field(default=None, metadata=OPTIONAL)


def run(args: argparse.Namespace) -> int:
    report = BugReport(
        tflm_sim=made_by(),
        planner_core="C" if native.available() else "Python",
        python=sys.version.split()[0],
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        packages={name: found for name in _PACKAGES if (found := _version(name))},
    )
    say_json(report if args.model is None else _with_model(report, args))
    return 0


def _with_model(report: BugReport, args: argparse.Namespace) -> BugReport:
    """Return the report with the facts about the model, as many as can be found before an error."""
    data = read_input(args.model).data
    known = ModelAbout(hashlib.sha256(data).hexdigest(), len(data))
    report = replace(report, model=known)
    try:
        model = parse(data)
        report = replace(report, model=_about(model, known))
        config = configuration(args)
        report = replace(report, target=_target(config))
        return replace(report, answer=_answer(simulate(model, config)))
    except TflmSimError as error:
        return replace(report, error=f"{type(error).__name__}: {error}")


def _target(config: Configuration) -> TargetAbout:
    target = config.target
    return TargetAbout(
        target.name, str(target.kernel_library), target.runtime.snapshot, config.interpreter, config.planner
    )


def _answer(simulation: Simulation) -> AnswerAbout:
    return AnswerAbout(
        status=simulation.status,
        smallest_arena=None if simulation.smallest is None else simulation.smallest.size,
        arena_used_bytes=simulation.arena_used_bytes,
        head=simulation.head_bytes,
        tail=simulation.tail_bytes,
        log=tuple(simulation.log),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _about(model: Model, known: ModelAbout) -> ModelAbout:
    """Add the operators, each with how often it occurs, and the number of tensors."""
    names = [
        code.custom_code or BUILTIN_OPERATORS[code.builtin_code]
        if 0 <= code.builtin_code < len(BUILTIN_OPERATORS)
        else str(code.builtin_code)
        for code in model.operator_codes
    ]
    used = Counter(
        names[operator.opcode_index] if 0 <= operator.opcode_index < len(names) else "?"
        for subgraph in model.subgraphs
        for operator in subgraph.operators
    )
    return replace(
        known,
        subgraphs=len(model.subgraphs),
        tensors=sum(len(subgraph.tensors) for subgraph in model.subgraphs),
        operators=dict(sorted(used.items())),
        metadata=tuple(entry.name for entry in model.metadata),
    )
