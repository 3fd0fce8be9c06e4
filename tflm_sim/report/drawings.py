"""Pictures and comparisons as matplotlib figures: for notebooks, and for PNG files.

matplotlib is imported when the first figure is drawn; ``pip install 'tflm_sim[png]'`` brings it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tflm_sim.errors import UsageError, each_of, expect
from tflm_sim.escape import printable
from tflm_sim.extras import install_command
from tflm_sim.files import replacing_bytes
from tflm_sim.labels import fitted
from tflm_sim.names import with_options
from tflm_sim.palette import CATEGORIES, EDGE, FREE, MARK, SERIES, SOFT
from tflm_sim.planners.compare import Comparison
from tflm_sim.planners.problem import Problem
from tflm_sim.provenance import made_by
from tflm_sim.report.picture import Picture
from tflm_sim.report.shapes import invoke_start, label_start, label_u, marked, scope_u, shapes, step_u

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KIB = 1024
_MAX_INCHES = 1000
_HATCH = "////"
_LINE = 0.024
"""How much of a picture's height a name at its side takes."""
_CHARACTERS = 155
"""How many characters of a label fit into the width of a picture."""


def draw_arena(pictures: Picture | Sequence[Picture], *, width: float = 11, height: float = 6.5) -> Figure:
    """Return the picture of an arena, or of several side by side: bytes to the right, time downwards.

    Args:
        pictures: What to draw.
        width, height: Inches; the width is for each picture.
    """
    rows = _pictures(pictures)
    figure = _figure(width, height, len(rows))
    most = max(picture.arena_bytes for picture in rows)
    for number, picture in enumerate(rows):
        _draw_arena(figure.add_subplot(1, len(rows), number + 1), picture, most)
    used = {shape.category for picture in rows for shape in shapes(picture)}
    _legend(figure, [key for key in CATEGORIES if key in used])
    return figure


def draw_live_bytes(pictures: Picture | Sequence[Picture], *, width: float = 11, height: float = 3.6) -> Figure:
    """Return the live bytes of the head over Invoke(), with the size of the head that the planner made of them."""
    rows = _pictures(pictures)
    figure = _figure(width, height)
    axes = figure.add_subplot()
    most = max(max(picture.head_bytes, 1) for picture in rows)
    for picture in rows:
        live = [count / _KIB for count in picture.live_bytes]
        (line,) = axes.plot(range(len(live)), live, drawstyle="steps-post", label=_title(picture))
        axes.axhline(picture.head_bytes / _KIB, color=line.get_color(), linestyle="--", linewidth=1)
    axes.set(xlabel="operator", ylabel="KiB alive (dashed: head)", ylim=(0, 1.25 * most / _KIB))
    axes.legend(frameon=False, loc="upper right")
    return figure


def _title(picture: Picture) -> str:
    return fill(printable(picture.title, 200), 110)


def _pictures(given: Picture | Sequence[Picture]) -> tuple[Picture, ...]:
    """Return one picture, or several, as several.

    Raises:
        UsageError: It is something else, or there are none.
    """
    rows = each_of(
        given if isinstance(given, list | tuple) else [given],
        Picture,
        "a picture (take_picture(model, target) returns one)",
    )
    if not rows:
        raise UsageError("there is no picture to draw")
    return rows


def draw_tail(picture: Picture, *, width: float = 9, height: float = 3.6) -> Figure:
    """Return who holds the tail, as bars: the bytes that were asked for, and the padding."""
    (picture,) = _pictures([picture])
    groups = sorted(picture.size.answer.tail.groups, key=lambda row: row.used)
    figure = _figure(width, height)
    axes = figure.add_subplot()
    names = [row.what for row in groups]
    asked = [row.requested for row in groups]
    colors = [CATEGORIES[name].light for name in names]
    axes.barh(names, asked, color=colors)
    axes.barh(names, [row.used - row.requested for row in groups], left=asked, color=EDGE)
    for y, row in enumerate(groups):
        axes.annotate(f" {row.used:,}", (row.used, y), va="center", fontsize=8, color=SOFT)
    axes.set(xlabel="bytes (grey: padding)")
    _bars_of_bytes(axes)
    return figure


def draw_planners(problem: Problem, comparison: Comparison, *, width: float = 9, height: float = 3.6) -> Figure:
    """Return the peaks of several planners as bars, and the lower bound as a line."""
    expect(problem, Problem, "a problem (head_problem(model, target) returns one)")
    expect(comparison, Comparison, "a comparison (compare_planners(problem) returns one)")
    peaks = {one.planner: one.plan.peak for one in comparison.outcomes if one.plan is not None and not one.findings}
    planners = sorted(peaks, key=lambda planner: -peaks[planner])
    figure = _figure(width, height)
    axes = figure.add_subplot()
    colors = [
        CATEGORIES["activation"].light if planner == "greedy" else CATEGORIES["plan"].light for planner in planners
    ]
    axes.barh(planners, [peaks[planner] for planner in planners], color=colors)
    for y, peak in enumerate(sorted(peaks.values(), reverse=True)):
        axes.annotate(f" {peak:,}", (peak, y), va="center", fontsize=8, color=SOFT)
    axes.axvline(comparison.lower_bound, color=MARK, linestyle="--", linewidth=1)
    about = f"bytes of the head (dashed: lower bound {comparison.lower_bound:,})"
    title = f"{printable(problem.title)}: {about}" if problem.title else about
    axes.set_title(title, fontsize=10, loc="left")
    _bars_of_bytes(axes)
    return figure


def _bars_of_bytes(axes: Axes) -> None:
    """Make room for the number behind the longest bar, and set thousands off along the axis."""
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)


def draw_two_sets(
    simulated: Mapping[str, int], measured: Mapping[str, int], *, width: float = 9, height: float = 3.6
) -> Figure:
    """Return two sets of numbers (bytes by name) as pairs of bars: what was simulated and what a board said."""
    for figures in (simulated, measured):
        expect(figures, Mapping, "bytes by name, as a dictionary,")
    names = [name for name in simulated if name in measured]
    ours, theirs = ([figures[name] for name in names] for figures in (simulated, measured))
    figure = _figure(width, height)
    axes = figure.add_subplot()
    places = range(len(names))
    axes.barh([place + 0.2 for place in places], ours, 0.38, color=SERIES[0], label="simulated")
    axes.barh([place - 0.2 for place in places], theirs, 0.38, color=SERIES[1], label="board")
    axes.set_yticks(list(places), names)
    for place, our, their in zip(places, ours, theirs, strict=True):
        difference = " equal" if our == their else f" {their - our:+,}"
        axes.annotate(difference, (max(our, their), place), va="center", fontsize=8, color=SOFT)
    axes.set(xlabel="bytes")
    axes.legend(frameon=False)
    _bars_of_bytes(axes)
    return figure


def write_png(path: str, pictures: Sequence[Picture], *, dots_per_inch: int = 130) -> None:
    """Write :func:`draw_arena` as a PNG file.

    Raises:
        UsageError: matplotlib is not installed, or the file cannot be written.
    """
    figure = draw_arena(pictures)
    with replacing_bytes(path) as file:
        figure.savefig(file, dpi=dots_per_inch, format="png", metadata={"Software": f"tflm_sim {made_by()}"})


def _figure(width: float, height: float, columns: int = 1) -> Figure:
    for given in (width, height):
        expect(given, float, "a size in inches")
        if not 0 < given <= _MAX_INCHES:
            raise UsageError(f"a figure is more than 0 and at most {_MAX_INCHES} inches wide and high, not {given}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(f"figures and PNG files need matplotlib: {install_command('png')}") from None
    except ValueError as error:  # MPLBACKEND, or a file of settings, says what there is not
        raise UsageError(f"matplotlib does not start: {error}") from error
    return Figure(figsize=(float(width) * columns, float(height)), layout="constrained")


def _draw_arena(axes: Axes, picture: Picture, most: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    rows = list(shapes(picture))
    patches: list[Any] = [Rectangle((0, 0), picture.arena_bytes, 1)]
    patches += [Rectangle((row.start, row.u0), row.end - row.start, row.u1 - row.u0) for row in rows]
    colors = [FREE] + [CATEGORIES[row.category].light for row in rows]
    few = len(rows) < 1500
    axes.add_collection(
        PatchCollection(patches, facecolors=colors, edgecolors="white" if few else "none", linewidths=0.3)
    )
    hatched = [patch for patch, row in zip(patches[1:], rows, strict=True) if CATEGORIES[row.category].is_hatched]
    axes.add_collection(PatchCollection(hatched, facecolors="none", edgecolors="white", linewidths=0, hatch=_HATCH))
    for number, row in enumerate(rows):
        if row.u1 - row.u0 <= 0.02:
            continue
        start = label_start(picture, row, rows[number + 1 :])
        if label := fitted(row.label, int(_CHARACTERS * (row.end - start) / most)):
            # parse_math: a name may hold dollar signs.
            axes.text(
                start + most * 0.003,
                label_u(picture, row),
                label,
                fontsize=6.5,
                va="center",
                color=CATEGORIES[row.category].ink,
                clip_on=True,
                parse_math=False,
            )
    _mark(axes, picture)
    _label_axes(axes, picture, most)


def _mark(axes: Axes, picture: Picture) -> None:
    from matplotlib.patches import Rectangle

    if picture.shortage is not None:
        start, end, missing, step = picture.shortage
        u = step_u(picture, step)
        axes.add_patch(Rectangle((start, u), end - start, 1 - u, color=MARK, alpha=0.55, linewidth=0))
        text = f"{missing:,} B missing"
        axes.text((start + end) / 2, (u + 1) / 2, text, color="white", ha="center", fontsize=8, fontweight="bold")
    if (scope := picture.framed_scope) >= 0:
        u0, u1 = scope_u(picture, scope), scope_u(picture, scope + 1)
        axes.add_patch(Rectangle((0, u0), picture.head_bytes, u1 - u0, fill=False, edgecolor=MARK, linewidth=1.4))
    if picture.limits and not picture.failure:
        axes.axhline(step_u(picture, picture.limits[0].step + 0.5), color=MARK, linestyle="--", linewidth=0.9)


def _tick(most: int) -> int:
    step = 16
    while most / step > 10:
        step *= 2
    return step


def _label_axes(axes: Axes, picture: Picture, most: int) -> None:
    from matplotlib.ticker import MultipleLocator

    is_bank = picture.size.answer.bank_needs is not None
    axes.set(xlim=(0, most), ylim=(1, 0), xlabel=f"bytes from the {'bank' if is_bank else 'arena'}'s start")
    tick = _tick(most)
    axes.xaxis.set_major_locator(MultipleLocator(tick))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / _KIB:,.0f} K" if tick >= _KIB else f"{value:,.0f}")
    # Of what comes before Invoke(), these steps have a name at the side.
    named = [(moment.step, moment.name) for moment in picture.moments if moment.name in ("create", "plan")]
    named += [(moment.step, "prepare") for moment in picture.moments if moment.name == "op_prepare"][:1]
    ticks = [(step_u(picture, step), name) for step, name in sorted(named)]
    ticks += [(scope_u(picture, at + 0.5), printable(picture.op_at(at), 40)) for at in range(len(picture.scopes))]
    shown: list[tuple[float, str]] = []
    for u, name in ticks:
        if not shown or u - shown[-1][0] >= _LINE:
            shown.append((u, name))
    axes.set_yticks([u for u, _ in shown], [name for _, name in shown], fontsize=6.5, parse_math=False)
    axes.axhline(invoke_start(picture), color=SOFT, linewidth=0.6)
    name = printable(PurePath(picture.size.model.path or "model").name, 60)
    front, back = picture.sections
    sizes = f"{front} {picture.head_bytes:,}, {back} {picture.size.answer.tail_bytes or 0:,}"
    lines = list(marked(picture))
    if picture.failure:
        fails = f"AllocateTensors() fails: {'. '.join((picture.failure, *picture.advice[:1]))}"
        lines = fill(printable(with_options(fails), 400), 110).splitlines()
    sized = "" if is_bank else f": {picture.arena_note}: {sizes}"  # A bank's title says what it holds.
    title = f"{name}{sized}\n{_title(picture)}"
    axes.set_title(title, fontsize=9, loc="left", pad=8 + 13 * len(lines), parse_math=False)
    axes.annotate(
        "\n".join(lines),
        (0, 1),
        xytext=(0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=9,
        color=MARK,
        fontweight="bold",
        linespacing=1.2,
        parse_math=False,
    )
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, keys: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    rows = [CATEGORIES[key] for key in keys]
    handles = [Patch(facecolor=row.light, label=row.title) for row in rows]
    for handle, row in zip(handles, rows, strict=True):
        if row.is_hatched:
            handle.set(hatch=_HATCH, edgecolor="white", linewidth=0)
    figure.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=7, frameon=False)
