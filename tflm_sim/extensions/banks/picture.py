"""A plan over banks as one SVG file: a picture for each bank, the fastest on top, and the curve below."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TextIO

from tflm_sim.escape import printable
from tflm_sim.extensions.banks.document import BanksDocument, BufferFacts, CurvePoint, UseFacts
from tflm_sim.palette import EDGE, SERIES, SOFT
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.plan_svg import HEIGHT, WIDTH, Drawn, tick_step, write_plan_svg
from tflm_sim.planners.problem import Problem

_LEFT, _TOP, _BOTTOM = 110, 50, 60


def write_banks_svg(file: TextIO, document: BanksDocument, drawn: Sequence[Drawn]) -> None:
    """Write the pictures; there must be a plan, whose buffers are drawn as ``drawn`` says."""
    assert document.plan is not None, "there is a plan to draw"
    used = [use for use in document.plan.way.uses if use.needed]
    parts = len(used) + bool(document.curve)
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT * parts}" '
        f'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" font-size="11">\n'
    )
    for number, use in enumerate(used):
        file.write(f'<svg x="0" y="{HEIGHT * number}" width="{WIDTH}" height="{HEIGHT}">\n')
        _write_bank(file, use, document.plan.buffers, drawn)
        file.write("</svg>\n")
    if document.curve:
        file.write(f'<svg x="0" y="{HEIGHT * len(used)}" width="{WIDTH}" height="{HEIGHT}">\n')
        file.writelines(_curve(document.curve, [bank.name for bank in document.stock.banks]))
        file.write("</svg>\n")
    file.write("</svg>\n")


def _write_bank(file: TextIO, use: UseFacts, buffers: Sequence[BufferFacts], looks: Sequence[Drawn]) -> None:
    """Draw the buffers of a bank, and its tail as one that is always alive, on top of them."""
    rows = [each for each in buffers if each.bank == use.bank]
    first = min((each.first_time_used for each in buffers if not each.keeps), default=0)
    end = max((each.last_time_used + 1 for each in buffers), default=1)
    drawn = [
        Buffer(each.size, first, end, name=each.name)
        if each.keeps
        else Buffer(each.size, each.first_time_used, each.last_time_used + 1, name=each.name)
        for each in rows
    ]
    offsets = [each.offset for each in rows]
    shown = [look for look, each in zip(looks, buffers, strict=True) if each.bank == use.bank]
    if use.tail:
        drawn.append(Buffer(use.tail, first, end, name="tail, at the bank's end"))
        offsets.append(use.planned)
        shown.append(Drawn("kernel data", drawn[-1].name, "tail"))
    title = f"{use.bank}: {use.loads:,} B loaded, {use.stores:,} B stored an Invoke()"
    problem = Problem(tuple(drawn), title)
    plan, bound = plan_of(drawn, offsets), lower_bound(drawn)
    write_plan_svg(
        file, problem, plan, planner="the plan", lower_bound=bound, drawn=shown, place=use.bank, times=(first, end)
    )


def _curve(points: Sequence[CurvePoint], names: Sequence[str]) -> list[str]:
    """Return the trade as steps: bytes of the fastest bank to the right, bytes moved in the others upwards."""
    most_x, most_y = max(point.fast_bytes for point in points) or 1, max(point.slow_bytes for point in points) or 1
    width, height = WIDTH - _LEFT - 30, HEIGHT - _TOP - _BOTTOM

    def x(size: int) -> float:
        return _LEFT + width * size / most_x

    def y(moved: int) -> float:
        return _TOP + height * (1 - moved / most_y)

    slow = escape(printable(", ".join(names[1:])))
    fast = escape(printable(names[0]))
    lines = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n',
        f'<text x="{_LEFT}" y="26" font-size="14">bytes loaded and stored in {slow}, by the bytes of {fast}</text>\n',
    ]
    for moved in range(0, most_y + 1, tick_step(most_y, 8)):
        lines.append(
            f'<line x1="{_LEFT}" y1="{y(moved):.1f}" x2="{WIDTH - 30}" y2="{y(moved):.1f}" stroke="{EDGE}"/>\n'
        )
        lines.append(f'<text x="{_LEFT - 8}" y="{y(moved) + 4:.1f}" text-anchor="end" fill="{SOFT}">{moved:,}</text>\n')
    for size in range(0, most_x + 1, tick_step(most_x, 10)):
        lines.append(f'<text x="{x(size):.1f}" y="{HEIGHT - 36}" text-anchor="middle" fill="{SOFT}">{size:,}</text>\n')
    ordered = sorted(points, key=lambda point: point.fast_bytes)
    path = f"M{x(ordered[0].fast_bytes):.1f} {y(ordered[0].slow_bytes):.1f}"
    for point in ordered[1:]:
        path += f"H{x(point.fast_bytes):.1f}V{y(point.slow_bytes):.1f}"
    lines.append(f'<path d="{path}" fill="none" stroke="{SERIES[0]}" stroke-width="2"/>\n')
    for point in ordered:
        fact = f"{point.fast_bytes:,} B of {fast}: {point.slow_bytes:,} B; head in {point.head}, tail in {point.tail}"
        lines.append(
            f'<circle cx="{x(point.fast_bytes):.1f}" cy="{y(point.slow_bytes):.1f}" r="4" fill="{SERIES[0]}">'
            f"<title>{fact}</title></circle>\n"
        )
    return lines
