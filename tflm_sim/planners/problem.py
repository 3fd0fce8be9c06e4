"""``Problem``: named buffers, and the CSV in which planners exchange them.

minimalloc's format, one buffer a line, lifetimes *half-open*::

    id,lower,upper,size[,alignment][,offset]        lower <= time < upper
    conv1,0,3,4096                                  is first_time_used 0, last_time_used 2

Columns are found by their names, in any order; ``start`` and ``end`` instead of ``lower`` and ``upper`` are *inclusive*
at both ends. An offset in a problem fixes the buffer there; in a solution it is where the planner put it.

Source: src/converter.cc @ google/minimalloc 9f5cf81
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TextIO

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.planners.buffers import Buffer, Plan

_REQUIRED = ("id", "lower", "upper", "size")
_OPTIONAL = ("alignment", "offset")
_IGNORED = ("hint",)  # Where a search may look first; not a part of the problem.
_ALIASES = {"buffer": "id", "buffer_id": "id", "begin": "lower", "start": "lower", "end": "last"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers to place.

    Attributes:
        buffers: What to place.
        names: One per buffer.
        title: Where they come from.
    """

    buffers: tuple[Buffer, ...]
    names: tuple[str, ...]
    title: str = ""


def read_csv(lines: Iterable[str], *, path: str = "") -> Problem:
    """Return the problem in ``lines``, an open file for example.

    Raises:
        ModelError: A column is missing or unknown, or a line is not a buffer.
    """
    reader = csv.DictReader(lines, strict=True)
    names, buffers = [], []
    try:
        header = [_ALIASES.get(name.strip(), name.strip()) for name in reader.fieldnames or ()]
        _check_header(["upper" if name == "last" else name for name in header])
        reader.fieldnames = header
        for row in reader:
            names.append(row["id"])
            buffers.append(_buffer(row))
    except (UsageError, ValueError, csv.Error) as error:
        raise ModelError(f"line {max(reader.line_num, 1)}: {error}", path=path or None) from None
    return Problem(tuple(buffers), tuple(names), path)


def write_csv(file: TextIO, problem: Problem, plan: Plan | None = None) -> None:
    """Write ``problem``, with the offsets of ``plan`` if there is one."""
    offsets = [buffer.offset for buffer in problem.buffers] if plan is None else plan.offsets
    columns = [*_REQUIRED]
    columns += ["alignment"] * any(buffer.alignment != 1 for buffer in problem.buffers)
    columns += ["offset"] * any(offset is not None for offset in offsets)
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for name, buffer, offset in zip(problem.names, problem.buffers, offsets, strict=True):
        writer.writerow(
            {
                "id": name,
                "lower": buffer.first_time_used,
                "upper": buffer.last_time_used + 1,
                "size": buffer.size,
                "offset": offset,
                "alignment": buffer.alignment,
            }
        )


def _check_header(header: list[str]) -> None:
    missing = [name for name in _REQUIRED if name not in header]
    unknown = [name for name in header if name not in (*_REQUIRED, *_OPTIONAL, *_IGNORED)]
    if missing or unknown or len(set(header)) < len(header):
        raise ValueError(f"the columns must be {','.join(_REQUIRED)}[,{'][,'.join(_OPTIONAL)}], not {','.join(header)}")


def _buffer(row: Mapping[str | None, str | None]) -> Buffer:
    if None in row or None in row.values():
        raise ValueError("the line has more or fewer fields than the header")
    number = {name: int(value) for name, value in row.items() if value and name != "id"}
    if "last" in number:
        number["upper"] = number["last"] + 1
    absent = [name for name in _REQUIRED[1:] if name not in number]
    if absent:
        raise ValueError(f"{absent[0]} is empty")
    last = number["upper"] - 1
    return Buffer(number["size"], number["lower"], last, number.get("alignment", 1), number.get("offset"))
