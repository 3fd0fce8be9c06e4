"""The verdicts about a repository's ``tflm-sim.toml``: a table for a terminal, Markdown for a summary or comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tflm_sim.checks.verdict import Verdict
from tflm_sim.escape import code_span, printable
from tflm_sim.extensions.ci.project import Cell
from tflm_sim.names import with_options
from tflm_sim.report.circumstances import sentence_with_assumed, unnamed
from tflm_sim.report.difference_text import change_of_arena, changed_settings, largest_changes
from tflm_sim.report.size_difference import Difference, SizeChange
from tflm_sim.report.tables import table_lines
from tflm_sim.report.verdict_text import MARKS, deciding, headline, of_model, verdict_lines
from tflm_sim.units import format_size

MAX_ROWS = 200
"""Of a Markdown table: GitHub takes 65,536 characters in a comment."""


class Review(NamedTuple):
    """A cell after a change, the same before it, and what moved between them; None where there is nothing of it.

    ``picture`` is the arena's map, lines of text; () for none.
    """

    after: Cell
    before: Cell | None = None
    difference: Difference | None = None
    picture: tuple[str, ...] = ()


def verdict_of(cell: Cell) -> Verdict:
    return deciding(cell.judged)[0]


def exit_code(cells: Sequence[Cell]) -> int:
    """Return 1 where a model does not fit or grew, 3 where one cannot be told, else 0."""
    codes = {verdict_of(cell).exit_code for cell in cells}
    return 1 if 1 in codes else max(codes, default=0)


def assumed_of(cell: Cell) -> tuple[str, ...]:
    """Return which settings of a firmware were not named though its verdict depends on them."""
    firmware = cell.firmware
    if len(cell.judged) > 1 or firmware.firmware is not None:
        return ()
    return unnamed(
        cell.judged[0][1],
        target=firmware.target or firmware.board,
        library=firmware.library,
        runtime=firmware.runtime,
        kernels=firmware.kernels,
    )


def headline_of(cells: Sequence[Cell]) -> str:
    """Return the verdict on all of them in a sentence, with what was not named, and of which firmwares."""
    missing: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name in assumed_of(cell):
            missing.setdefault(name, {})[printable(cell.firmware.label)] = None
    labels = {cell.firmware.label for cell in cells}
    assumed = [name if len(of) == len(labels) else f"{name} ({', '.join(of)})" for name, of in missing.items()]
    # Of several libraries of a board those are open whose kernels are the default ones.
    open_ones = [
        config.target
        for cell in cells
        if len(cell.judged) > 1 or "kernels" in assumed_of(cell)
        for _, config in cell.judged
    ]
    return sentence_with_assumed(headline([verdict_of(cell) for cell in cells]), assumed, open_ones)


def project_lines(cells: Sequence[Cell], *, width: int | None = None) -> list[str]:
    """Return a line for each, then why for those that are not good.

    Args:
        cells: What was judged.
        width: Columns that there are, None for any.
    """
    rows = [_row(cell) for cell in cells]
    table = table_lines([("fits", "needs", "limit", "grew", "model", "firmware"), *rows], width=width) if rows else []
    reasons = [
        of_model(f"{printable(cell.model)} on {printable(cell.firmware.label)}: ", line)
        for cell in cells
        if verdict_of(cell).exit_code
        for line in verdict_lines(verdict_of(cell))
    ]
    return [*table, *reasons]


def _row(cell: Cell) -> tuple[str, ...]:
    verdict = verdict_of(cell)
    growth = f"{verdict.growth:+,}" if verdict.growth is not None else "-"
    sizes = ("-" if size is None else f"{size:,}" for size in (verdict.needed, verdict.limit))
    return (
        "-" if verdict.answer == "cannot tell" else verdict.answer,
        *sizes,
        growth,
        printable(cell.model),
        printable(cell.firmware.label),
    )


def review_markdown(
    reviews: Sequence[Review], about: Mapping[str, Sequence[str]], *, has_base: bool, gone: Sequence[Cell] = ()
) -> str:
    """Return the comment of a pull request: verdict, table, what moved and why, and for which firmware that is.

    Args:
        reviews: A row each.
        about: Lines about each firmware, by its label: its TFLM, its kernels, what was not named.
        has_base: Whether there is a state before to compare with.
        gone: What was there before and is not after.
    """
    cells = [review.after for review in reviews]
    heading = ("before", "after", "change") if has_base else ("needs",)
    lines = [f"### {MARKS[exit_code(cells)]} Tensor arenas: {headline_of(cells)}", ""]
    rows = [_cells(each, has_base) for each in reviews]
    rows += [(MARKS[0], *_names(cell), _size(verdict_of(cell).needed), "-", "gone", "-") for cell in gone]
    lines += _table(("", "model", "firmware", *heading, "limit"), rows)
    lines += [line for review in reviews[:MAX_ROWS] for line in _why(review)]
    lines += ["<details><summary>For which TFLM and kernels</summary>", ""]
    lines += [f"- {code_span(label)}: {', '.join(map(code_span, texts))}" for label, texts in about.items()]
    return "\n".join([*lines, "", "</details>", ""])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---:" if name in ("before", "after", "change", "needs", "limit") else "---" for name in header]
    shown = [f"| {' | '.join(row)} |" for row in (header, rule, *rows[:MAX_ROWS])]
    left = len(rows) - MAX_ROWS
    return [*shown, "", *([f"and {left:,} more", ""] if left > 0 else [])]


def _cells(review: Review, has_base: bool) -> tuple[str, ...]:
    after = verdict_of(review.after)
    before = None if review.before is None else verdict_of(review.before).needed
    change = "new" if review.before is None else "-"
    if before is not None and after.needed is not None:
        change = "0" if before == after.needed else f"{after.needed - before:+,} B"
    sizes = (_size(before), _size(after.needed), change)
    names = _names(review.after)
    return MARKS[after.exit_code], *names, *(sizes if has_base else sizes[1:2]), _size(after.limit)


def _names(cell: Cell) -> tuple[str, str]:
    return code_span(cell.model), code_span(cell.firmware.label)


def _size(size: int | None) -> str:
    return "-" if size is None else f"{size:,} B"


def _why(review: Review) -> Iterator[str]:
    """Yield a paragraph about a row that is not good, or that moved."""
    verdict = verdict_of(review.after)
    lines = verdict_lines(verdict) if verdict.exit_code else []
    reasons = [code_span(with_options(line.strip())) for line in lines]
    if review.difference is not None:
        reasons += [code_span(line) for line in changed_settings(review.difference)[:3]]
        reasons += filter(None, [change_of_arena(review.difference)])
        reasons += [_moved(*each) for each in largest_changes(review.difference, 2)]
    if reasons:
        yield f"**{code_span(review.after.model)} on {code_span(review.after.firmware.label)}**"
        yield ""
        yield from (f"- {reason}" for reason in reasons)
        yield ""
    if review.picture:
        yield from ("<details><summary>The arena, operator by operator</summary>", "", "```text")
        yield from (printable(line, 200).replace("`", "'") for line in review.picture)
        yield from ("```", "", "</details>", "")


def _moved(title: str, name: str, change: SizeChange) -> str:
    before, after = ("nothing" if size is None else format_size(size) for size in (change.before, change.after))
    return f"{change.weight:+,} B, {title}: {code_span(name)} ({before} before, {after} after)"
