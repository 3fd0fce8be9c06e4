"""``tflm-sim targets``: the presets, and what proves each."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import fitting, say, say_json
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.presets import PRESETS, preset, proof_in_words
from tflm_sim.targets.target import Target

EXAMPLES = """
tflm-sim targets
tflm-sim targets --json
"""


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A preset, and what proves it."""

    name: str
    description: str
    abi: str
    kernels: str
    verified_against: str
    proof: str


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "targets", "list the targets and what proves each", EXAMPLES)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    rows = [target_row(preset(name)) for name in PRESETS]
    if args.json:
        say_json(rows)
        return 0
    header = ("target", "ABI", "default kernels", "held against", "what it is")
    body = [(row.name, row.abi, row.kernels, row.proof, row.description) for row in rows]
    say(*table_lines([header, *body], width=fitting()))
    return 0


def target_row(target: Target) -> TargetRow:
    """Return a target as a row."""
    return TargetRow(
        name=target.name,
        description=target.description,
        abi=target.abi.name,
        kernels=str(target.kernel_library),
        verified_against=target.verified_against,
        proof=proof_in_words(target.verified_against),
    )
