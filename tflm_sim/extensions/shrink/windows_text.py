"""What is new in a window that moves on, for people and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from tflm_sim.document_types import Count
from tflm_sim.escape import printable
from tflm_sim.extensions.shrink.windows import OperatorWork, WindowWork
from tflm_sim.report.tables import fitting_columns, table_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWork:
    """What is new in a window that moves on by a step.

    Attributes:
        step: Frames.
        new_macs: Multiply-accumulates that were not done for the window before.
        new_elements: Of each operator, in their order, the elements of its outputs that it did not make before.
    """

    step: Count
    new_macs: Count
    new_elements: tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOperator:
    """An operator of the model.

    Attributes:
        number: Its index in the main subgraph.
        operator: Its name.
        macs: Its multiply-accumulates in a window.
        elements: The elements of its outputs.
        is_opaque: Whether nothing is known of it but what it reads: all is new if any of that is.
    """

    number: Count
    operator: str
    macs: Count
    elements: Count
    is_opaque: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDocument:
    """How much of the work of a window stands in the window before.

    Attributes:
        model: The file.
        window_shape: The input's shape, or where the input is flat that of the RESHAPE behind it.
        axis: The axis of ``window_shape`` along which the window moves.
        step: The step that was asked for, in frames.
        macs: Multiply-accumulates of a window.
        is_stateful: Whether the model keeps a state, which moves on from one window to the next.
        operators: In the order in which they run.
        steps: The step that was asked for, the divisors of the model's stride and multiples of it, ascending.
    """

    schema_version: Literal[1] = 1
    model: str | None
    window_shape: tuple[Count, ...]
    axis: Count
    step: Count
    macs: Count
    is_stateful: bool
    operators: tuple[WindowOperator, ...]
    steps: tuple[StepWork, ...]


def stream_document(work: WindowWork, model: str | None) -> StreamDocument:
    """Return the answer as a document; ``model`` is the file."""
    operators = [
        WindowOperator(
            number=each.number, operator=each.operator, macs=each.macs, elements=each.elements, is_opaque=each.is_opaque
        )
        for each in work.operators
    ]
    steps = [
        StepWork(step=step, new_macs=new, new_elements=tuple(each.new[at] for each in work.operators))
        for at, (step, new) in enumerate(zip(work.steps, work.new_macs, strict=True))
    ]
    return StreamDocument(
        model=model,
        window_shape=work.shape,
        axis=work.axis,
        step=work.step,
        macs=work.macs,
        is_stateful=work.is_stateful,
        operators=tuple(operators),
        steps=tuple(steps),
    )


def stream_lines(work: WindowWork, model: str | None, *, width: int | None = None) -> list[str]:
    """Return the answer for people; ``width`` is that of the terminal, None for any."""
    rows = list(_rows(work))
    asked = 3 + work.steps.index(work.step)
    others = sorted(range(3, len(rows[0])), key=lambda column: abs(column - asked))
    shown = fitting_columns(rows, [0, *others, 1, 2], width=width)
    lines = [_headline(work, printable(PurePath(model or "model").name)), ""]
    lines += ["new in a window, by the frames that it moves on:"]
    lines += table_lines([[row[column] for column in shown] for row in rows])
    return [*lines, "", *_remarks(work)]


def _headline(work: WindowWork, name: str) -> str:
    new = work.new_macs[work.steps.index(work.step)]
    done = f"{new:,} of {work.macs:,} multiply-accumulates are new ({_share(new, work.macs)})"
    frame = "frame" if work.step == 1 else "frames"
    return f"{name}: when its window of {work.frames} frames moves on by {work.step} {frame}, {done}"


def _rows(work: WindowWork) -> Iterator[list[str]]:
    """Yield the table: an operator a row, a step a column; without those that only pass on what is there.

    The operators at the end of which all is new at every step are one row.
    """
    yield ["operator", "elements", "MACs", *map(str, work.steps)]
    shown = [each for each in work.operators if each.macs or not _only_passes_on(each, work)]
    end = max((at for at, each in enumerate(shown, 1) if min(each.new) < each.elements), default=0)
    for each in shown[: end + 1]:
        shares = [_share(new, each.elements) for new in each.new]
        name = printable(f"#{each.number} {each.operator}", 40)
        yield [name, f"{each.elements:,}", f"{each.macs:,}", *shares]
    if rest := shown[end + 1 :]:
        elements, macs = sum(each.elements for each in rest), sum(each.macs for each in rest)
        name = f"#{rest[0].number} to #{rest[-1].number}" if len(rest) > 1 else f"#{rest[0].number} {rest[0].operator}"
        yield [name, f"{elements:,}", f"{macs:,}", *(_share(elements, elements) for _ in work.steps)]
    yield ["MACs in all", "", f"{work.macs:,}", *(_share(new, work.macs) for new in work.new_macs)]
    per_frame = (round(new / step) for new, step in zip(work.new_macs, work.steps, strict=True))
    yield ["MACs a frame", "", "", *(f"{each:,}" for each in per_frame)]


def _only_passes_on(operator: OperatorWork, work: WindowWork) -> bool:
    """Return whether as much is new of what an operator makes as of the window itself, or as of what stands before."""
    before = [each.new for each in work.operators if each.number < operator.number]
    own = tuple(operator.elements * step for step in work.steps)
    return operator.new in before[-1:] or tuple(new * work.frames for new in operator.new) == own


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _remarks(work: WindowWork) -> Iterator[str]:
    moved = f"axis {work.axis} of {list(work.shape)}"
    yield (
        f"The window moves along {moved}. What is not new is the same expression of the same frames as in the window "
        "before; TFLM computes it again."
    )
    least = min(work.new_macs)
    if least < work.new_macs[work.steps.index(work.step)]:
        best = work.steps[work.new_macs.index(least)]
        yield f"The least is new at a step of {best}: {_share(least, work.macs)} of the MACs."
    if work.is_stateful:
        yield "The model keeps a state, which moves on from one window to the next."
    elif work.new_macs[work.steps.index(work.step)] < work.macs:
        options = f"--stream {work.step} --axis {work.axis} --for macs -o OUT.tflite"
        yield f"'tflm-sim shrink MODEL {options}' writes a model that keeps them."
    opaque = [printable(f"#{each.number} {each.operator}", 60) for each in work.operators if each.is_opaque]
    if opaque:
        yield f"Not looked into, so that all is new behind anything new: {', '.join(opaque)}."
