"""``tflm-sim targets``: the presets, and what proves each."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import fitting, say, say_json
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.presets import PRESETS, proof_in_words, target

EXAMPLES = """
tflm-sim targets
tflm-sim targets --json
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "targets", "list the targets and what proves each", EXAMPLES)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    targets = [target(name) for name in PRESETS]
    if args.json:
        rows = [
            {
                "name": row.name,
                "description": row.description,
                "abi": row.abi.name,
                "kernels": str(row.kernel_library),
                "verified_against": row.verified_against,
                "proof": proof_in_words(row.verified_against),
            }
            for row in targets
        ]
        say_json(rows)
        return 0
    header = ("target", "ABI", "default kernels", "held against", "what it is")
    body = [
        (row.name, row.abi.name, str(row.kernel_library), proof_in_words(row.verified_against), row.description)
        for row in targets
    ]
    say(*table_lines([header, *body], width=fitting()))
    return 0
