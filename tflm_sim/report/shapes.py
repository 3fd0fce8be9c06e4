"""A picture as a few rectangles: what the still pictures (SVG, PNG) draw.

Coordinates are bytes and *u*, the time axis: AllocateTensors() fills [0, ``SPLIT``), Invoke() the rest up to 1. What is
too small to see is merged with its neighbours, so that a model of thousands of operators stays a small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tflm_sim.escape import printable
from tflm_sim.labels import short_names
from tflm_sim.report.picture import Block, Picture, is_tail
from tflm_sim.units import format_size

SPLIT = 0.34
STEP_SHARE = 0.06
"""The most that one step of AllocateTensors() has of the picture's height: LiteRT has but one."""
ROWS = 700
"""How many rows of time can be told apart."""
PEAK_SHARE = 0.06
"""The least part of Invoke()'s height for the scope in which most is alive: about 24 pixels of a picture."""
COLUMNS = 1000
"""How many columns of bytes can be told apart."""


class DrawnShape(NamedTuple):
    """A rectangle: bytes [start, end), time [u0, u1), and its texts (harmless to show)."""

    category: str
    start: int
    end: int
    u0: float
    u1: float
    label: str
    fact: str
    order: int


def invoke_start(picture: Picture) -> float:
    """Return where Invoke() starts on the time axis; 1 when nothing was planned, 0 of a plan alone."""
    return min(SPLIT, STEP_SHARE * len(picture.steps)) if picture.scopes else 1.0


def label_u(picture: Picture, shape: DrawnShape) -> float:
    """Return the middle of a shape's label: in a planned buffer's first scope, clear of the frame around the peak."""
    middle = (shape.u0 + shape.u1) / 2
    if shape.u0 < invoke_start(picture):
        return min(middle, shape.u0 + 0.05)
    scope = (1 - invoke_start(picture)) / len(picture.scopes)
    return min(middle, shape.u0 + max(scope / 2, 0.011))


def label_start(picture: Picture, shape: DrawnShape, above: Iterable[DrawnShape]) -> int:
    """Return the first byte of a shape that nothing of ``above`` hides where its label stands."""
    start, u = shape.start, label_u(picture, shape)
    for other in above:
        if other.start <= start < other.end and other.u0 <= u < other.u1:
            start = other.end
    return start


def marked(picture: Picture) -> Iterator[str]:
    """Yield what the frame and the dashed line mean."""
    if (scope := picture.framed_scope) >= 0:
        alive = format_size(picture.live_bytes[scope])
        yield f"framed: fullest in {printable(picture.op_at(scope), 40)}, {alive} alive"
    if picture.limits and not picture.failure:
        yield "dashed: tightest, which decides the arena's size"


def step_u(picture: Picture, step: float) -> float:
    """Return the time of a step's start."""
    return invoke_start(picture) * step / max(len(picture.steps), 1)


def scope_u(picture: Picture, scope: float) -> float:
    """Return the time of a scope's start; a fraction lies inside of one.

    The scope in which most is alive is drawn at least ``PEAK_SHARE`` of Invoke() tall, so that it can be seen among
    hundreds; the others share the rest.
    """
    peak, count, split = picture.peak_scope, len(picture.scopes), invoke_start(picture)
    if peak < 0 or count < 2:
        return split + (1 - split) * scope / max(count, 1)
    share = max(PEAK_SHARE, 1 / count)
    inside = min(max(scope - peak, 0.0), 1.0)
    return split + (1 - split) * (inside * share + (scope - inside) * (1 - share) / (count - 1))


def shapes(picture: Picture) -> Iterator[DrawnShape]:
    """Yield what is to be drawn, the lowest layer first."""
    yield from _passing(picture)
    yield from _persistent(picture)
    labels = short_names([row.name for row in picture.residents])
    for index, (row, short) in enumerate(zip(picture.residents, labels, strict=True)):
        unnamed = f"{'scratch' if row.operator >= 0 else 'tensor'} {row.number}"
        name = printable(row.name, 80) or unnamed
        last = f" to {picture.op_at(row.last)}" if row.last > row.first else ""
        fact = (
            f"{name}: {row.size:,} bytes at {row.offset:,}, {picture.op_at(row.first)}{last}, "
            f"shares bytes with {row.sharing}"
        )
        u0, u1 = scope_u(picture, row.first), scope_u(picture, row.last + 1)
        yield DrawnShape(row.category, row.offset, row.offset + row.size, u0, u1, short or unnamed, fact, index)


def _passing(picture: Picture) -> Iterator[DrawnShape]:
    """Yield head and temps of AllocateTensors(), each rectangle of whole rows once."""
    seen: set[tuple[str, int, int, int, int]] = set()
    per_row = max(1.0, len(picture.steps) / (ROWS * invoke_start(picture)))
    for index, row in enumerate(picture.blocks):
        if is_tail(row):
            continue
        first, last = int(row.begin / per_row), max(int(row.end / per_row), int(row.begin / per_row) + 1)
        key = (row.category, row.offset, row.size, first, last)
        if key not in seen:
            seen.add(key)
            u0, u1 = step_u(picture, first * per_row), min(step_u(picture, last * per_row), invoke_start(picture))
            fact = f"{row.size:,} bytes at {row.offset:,}"
            yield DrawnShape(row.category, row.offset, row.offset + row.size, u0, u1, "", fact, index)


def _persistent(picture: Picture) -> Iterator[DrawnShape]:
    """Yield the tail; neighbours of one category that are narrow and start in one row are one rectangle."""
    narrow = picture.arena_bytes / COLUMNS
    per_row = max(1.0, len(picture.steps) / (ROWS * invoke_start(picture)))
    run: list[Block] = []
    for row in filter(is_tail, picture.blocks):
        joins = (
            run
            and row.size < narrow
            and run[-1].size < narrow
            and row.category == run[0].category
            and row.offset + row.size + row.padding == run[-1].offset
            and int(row.begin / per_row) == int(run[0].begin / per_row)
        )
        if run and not joins:
            yield _run_shape(picture, run)
            run = []
        run.append(row)
    if run:
        yield _run_shape(picture, run)


def _run_shape(picture: Picture, run: list[Block]) -> DrawnShape:
    start, end = run[-1].offset, run[0].offset + run[0].size
    label = printable(run[0].label, 40) if len(run) == 1 else ""
    fact = (
        f"{label}: {end - start:,} bytes at {start:,}"
        if label
        else f"{run[0].category}: {end - start:,} bytes in {len(run)}"
    )
    return DrawnShape(run[0].category, start, end, step_u(picture, run[0].begin), 1.0, label, fact, run[0].begin)
