"""A model that takes the new frames of its window, for people and as a JSON document: what it gives, how to feed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import PurePath
from typing import Literal

from tflm_sim.document_fields import INLINE
from tflm_sim.document_types import Count
from tflm_sim.errors import expect
from tflm_sim.escape import printable
from tflm_sim.extensions.shrink.streamed import Streamed
from tflm_sim.extensions.shrink.text import cost_rows, firmware_lines, target_rows, trust_lines
from tflm_sim.report.tables import fitting_columns, table_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedDocument:
    """A model that takes the new frames of its window.

    Attributes:
        output: The file that was written.
        feeding: Lines of C++ for the firmware.
    """

    schema_version: Literal[1] = 1
    model: str | None
    output: str | None
    goal_bytes: Count | None
    feeding: tuple[str, ...]
    answer: Streamed = field(metadata=INLINE)


def streamed_document(result: Streamed, *, goal: int | None, output: str | None) -> StreamedDocument:
    return StreamedDocument(
        model=result.origin.path, output=output, goal_bytes=goal, feeding=tuple(feeding_lines(result)), answer=result
    )


def streamed_lines(result: Streamed, *, explain: bool = False, width: int | None = None) -> list[str]:
    """Return the answer for people.

    Args:
        result: What :func:`~tflm_sim.extensions.shrink.stream.stream` returned.
        explain: Also list the old rows that are kept.
        width: Columns that there are for its tables; None for any.
    """
    expect(result, Streamed, "a result of stream()")
    if width is not None:
        expect(width, int, "a width in columns")
    name, gain = printable(PurePath(result.origin.path or "model").name), result.gains[0]
    lines = [
        f"{name}: takes {_frames(result.step)} instead of its window of {result.frames}: {gain.in_words}, "
        f"{_share(result)} of the MACs",
        "",
    ]
    rows = list(target_rows(result.gains))
    shown = fitting_columns(rows, range(len(rows[0])), width=width)
    lines += table_lines([[row[column] for column in shown] for row in rows])
    costs = list(cost_rows(result.before, result.after))
    kept = result.frames * result.frame_bytes
    costs.append(["bytes of frames that the application keeps", f"{kept:,}", "0", "-100.0 %"])
    lines += ["", *table_lines(costs), "", *_what_streams(result)]
    if explain:
        rings = [[printable(each.tensor, 40), str(each.rows), f"{each.bytes:,}", each.keep] for each in result.rings]
        lines += ["", *table_lines([["old rows of", "rows", "bytes", "kept"], *rings])]
    lines += ["", "for the firmware:", *(f"    {line}" for line in firmware_lines(result))]
    lines += [f"    {line}" for line in feeding_lines(result)]
    return [*lines, "", *_to_know(result), "", *trust_lines(result)]


def _frames(count: int) -> str:
    return f"{count} new frame{'s' * (count != 1)}"


def _share(result: Streamed) -> str:
    """Return the multiply-accumulates of a step as a fraction of the window's."""
    if not result.before.macs or not result.after.macs:
        return f"{result.after.macs:,} of {result.before.macs:,}"
    return f"1/{result.before.macs / result.after.macs:.1f}"


def _what_streams(result: Streamed) -> Iterator[str]:
    held = sum(each.bytes for each in result.rings)
    numbers = ", ".join(f"#{number}" for number in result.operators)
    yield f"on new rows only: {numbers}; {held:,} B of old rows are kept in {len(result.rings)} states"
    if result.stopped:
        yield f"the search ended early: {result.stopped}; this is the best until then"
    yield from (f"on all rows: {printable(each, 200)}" for each in result.ends)


def feeding_lines(result: Streamed) -> list[str]:
    """Return lines of C++ that feed the model."""
    size = result.step * result.frame_bytes
    count = sum(each.keep == "resource" for each in result.rings)
    lines = [f"// MicroResourceVariables::Create(allocator, {count}) for the interpreter"] if count else []
    return [
        *lines,
        f"// each time {_frames(result.step)} {'is' if result.step == 1 else 'are'} there, the oldest first: "
        f"input {list(result.input_shape)}",
        f"memcpy(interpreter.input(0)->data.raw, frames, {size});",
        "interpreter.Invoke();",
        f"if (++invocations >= {result.start_up}) {{  // the last {result.frames} frames are its window",
        "  use(interpreter.output(0));",
        "}",
    ]


def _to_know(result: Streamed) -> Iterator[str]:
    start_up, spare = result.start_up, result.start_up * result.step - result.frames
    fill = f", after {spare} frame{'s' * (spare != 1)} of anything" if spare else ""
    yield (
        f"It must get every frame once and in order. It is right from invocation {start_up} on, ceil({result.frames} / "
        f"{result.step}): feed it the {result.frames} frames of the first window{fill}."
    )
    yield f"Where frames were dropped, and after Reset(), the next {start_up - 1} results are wrong."
    if prod(result.window_shape[: result.axis]) > 1:
        yield f"The frames lie along axis {result.axis} of the input, each spread over it, as they do in the window."
