"""TRANSPOSE, STRIDED_SLICE and SLICE: parts of a tensor, or its dimensions in another order.

TRANSPOSE and STRIDED_SLICE hold their temp tensors in an object whose destructor frees them, also after a refusal.

Source: tensorflow/lite/micro/kernels/{transpose,transpose_common,strided_slice,strided_slice_common,slice}.cc,
tensorflow/lite/kernels/internal/strided_slice_logic.h @ 90b983c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import constant_values, ensure_counts, int_option, require, require_op_data
from tflm_sim.ops.reference.quantization import float32
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import (
    abort,
    dim,
    ensure_eq,
    ensure_msg,
    ensure_types_eq,
    free,
    freeing,
    op_data,
    optional_input,
    optional_output,
)
from tflm_sim.units import int32

_TRANSPOSE, _STRIDED_SLICE, _SLICE = "transpose_common.cc", "strided_slice_common.cc", "slice.cc"
_LOGIC = "tensorflow/lite/kernels/internal/strided_slice_logic.h"
_MAX_TRANSPOSE_RANK, _MAX_STRIDED_SLICE_RANK, _MAX_SLICE_RANK = 5, 4, 5
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def _check_transpose(source: KernelTensor, perm: KernelTensor | None, output: KernelTensor | None) -> Steps[None]:
    rank = len(source.shape)
    ensure_msg(rank <= _MAX_TRANSPOSE_RANK, _TRANSPOSE, "Transpose op only supports 1D-5D input arrays.")
    output = require(output, f"{_TRANSPOSE}:35", "op_context.output")
    types = "op_context.input->type", "op_context.output->type"
    ensure_types_eq(source.type, output.type, f"{_TRANSPOSE}:35", *types)
    perm = require(perm, f"{_TRANSPOSE}:37", "op_context.perm")
    ensure_msg(perm.is_constant, _TRANSPOSE, "Non-constant >perm< tensor is not supported")
    ensure_eq(len(perm.shape), 1, f"{_TRANSPOSE}:44", "NumDimensions(op_context.perm)", "1")
    ensure_eq(perm.shape[0], rank, f"{_TRANSPOSE}:45", "op_context.perm->dims->data[0]", "dims")
    for axis in constant_values(perm, rank, f"{_TRANSPOSE}:47", name="perm"):
        ensure_msg(0 <= axis < rank, _TRANSPOSE, "Transpose op permutations array is out of bounds.")
    yield from ()


def prepare_transpose(node: Node) -> Steps[None]:
    """``TransposePrepare``."""
    ensure_counts(node, _TRANSPOSE, 27, inputs=2)
    source = yield from optional_input(node, 0)
    perm = yield from optional_input(node, 1)
    output = yield from optional_output(node, 0)
    source = require(source, f"{_TRANSPOSE}:33", "op_context.input")
    yield from freeing(_check_transpose(source, perm, output), source, perm, output)


@dataclass(frozen=True, slots=True)
class _Axis:
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
        """Return ``index`` inside of what the direction allows; a negative dimension leaves nothing to clamp to."""
        low, high = (0, self.size) if self.stride > 0 else (-1, self.size - 1)
        if high < low:
            raise abort(f"{_LOGIC}:30", "hi >= lo")
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


def _axes(node: Node, source: KernelTensor, indices: tuple[KernelTensor, ...]) -> list[_Axis]:
    """``BuildStridedSliceParams``."""
    rank = len(source.shape)
    names = "begin", "end", "strides"
    values = [
        constant_values(tensor, rank, f"{_STRIDED_SLICE}:{line}", name=name)
        for tensor, line, name in zip(indices, (76, 77, 78), names, strict=True)
    ]
    masks = [int_option(node, "StridedSliceOptions", f"{name}_mask") for name in ("begin", "end", "shrink_axis")]
    axes = []
    for i, (size, begin, end, stride) in enumerate(zip(source.shape, *values, strict=True)):
        begin_mask, end_mask, shrink = (bool(mask & 1 << i) for mask in masks)
        axes.append(_Axis(size, begin, end, stride, begin_mask, end_mask, shrink))
    return axes


def _check_output_size(axes: list[_Axis], output: KernelTensor) -> None:
    """``CheckOutputSize``."""
    rank = 0
    place = f"{_STRIDED_SLICE}:119"
    for axis in axes:
        ensure_msg(axis.stride != 0, _STRIDED_SLICE, "stride value has to be non-zero")
        length = axis.length()
        if not axis.shrink:
            ensure_eq(dim(output, rank, place), length, place, "output_shape->data[shape_size]", "dim_shape")
            rank += 1
    ensure_eq(len(output.shape), rank, f"{_STRIDED_SLICE}:123", "output_shape->size", "shape_size")


def _check_strided_slice(
    node: Node, source: KernelTensor, indices: tuple[KernelTensor | None, ...], output: KernelTensor | None
) -> Steps[None]:
    limit = "input dim should not exceed 4"
    ensure_msg(len(source.shape) <= _MAX_STRIDED_SLICE_RANK, _STRIDED_SLICE, limit)
    present = []
    for tensor, line, name in zip(indices, (144, 146, 148), ("begin", "end", "strides"), strict=True):
        present.append(require(tensor, f"{_STRIDED_SLICE}:{line}", f"op_context.{name}"))
        ensure_msg(present[-1].is_constant, _STRIDED_SLICE, f"Non-constant >{name}< tensor is not supported")
    axes = _axes(node, source, tuple(present))
    _check_output_size(axes, require(output, f"{_STRIDED_SLICE}:96", "op_context->output"))
    yield from ()


def _prepare_strided_slice(node: Node) -> Steps[None]:
    require_op_data(node, f"{_STRIDED_SLICE}:136")
    ensure_counts(node, _STRIDED_SLICE, 139, inputs=4)
    source = yield from optional_input(node, 0)
    begin = yield from optional_input(node, 1)
    end = yield from optional_input(node, 2)
    strides = yield from optional_input(node, 3)
    output = yield from optional_output(node, 0)
    source = require(source, f"{_STRIDED_SLICE}:45", "input")
    check = _check_strided_slice(node, source, (begin, end, strides), output)
    yield from freeing(check, source, begin, end, strides, output)


def _check_slice(source: KernelTensor, begin: KernelTensor, size: KernelTensor, output: KernelTensor) -> None:
    """The checks of SLICE, which all halt the device."""
    index_types = (TensorType.INT32, TensorType.INT64)
    checks = (
        (67, source.type == output.type, "input->type == output->type"),
        (68, begin.type == size.type, "begin->type == size->type"),
        (69, begin.type in index_types, "begin->type == kTfLiteInt32 || begin->type == kTfLiteInt64"),
        (71, len(begin.shape) == 1, "NumDimensions(begin) == 1"),
        (72, len(size.shape) == 1, "NumDimensions(size) == 1"),
        (73, begin.flat_size == size.flat_size, "NumElements(begin) == NumElements(size)"),
        (74, len(source.shape) <= _MAX_SLICE_RANK, "NumDimensions(input) <= kMaxDim"),
    )
    for line, holds, expression in checks:
        if not holds:
            raise abort(f"{_SLICE}:{line}", expression)


def _prepare_slice(node: Node) -> Steps[None]:
    ensure_counts(node, _SLICE, 50, inputs=3)
    source = require((yield from optional_input(node, 0)), f"{_SLICE}:55", "input")
    begin = require((yield from optional_input(node, 1)), f"{_SLICE}:58", "begin")
    size = require((yield from optional_input(node, 2)), f"{_SLICE}:61", "size")
    output = require((yield from optional_output(node, 0)), f"{_SLICE}:64", "output")
    _check_slice(source, begin, size, output)
    yield from free(source, begin, size, output)


MODELS: tuple[OpModel, ...] = (
    OpModel("TRANSPOSE", None, None, prepare_transpose, _TRANSPOSE),
    OpModel(
        "STRIDED_SLICE",
        "TfLiteStridedSliceParams",
        op_data("StridedSliceParams"),
        _prepare_strided_slice,
        _STRIDED_SLICE,
    ),
    OpModel("SLICE", None, None, _prepare_slice, _SLICE),
)
