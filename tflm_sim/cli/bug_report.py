"""``tflm-sim bug-report``: what a maintainer needs to know, without the model's weights or names."""

from __future__ import annotations

import argparse
import hashlib
import platform
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tflm_sim import __version__
from tflm_sim.answers.simulation import simulate
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, configuration
from tflm_sim.cli.terminal import say_json
from tflm_sim.errors import TflmSimError
from tflm_sim.model.inputs import read_input
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model
from tflm_sim.planners import native

EXAMPLES = """
tflm-sim bug-report
tflm-sim bug-report model.tflite --target esp32-s3 > report.json
"""
_PACKAGES = ("cffi", "numpy", "pyserial", "rich", "pyelftools", "distributed")


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "bug-report", "print what a bug report needs, without a model's weights", EXAMPLES)
    parser.add_argument("model", nargs="?", metavar="MODEL", help="the model that it is about")
    add_configuration(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    document: dict[str, Any] = {
        "schema_version": 1,
        "tflm_sim": __version__,
        "planner_core": "C" if native.available() else "Python",
        "python": sys.version.split()[0],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
    }
    if args.model is not None:
        data = read_input(args.model).data
        document["model"] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        try:
            model = parse(data)
            document["model"] |= _about(model)
            config = configuration(args)
            document["target"] = {
                "name": config.target.name,
                "kernels": str(config.target.kernel_library),
                "runtime": config.target.runtime.snapshot,
                "interpreter": config.interpreter,
                "planner": config.planner,
            }
            simulation = simulate(model, config)
            document["answer"] = {
                "status": simulation.status,
                "smallest_arena": None if simulation.smallest is None else simulation.smallest.size,
                "arena_used_bytes": simulation.arena_used_bytes,
                "head": simulation.head_bytes,
                "tail": simulation.tail_bytes,
                "log": list(simulation.log),
            }
        except TflmSimError as error:
            document["error"] = f"{type(error).__name__}: {error}"
    say_json(document)
    return 0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _about(model: Model) -> dict[str, Any]:
    """Return the operators, each with its number and how often it occurs, and the number of tensors."""
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
    return {
        "subgraphs": len(model.subgraphs),
        "tensors": sum(len(subgraph.tensors) for subgraph in model.subgraphs),
        "operators": dict(sorted(used.items())),
        "metadata": [entry.name for entry in model.metadata],
    }
