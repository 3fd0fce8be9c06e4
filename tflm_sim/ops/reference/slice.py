"""TRANSPOSE, STRIDED_SLICE and SLICE: parts of a tensor, or its dimensions in another order.

TRANSPOSE and STRIDED_SLICE hold their temp tensors in an object whose destructor frees them, also after a refusal.

Source: tensorflow/lite/micro/kernels/{transpose,transpose_common,strided_slice,strided_slice_common,slice}.cc,
tensorflow/lite/kernels/internal/strided_slice_logic.h @ 90b983c.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import CMSIS_NN, PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.eval_values import ValueRow, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, counts, source, trusted
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import abort, op_data
from tflm_sim.units import float32, int32

_LOGIC = "tensorflow/lite/kernels/internal/strided_slice_logic.h"
_MAX_TRANSPOSE_RANK, _MAX_STRIDED_SLICE_RANK, _MAX_SLICE_RANK = 5, 4, 5
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def _transpose(k: Kernel, source: KernelTensor, perm: KernelTensor, output: KernelTensor) -> None:
    rank = len(source.shape)
    k.ensure_msg(rank <= _MAX_TRANSPOSE_RANK, "Transpose op only supports 1D-5D input arrays.")
    k.same_type(source, output, "op_context.input", "op_context.output")
    k.ensure_msg(perm.is_constant, "Non-constant >perm< tensor is not supported")
    k.rank(perm, 1, "op_context.perm")
    k.ensure_eq(perm.shape[0], rank, "op_context.perm->dims->data[0]", "dims")
    for axis in k.constants(perm, rank, "perm"):
        k.ensure_msg(0 <= axis < rank, "Transpose op permutations array is out of bounds.")


class _Axis(NamedTuple):
    """One dimension of a strided slice: what is taken of ``size`` elements.

    Attributes:
        size: The input's dimension.
        begin, end, stride: The constants as the model has them; [begin, end).
        begin_mask, end_mask, shrink: This axis' bit of the three masks.
    """

    size: int
    begin: int
    end: int
    stride: int
    begin_mask: bool
    end_mask: bool
    shrink: bool

    def _clamp(self, index: int) -> int:
        low, high = (0, self.size) if self.stride > 0 else (-1, self.size - 1)
        if high < low:
            raise abort(_LOGIC, "hi >= lo")
        return min(max(index, low), high)

    def _from_end(self, index: int) -> int:
        """Return a negative index counted from the end, as C adds it."""
        return int32(index + self.size) if index < 0 else index

    def start(self) -> int:
        """``StartForAxis``."""
        if self.size == 0:
            return 0
        if self.begin_mask:
            return self._clamp(self._from_end(_INT_MIN if self.stride > 0 else _INT_MAX))
        return self._clamp(self._from_end(self.begin))

    def stop(self, start: int) -> int:
        """``StopForAxis``, and the end of a dimension that shrinks away."""
        if self.shrink:
            return start + 1
        if self.size == 0:
            return 0
        if self.end_mask:
            return self._clamp(self._from_end(_INT_MAX if self.stride > 0 else _INT_MIN))
        return self._clamp(self._from_end(self.end))

    def length(self) -> int:
        """Return how many elements are taken, divided as ``float`` as upstream does; not below 0."""
        start = self.start()
        quotient = float32(float32(int32(self.stop(start) - start)) / float32(self.stride))
        return max(int32(math.ceil(quotient)), 0)


def _axes(k: Kernel, source: KernelTensor, *indices: KernelTensor) -> list[_Axis]:
    """``BuildStridedSliceParams``."""
    rank = len(source.shape)
    values = [k.constants(tensor, rank, name) for tensor, name in zip(indices, _INDICES, strict=True)]
    masks = [int_option(k.node, "StridedSliceOptions", f"{name}_mask") for name in ("begin", "end", "shrink_axis")]
    axes = []
    for i, (size, begin, end, stride) in enumerate(zip(source.shape, *values, strict=True)):
        begin_mask, end_mask, shrink = (bool(mask & 1 << i) for mask in masks)
        axes.append(_Axis(size, begin, end, stride, begin_mask, end_mask, shrink))
    return axes


def _check_output_size(k: Kernel, axes: list[_Axis], output: KernelTensor) -> None:
    """``CheckOutputSize``."""
    rank = 0
    for axis in axes:
        k.ensure_msg(axis.stride != 0, "stride value has to be non-zero")
        length = axis.length()
        if not axis.shrink:
            k.ensure_eq(k.dim(output, rank), length, "output_shape->data[shape_size]", "dim_shape")
            rank += 1
    k.ensure_eq(len(output.shape), rank, "output_shape->size", "shape_size")


def strided_slice(k: Kernel, source: KernelTensor, *tensors: KernelTensor) -> None:
    """Refuse what STRIDED_SLICE's Prepare refuses; tensors: begin, end, strides, output."""
    *indices, output = tensors
    k.ensure_msg(len(source.shape) <= _MAX_STRIDED_SLICE_RANK, "input dim should not exceed 4")
    for tensor, name in zip(indices, _INDICES, strict=True):
        k.ensure_msg(tensor.is_constant, f"Non-constant >{name}< tensor is not supported")
    axes = _axes(k, source, *indices)
    k.use(output)
    _check_output_size(k, axes, output)


def _prepare_slice(node: Node) -> Steps[None]:
    """Run SLICE's Prepare, whose checks after the counts all halt the device."""
    k = Kernel(node, "slice.cc")
    k.counts(inputs=3)
    source = k.require((yield from k.optional_input(0)), "input")
    begin = k.require((yield from k.optional_input(1)), "begin")
    size = k.require((yield from k.optional_input(2)), "size")
    output = k.require((yield from k.optional_output(0)), "output")
    k.debug_check(source.type == output.type, "input->type == output->type")
    k.debug_check(begin.type == size.type, "begin->type == size->type")
    is_index = begin.type in (TensorType.INT32, TensorType.INT64)
    k.debug_check(is_index, "begin->type == kTfLiteInt32 || begin->type == kTfLiteInt64")
    k.debug_check(len(begin.shape) == 1, "NumDimensions(begin) == 1")
    k.debug_check(len(size.shape) == 1, "NumDimensions(size) == 1")
    k.debug_check(begin.flat_size == size.flat_size, "NumElements(begin) == NumElements(size)")
    k.debug_check(len(source.shape) <= _MAX_SLICE_RANK, "NumDimensions(input) <= kMaxDim")
    yield from k.free(source, begin, size, output)


_INDICES = "begin", "end", "strides"
_PARTS = trusted(INPUT, *(source(position, name) for position, name in enumerate(_INDICES, start=1)), OUTPUT)
TRANSPOSE_PREPARE = Prepare(
    "transpose_common.cc",
    counts(2),
    takes=trusted(INPUT, source(1, "perm"), OUTPUT),
    body=_transpose,
    frees_always=True,
)


def _slice_bounds(node: Node) -> Iterator[str]:
    image, begin, size = node.input(0), constant_integers(node.input(1)), constant_integers(node.input(2))
    if image is None or begin is None or size is None or not len(begin) == len(size) == len(image.shape):
        return
    for axis, (first, count, there) in enumerate(zip(begin, size, image.shape, strict=True)):
        if first < 0 or count < -1 or first + max(count, 0) > there:
            yield f"the slice of {count} from {first} on is not within the {there} of axis {axis}"


MODELS: tuple[OpModel, ...] = (
    OpModel("TRANSPOSE", prepare=TRANSPOSE_PREPARE),
    OpModel(
        "STRIDED_SLICE",
        "TfLiteStridedSliceParams",
        op_data("StridedSliceParams"),
        Prepare("strided_slice_common.cc", OP_DATA, counts(4), takes=_PARTS, body=strided_slice, frees_always=True),
    ),
    OpModel("SLICE", prepare=_prepare_slice),
)

_SLICE = "Input tensor type {name} ({number}) not supported."
_BEGIN = Switch("i1", "INT32 INT64", "Begin tensor type {name} ({number}) not supported.", named="i0")
_TRANSPOSE = "Type {name} is currently not supported by Transpose. "

EVALS: tuple[EvalRow, ...] = (
    EvalRow("SLICE", (_BEGIN, Switch("i0", "FLOAT32 INT32 INT8 INT16 BOOL", _SLICE)), 1086),
    EvalRow("SLICE", (_BEGIN, Switch("i0", "FLOAT32 INT32 INT8 INT16", _SLICE))),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16 INT32 BOOL", PLAIN, named="i0"),), 782),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16 INT32", PLAIN, named="i0"),), 334),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16", PLAIN, named="i0"),), 139),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8", PLAIN, named="i0"),)),
    known_types(
        "TRANSPOSE", "i0", "FLOAT32 INT8 INT16", _TRANSPOSE + "Only float32, int8 and int16 are supported", 1620
    ),
    known_types("TRANSPOSE", "i0", "FLOAT32 INT8", _TRANSPOSE + "Only float32 and int8 is supported"),
    known_types(
        "TRANSPOSE",
        "i0",
        "FLOAT32 INT8 INT16",
        _TRANSPOSE + "Only float32, int8 and int16 is supported",
        1622,
        CMSIS_NN,
    ),
)

VALUES: tuple[ValueRow, ...] = (ValueRow("SLICE", undefined=_slice_bounds),)
