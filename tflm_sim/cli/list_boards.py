"""``tflm-sim list boards``: the boards that ``--board`` knows, their memory, and where each figure is from."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tflm_sim.cli.terminal import show_rows
from tflm_sim.document_types import Count
from tflm_sim.names import names_with
from tflm_sim.targets.boards import BOARDS, Board, board
from tflm_sim.targets.presets import preset
from tflm_sim.targets.ram_beside import RamBeside, figures_of

HEADER = ("board", "target", "RAM", "flash", "kernels", "what it is", "all banks", "source of the sizes", "left beside")
ORDER = ("board", "RAM", "flash", "target", "kernels", "what it is")


@dataclass(frozen=True, slots=True)
class BankFacts:
    """A bank of RAM."""

    bank: str
    bytes: Count


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A board; ``source`` says where its figures are from, ``left_beside`` what its software leaves of its RAM."""

    name: str
    description: str
    target: str
    kernels: str
    ram: tuple[BankFacts, ...]
    flash_bytes: Count | None
    source: str
    left_beside: tuple[RamBeside, ...]


def run(args: argparse.Namespace) -> int:
    known = {name: f"{row.description} {row.preset}" for name, row in BOARDS.items()}
    rows = [board_row(board(name)) for name in names_with(args.word, known) or [args.word]]
    note = "RAM is the largest bank, where an arena lies; your linker map says what is free"
    return show_rows(
        rows, HEADER, _cells, "", note, as_json=args.json, order=ORDER, is_long=args.long, is_chosen=bool(args.word)
    )


def board_row(found: Board) -> BoardRow:
    return BoardRow(
        name=found.name,
        description=found.description,
        target=found.preset,
        kernels=str(preset(found.preset).kernel_library),
        ram=tuple(BankFacts(bank.name, bank.size) for bank in found.ram),
        flash_bytes=found.flash,
        source=found.source,
        left_beside=figures_of(found),
    )


def _cells(row: BoardRow) -> tuple[str, ...]:
    found = BOARDS[row.name]
    bank = found.largest_bank
    ram = "not known" if bank is None else f"{bank.size // 1024:,} KiB"
    flash = "differs" if row.flash_bytes is None else f"{row.flash_bytes // 1024:,} KiB"
    kernels = row.kernels.partition(" ")[0]
    left = "; ".join(f"{one.name} {one.left:,} B" for one in row.left_beside) or "no figure"
    return row.name, row.target, ram, flash, kernels, row.description, found.ram_text, row.source, left
