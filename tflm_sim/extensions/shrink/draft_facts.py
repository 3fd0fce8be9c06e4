"""Facts about a draft that every pass needs: shapes, bytes, constants as arrays, windows, multiplications.

An activation's bytes are TFLM's (``TfLiteTypeSizeOf``), rounded up to 16 where the planner rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.counted_loops import counted_loops
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.graph.multiplications import multiplications
from tflm_sim.model.draft import Draft
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.operator_facts import POOLS
from tflm_sim.model.types import Operator, Quantization, Tensor, TensorType
from tflm_sim.model.windows import PADDING_SAME, PADDING_VALID, output_size, padding_before
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

Array = NDArray[Any]

DTYPES: dict[int, str] = {one: f"<{code}" for one, code in STRUCT_CODES.items()}
"""Element types that are whole bytes, as numpy writes them."""

FLOATS = frozenset({TensorType.FLOAT32, TensorType.FLOAT16, TensorType.FLOAT64, TensorType.BFLOAT16})


@dataclass(frozen=True, slots=True)
class Window:
    """How a windowed operator walks along one axis.

    Attributes:
        kernel: Taps.
        stride: Elements from one output to the next.
        dilation: Elements from one tap to the next.
        is_same: Padding SAME, else VALID.
    """

    kernel: int
    stride: int
    dilation: int
    is_same: bool

    @property
    def extent(self) -> int:
        """Elements from the first tap to the last, both included."""
        return (self.kernel - 1) * self.dilation + 1

    def output(self, size: int) -> tuple[int, int]:
        """Return (outputs, elements of padding before the first) for an input of ``size`` elements."""
        padding = PADDING_SAME if self.is_same else PADDING_VALID
        moves = {"image": size, "window": self.kernel, "stride": self.stride, "dilation": self.dilation}
        outputs = output_size(padding, **moves) or 0
        return outputs, padding_before(outputs, **moves) if self.is_same else 0


def window(draft: Draft, operator: Operator, axis: int) -> Window:
    """Return the window of a convolution or pool along axis 1 (rows) or 2 (columns)."""
    options, side = operator.options, "h" if axis == 1 else "w"
    if draft.name(operator) in POOLS:
        kernel = _integer(options.get("filter_height" if axis == 1 else "filter_width"))
    else:
        kernel = shape(draft, operator.input_tensors[1])[axis]
    return Window(
        kernel,
        max(1, _integer(options.get(f"stride_{side}", 1))),
        max(1, _integer(options.get(f"dilation_{side}_factor", 1))),
        options.get("padding", PADDING_SAME) == PADDING_SAME,
    )


def _integer(value: object) -> int:
    """Return an option that is a number, 0 for anything else."""
    return int(value) if isinstance(value, int | float) else 0


def shape(draft: Draft, tensor: int) -> tuple[int, ...]:
    """Return a tensor's shape, () for a scalar."""
    return draft.tensors[tensor].dims


def elements(draft: Draft, tensor: int) -> int:
    return prod(shape(draft, tensor))


def element_size(draft: Draft, tensor: int) -> int:
    """Return the bytes of one element as TFLM counts them, 1 for a type that it cannot size."""
    return TYPE_SIZES.get(draft.tensors[tensor].type, 1)


def tensor_bytes(draft: Draft, tensor: int) -> int:
    return elements(draft, tensor) * element_size(draft, tensor)


def row_bytes(draft: Draft, tensor: int, axis: int) -> int:
    return tensor_bytes(draft, tensor) // max(1, shape(draft, tensor)[axis])


def planned_bytes(draft: Draft, tensor: int) -> int:
    """Return a tensor's bytes as the planner places them, in multiples of 16."""
    return align_up(tensor_bytes(draft, tensor), BUFFER_ALIGNMENT)


def array(draft: Draft, tensor: int) -> Array | None:
    """Return a constant as an array of its shape, None where it is none or not made of whole bytes."""
    data = draft.data(tensor)
    facts = draft.tensors[tensor] if tensor >= 0 else None
    if data is None or facts is None or facts.type not in DTYPES:
        return None
    values = np.frombuffer(data, DTYPES[facts.type])
    return values.reshape(facts.dims) if values.size == prod(facts.dims) else None


def integers(draft: Draft, tensor: int) -> list[int] | None:
    """Return a constant's elements as integers, None where it is no constant."""
    values = array(draft, tensor)
    return None if values is None else [int(value) for value in values.ravel()]


def image_padding(draft: Draft, pad: Operator) -> list[int] | None:
    """Return a PAD's constant paddings, before and after each axis, if it pads rows and columns only, else None."""
    inputs = pad.input_tensors
    paddings = integers(draft, inputs[1]) if len(inputs) > 1 else None
    is_plain = paddings is not None and len(paddings) == 8 and not any(paddings[:2] + paddings[6:])
    return paddings if is_plain else None


def axis_option(operator: Operator, rank: int) -> int:
    """Return the option ``axis`` counted from the front."""
    axis = _integer(operator.options.get("axis", 0))
    return axis + rank if axis < 0 else axis


def zero_point(tensor: Tensor) -> int:
    """Return the zero point of a tensor that has one, else 0."""
    return int(tensor.quantization.zero_point[0]) if tensor.quantization and len(tensor.quantization.zero_point) else 0


def quantization_key(quantization: Quantization | None) -> tuple[object, ...]:
    """Return what makes two quantizations the same to a kernel."""
    if quantization is None or not len(quantization.scale):
        return ()
    axis = quantization.quantized_dimension if len(quantization.scale) > 1 else 0
    return tuple(quantization.scale), tuple(quantization.zero_point), axis


def same_kind(draft: Draft, one: int, other: int) -> bool:
    """Return whether two tensors have the same type and quantization."""
    a, b = draft.tensors[one], draft.tensors[other]
    return a.type == b.type and quantization_key(a.quantization) == quantization_key(b.quantization)


def operator_multiplications(draft: Draft, operator: Operator) -> int:
    """Return the multiply-accumulates of an operator: convolutions and dense layers, the rest counts as none."""
    return _multiplications(draft, operator, draft.tensors)


def _multiplications(draft: Draft, operator: Operator, tensors: Sequence[Tensor]) -> int:
    inputs, outputs = (
        [tensors[index].dims if index >= 0 else () for index in indices]
        for indices in (operator.input_tensors, operator.output_tensors)
    )
    return multiplications(draft.name(operator), inputs, outputs)


def draft_multiplications(draft: Draft) -> int:
    """Return the multiply-accumulates of the main subgraph, those in the body of a counted loop for each iteration."""
    return sum(multiplications_by_operator(draft))


def multiplications_by_operator(draft: Draft) -> list[int]:
    """Return the multiply-accumulates of each operator; a counted loop has those of its body in each iteration."""
    found = [operator_multiplications(draft, operator) for operator in draft.operators]
    for loop in counted_loops(draft):
        body = draft.nested[loop.body]
        inside = sum(_multiplications(draft, each, body.tensors) for each in body.operators)
        found[loop.operator] += loop.iterations * inside
    return found


def replace_all(tensors: Sequence[int] | None, old: int, new: int) -> tuple[int, ...]:
    return tuple(new if tensor == old else tensor for tensor in tensors or ())


def is_image(draft: Draft, tensor: int) -> bool:
    """Return whether a tensor is [batch, rows, columns, channels]."""
    return len(shape(draft, tensor)) == 4


def is_written_within(draft: Draft, tensor: int, first: int, last: int) -> bool:
    """Return whether an operator from ``first`` to ``last``, both included, writes a tensor.

    A variable holds one value before that and another one behind it: what is read at ``first`` cannot be read at
    ``last`` instead.
    """
    return any(first <= writer <= last for writer in draft.writers(tensor))


def single_output(operator: Operator) -> int | None:
    outputs = operator.output_tensors
    return outputs[0] if len(outputs) == 1 else None
