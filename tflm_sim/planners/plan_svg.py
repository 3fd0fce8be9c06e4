"""A plan as a picture: time to the right, bytes upwards, a rectangle per buffer; one SVG file without scripts.

The colour says what a buffer has to do with the peak: those alive at the fullest moment are why no plan can be smaller
than the lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TextIO

from tflm_sim.escape import printable
from tflm_sim.labels import fitted, short_names
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.problem import Problem
from tflm_sim.provenance import made_by

WIDTH, HEIGHT = 1000, 600
_LEFT, _TOP, _RIGHT, _BOTTOM = 90, 40, 20, 80
_CHARACTER_WIDTH, _LINE_HEIGHT = 6.4, 12
_NUMBERED = re.compile(r"[a-z]+(\d+)")
_SOFT, _MARK = "#5c6877", "#b00020"
_FULLEST, _OTHER, _FIXED = "alive at the fullest moment", "any other buffer", "at an offset that the model fixes"
_COLORS = {_FULLEST: "#e9a23b", _OTHER: "#a9c7ef", _FIXED: "#b79bd9"}


def write_plan_svg(file: TextIO, problem: Problem, plan: Plan, *, planner: str, lower_bound: int) -> None:
    """Write the picture of ``plan``; ``lower_bound`` (bytes) is drawn as a line."""
    title = escape(f"{printable(problem.title)}: {planner}, {plan.peak:,} bytes (lower bound {lower_bound:,})")
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" font-size="11">\n'
        f"<title>{title}</title>\n<metadata>tflm_sim {made_by()}</metadata>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<text x="{_LEFT}" y="22" font-size="14">{title}</text>\n'
    )
    scale = _Scale(problem.buffers, plan)
    fullest = fullest_moment(problem.buffers)
    labels = short_names([buffer.name for buffer in problem.buffers])
    for buffer, offset, label in zip(problem.buffers, plan.offsets, labels, strict=True):
        alive = _FULLEST if buffer.lower <= fullest < buffer.upper else _OTHER
        kind = alive if buffer.offset is None else _FIXED
        file.write(_rectangle(scale, buffer, offset, label, _COLORS[kind]))
    file.writelines(_axes(scale, plan.peak, lower_bound))
    file.writelines(_legend())
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

    def __init__(self, buffers: tuple[Buffer, ...], plan: Plan) -> None:
        self.first = min((buffer.lower for buffer in buffers), default=0)
        self.end = max((buffer.upper for buffer in buffers), default=1)
        self.per_moment = (WIDTH - _LEFT - _RIGHT) / (self.end - self.first)
        self.per_byte = (HEIGHT - _TOP - _BOTTOM) / max(1, plan.peak)

    def x(self, time: float) -> float:
        """The left edge of a moment."""
        return _LEFT + (time - self.first) * self.per_moment

    def y(self, offset: int) -> float:
        """The height of a byte."""
        return HEIGHT - _BOTTOM - offset * self.per_byte


def _rectangle(scale: _Scale, buffer: Buffer, offset: int, label: str, color: str) -> str:
    name, last = printable(buffer.name), buffer.upper - 1
    x, y = scale.x(buffer.lower), scale.y(offset + buffer.size)
    width, height = scale.x(buffer.upper) - x, scale.y(offset) - y
    fact = f"{name}: {buffer.size:,} bytes at {offset:,}, times {buffer.lower} to {last}"
    return (
        f'<g><title>{escape(fact)}</title><rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
        f'fill="{color}" stroke="#ffffff" stroke-width="0.8"/>{_label(label, x, y, width, height)}</g>\n'
    )


def _label(name: str, x: float, y: float, width: float, height: float) -> str:
    """Return the name inside a rectangle, upright where it is narrow, cut where not all of it fits.

    Of "tensor51" the number is left: it tells one from another.
    """
    is_upright = height > width
    along, across = (height, width) if is_upright else (width, height)
    room = int((along - 6) / _CHARACTER_WIDTH)
    number = _NUMBERED.fullmatch(name) if len(name) > room else None
    text = escape(fitted(name, room) if number is None else number[1] if len(number[1]) <= room else "")
    if across < _LINE_HEIGHT or not text:
        return ""
    middle_x, middle_y = x + width / 2, y + height / 2
    turned = f' transform="rotate(-90 {middle_x:.1f} {middle_y:.1f})"' if is_upright else ""
    return f'<text x="{middle_x:.1f}" y="{middle_y + 4:.1f}" text-anchor="middle"{turned}>{text}</text>'


def _axes(scale: _Scale, peak: int, lower_bound: int) -> Iterator[str]:
    right, floor = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    step = tick_step(peak, 8)
    for offset in (*range(0, peak - step // 2, step), peak):
        y = scale.y(offset)
        yield _text(_LEFT - 8, y + 4, f"{offset:,}", anchor="end")
        yield f'<line x1="{_LEFT - 4}" y1="{y:.1f}" x2="{_LEFT}" y2="{y:.1f}" stroke="black"/>\n'
    for time in range(scale.first, scale.end, tick_step(scale.end - scale.first, 20)):
        yield _text(scale.x(time + 0.5), floor + 16, f"{time:,}", anchor="middle")
    bound_y = scale.y(lower_bound)
    yield (
        f'<line x1="{_LEFT}" y1="{bound_y:.1f}" x2="{right}" y2="{bound_y:.1f}" stroke="{_MARK}" '
        f'stroke-dasharray="6 4"><title>lower bound {lower_bound:,} bytes</title></line>\n'
    )
    yield f'<line x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{floor}" stroke="black"/>\n'
    yield f'<line x1="{_LEFT}" y1="{floor}" x2="{right}" y2="{floor}" stroke="black"/>\n'
    yield _text(right, floor + 34, "time: the operators in their order", anchor="end")
    yield f'<text transform="translate(16 {(_TOP + floor) / 2:.0f}) rotate(-90)" text-anchor="middle">bytes</text>\n'


def _legend() -> Iterator[str]:
    x, y = float(_LEFT), HEIGHT - 22
    for title, color in _COLORS.items():
        yield f'<rect x="{x:.0f}" y="{y - 10}" width="12" height="12" rx="2" fill="{color}"/>\n'
        yield _text(x + 17, y, title)
        x += 40 + len(title) * _CHARACTER_WIDTH
    yield f'<line x1="{x:.0f}" y1="{y - 4}" x2="{x + 24:.0f}" y2="{y - 4}" stroke="{_MARK}" stroke-dasharray="6 4"/>\n'
    yield _text(x + 30, y, "lower bound")


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_SOFT}">{text}</text>\n'
