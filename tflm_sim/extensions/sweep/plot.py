"""A sweep as a picture: one dot a model, its arena to the right, its size or work upwards; the best are joined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from tflm_sim.answers.rows import Row
from tflm_sim.escape import printable
from tflm_sim.palette import EDGE, SERIES, SOFT

WIDTH, HEIGHT = 860, 532
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 44, 29, 76
_LEGEND_COLUMNS, _LEGEND_LINE = 5, 15
AXES = {"model_bytes": "file, bytes", "macs": "multiply-accumulates"}


def plot_svg(rows: Sequence[Row], *, against: str = "model_bytes") -> str:
    """Return an SVG; both axes are logarithmic.

    Args:
        rows: Those with an arena are drawn, a colour for each target.
        against: "model_bytes" or "macs".
    """
    drawn = [(x, y, row) for row in rows if (x := row.multiple_of_16) and (y := getattr(row, against))]
    targets: dict[str, list[tuple[int, int, Row]]] = {}
    for point in drawn:
        targets.setdefault(point[2].board or point[2].target, []).append(point)
    top = _TOP + _LEGEND_LINE * max(1, math.ceil(len(targets) / _LEGEND_COLUMNS))
    height = HEIGHT + top
    xs = _LogScale([x for x, _, _ in drawn], _LEFT, WIDTH - _RIGHT)
    ys = _LogScale([y for _, y, _ in drawn], height - _BOTTOM, top)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{len(drawn)} dots"><rect width="100%" height="100%" fill="#fff"/>',
        *_grid(xs, ys, AXES[against]),
    ]
    if not drawn:
        parts.append(f'<text x="{WIDTH / 2}" y="{height / 2}" text-anchor="middle">no model has an arena</text>')
    for number, (name, points) in enumerate(targets.items()):
        color = _color(number, len(targets))
        parts += _dots(points, xs, ys, color)
        line, column = divmod(number, _LEGEND_COLUMNS)
        x, y = _LEFT + 8 + 150 * column, 14 + _LEGEND_LINE * line
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{x + 8}" y="{y + 4}">{escape(printable(name, 20))}</text>')
    parts.append(f'<text x="16" y="{height - 5}" fill="{SOFT}">{escape(_about(rows))}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _about(rows: Sequence[Row]) -> str:
    """Return what the figures are of, so that the picture can be cited: TFLM, kernels, and who computed them."""
    parts = ("TFLM", "runtime"), ("kernels", "kernels"), ("tflm_sim", "version")
    named = (
        (title, ", ".join(dict.fromkeys(filter(None, (getattr(row, name) for row in rows))))) for title, name in parts
    )
    return printable("; ".join(f"{title} {names}" for title, names in named if names), 140)


def _dots(points: Sequence[tuple[int, int, Row]], xs: _LogScale, ys: _LogScale, color: str) -> Iterator[str]:
    """Yield the line along the best of a target's rows, and a dot for each."""
    front = " ".join(f"{xs.at(x):.1f},{ys.at(y):.1f}" for x, y in pareto([(x, y) for x, y, _ in points]))
    yield f'<polyline points="{front}" fill="none" stroke="{color}" stroke-opacity=".45"/>'
    for x, y, row in points:
        yield _dot(xs.at(x), ys.at(y), row, color)


def _color(number: int, count: int) -> str:
    if count <= len(SERIES):
        return SERIES[number]
    return f"hsl({360 * number // count},75%,{(38, 52)[number % 2]}%)"


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
        self.start, self.end = start, end
        decades = [math.log10(value) for value in values] or [0]
        self.low = 10 ** math.floor(min(decades))
        self.high = max(10 ** math.ceil(max(decades)), self.low * 10)

    def at(self, value: float) -> float:
        share = math.log10(value / self.low) / math.log10(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[int]:
        count = round(math.log10(self.high / self.low))
        return [self.low * 10**power for power in range(count + 1)]


def _grid(xs: _LogScale, ys: _LogScale, what: str) -> list[str]:
    lines = []
    for value in xs.ticks():
        x = f"{xs.at(value):.1f}"
        lines.append(f'<line x1="{x}" x2="{x}" y1="{ys.end}" y2="{ys.start}" stroke="{EDGE}"/>')
        lines.append(f'<text x="{x}" y="{ys.start + 18}" text-anchor="middle">{value:,}</text>')
    for value in ys.ticks():
        y = ys.at(value)
        lines.append(f'<line x1="{xs.start}" x2="{xs.end}" y1="{y:.1f}" y2="{y:.1f}" stroke="{EDGE}"/>')
        lines.append(f'<text x="{xs.start - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>')
    note = "A line joins the models of a colour that no other one beats in both. Point at a dot for its name."
    lines.append(f'<text x="{xs.end}" y="{ys.start + 55}" text-anchor="end" fill="{SOFT}">{note}</text>')
    across, up = (xs.start + xs.end) / 2, (ys.start + ys.end) / 2
    words = f'text-anchor="middle" fill="{SOFT}"'
    lines.append(f'<text x="{across}" y="{ys.start + 35}" {words}>arena, bytes</text>')
    lines.append(f'<text x="16" y="{up}" transform="rotate(-90 16 {up})" {words}>{what}</text>')
    return lines


def _dot(x: float, y: float, row: Row, color: str) -> str:
    title = escape(f"{printable(row.model, 120)} on {row.board or row.target}: {row.multiple_of_16:,} B")
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}" fill-opacity=".75">'
    return f"{dot}<title>{title}</title></circle>"
