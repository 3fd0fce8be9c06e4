"""A model on boards, as rows and as the cells of a table: ``size --boards``, a report and the page show the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tflm_sim.document_types import Count

if TYPE_CHECKING:
    from tflm_sim.answers.rows import Row

HEAD = ("board", "target", "arena", "of RAM", "RAM", "of flash", "flash", "fits")


@dataclass(frozen=True, slots=True)
class BoardFit:
    """A model on a board; sizes are bytes, null where there is none or it is not known.

    Attributes:
        arena: The smallest multiple of 16.
        ram: Of its largest bank.
        model_bytes: Of the file.
        may_fit: Whether it fits if the bank and the flash are free.
        fits: The same in words, with the reason: "if free", "no: RAM".
    """

    board: str
    target: str
    status: str
    arena: Count | None
    ram: Count | None
    model_bytes: Count | None
    flash: Count | None
    may_fit: bool | None
    fits: str

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table has of it, in the order of ``HEAD``."""
        arena = self.status if self.arena is None else f"{self.arena:,} B"
        of_ram, of_flash = _share(self.arena, self.ram), _share(self.model_bytes, self.flash)
        return self.board, self.target, arena, of_ram, _kib(self.ram), of_flash, _kib(self.flash), self.fits


def board_row(row: Row) -> BoardFit:
    from tflm_sim.targets.boards import BOARDS  # Many boards are slow to import, and most pictures have none.

    return BoardFit(
        row.board,
        row.target,
        row.status,
        row.multiple_of_16,
        row.limit,
        row.model_bytes,
        BOARDS[row.board].flash,
        row.may_fit,
        _words(row),
    )


def board_table(rows: Iterable[BoardFit]) -> list[tuple[str, ...]]:
    return [HEAD, *(row.cells for row in rows)]


def _words(row: Row) -> str:
    from tflm_sim.answers.rows import NEVER_INVOKES

    if row.may_fit is None:
        return "not known"
    if row.may_fit:
        return "yes" if row.fits else "if free"
    if row.status == NEVER_INVOKES:
        return "no: Invoke()"
    if row.multiple_of_16 is None:
        return f"no: {row.status}"
    return "no: flash" if row.multiple_of_16 <= (row.limit or 0) else "no: RAM"


def _share(part: int | None, whole: int | None) -> str:
    """Return a part in percent; "" where there is none."""
    return "" if part is None or not whole else f"{100 * part / whole:.1f} %"


def _kib(size: int | None) -> str:
    return "not known" if size is None else f"{size // 1024:,} KiB"
