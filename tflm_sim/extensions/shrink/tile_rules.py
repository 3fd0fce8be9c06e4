"""How operators treat the axis along which they are cut into tiles: which rows are read, and which come out right.

Rows are those of the whole tensors. An operator that runs on rows [start, end) of its input writes rows ``written``; an
output row is right if all that it reads are right rows, or lie outside of the whole image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tflm_sim.extensions.shrink.draft_facts import (
    Window,
    array,
    axis_option,
    integers,
    is_image,
    shape,
    single_output,
    window,
)
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import BINARY, UNARY, WINDOWED
from tflm_sim.model.types import Operator, TensorType
from tflm_sim.model.windows import PADDING_SAME

Rows = tuple[int, int]
"""Rows of a whole tensor, half-open."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An operator whose every output row needs just the same row of each activation.

    Attributes:
        activations: Its inputs that are tiled.
        size: Rows of the whole input.
        outputs: Rows of the whole output.
    """

    activations: tuple[int, ...]
    size: int
    outputs: int

    @property
    def is_rowwise(self) -> bool:
        """Whether it is such an operator, whose activations may be cut to the rows that all of them have."""
        return type(self) is Rule

    @property
    def most_outside(self) -> int:
        """How many of its activations may come from outside of a segment that it is not the first operator of."""
        return len(self.activations) - 1 if self.is_rowwise else 0

    def receptive_field(self, rows: Rows) -> Rows:
        """Return the input rows that output rows are made of; they may lie outside of the image."""
        return rows

    def written(self, start: int, end: int) -> Rows | None:
        """Return the output rows of a run on input rows [start, end), None where the strides do not meet."""
        return start, end

    def first_right(self, row: int) -> int:
        """Return the first output row that reads no input row before ``row``."""
        return row

    def end_right(self, row: int) -> int:
        """Return the row behind the last output row that reads nothing from input row ``row`` on."""
        return row

    def operands(self, draft: Draft, inputs: list[int], axis: int, read: Rows, written: Rows) -> list[int]:
        """Return the operands of a run, ``inputs`` with other constants where these say how many rows there are."""
        return inputs


@dataclass(frozen=True, slots=True)
class WindowRule(Rule):
    """A convolution or a pool, with the elements of padding before the first row."""

    window: Window
    padding: int

    def receptive_field(self, rows: Rows) -> Rows:
        first, last = (row * self.window.stride - self.padding for row in (rows[0], rows[1] - 1))
        return first, last + self.window.extent

    def written(self, start: int, end: int) -> Rows | None:
        """Return what the operator makes of the rows, padded as it pads."""
        outputs, own_padding = self.window.output(end - start)
        first, rest = divmod(start + self.padding - own_padding, self.window.stride)
        if rest or first < 0 or outputs <= 0 or first + outputs > self.outputs:
            return None
        return first, first + outputs

    def first_right(self, row: int) -> int:
        """Return the first window that begins at the row or behind it."""
        return -(-(row + self.padding) // self.window.stride)

    def end_right(self, row: int) -> int:
        """Return the window behind the last that ends before the row."""
        return (row - self.window.extent + self.padding) // self.window.stride + 1


@dataclass(frozen=True, slots=True)
class PadRule(Rule):
    """A PAD: a tile at an edge of the image gets the rows of that edge."""

    before: int
    after: int

    def receptive_field(self, rows: Rows) -> Rows:
        """Return the same rows, counted without the padding."""
        return rows[0] - self.before, rows[1] - self.before

    def written(self, start: int, end: int) -> Rows | None:
        """Return the same rows, with the padding at an edge."""
        first = 0 if start == 0 else start + self.before
        return first, self.outputs if end == self.size else end + self.before

    def first_right(self, row: int) -> int:
        """Return the row, counted with the padding."""
        return row + self.before

    def end_right(self, row: int) -> int:
        """Return the row, counted with the padding."""
        return row + self.before

    def operands(self, draft: Draft, inputs: list[int], axis: int, read: Rows, written: Rows) -> list[int]:
        """Return the operands with padding only where the tile has the image's edge."""
        before, after = self.before * (read[0] == 0), self.after * (read[1] == self.size)
        return [inputs[0], _with_row(draft, inputs[1], axis, (before, after)), *inputs[2:]]


@dataclass(frozen=True, slots=True)
class RepeatedPadRule(PadRule):
    """A PAD that pads each tile as it pads the image: at an inner edge of a tile these rows are wrong."""

    def written(self, start: int, end: int) -> Rows | None:
        """Return the same rows and the padding on both sides."""
        return start, end + self.before + self.after

    def operands(self, draft: Draft, inputs: list[int], axis: int, read: Rows, written: Rows) -> list[int]:
        return inputs


@dataclass(frozen=True, slots=True)
class ResizeRule(Rule):
    """A RESIZE by a power of two, whose positions are exact numbers: a shift by whole rows changes nothing.

    Attributes:
        factor: Output rows an input row.
        is_linear: Two input rows make an output row, unless it lies on one.
        half_pixel: Output row y lies at (y + 0.5) / factor - 0.5, else at y / factor.
    """

    factor: int
    is_linear: bool
    half_pixel: bool

    @property
    def _lead(self) -> int:
        """How far, in halves of an output row, the first output row lies before the first input row."""
        return self.factor - 1 if self.is_linear and self.half_pixel else 0

    def receptive_field(self, rows: Rows) -> Rows:
        """Return the rows around the positions of the first and the last output row."""
        first, last = (2 * row - self._lead for row in (rows[0], rows[1] - 1))
        half = 2 * self.factor
        return first // half, (-(-last // half) if self.is_linear else last // half) + 1

    def written(self, start: int, end: int) -> Rows | None:
        """Return ``factor`` rows an input row."""
        return start * self.factor, end * self.factor

    def first_right(self, row: int) -> int:
        """Return the first row that lies on the input row or behind it."""
        return row * self.factor + -(-self._lead // 2)

    def end_right(self, row: int) -> int:
        """Return the row behind the last that lies on the input row before, or in front of that."""
        return (row - 1) * self.factor + self._lead // 2 + 1 if self.is_linear else row * self.factor

    def operands(self, draft: Draft, inputs: list[int], axis: int, read: Rows, written: Rows) -> list[int]:
        """Return the operands with the tile's own size."""
        return [inputs[0], _with_row(draft, inputs[1], axis - 1, written[1] - written[0])]


@dataclass(frozen=True, slots=True)
class TransposedRule(Rule):
    """A TRANSPOSE_CONV: input row i adds to output rows i * stride - padding ... + kernel - 1."""

    window: Window

    @property
    def _padding(self) -> int:
        return (self.window.kernel - self.window.stride) // 2 if self.window.is_same else 0

    def receptive_field(self, rows: Rows) -> Rows:
        """Return the rows that add to the first output row up to those that add to the last."""
        first = -(-(rows[0] + self._padding - self.window.kernel + 1) // self.window.stride)
        return first, (rows[1] - 1 + self._padding) // self.window.stride + 1

    def written(self, start: int, end: int) -> Rows | None:
        """Return every row that a row of the input adds to, but what is cut off as padding."""
        first = start * self.window.stride
        whole = (end - start - 1) * self.window.stride + self.window.kernel
        return first, first + (whole if not self.window.is_same else (end - start) * self.window.stride)

    def first_right(self, row: int) -> int:
        """Return the first row to which nothing in front of the input row adds."""
        return (row - 1) * self.window.stride - self._padding + self.window.kernel

    def end_right(self, row: int) -> int:
        """Return the first row to which the input row adds."""
        return row * self.window.stride - self._padding

    def operands(self, draft: Draft, inputs: list[int], axis: int, read: Rows, written: Rows) -> list[int]:
        """Return the operands with the tile's own output shape."""
        return [_with_row(draft, inputs[0], axis, written[1] - written[0]), *inputs[1:]]


_ROWS = 1
_Along = tuple[tuple[int, ...], int, int]
"""The first fields of a rule: activations, rows of the input, rows of the output."""


def rule(draft: Draft, operator: Operator, axis: int) -> Rule | None:
    """Return how an operator treats an axis, None where it cannot be run in tiles."""
    name, output = draft.name(operator), single_output(operator)
    if name not in _RULES or output is None:
        return None
    activations = tuple(dict.fromkeys(filter(draft.is_activation, operator.input_tensors)))
    make = (_RULES if len(activations) == 1 else _RULES_OF_SEVERAL).get(name)
    if make is None or not activations:
        return None
    if not all(is_image(draft, each) and not draft.tensors[each].is_variable for each in (*activations, output)):
        return None
    return make(draft, operator, (activations, shape(draft, activations[0])[axis], shape(draft, output)[axis]), axis)


def _windowed(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    walk = window(draft, operator, axis)
    return WindowRule(*rows, walk, walk.output(rows[1])[1])


def _padded(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    paddings = integers(draft, operator.input_tensors[1])
    if paddings is None or len(paddings) != 8 or min(paddings) < 0:
        return None
    return PadRule(*rows, *paddings[2 * axis : 2 * axis + 2])


def _resized(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    """Return the rule of a RESIZE by a power of two up to 2 ** 10, which fixed-point positions divide."""
    _, size, outputs = rows
    factor, options = outputs // max(1, size), operator.options
    is_exact = factor * size == outputs and factor > 0 and 1024 % factor == 0
    if not is_exact or options.get("align_corners") or integers(draft, operator.input_tensors[1]) is None:
        return None
    return ResizeRule(*rows, factor, draft.name(operator) == "RESIZE_BILINEAR", bool(options.get("half_pixel_centers")))


def _transposed(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    """Return the rule of a TRANSPOSE_CONV whose windows meet and whose output has the usual shape."""
    inputs, options = operator.input_tensors, operator.options
    stride, kernel = int(str(options.get(f"stride_{'hw'[axis - 1]}", 1))), shape(draft, inputs[1])[axis]
    is_same = options.get("padding", PADDING_SAME) == PADDING_SAME
    _, size, outputs = rows
    usual = size * stride if is_same else (size - 1) * stride + kernel
    if stride < 1 or kernel < stride or outputs != usual or integers(draft, inputs[0]) is None:
        return None
    # CMSIS-NN sums such rows of int8 in other places than TFLM does, and leaves some unwritten; which ones depends on
    # where a tile begins. Source: Source/ConvolutionFunctions/arm_transpose_conv_s8.c @ 4ab83cc
    is_int8 = draft.tensors[operator.output_tensors[0]].type == TensorType.INT8
    if is_same and is_int8 and axis == _ROWS and (kernel - stride) // 2 % stride:
        return None
    return TransposedRule(*rows, Window(kernel, stride, 1, is_same))


def _joined(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    """Return the rule of a CONCATENATION along another axis, of activations that all differ."""
    is_apart = len(rows[0]) == len(operator.input_tensors) and axis_option(operator, 4) != axis
    return Rule(*rows) if is_apart else None


def _elementwise(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    return Rule(*rows) if shape(draft, rows[0][0]) == shape(draft, operator.output_tensors[0]) else None


def _combined(draft: Draft, operator: Operator, rows: _Along, axis: int) -> Rule | None:
    """Return the rule of an operator whose constants are the same for every row."""
    whole = shape(draft, operator.output_tensors[0])
    constants = (shape(draft, tensor) for tensor in operator.input_tensors if tensor >= 0 and tensor not in rows[0])
    spread = all(len(dims) < 4 - axis or dims[axis - 4] == 1 for dims in constants)
    return Rule(*rows) if spread and all(shape(draft, tensor) == whole for tensor in rows[0]) else None


_Make = Callable[[Draft, Operator, _Along, int], Rule | None]
_RULES_OF_SEVERAL: Mapping[str, _Make] = {**dict.fromkeys(BINARY, _combined), "CONCATENATION": _joined}
"""The rule of each operator with several activations; None where this one cannot be run in tiles."""
_RULES: Mapping[str, _Make] = {
    **_RULES_OF_SEVERAL,
    **dict.fromkeys(WINDOWED, _windowed),
    **dict.fromkeys(("PAD", "PADV2"), _padded),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _resized),
    **dict.fromkeys(UNARY | {"SOFTMAX"}, _elementwise),
    "TRANSPOSE_CONV": _transposed,
}
"""Likewise of each operator with one activation."""


def _with_row(draft: Draft, constant: int, row: int, value: int | tuple[int, int]) -> int:
    """Return a constant of integers with another value at one of its rows: that one, or a new one."""
    values = array(draft, constant)
    assert values is not None, "only an operator with constant sizes has a rule"
    changed = values.copy()
    changed[row] = value
    if (changed == values).all():
        return constant
    return draft.add_tensor(changed.shape, draft.tensors[constant].type, data=changed.tobytes())
