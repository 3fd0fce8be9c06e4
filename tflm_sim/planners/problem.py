"""``Problem``: named buffers, and the CSV in which planners exchange them.

minimalloc's format, one buffer a line::

    id,lower,upper,size[,alignment][,offset]        lower <= time < upper
    conv1,0,3,4096                                  is alive at the moments 0, 1 and 2

Columns are found by their names, in any order. ``start`` and ``end``, or ``first`` and ``last``, instead of ``lower``
and ``upper`` are *inclusive* at both ends. Without an ``id`` the buffers are numbered from 0. An offset in a problem
fixes the buffer there; in a solution it is where the planner put it.

Source: src/converter.cc @ google/minimalloc 9f5cf81
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.escape import csv_cell, csv_text
from tflm_sim.numbers import whole
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.short_repr import short_repr

_NUMBERS = ("lower", "upper", "size")
_REQUIRED = ("id", *_NUMBERS)
_OPTIONAL = ("alignment", "offset")
_IGNORED = ("hint",)  # Where a search may look first; not a part of the problem.
_MOST = 1 << 38
"""The largest number: the planners in C add up as many as a file can have, in 64 bits."""
_SHOWN = 200
"""Characters of a header in a message."""
_ALIASES = {"buffer": "id", "buffer_id": "id", "begin": "lower", "start": "lower", "first": "lower", "end": "last"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers to place.

    Attributes:
        buffers: What to place, each with a name.
        title: Where they come from.
    """

    buffers: tuple[Buffer, ...]
    title: str = ""

    __repr__ = short_repr


def read_csv(lines: Iterable[str], *, path: str = "") -> Problem:
    """Return the problem in ``lines``, an open file for example.

    Raises:
        ModelError: A column is missing or unknown, or a line is not a buffer.
    """
    reader = csv.DictReader(lines, strict=True)
    buffers: list[Buffer] = []
    try:
        reader.fieldnames = _header([name.strip() for name in reader.fieldnames or ()])
        for row in reader:
            buffers.append(_buffer(row, csv_text(row.get("id") or "") if "id" in row else str(len(buffers))))
    except csv.Error as error:
        raise ModelError(f"line {reader.line_num + 1}: {error}", path=path or None) from None
    except (UsageError, ValueError) as error:
        raise ModelError(f"line {max(reader.line_num, 1)}: {error}", path=path or None) from None
    return Problem(tuple(buffers), path)


def write_csv(file: TextIO, problem: Problem, plan: Plan | None = None) -> None:
    """Write ``problem``, with the offsets of ``plan`` if there is one."""
    offsets = [buffer.offset for buffer in problem.buffers] if plan is None else plan.offsets
    columns = [*_REQUIRED]
    columns += ["alignment"] * any(buffer.alignment != 1 for buffer in problem.buffers)
    columns += ["offset"] * any(offset is not None for offset in offsets)
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for buffer, offset in zip(problem.buffers, offsets, strict=True):
        writer.writerow(
            {
                "id": csv_cell(buffer.name),
                "lower": buffer.lower,
                "upper": buffer.upper,
                "size": buffer.size,
                "offset": offset,
                "alignment": buffer.alignment,
            }
        )


def _header(found: Sequence[str]) -> list[str]:
    """Return the columns by our names; "last" stands for an inclusive "upper"."""
    header = [_ALIASES.get(name, name) for name in found]
    columns = ["upper" if name == "last" else name for name in header]
    missing = set(_NUMBERS) - set(columns)
    unknown = set(columns) - {*_REQUIRED, *_OPTIONAL, *_IGNORED}
    if missing or unknown or len(set(columns)) < len(columns):
        names = ",".join(found) or "nothing"
        names = names if len(names) <= _SHOWN else names[:_SHOWN] + "…"
        expected = f"{','.join(_REQUIRED)}[,{'][,'.join(_OPTIONAL)}]"
        raise ValueError(f"the columns must be {expected}, not {names}")
    return header


def _buffer(row: Mapping[str | None, str | None], name: str) -> Buffer:
    if None in row or None in row.values():
        raise ValueError("the line has more or fewer fields than the header")
    number = {name: _number(name, value) for name, value in row.items() if name and value and name != "id"}
    if "last" in number:
        number["upper"] = number["last"] + 1
    if absent := set(_NUMBERS) - number.keys():
        raise ValueError(f"{min(absent, key=_NUMBERS.index)} is empty")
    size, lower, upper = (number[field] for field in ("size", "lower", "upper"))
    return Buffer(size, lower, upper, number.get("alignment", 1), number.get("offset"), name)


def _number(name: str, text: str) -> int:
    try:
        return whole(text, -_MOST, _MOST)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
