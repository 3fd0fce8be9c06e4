"""``tflm-sim libraries``: which TFLM each published library holds, and which of them can be named."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.libraries import LIBRARIES, Library

EXAMPLES = """
tflm-sim libraries
tflm-sim libraries esp
tflm-sim size model.tflite --library esp-tflite-micro@1.3.5 --target esp32-s3
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(
        subparsers, "libraries", "list the libraries that --library names, and the TFLM that each holds", EXAMPLES
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="only those whose name contains this")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    rows = [row for row in LIBRARIES if args.name.lower() in row.name.lower()]
    if args.json:
        say_json([_document(row) for row in rows])
        return 0
    header = ("library", "version", "upstream", "date", "kernels", "usual target", "its own files; or what is nearest")
    say(*table_lines([header, *map(_cells, rows)]))
    return 0


def _day(commit: str) -> str:
    return find_commit(commit).day if commit else ""


def _cells(row: Library) -> tuple[str, ...]:
    remark = row.changed or "none" if row.is_modelled else f"NOT MODELLED: {row.nearest}"
    kernels = row.kernels if row.is_modelled else ""
    return row.name, row.version, row.commits[0], _day(row.commits[0]), kernels, row.target, remark


def _document(row: Library) -> dict[str, object]:
    return {
        "name": row.name,
        "version": row.version,
        "is_modelled": row.is_modelled,
        "upstream": {"first": row.commits[0], "last": row.commits[1], "date": _day(row.commits[0])},
        "target": row.target,
        "kernels": row.kernels if row.is_modelled else "",
        "changed": row.changed,
        "nearest": row.nearest,
        "source": row.source,
    }
