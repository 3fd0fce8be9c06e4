"""Kernels that join tensors along an axis, or divide one: CONCATENATION, PACK, UNPACK, SPLIT, SPLIT_V.

Source: tflite/kernels/{concatenation,pack,unpack,split,split_v}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, Shape, values_of
from tflm_sim.model.types import TensorType

_JOINED = (t.FLOAT32, t.FLOAT16, t.BFLOAT16, t.UINT8, t.INT4, t.INT8, t.INT16, t.INT64, t.INT32, t.BOOL, t.UINT32)


def _joined_axis(call: PrepareCall, rank: int) -> int:
    axis: int = call.option("axis")
    axis += rank if axis < 0 else 0
    call.ensure(axis >= 0, "axis >= 0")
    call.ensure(axis < rank or axis == rank == 0, "axis < t0->dims->size || (t0->dims->size == 0 && axis == 0)")
    return axis


def concatenation(call: PrepareCall) -> None:
    """CONCATENATION: of constants, a constant."""
    first = call.input(0)
    axis = _joined_axis(call, first.rank)
    call.ensure_eq(call.activation, 0, "params->activation", "kTfLiteActNone")
    call.ensure(first.type in _JOINED, "is_supported_type")
    is_known = all(call.input(place).is_known for place in range(call.input_count))
    output = call.output()
    if is_known and first.rank == 0 and axis == 0 and first.type != t.INT4:
        _stack_scalars(call, output)
        return
    call.ensure(first.rank > 0, "t0->dims->size > 0")
    values = [first, *_further_parts(call, first, axis)]
    shape = list(first.shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    call.ensure_types_eq(output.type, first.type, "output->type", "input_type")
    _check_joined_quantization(call, values, output)
    if is_known and first.type in t.STORABLE:
        call.store(output, shape, lambda: _concatenated(values, axis))
        return
    if is_known:
        output.free(AllocationType.PERSISTENT_RO)
    call.resize(output, shape)


def _stack_scalars(call: PrepareCall, output: TfLiteTensor) -> None:
    first, *others = values = [call.input(place) for place in range(call.input_count)]
    for value in others:
        call.ensure_eq(value.rank, first.rank, "t->dims->size", "t0->dims->size")
    call.store(output, (len(values),), [values_of(value, TensorType(first.type))[0] for value in values])


def _further_parts(call: PrepareCall, first: TfLiteTensor, axis: int) -> Iterator[TfLiteTensor]:
    """Yield the inputs behind the first, which have its type and its shape but for ``axis``."""
    for value in map(call.input, range(1, call.input_count)):
        call.ensure_eq(value.rank, first.rank, "t->dims->size", "t0->dims->size", number=2)
        call.ensure_c_types_eq(value.type, first.type, "t->type", "input_type")
        for place, (one, other) in enumerate(zip(value.shape, first.shape, strict=True)):
            if place != axis:
                call.ensure_eq(one, other, "t->dims->data[d]", "t0->dims->data[d]")
        yield value


def _check_joined_quantization(call: PrepareCall, values: list[TfLiteTensor], output: TfLiteTensor) -> None:
    kind = values[0].type
    for value in values if kind == t.INT8 else ():
        right = "output->params.zero_point"
        call.ensure_double_eq(value.scale, output.scale, "t->params.scale", "output->params.scale")
        call.ensure_eq(value.zero_point, output.zero_point, "t->params.zero_point", right)
    if kind == t.INT16:
        for value in values:
            call.zero_points(t=value)
        call.zero_points(output=output)


def _concatenated(values: list[TfLiteTensor], axis: int) -> list[float]:
    rows = [values_of(value) for value in values]
    widths = [prod(value.shape[axis:]) for value in values]
    result: list[float] = []
    for place in range(prod(values[0].shape[:axis])):
        for row, width in zip(rows, widths, strict=True):
            result += row[place * width : (place + 1) * width]
    return result


def pack(call: PrepareCall) -> None:
    count = call.option("values_count")
    call.ensure_eq(call.input_count, count, "NumInputs(node)", "data->values_count")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    first, axis = call.input(0), call.option("axis")
    axis += first.rank + 1 if axis < 0 else 0
    call.ensure(first.rank >= axis, "NumDimensions(input0) >= data->axis")
    call.ensure(axis >= 0, "data->axis >= 0")
    call.ensure_supported(
        first.type,
        (t.INT32, t.FLOAT32, t.UINT8, t.UINT32, t.INT8, t.INT16, t.INT64),
        "Type '{}' is not supported by pack.",
    )
    values = [first]
    for place in range(1, count):
        values.append(value := call.input(place))
        call.ensure(first.shape == value.shape, "HaveSameShapes(input0, input)")
        call.same_type(first, value, "input0", "input")
    output = call.output()
    call.same_type(output, first, "output", "input0")
    for value in values:
        _same_quantization(call, value, output)
    call.resize(output, (*first.shape[:axis], count, *first.shape[axis:]))


def _same_quantization(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    call.ensure_eq(value.zero_point, output.zero_point, "input->params.zero_point", "output->params.zero_point")
    call.ensure_double_eq(value.scale, output.scale, "input->params.scale", "output->params.scale")


def is_short(value: int) -> bool:
    """Return whether a number fits 16 bits."""
    return -(2**15) <= value < 2**15


def unpack(call: PrepareCall) -> None:
    count = call.option("num")
    call.ensure_eq(call.input_count, 1, "NumInputs(node)")
    call.ensure_eq(call.output_count, count, "NumOutputs(node)", "data->num")
    value = call.input(0)
    call.ensure(value.elements > 0, "NumElements(input) > 0")
    axis = call.option("axis")
    call.ensure(is_short(axis), "axis >= INT16_MIN && axis <= INT16_MAX")
    axis += value.rank if axis < 0 else 0
    call.ensure(0 <= axis < value.rank, "0 <= axis && axis < NumDimensions(input)")
    accepted = (t.INT32, t.FLOAT32, t.FLOAT16, t.BFLOAT16, t.UINT8, t.INT8, t.INT16, t.BOOL)
    call.ensure_supported(value.type, accepted, "Type '{}' is not supported by unpack.")
    call.ensure_eq(count, value.shape[axis], "data->num", "input_shape->data[axis]")
    for place in range(count):
        output = call.output(place)
        call.same_type(output, value, "output", "input")
        _same_quantization(call, value, output)
        call.resize(output, (*value.shape[:axis], *value.shape[axis + 1 :]))


def split(call: PrepareCall) -> None:
    """SPLIT into equal parts."""
    call.ensure_eq(call.input_count, 2, "NumInputs(node)")
    axis, value, count = call.input(0), call.input(1), call.option("num_splits")
    call.ensure_eq(call.output_count, count, "NumOutputs(node)", "op_context.params->num_splits")
    outputs = _split_outputs(call, value)
    if not axis.is_known:
        call.dynamic(*outputs)
        return
    at = _split_axis(call, axis, value)
    call.ensure(count != 0, "num_splits != 0")
    call.ensure_msg(value.shape[at] % count == 0, "Not an even split")
    for output in outputs:
        call.resize(output, _replaced(value.shape, at, value.shape[at] // count))


def split_v(call: PrepareCall) -> None:
    """SPLIT_V into parts of given sizes, one of which may be what is left."""
    call.ensure_eq(call.input_count, 3, "NumInputs(node)")
    call.ensure_eq(call.output_count, call.option("num_splits"), "NumOutputs(node)", "op_context.params->num_splits")
    value = call.operand(0, "op_context.input")
    outputs = _split_outputs(call, value)
    sizes, axis = call.input(1), call.input(2)
    call.rank(sizes, 1, "size_splits")
    call.ensure_eq(call.output_count, sizes.elements, "NumOutputs(node)", "NumElements(size_splits)")
    if not (sizes.is_known and axis.is_known):
        call.dynamic(*outputs)
        return
    if sizes.type not in (t.INT32, t.INT64):
        raise call.failure("size_splits only support type int32|int64.")
    parts = list(values_of(sizes))
    if parts.count(-1) > 1:
        raise call.failure("The size_splits contains more than one -1.")
    at = _split_axis(call, axis, value)
    for output, part in zip(outputs, _split_parts(call, parts, value.shape[at]), strict=True):
        call.resize(output, _replaced(value.shape, at, part))


def _split_parts(call: PrepareCall, parts: list[int], size: int) -> list[int]:
    """Return the sizes of the parts, the one of -1 with what is left of ``size``."""
    known = sum(part for part in parts if part != -1)
    if -1 not in parts and known != size:
        raise call.failure("The size_splits must sum to the dimension of value along axis.")
    if known > size:
        raise call.failure("The sum of size_splits must be less than the dimension of value.")
    return [size - known if part == -1 else part for part in parts]


def _split_outputs(call: PrepareCall, value: TfLiteTensor) -> list[TfLiteTensor]:
    kinds = (t.FLOAT32, t.UINT8, t.INT8, t.INT16, t.INT32, t.INT64)
    call.ensure(value.type in kinds, "is_supported_type")
    outputs = [call.output(place) for place in range(call.output_count)]
    for output in outputs:
        output.type = value.type
    return outputs


def _split_axis(call: PrepareCall, axis: TfLiteTensor, value: TfLiteTensor) -> int:
    at: int = values_of(axis, t.INT32)[0]
    at += value.rank if at < 0 else 0
    call.ensure(at >= 0, "axis_value >= 0")
    call.ensure(at < value.rank, "axis_value < NumDimensions(input)")
    return at


def _replaced(shape: Shape, place: int, size: int) -> Shape:
    return (*shape[:place], size, *shape[place + 1 :])
