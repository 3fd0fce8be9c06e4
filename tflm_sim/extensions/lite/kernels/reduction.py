"""MEAN, SUM, REDUCE_MAX and their like: four temporaries each, whose sizes depend on what is constant.

Source: tflite/kernels/reduce.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, Shape, values_of
from tflm_sim.model.element_types import type_number

_MAX_CONSTANT = 8
"""The most values a product of constants may have to be computed when prepared (kMaxConstantOutputTensorSize)."""

_ACCUMULATORS: dict[int, int] = {
    t.FLOAT32: t.FLOAT32,
    t.INT32: t.INT64,
    t.INT64: t.INT64,
    t.UINT8: t.INT32,
    t.INT8: t.INT32,
    t.INT16: t.INT32,
    t.BOOL: t.BOOL,
}


def reduce_simple(call: PrepareCall) -> None:
    value, axis, output = call.operands(2)
    first = call.reserve(4)
    call.is_type(axis, t.INT32, "op_context.axis")
    call.take(*range(first, first + 4))
    call.temporary(first, t.INT32, (value.rank,))
    tensors = [call.subgraph.tensors[first + place] for place in range(4)]
    tensors[1].type = tensors[3].type = t.INT32
    if value.type not in _ACCUMULATORS:
        raise call.failure("")
    tensors[2].type = _ACCUMULATORS[value.type]
    if value.is_known and axis.is_known:
        _reduced(call, value, axis)  # it is asked for the output's size here already, and says what is wrong
    if value.type == t.INT16:
        call.ensure_eq(value.zero_point, 0, "op_context.input->params.zero_point")
        call.ensure_eq(output.zero_point, 0, "op_context.output->params.zero_point")
    if value.is_known:
        _in_arena(call, tensors[3], (value.rank,))
    else:
        call.dynamic(tensors[3])
    if not axis.is_known:
        call.dynamic(output, tensors[1])
        return
    _in_arena(call, tensors[1], (axis.elements,))
    call.resize(output, _reduced(call, value, axis))


def _in_arena(call: PrepareCall, tensor: TfLiteTensor, shape: Shape) -> None:
    tensor.data = tensor.offset = None
    tensor.allocation_type = AllocationType.ARENA_RW
    call.resize(tensor, shape)


def _reduced(call: PrepareCall, value: TfLiteTensor, axis: TfLiteTensor) -> Shape:
    axes = set()
    for place in values_of(axis) if value.rank else ():
        current = place + value.rank if place < 0 else place
        call.ensure_msg(0 <= current < value.rank, "Invalid axis index.")
        axes.add(current)
    if call.option("keep_dims"):
        return tuple(1 if place in axes else size for place, size in enumerate(value.shape))
    return tuple(size for place, size in enumerate(value.shape) if place not in axes)


def reduce_logical(call: PrepareCall) -> None:
    """REDUCE_ANY and REDUCE_ALL."""
    call.counts(2)
    call.ensure_types_eq(call.input(0).type, t.BOOL, "input->type")
    reduce_simple(call)


def mean_or_sum(call: PrepareCall) -> None:
    """MEAN and SUM: an accumulator of the output's size."""
    reduce_simple(call)
    _accumulator(call)


def _accumulator(call: PrepareCall) -> None:
    tensor = call.subgraph.tensors[call.node.temporaries[2]]
    if not call.input(1).is_known:
        call.dynamic(tensor)
        return
    tensor.allocation_type = AllocationType.ARENA_RW
    call.resize(tensor, (call.output().elements,))


def reduce_product(call: PrepareCall) -> None:
    """REDUCE_PROD: of constants, a constant if it is small."""
    reduce_simple(call)
    value, axis, output = call.operands(2)
    if axis.is_known and value.quantization is not None and value.type not in (t.INT8, t.INT16):
        raise call.failure(f"Unsupported quantized data type: {type_number(value.type)}")
    if not axis.is_known or not value.is_known or output.elements > _MAX_CONSTANT:
        _accumulator(call)
        return
    tensors = [call.subgraph.tensors[index] for index in call.node.temporaries]
    for tensor, size in ((tensors[1], axis.elements), (tensors[2], output.elements), (tensors[3], value.rank)):
        call.dynamic(tensor)
        call.resize(tensor, (size,))
    call.store(output, output.shape, lambda: _products(value, axis, output.elements))


def _products(value: TfLiteTensor, axis: TfLiteTensor, count: int) -> list[float]:
    axes = {place % value.rank for place in values_of(axis)} if value.rank else set()
    kept = [place for place in range(value.rank) if place not in axes]
    result: list[float] = [1] * count
    for place, factor in enumerate(values_of(value)):
        index = [place // prod(value.shape[axis + 1 :]) % value.shape[axis] for axis in range(value.rank)]
        target = 0
        for at in kept:
            target = target * value.shape[at] + index[at]
        result[target] *= factor
    return result
