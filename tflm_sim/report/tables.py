"""Tables for people at a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

_NARROWEST = 6
_NAMES = re.compile(r"\d+\.\d+\.\d|\d{4}-\d\d|\d{4}$|[0-9a-f]{9}$")


def table_lines(rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """Return rows as lines with aligned columns.

    A cell that starts with a digit, or a sign and a digit, is right-aligned (but for versions, days and commits); so
    is a "-" in a column with such cells.

    Args:
        rows: The cells.
        width: Columns that there are: the widest columns but the first are broken into lines until it fits; None
            for any.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    while width is not None and sum(widths) + 2 * len(widths) - 2 > width and max(widths[1:]) > _NARROWEST:
        widths[1 + widths[1:].index(max(widths[1:]))] -= 1
    broken = [line for row in rows for line in _broken(row, widths)]
    columns = [_column(cells) for cells in zip(*broken, strict=True)]
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def fitting_columns(rows: Sequence[Sequence[str]], order: Sequence[int], *, width: int | None) -> list[int]:
    """Return which columns go side by side into a width, each as wide as its widest cell; in the order of the table.

    Args:
        rows: The cells, those of the header too.
        order: The columns that may be there, what matters most in front; the first always is.
        width: Columns of the terminal, None for any.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    chosen: list[int] = []
    taken = 0
    for column in order:
        if width is None or not chosen or taken + 2 + widths[column] <= width:
            taken += widths[column] + (2 if chosen else 0)
            chosen.append(column)
    return sorted(chosen)


def _broken(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    if all(len(cell) <= size for cell, size in zip(row, widths, strict=True)):
        yield tuple(row)
        return
    from textwrap import wrap  # Slow to import; most tables are narrow enough.

    cells = [wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
    yield from zip_longest(*cells, fillvalue="")


def _column(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    has_numbers = any(map(_is_number, cells))
    return [
        cell.rjust(width) if _is_number(cell) or (cell == "-" and has_numbers) else cell.ljust(width) for cell in cells
    ]


def _is_number(cell: str) -> bool:
    """Tell numbers, with what stands behind them, from versions, days and commits."""
    return cell[cell[:1] in ("+", "-") :][:1].isdigit() and not _NAMES.match(cell)
