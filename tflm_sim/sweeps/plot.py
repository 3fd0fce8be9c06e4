"""A sweep as a picture: one dot a model, its arena against its size or work; the best of both are joined by a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tflm_sim.escape import printable
from tflm_sim.sweeps.rows import Row

WIDTH, HEIGHT = 860, 560
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 44, 44, 60
AXES = {"model_bytes": "file, bytes", "macs": "multiply-accumulates"}
_COLORS = ("#1f6feb", "#c9510c", "#2f9e57", "#8250df", "#bf3989", "#0a7ea4", "#9a6700", "#57606a")


def plot_svg(rows: Sequence[Row], *, against: str = "model_bytes") -> str:
    """Return an SVG; both axes are logarithmic.

    Args:
        rows: Those with an arena are drawn, a colour for each target.
        against: "model_bytes" or "macs".
    """
    drawn = [row for row in rows if row.multiple_of_16 and getattr(row, against)]
    xs = _LogScale([getattr(row, against) for row in drawn], _LEFT, WIDTH - _RIGHT)
    ys = _LogScale([row.multiple_of_16 or 1 for row in drawn], HEIGHT - _BOTTOM, _TOP)
    targets = list(dict.fromkeys(row.board or row.target for row in drawn))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{len(drawn)} models"><rect width="100%" height="100%" fill="#fff"/>',
        *_grid(xs, ys, AXES[against]),
    ]
    for number, name in enumerate(targets):
        color = _COLORS[number % len(_COLORS)]
        of = [row for row in drawn if (row.board or row.target) == name]
        points = [(getattr(row, against), row.multiple_of_16 or 1, row) for row in of]
        front = " ".join(f"{xs.at(x):.1f},{ys.at(y):.1f}" for x, y in pareto([(x, y) for x, y, _ in points]))
        parts.append(f'<polyline points="{front}" fill="none" stroke="{color}" stroke-opacity=".45"/>')
        parts += [_dot(xs.at(x), ys.at(y), row, color) for x, y, row in points]
        x, y = _LEFT + 8 + 150 * (number % 5), 14 + 15 * (number // 5)
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{x + 8}" y="{y + 4}">{escape(printable(name, 20))}</text>')
    return "\n".join([*parts, "</svg>\n"])


def pareto(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the points that no other beats in both numbers, by the first."""
    best: list[tuple[int, int]] = []
    for x, y in sorted(set(points)):
        if not best or y < best[-1][1]:
            best.append((x, y))
    return best


class _LogScale:
    """A logarithmic scale."""

    def __init__(self, values: Sequence[int], start: float, end: float) -> None:
        self._start, self._end = start, end
        self.low = 10 ** math.floor(math.log10(min(values, default=1)))
        self.high = max(10 ** math.ceil(math.log10(max(values, default=10))), self.low * 10)

    def at(self, value: float) -> float:
        share = math.log10(value / self.low) / math.log10(self.high / self.low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[int]:
        count = round(math.log10(self.high / self.low))
        return [self.low * 10**power for power in range(count + 1)]


def _grid(xs: _LogScale, ys: _LogScale, what: str) -> list[str]:
    lines = []
    for value in xs.ticks():
        x = f"{xs.at(value):.1f}"
        lines.append(f'<line x1="{x}" x2="{x}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}" stroke="#d9dee6"/>')
        lines.append(f'<text x="{x}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">{value:,}</text>')
    for value in ys.ticks():
        y = ys.at(value)
        lines.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d9dee6"/>')
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle" fill="#566373">{what}</text>')
    turned = f'transform="rotate(-90 16 {HEIGHT / 2})"'
    lines.append(f'<text x="16" y="{HEIGHT / 2}" {turned} text-anchor="middle" fill="#566373">arena, bytes</text>')
    return lines


def _dot(x: float, y: float, row: Row, color: str) -> str:
    title = escape(f"{printable(row.model, 120)} on {row.board or row.target}: {row.multiple_of_16:,} B")
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}" fill-opacity=".75">'
    return f"{dot}<title>{title}</title></circle>"
