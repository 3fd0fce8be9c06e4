"""What is new in a window as one SVG file: a row for each operator, as long as its multiply-accumulates."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import PurePath
from typing import TextIO

from tflm_sim.escape import printable
from tflm_sim.extensions.shrink.windows import OperatorWork, WindowWork
from tflm_sim.palette import EDGE, SERIES, SOFT

WIDTH = 900
_LEFT, _RIGHT, _TOP, _ROW = 210, 210, 84, 24
_DONE, _NEW = EDGE, SERIES[0]


def write_stream_svg(file: TextIO, work: WindowWork, model: str | None) -> None:
    """Draw the operators that multiply, of the step that was asked for: what is new, and what was done before."""
    at = work.steps.index(work.step)
    rows = [each for each in work.operators if each.macs]
    height = _TOP + _ROW * len(rows) + 46
    name = printable(PurePath(model or "model").name, 60)
    moved = f"a window of {work.frames} frames moves on by {work.step}"
    new = f"{work.new_macs[at]:,} of {work.macs:,} multiply-accumulates are new"
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
    )
    file.write(f'<text x="20" y="30" font-size="16">{escape(f"{name}: {moved}")}</text>\n')
    file.write(f'<text x="20" y="54" fill="{SOFT}">{new}; TFLM does them all</text>\n')
    most = max((each.macs for each in rows), default=1)
    for number, each in enumerate(rows):
        file.writelines(_row(each, at, _TOP + _ROW * number, (WIDTH - _LEFT - _RIGHT) / most))
    y = height - 20
    for x, colour, text in ((_LEFT, _NEW, "new"), (_LEFT + 70, _DONE, "done for the window before")):
        file.write(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>\n')
        file.write(f'<text x="{x + 18}" y="{y}" fill="{SOFT}">{text}</text>\n')
    file.write("</svg>\n")


def _row(work: OperatorWork, at: int, y: int, per_mac: float) -> Iterator[str]:
    new = work.new_macs(at)
    label = escape(printable(f"#{work.number} {work.operator}", 40))
    yield f'<text x="{_LEFT - 10}" y="{y + 12}" text-anchor="end">{label}</text>\n'
    whole = work.macs * per_mac
    yield f'<rect x="{_LEFT}" y="{y}" width="{whole:.1f}" height="16" fill="{_DONE}"/>\n'
    yield f'<rect x="{_LEFT}" y="{y}" width="{new * per_mac:.1f}" height="16" fill="{_NEW}"/>\n'
    yield f'<text x="{_LEFT + whole + 8:.1f}" y="{y + 12}" fill="{SOFT}">{new:,} of {work.macs:,}</text>\n'
