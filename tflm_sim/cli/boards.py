"""``tflm-sim boards``: the boards that ``check --board`` knows, their memory, and where each figure is from."""

from __future__ import annotations

import argparse

from tflm_sim.cli.options import Subparsers, add_verb
from tflm_sim.cli.terminal import fitting, say, say_json
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.boards import BOARDS, Board
from tflm_sim.targets.presets import target

EXAMPLES = """
tflm-sim boards
tflm-sim boards --json
"""


def register(subparsers: Subparsers) -> None:
    """Add the verb."""
    parser = add_verb(subparsers, "boards", "list the boards, their memory, preset and default kernels", EXAMPLES)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    rows = list(BOARDS.values())
    if args.json:
        say_json([_document(row) for row in rows])
        return 0
    header = ("board", "target", "default kernels", "RAM", "flash", "what it is", "source of the sizes")
    say(*table_lines([header, *map(_line, rows)], width=fitting()))
    say("", "RAM is what the chip has, bank by bank;", "what your firmware leaves free only its linker map says")
    return 0


def _document(row: Board) -> dict[str, object]:
    return {
        "name": row.name,
        "description": row.description,
        "target": row.preset,
        "kernels": str(target(row.preset).kernel_library),
        "ram": [{"bank": bank.name, "bytes": bank.size} for bank in row.ram],
        "flash_bytes": row.flash,
        "source": row.source,
    }


def _line(row: Board) -> tuple[str, ...]:
    ram = row.ram_text if row.ram else "not known"
    flash = "differs" if row.flash is None else f"{row.flash // 1024:,} KiB"
    return row.name, row.preset, str(target(row.preset).kernel_library), ram, flash, row.description, row.source
