"""A plan as a picture: time to the right, bytes upwards, a rectangle per buffer; one SVG file without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TextIO

from tflm_sim.escape import printable
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.problem import Problem

WIDTH, HEIGHT = 1000, 560
_LEFT, _TOP, _RIGHT, _BOTTOM = 90, 40, 20, 40
_GOLDEN_ANGLE = 137.508  # Neighbouring indices get colours that are far apart.


def write_plan_svg(file: TextIO, problem: Problem, plan: Plan, *, planner: str, lower_bound: int) -> None:
    """Write the picture of ``plan``; ``lower_bound`` (bytes) is drawn as a line."""
    title = escape(f"{printable(problem.title)}: {planner}, {plan.peak:,} bytes")
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<title>{title}</title>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<text x="{_LEFT}" y="20" font-size="14">{title}</text>\n'
    )
    scale = _Scale(problem.buffers, plan)
    for index, buffer in enumerate(problem.buffers):
        file.write(_rectangle(scale, index, buffer, plan.offsets[index]))
    for line in _axes(scale, plan.peak, lower_bound):
        file.write(line)
    file.write("</svg>\n")


class _Scale:
    """From (time, byte) to the picture's coordinates."""

    def __init__(self, buffers: tuple[Buffer, ...], plan: Plan) -> None:
        self.first = min((buffer.lower for buffer in buffers), default=0)
        self.last = max((buffer.upper for buffer in buffers), default=1) - 1
        self.per_moment = (WIDTH - _LEFT - _RIGHT) / (self.last - self.first + 1)
        self.per_byte = (HEIGHT - _TOP - _BOTTOM) / max(1, plan.peak)

    def x(self, time: int) -> float:
        """The left edge of a moment."""
        return _LEFT + (time - self.first) * self.per_moment

    def y(self, offset: int) -> float:
        """The height of a byte."""
        return HEIGHT - _BOTTOM - offset * self.per_byte


def _rectangle(scale: _Scale, index: int, buffer: Buffer, offset: int) -> str:
    name, last = printable(buffer.name), buffer.upper - 1
    x, y = scale.x(buffer.lower), scale.y(offset + buffer.size)
    width, height = scale.x(buffer.upper) - x, scale.y(offset) - y
    fact = f"{name}: {buffer.size:,} bytes at {offset:,}, times {buffer.lower} to {last}"
    label = ""
    if height >= 14 and width >= 7 * len(name):
        label = f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" text-anchor="middle">{escape(name)}</text>'
    return (
        f'<g><title>{escape(fact)}</title><rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
        f'fill="hsl({index * _GOLDEN_ANGLE % 360:.0f},65%,72%)" stroke="#444" stroke-width="0.5"/>{label}</g>\n'
    )


def _axes(scale: _Scale, peak: int, lower_bound: int) -> Iterator[str]:
    right = WIDTH - _RIGHT
    for offset, text in ((0, "0"), (peak, f"{peak:,}")):
        yield f'<text x="{_LEFT - 6}" y="{scale.y(offset) + 4:.1f}" text-anchor="end">{text}</text>\n'
    bound_y = scale.y(lower_bound)
    yield (
        f'<line x1="{_LEFT}" y1="{bound_y:.1f}" x2="{right}" y2="{bound_y:.1f}" stroke="#b00" stroke-dasharray="6 4">'
        f"<title>lower bound {lower_bound:,} bytes</title></line>\n"
    )
    yield f'<line x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{HEIGHT - _BOTTOM}" stroke="black"/>\n'
    yield f'<line x1="{_LEFT}" y1="{HEIGHT - _BOTTOM}" x2="{right}" y2="{HEIGHT - _BOTTOM}" stroke="black"/>\n'
    yield f'<text x="{_LEFT}" y="{HEIGHT - 15}">time {scale.first}</text>\n'
    yield f'<text x="{right}" y="{HEIGHT - 15}" text-anchor="end">time {scale.last}</text>\n'
