"""A plan as a picture: bytes to the right, time downwards, a rectangle per buffer; one SVG file without scripts.

It speaks as the pictures of an arena do: the colour says what a buffer is for, the red frame where most is alive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple, TextIO

from tflm_sim.escape import printable
from tflm_sim.labels import fitted, short_names
from tflm_sim.palette import CATEGORIES, EDGE, FREE, HATCH, HATCH_ID, INK, MARK, SOFT
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.problem import Problem
from tflm_sim.provenance import made_by

WIDTH, HEIGHT = 1000, 600
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 74, 30, 46
_CHARACTER_WIDTH, _LINE_HEIGHT = 6.4, 12


class Drawn(NamedTuple):
    """How a buffer is drawn: its kind, a key of ``CATEGORIES``, its name, and the legend's own word for that kind."""

    category: str
    name: str
    kind: str = ""


def write_plan_svg(
    file: TextIO,
    problem: Problem,
    plan: Plan,
    *,
    planner: str,
    lower_bound: int,
    drawn: Sequence[Drawn] | None = None,
    place: str = "the head",
    times: tuple[int, int] | None = None,
) -> None:
    """Write the picture of ``plan``.

    Args:
        file: Where to.
        problem: What was planned.
        plan: Where each buffer lies.
        planner: Who planned it.
        lower_bound: Bytes, drawn as a line.
        drawn: What each buffer is; by default an activation with its name in the problem.
        place: Where the bytes are counted from.
        times: The first time and the one behind the last; by default those of the buffers.
    """
    title = escape(f"{printable(problem.title)}: {planner}, {plan.peak:,} bytes (lower bound {lower_bound:,})")
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" fill="{INK}" '
        f'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" font-size="11">\n'
        f"<title>{title}</title>\n<metadata>tflm_sim {made_by()}</metadata>\n{HATCH}"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<text x="{_LEFT}" y="22" font-size="14">{title}</text>\n'
    )
    scale = _Scale(problem.buffers, plan, times)
    rows = drawn or [Drawn("activation", buffer.name) for buffer in problem.buffers]
    labels = short_names([row.name for row in rows])
    file.write(
        f'<rect x="{_LEFT}" y="{_TOP}" width="{scale.x(plan.peak) - _LEFT:.1f}" height="{HEIGHT - _TOP - _BOTTOM}" '
        f'fill="{FREE}"/>\n'
    )
    placed = list(zip(problem.buffers, plan.offsets, rows, strict=True))
    file.writelines(_rectangle(scale, *each) for each in placed)
    file.writelines(_axes(scale, plan.peak, lower_bound, place))
    file.writelines(_fullest(scale, problem.buffers, plan.peak))
    file.writelines(_label(scale, *each, label) for each, label in zip(placed, labels, strict=True))
    kinds = {row.category: row.kind or CATEGORIES[row.category].title for row in rows}
    file.writelines(_legend({key: kinds[key] for key in CATEGORIES if key in kinds}))
    file.write("</svg>\n")


def fullest_moment(buffers: Sequence[Buffer]) -> int:
    """Return the first moment in which the most bytes are alive, 0 without buffers."""
    changes = sorted((time, size) for one in buffers for time, size in ((one.lower, one.size), (one.upper, -one.size)))
    alive = most = moment = 0
    for time, size in changes:
        alive += size
        if alive > most:
            most, moment = alive, time
    return moment


def tick_step(most: int, count: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... that divides ``most`` into at most ``count`` steps."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if most <= step * count:
                return step
        power *= 10


class _Scale:
    """From (time, byte) to the picture's coordinates."""

    def __init__(self, buffers: tuple[Buffer, ...], plan: Plan, times: tuple[int, int] | None) -> None:
        first = min((buffer.lower for buffer in buffers), default=0)
        self.first, self.end = times or (first, max((buffer.upper for buffer in buffers), default=1))
        self.per_moment = (HEIGHT - _TOP - _BOTTOM) / (self.end - self.first)
        self.per_byte = (WIDTH - _LEFT - _RIGHT) / max(1, plan.peak)

    def x(self, offset: int) -> float:
        return _LEFT + offset * self.per_byte

    def y(self, time: float) -> float:
        """The upper edge of a moment."""
        return _TOP + (time - self.first) * self.per_moment


def _rectangle(scale: _Scale, buffer: Buffer, offset: int, row: Drawn) -> str:
    category, last = CATEGORIES[row.category], buffer.upper - 1
    x, y = scale.x(offset), scale.y(buffer.lower)
    width, height = scale.x(offset + buffer.size) - x, scale.y(buffer.upper) - y
    fixed = "" if buffer.offset is None else ", where the model fixes it"
    fact = f"{printable(row.name)}: {buffer.size:,} bytes at {offset:,}{fixed}, times {buffer.lower} to {last}"
    place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    hatch = f'<rect {place} fill="url(#{HATCH_ID})"/>' if category.is_hatched else ""
    return (
        f'<g><title>{escape(fact)}</title><rect {place} fill="{category.light}" stroke="#ffffff" '
        f'stroke-width="0.8"/>{hatch}</g>\n'
    )


def _label(scale: _Scale, buffer: Buffer, offset: int, row: Drawn, label: str) -> str:
    """Return a name in the first moment of a buffer, clear of the frame; "" without room.

    A rim of the rectangle's colour keeps the hatching and the frame out of the letters.
    """
    category, top = CATEGORIES[row.category], scale.y(buffer.lower)
    height = scale.y(buffer.upper) - top
    text = escape(fitted(label, int((buffer.size * scale.per_byte - 8) / _CHARACTER_WIDTH)))
    if height < _LINE_HEIGHT or not text:
        return ""
    middle = top + min(height, max(scale.per_moment, _LINE_HEIGHT + 2)) / 2
    return (
        f'<text x="{scale.x(offset) + 4:.1f}" y="{middle + 4:.1f}" fill="{category.ink}" stroke="{category.light}" '
        f'stroke-width="3" paint-order="stroke">{text}</text>\n'
    )


def _axes(scale: _Scale, peak: int, lower_bound: int, place: str) -> Iterator[str]:
    floor = HEIGHT - _BOTTOM
    step = tick_step(peak, 8)
    for offset in (*range(0, peak - step // 2, step), peak):
        x = scale.x(offset)
        yield _text(x, _TOP - 8, f"{offset:,}", anchor="middle")
        yield f'<line x1="{x:.1f}" y1="{_TOP - 4}" x2="{x:.1f}" y2="{_TOP}" stroke="{EDGE}"/>\n'
    for time in range(scale.first, scale.end, tick_step(scale.end - scale.first, 20)):
        yield _text(_LEFT - 8, scale.y(time + 0.5) + 4, f"{time:,}", anchor="end")
    bound = scale.x(lower_bound)
    yield (
        f'<line x1="{bound:.1f}" y1="{_TOP}" x2="{bound:.1f}" y2="{floor}" stroke="{MARK}" '
        f'stroke-dasharray="6 4"><title>lower bound {lower_bound:,} bytes</title></line>\n'
    )
    yield _text(_LEFT, _TOP - 26, f"bytes from the start of {escape(printable(place))}")
    yield (
        f'<text transform="translate(16 {(_TOP + floor) / 2:.0f}) rotate(-90)" text-anchor="middle" fill="{SOFT}">'
        "time: the operators in their order</text>\n"
    )


def _fullest(scale: _Scale, buffers: Sequence[Buffer], peak: int) -> Iterator[str]:
    """Yield the frame around the moment in which most is alive."""
    moment = fullest_moment(buffers)
    y, height = scale.y(moment), max(scale.per_moment, 1.5)
    yield (
        f'<rect x="{_LEFT}" y="{y:.1f}" width="{scale.x(peak) - _LEFT:.1f}" height="{height:.1f}" fill="none" '
        f'stroke="{MARK}" stroke-width="1.5"><title>most is alive at time {moment}</title></rect>\n'
    )


def _legend(kinds: Mapping[str, str]) -> Iterator[str]:
    x, y = float(_LEFT), HEIGHT - 16
    for key, title in kinds.items():
        row = CATEGORIES[key]
        mark = f'<rect x="{x:.0f}" y="{y - 10}" width="12" height="12" rx="2" fill="{row.light}"/>\n'
        yield mark + (mark.replace(row.light, f"url(#{HATCH_ID})") if row.is_hatched else "")
        yield _text(x + 17, y, title)
        x += 40 + len(title) * _CHARACTER_WIDTH
    yield f'<line x1="{x:.0f}" y1="{y - 4}" x2="{x + 24:.0f}" y2="{y - 4}" stroke="{MARK}" stroke-dasharray="6 4"/>\n'
    yield _text(x + 30, y, "lower bound")
    x += 30 + 11 * _CHARACTER_WIDTH + 24
    yield (f'<rect x="{x:.0f}" y="{y - 10}" width="24" height="12" fill="none" stroke="{MARK}" stroke-width="1.5"/>\n')
    yield _text(x + 30, y, "most is alive")


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{SOFT}">{text}</text>\n'
