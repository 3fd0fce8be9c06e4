"""Pictures as one SVG file: memory to the right, time downwards, no script and no font of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import TextIO

from tflm_sim.escape import printable
from tflm_sim.labels import fitted
from tflm_sim.names import with_options
from tflm_sim.palette import CATEGORIES, FREE, HATCH, HATCH_ID, INK, MARK, SOFT
from tflm_sim.provenance import made_by
from tflm_sim.report.picture import Picture
from tflm_sim.report.shapes import DrawnShape, invoke_start, label_start, label_u, marked, scope_u, shapes, step_u

PANEL_WIDTH, HEIGHT = 1150, 790
_RIGHT, _TOP, _BOTTOM = 24, 118, 84
_PLOT_HEIGHT = HEIGHT - _TOP - _BOTTOM
_LINE_HEIGHT = 13
_CHARACTER_WIDTH, _GUTTER_WIDTH = 6.6, 6.8
_MAX_MOMENT_CHARACTERS = 44


def write_svg(file: TextIO, pictures: Sequence[Picture]) -> None:
    """Write the pictures side by side, on one scale of bytes."""
    width = PANEL_WIDTH * len(pictures)
    most = max(picture.arena_bytes for picture in pictures)
    model = pictures[0].size.model.path or "model"
    title = escape(printable(PurePath(model).name))
    file.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" '
        f'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif" font-size="11" fill="{INK}">\n'
        f"<title>{title}</title>\n<metadata>tflm_sim {made_by()}</metadata>\n{HATCH}"
        f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>\n'
        f'<text x="20" y="28" font-size="17" font-weight="600">{title}</text>\n'
    )
    for number, picture in enumerate(pictures):
        file.write(f'<g transform="translate({number * PANEL_WIDTH} 0)">\n')
        file.writelines(_Panel(picture, most).elements())
        file.write("</g>\n")
    file.write("</svg>\n")


class _Panel:
    """One picture in coordinates of its own."""

    def __init__(self, picture: Picture, most: int) -> None:
        self.picture = picture
        rows = [(step_u(picture, row.step), picture.moment_name(row)) for row in picture.moments]
        rows += [(scope_u(picture, i), picture.op_at(i)) for i in range(len(picture.scopes))]
        self.moments = [(u, printable(name.replace(" of ", " "), _MAX_MOMENT_CHARACTERS)) for u, name in rows]
        self.left = 40 + max((len(name) for _, name in self.moments), default=0) * _GUTTER_WIDTH
        self.per_byte = (PANEL_WIDTH - self.left - _RIGHT) / max(most, 1)

    def x(self, byte: float) -> float:
        return self.left + byte * self.per_byte

    def y(self, u: float) -> float:
        return _TOP + u * _PLOT_HEIGHT

    def elements(self) -> Iterator[str]:
        """Yield all elements, the lowest layer first."""
        picture = self.picture
        yield _text(20, 48, fitted(printable(f"{picture.arena_note}: {picture.title}", 200), 150), fill=SOFT, size=12.5)
        if picture.failure:
            yield f'<rect x="12" y="55" width="{PANEL_WIDTH - 12 - _RIGHT}" height="19" rx="3" fill="{MARK}"/>\n'
            fails = f"AllocateTensors() fails: {'. '.join((picture.failure, *picture.advice[:1]))}"
            yield _text(20, 69, fitted(printable(with_options(fails), 400), 165), fill="#ffffff", weight=600)
        yield self._rect(0, picture.arena_bytes, 0, 1, FREE)
        used: dict[str, None] = {}
        drawn = list(shapes(picture))
        for shape in drawn:
            used[shape.category] = None
            yield self._shape(shape)
        yield from self._axis()
        yield from self._gutter()
        yield from self._marks()
        yield _text(20, 68, "; ".join(marked(picture)), fill=MARK, weight=600)
        for number, shape in enumerate(drawn):
            yield self._label(shape, drawn[number + 1 :])  # Names lie above the peak's frame.
        yield from _legend([key for key in CATEGORIES if key in used])

    def _rect(self, start: int, end: int, u0: float, u1: float, fill: str) -> str:
        x, y = self.x(start), self.y(u0)
        width, height = max(self.x(end) - x, 0.4), max(self.y(u1) - y, 0.4)
        return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{fill}"/>\n'

    def _shape(self, shape: DrawnShape) -> str:
        width = (shape.end - shape.start) * self.per_byte
        height = (shape.u1 - shape.u0) * _PLOT_HEIGHT
        border = ' stroke="#ffffff" stroke-width="0.6"' if width > 3 and height > 3 else ""
        category = CATEGORIES[shape.category]
        rect = self._rect(shape.start, shape.end, shape.u0, shape.u1, category.light)
        title = f"<title>{escape(shape.fact)}</title></rect>"
        shown = rect.replace("/>", f"{border}>{title}")
        return shown + (rect.replace(category.light, f"url(#{HATCH_ID})") if category.is_hatched else "")

    def _label(self, shape: DrawnShape, above: Sequence[DrawnShape]) -> str:
        if (shape.u1 - shape.u0) * _PLOT_HEIGHT < _LINE_HEIGHT:
            return ""
        start = label_start(self.picture, shape, above)
        label = fitted(shape.label, int(((shape.end - start) * self.per_byte - 8) / _CHARACTER_WIDTH))
        if not label:
            return ""
        y = self.y(label_u(self.picture, shape)) + 4
        text = _text(self.x(start) + 4, y, label, fill=CATEGORIES[shape.category].ink)
        # A rim of the block's colour keeps the frame's line out of the letters.
        rim = f' stroke="{CATEGORIES[shape.category].light}" stroke-width="3" paint-order="stroke"'
        return text.replace(">", f"{rim}>", 1)

    def _axis(self) -> Iterator[str]:
        step = 1
        while self.picture.arena_bytes / step > 12:
            step *= 2
        for byte in range(0, self.picture.arena_bytes + 1, step):
            text = f"{byte // 1024:,} K" if step >= 1024 else f"{byte:,}"
            yield _text(self.x(byte), _TOP - 22, text, fill=SOFT, anchor="middle")
        sections = (
            (self.picture.sections[0], 0, self.picture.head_bytes, INK),
            (self.picture.sections[1], self.picture.tail_start, self.picture.arena_bytes, INK),
        )
        for name, start, end, color in sections:
            if end > start:
                x, width = self.x(start), (end - start) * self.per_byte
                yield f'<rect x="{x:.1f}" y="{_TOP - 5}" width="{width:.1f}" height="3" fill="{color}"/>\n'
                label = f"{name} {end - start:,} B" if width > 90 else name
                yield _text(x + 2, _TOP - 9, label, fill=color)

    def _gutter(self) -> Iterator[str]:
        free = float(_TOP)
        for u, name in self.moments:
            y = self.y(u) + 9
            if y - 9 >= free and y < HEIGHT - _BOTTOM:
                yield _text(self.left - 8, y, name, fill=SOFT, anchor="end")
                free = y + 3
        boundary = self.y(invoke_start(self.picture))
        halves = (("AllocateTensors()", (_TOP + boundary) / 2), ("Invoke()", (boundary + _TOP + _PLOT_HEIGHT) / 2))
        for name, y in halves if self.picture.scopes else halves[:1]:
            if abs(y - boundary) * 2 < len(name) * _CHARACTER_WIDTH:
                continue
            yield f'<text transform="translate(14 {y:.0f}) rotate(-90)" text-anchor="middle">{name}</text>\n'

    def _marks(self) -> Iterator[str]:
        picture = self.picture
        if picture.shortage is not None:
            start, end, missing, step = picture.shortage
            u = step_u(picture, step)
            rect = self._rect(start, end, u, 1, MARK)
            yield rect.replace("/>", f' fill-opacity="0.55"><title>{missing:,} bytes are missing</title></rect>')
            x = min(self.x(start) + 4, PANEL_WIDTH - _RIGHT - 140)
            yield _text(x, self.y((u + 1) / 2), f"{missing:,} B missing", fill="#ffffff", weight=600)
        if (scope := picture.framed_scope) >= 0:
            x, y = self.x(0), self.y(scope_u(picture, scope))
            width, height = picture.head_bytes * self.per_byte, self.y(scope_u(picture, scope + 1)) - y
            yield (
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 1.5):.1f}" fill="none" '
                f'stroke="{MARK}" stroke-width="1.5"/>\n'
            )
        if picture.limits and not picture.failure:
            limit = picture.limits[0]
            y = self.y(step_u(picture, limit.step + 0.5))
            x0, x1 = self.x(0), self.x(picture.arena_bytes)
            yield (
                f'<line x1="{x0:.1f}" x2="{x1:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{MARK}" '
                f'stroke-dasharray="5 3"><title>tightest: {limit.need:,} bytes are needed</title></line>\n'
            )


def _legend(keys: Sequence[str]) -> Iterator[str]:
    x, y = 20.0, HEIGHT - _BOTTOM + 26.0
    for key in keys:
        row = CATEGORIES[key]
        width = 26 + len(row.title) * _CHARACTER_WIDTH
        if x + width > PANEL_WIDTH - _RIGHT:
            x, y = 20.0, y + 20
        mark = f'<rect x="{x:.0f}" y="{y - 9:.0f}" width="11" height="11" rx="3" fill="{row.light}"/>\n'
        yield mark + (mark.replace(row.light, f"url(#{HATCH_ID})") if row.is_hatched else "")
        yield _text(x + 16, y, row.title, fill=SOFT)
        x += width


def _text(
    x: float, y: float, text: str, *, fill: str, size: float | None = None, anchor: str = "", weight: int | None = None
) -> str:
    extra = f' font-size="{size}"' if size else ""
    extra += f' text-anchor="{anchor}"' if anchor else ""
    extra += f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{extra}>{escape(text)}</text>\n'
