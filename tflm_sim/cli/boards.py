"""``tflm-sim boards``: the boards that ``check --board`` knows, their memory, and where each figure is from."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tflm_sim.cli.options import Subparsers, add_long, add_verb
from tflm_sim.cli.terminal import show_rows
from tflm_sim.document_types import Count
from tflm_sim.targets.boards import BOARDS, Board
from tflm_sim.targets.presets import preset

ABOUT = """
Use these names for --board. The preset is the board's target (--target).
"""
EXAMPLES = """
tflm-sim boards
tflm-sim boards --long
tflm-sim boards --json
"""


HEADER = ("board", "target", "RAM", "flash", "kernels", "what it is", "all banks", "source of the sizes")
ORDER = ("board", "RAM", "flash", "target", "kernels", "what it is")


@dataclass(frozen=True, slots=True)
class BankFacts:
    """A bank of RAM."""

    bank: str
    bytes: Count


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A board; ``source`` says where its figures are from."""

    name: str
    description: str
    target: str
    kernels: str
    ram: tuple[BankFacts, ...]
    flash_bytes: Count | None
    source: str


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "boards", EXAMPLES, about=ABOUT)
    add_long(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    rows = [board_row(board) for board in BOARDS.values()]
    note = "RAM is the largest bank, where an arena lies; your linker map says what is free"
    return show_rows(rows, HEADER, _cells, "", note, as_json=args.json, order=ORDER, is_long=args.long)


def board_row(board: Board) -> BoardRow:
    """Return a board as a row."""
    return BoardRow(
        name=board.name,
        description=board.description,
        target=board.preset,
        kernels=str(preset(board.preset).kernel_library),
        ram=tuple(BankFacts(bank.name, bank.size) for bank in board.ram),
        flash_bytes=board.flash,
        source=board.source,
    )


def _cells(row: BoardRow) -> tuple[str, ...]:
    board = BOARDS[row.name]
    bank = board.largest_bank
    ram = "not known" if bank is None else f"{bank.size // 1024:,} KiB"
    flash = "differs" if row.flash_bytes is None else f"{row.flash_bytes // 1024:,} KiB"
    kernels = row.kernels.partition(" ")[0]
    return row.name, row.target, ram, flash, kernels, row.description, board.ram_text, row.source
