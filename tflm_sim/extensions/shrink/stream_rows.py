"""Which tensors of a model move on with its window, and which of their rows recur in the next one.

    rows of a tensor   0 .. left) [left ........ end) [end .. size
                       an edge    the interior         an edge

A row is one position along the axis on which the frames lie. Those of the interior are made of frames only: row i of a
window is row i + ``step`` of the window before. Those at the edges are made of padding, too, and are other numbers in
every window. Where the window moves on, ``step`` rows of the interior are new, and the edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tflm_sim.extensions.shrink.draft_facts import axis_option, shape, single_output
from tflm_sim.extensions.shrink.tile_rules import ResizeRule, Rule, TransposedRule, WindowRule, rule
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import BINARY, UNARY, VIEWS
from tflm_sim.model.types import Operator


@dataclass(frozen=True, slots=True)
class MovingRows:
    """How the rows of a tensor move on.

    Attributes:
        axis: Along which they lie.
        size: All rows.
        step: Rows by which a window's are those of the window before.
        left: Rows of the edge at the beginning.
        end: The row behind the interior, where the other edge begins.
    """

    axis: int
    size: int
    step: int
    left: int
    end: int

    @property
    def recur(self) -> bool:
        """Whether the window before has made any of them."""
        return self.end - self.left > self.step


@dataclass(frozen=True, slots=True)
class Moving:
    """The part of a model that moves on with its window.

    Attributes:
        source: The tensor that holds the window: the input, or what the RESHAPE behind a flat input makes of it.
        views: The operators between the input and ``source``, which are left out.
        rows: Of each tensor that moves on.
        rules: Of each operator that can run on new rows only, by index.
        ends: Of each operator at which that ends, by index: why, a sentence.
    """

    source: int
    views: frozenset[int]
    rows: Mapping[int, MovingRows]
    rules: Mapping[int, Rule]
    ends: Mapping[int, str]


def moving(draft: Draft, axis: int, step: int) -> Moving:
    """Follow the rows of a window from operator to operator.

    Args:
        draft: A model with one input.
        axis: Of the window's shape, as :func:`~tflm_sim.extensions.shrink.windows.window_work` counts it.
        step: Frames by which the window moves on, fewer than it has.
    """
    (source,) = draft.inputs
    views: list[int] = []
    dims = shape(draft, source)
    if (reader := draft.sole_reader(source)) is not None and draft.name(draft.operators[reader]) == "RESHAPE":
        made = shape(draft, draft.operators[reader].output_tensors[0])
        place = axis if sum(size > 1 for size in dims) < 2 else row_axis(dims, axis, made)
        if place is not None:
            source, axis, dims = draft.operators[reader].output_tensors[0], place, made
            views.append(reader)
    rows = {source: MovingRows(axis, dims[axis], step, 0, dims[axis])}
    rules: dict[int, Rule] = {}
    ends: dict[int, str] = {}
    for number, operator in enumerate(draft.operators):
        if number in views or not any(tensor in rows for tensor in operator.input_tensors):
            continue
        found = _moved(draft, operator, rows)
        if isinstance(found, str):
            ends[number] = found
            continue
        rules[number], rows[operator.output_tensors[0]] = found
    return Moving(source, frozenset(views), rows, rules, ends)


def _moved(draft: Draft, operator: Operator, rows: Mapping[int, MovingRows]) -> tuple[Rule, MovingRows] | str:
    """Return how an operator treats the rows, and the rows that it makes; or why it cannot run on new ones only."""
    activations = [tensor for tensor in operator.input_tensors if draft.is_activation(tensor)]
    given = [rows[tensor] for tensor in activations if tensor in rows]
    if not given or len(given) < len(activations):
        return "it also reads what is new in every window"
    if len({(each.axis, each.size, each.step) for each in given}) > 1:
        return "its inputs move on by different steps"
    first = given[0]
    how = _rule(draft, operator, first.axis)
    if how is None and draft.name(operator) in VIEWS:
        return "in the shape that it makes, frames are no rows"
    if how is None:
        return "its outputs are made of all frames, or it is not known of which"
    own, axis = how
    if own.outputs == 1:
        return "each of its outputs is made of every frame"
    step = _step(own, first.step)
    if step is None:
        assert isinstance(own, WindowRule)
        return f"its stride of {own.window.stride} does not divide the {first.step} rows by which its input moves on"
    left = min(own.outputs, max(0, *(own.first_right(each.left) for each in given)))
    end = max(left, min(own.outputs, *(own.end_right(each.end) for each in given)))
    made = MovingRows(axis, own.outputs, step, left, end)
    return (own, made) if made.recur else "no row that it makes recurs"


def _step(own: Rule, step: int) -> int | None:
    """Return the rows by which the output moves on, None where that is no whole number."""
    if isinstance(own, WindowRule):
        return None if step % own.window.stride else step // own.window.stride
    if isinstance(own, ResizeRule):
        return step * own.factor
    return step * own.window.stride if isinstance(own, TransposedRule) else step


def _rule(draft: Draft, operator: Operator, axis: int) -> tuple[Rule, int] | None:
    """Return how an operator treats an axis, and where that is in its output."""
    name, output = draft.name(operator), single_output(operator)
    if output is None or draft.tensors[output].is_variable:
        return None
    activations = tuple(dict.fromkeys(filter(draft.is_activation, operator.input_tensors)))
    given, made = shape(draft, activations[0]), shape(draft, output)
    plain = Rule(activations, given[axis], given[axis])
    if name in VIEWS or name == "FULLY_CONNECTED":
        is_whole = name == "FULLY_CONNECTED" and not _is_row_of_dense(draft, operator, prod(given[axis + 1 :]))
        place = None if is_whole or len(activations) > 1 else row_axis(given, axis, made)
        return None if place is None else (plain, place)
    if name in UNARY or name in BINARY:
        others = [shape(draft, t) for t in operator.input_tensors if t >= 0 and t not in activations]
        is_spread = all(len(dims) < len(made) - axis or dims[axis - len(made)] == 1 for dims in others)
        return (plain, axis) if is_spread and all(shape(draft, t) == made for t in activations) else None
    if name in ("SOFTMAX", "LOG_SOFTMAX"):
        return (plain, axis) if axis < len(given) - 1 and given == made else None
    if name == "CONCATENATION":
        along = axis_option(operator, len(made))
        is_apart = along != axis and len(activations) == len(operator.input_tensors)
        return (plain, axis) if is_apart and not operator.options.get("fused_activation_function") else None
    tiled = rule(draft, operator, axis) if axis in (1, 2) else None
    return None if tiled is None else (tiled, axis)


def _is_row_of_dense(draft: Draft, operator: Operator, elements: int) -> bool:
    """Return whether a FULLY_CONNECTED takes so many elements as one of its rows, or as several."""
    weights = shape(draft, operator.input_tensors[1])
    return draft.is_constant(operator.input_tensors[1]) and len(weights) == 2 and elements % max(1, weights[1]) == 0


def row_axis(given: Sequence[int], axis: int, made: Sequence[int]) -> int | None:
    """Return the axis of a shape along which the rows of another one lie, where both hold as many before it."""
    before = prod(given[:axis])
    for place, size in enumerate(made):
        if size == given[axis] and prod(made[:place]) == before:
            return place
    return None
