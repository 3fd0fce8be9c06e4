"""``tflm-sim list ops``: the operators that are modelled, and which traces of real TFLM prove each."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from tflm_sim.cli.options import configuration
from tflm_sim.cli.terminal import show_rows
from tflm_sim.names import names_with, unknown
from tflm_sim.ops.registry import coverage, registrations


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator, its file upstream, and the models in whose traces it occurs."""

    op: str
    source: str
    models: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    models = registrations(replace(configuration(args).target, ethos_u=True))
    proved = coverage()
    names = names_with(args.word, {op: row.file for op, row in sorted(models.items())})
    if not names:
        raise unknown("operator", args.word, sorted(models))
    rows = [OperatorRow(op, models[op].file, tuple(proved.get(op, ()))) for op in names]
    untraced = sum(not row.models for row in rows)
    return show_rows(
        rows,
        ("operator", "recorded models", "upstream source"),
        lambda row: (row.op, str(len(row.models)), row.source),
        "",
        f"{len(rows)} operators; {untraced} without a recording are tested",
        "against the pip wheel with built models",
        as_json=args.json,
        is_long=args.long,
        is_chosen=bool(args.word),
    )
