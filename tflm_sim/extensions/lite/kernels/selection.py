"""Kernels that pick elements: SLICE, GATHER, TOPK_V2, WHERE and their like.

Source: tflite/kernels/{slice,strided_slice,gather,arg_min_max,topk_v2,one_hot,where,select}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import product
from math import prod

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import NO_TYPE, AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, values_of
from tflm_sim.extensions.lite.kernels.joining import is_short
from tflm_sim.extensions.lite.kernels.strides import StridedSlice
from tflm_sim.model.element_types import type_number
from tflm_sim.model.types import TensorType

_INDICES = (t.INT32, t.INT64)
_GATHERED = (t.FLOAT32, t.FLOAT16, t.BFLOAT16, t.UINT8, t.INT4, t.INT8, t.INT16, t.INT64, t.INT32, t.BOOL)


def slice_of(call: PrepareCall) -> None:
    """SLICE: an output whose shape the file knows keeps it."""
    value, begin, size, output = call.operands(3)
    call.same_type(value, output)
    call.one_of(begin.type, _INDICES, "begin->type")
    call.one_of(size.type, _INDICES, "size->type")
    call.ensure_types_eq(begin.type, size.type, "begin->type", "size->type")
    call.rank(begin, 1, "begin")
    call.rank(size, 1, "size")
    call.ensure_eq(begin.elements, size.elements, "NumElements(begin)", "NumElements(size)")
    is_known = begin.is_known and size.is_known and not _has_unknown_dimension(value)
    if output.rank and not _has_unknown_dimension(output):
        if is_known and value.rank:
            shape = _sliced(call, value, begin, size)
            rank = "static_cast<int>(output_shape_vector.size())"
            call.ensure_eq(len(shape), output.rank, rank, "NumDimensions(output)")
            for one, other in zip(shape, output.shape, strict=True):
                call.ensure_eq(one, other, "output_shape_vector[idx]", "SizeOfDimension(output, idx)")
        return
    if not is_known:
        call.dynamic(output)
        return
    call.resize(output, _sliced(call, value, begin, size))


def _sliced(call: PrepareCall, value: TfLiteTensor, begin: TfLiteTensor, size: TfLiteTensor) -> list[int]:
    call.ensure_eq(begin.elements, value.rank, "NumElements(begin)", "input_dims")
    call.ensure_eq(size.elements, value.rank, "NumElements(size)", "input_dims")
    shape = []
    for whole, first, count in zip(value.shape, values_of(begin), values_of(size, TensorType(begin.type)), strict=True):
        if not 0 <= first <= whole:
            raise call.failure("Invalid begin.")
        if count < -1:
            raise call.failure("Invalid size.")
        if count >= 0 and whole < first + count:
            raise call.failure("Invalid begin and size.")
        shape.append(whole - first if count == -1 else count)
    return shape


def _has_unknown_dimension(tensor: TfLiteTensor) -> bool:
    return tensor.signature is not None and -1 in tensor.signature


def _check_strided_slice(
    call: PrepareCall, value: TfLiteTensor, vectors: dict[str, TfLiteTensor], output: TfLiteTensor
) -> None:
    for name, tensor in vectors.items():
        call.ensure_eq(tensor.rank, 1, f"NumDimensions(op_context.{name})")
    count = vectors["begin"].elements
    call.ensure_eq(count, vectors["end"].elements, "NumElements(op_context.begin)", "NumElements(op_context.end)")
    call.same_c_type(value, output, "op_context.input", "op_context.output")
    for name, tensor in vectors.items():
        call.ensure_types_eq(tensor.type, t.INT32, f"op_context.{name}->type")
    call.ensure_msg(count <= 31, "StridedSlice op only supports up to 31 indices.")


def strided_slice(call: PrepareCall) -> None:
    """STRIDED_SLICE: of constants, a constant."""
    call.counts(4)
    value, begin, end, strides = (call.input(place) for place in range(4))
    output = call.output()
    shape = value.shape  # It is looked at before anything is checked.
    _check_strided_slice(call, value, {"begin": begin, "end": end, "strides": strides}, output)
    has_bounds = begin.is_known and end.is_known
    if not (strides.is_known and (has_bounds or call.option("offset"))):
        call.dynamic(output)
        return
    asked = StridedSlice(call.options, shape, begin.elements, values_of(begin), values_of(end), values_of(strides))
    is_known = value.is_known and has_bounds and value.type != t.STRING
    if is_known:
        output.free(AllocationType.PERSISTENT_RO)
    call.ensure_msg(0 not in asked.strides, "stride value has to be non-zero")
    if is_known:
        values = values_of(value)
        call.store(output, asked.output_shape, lambda: [values[place] for place in asked.places()])
        return
    call.resize(output, asked.output_shape)


def gather(call: PrepareCall) -> None:
    """GATHER: of constants, a constant."""
    value, positions, output = call.operands(2)
    call.ensure_supported(positions.type, (*_INDICES, t.INT16), "Positions of type '{}' are not supported by gather.")
    output.type = value.type
    if value.type == t.STRING:
        call.rank(value, 1, "input")
    else:
        call.ensure_supported(value.type, _GATHERED, "Type '{}' is not supported by gather.")
    axis, batch = call.option("axis"), call.option("batch_dims")
    call.ensure(is_short(axis), "axis >= INT16_MIN && axis <= INT16_MAX")
    axis += value.rank if axis < 0 else 0
    call.ensure(0 <= axis < value.rank, "0 <= axis && axis < NumDimensions(input)")
    call.ensure(is_short(batch), "batch_dims >= INT16_MIN && batch_dims <= INT16_MAX")
    batch += positions.rank if batch < 0 else 0
    call.ensure(batch <= axis, "batch_dims <= axis")
    call.ensure(0 <= batch < value.rank, "0 <= batch_dims && batch_dims < NumDimensions(input)")
    call.ensure(batch <= positions.rank, "batch_dims <= NumDimensions(positions)")
    for one, other in zip(value.shape[:batch], positions.shape, strict=False):
        call.ensure_eq(one, other, "input->dims->data[i]", "positions->dims->data[i]")
    shape = (*value.shape[:axis], *positions.shape[batch:], *value.shape[axis + 1 :])
    if not (value.is_known and positions.is_known):
        call.resize(output, shape)
        return
    call.store(output, shape, lambda: [0] * prod(shape))
    _check_positions(call, positions, value.shape[axis])
    call.store(output, shape, lambda: _gathered(value, positions, axis, batch))


def _check_positions(call: PrepareCall, positions: TfLiteTensor, size: int) -> None:
    where = values_of(positions)
    fault = "gather index out of bounds"
    if any(place < 0 for place in where):
        text = "indices_has_only_positive_elements"
        try:
            call.ensure(False, text)
        except PrepareError as failure:
            raise call.failure(failure.device_message + fault) from failure
    if any(place >= size for place in where):
        raise call.failure(fault)


def _gathered(value: TfLiteTensor, positions: TfLiteTensor, axis: int, batch: int) -> list[float]:
    values, indices = values_of(value), values_of(positions)
    shape = value.shape
    batches, outer = prod(shape[:batch]), prod(shape[batch:axis])
    inner, count = prod(shape[axis + 1 :]), prod(positions.shape[batch:])
    if not values:
        return [0] * (batches * outer * count * inner)
    result: list[float] = []
    for group, row, at in product(range(batches), range(outer), range(count)):
        start = ((group * outer + row) * shape[axis] + indices[group * count + at]) * inner
        result += values[start : start + inner]
    return result


def arg_min_max(call: PrepareCall) -> None:
    value, axis, output = call.operands(2)
    call.ensure_eq(axis.elements, 1, "NumElements(axis)")
    call.one_of(axis.type, _INDICES, "axis->type")
    wanted = call.option("output_type", NO_TYPE)
    if wanted not in _INDICES:
        raise call.failure(f"Unknown index output data type: {type_number(wanted)}")
    output.type = wanted
    if value.type not in (t.FLOAT32, t.UINT8, t.INT8, t.INT32, t.BOOL):
        number = type_number(value.type)
        raise call.failure(f"Unknown input type: {number}, only float32, int types and bool are supported")
    call.ensure(value.rank >= 1, "NumDimensions(input) >= 1")
    if not axis.is_known:
        call.dynamic(output)
        return
    at = values_of(axis)[0]
    at += value.rank if at < 0 else 0
    call.ensure_msg(0 <= at < value.rank, "Invalid axis value.", "./tflite/kernels/internal/kernel_utils.h")
    call.ensure_msg(value.shape[at] > 0, "Cannot compute ArgMin/ArgMax over an empty axis.")
    call.resize(output, value.shape[:at] + value.shape[at + 1 :])


def top_k(call: PrepareCall) -> None:
    call.counts(2, 2)
    value, best = call.input(0), call.output(0)
    call.same_type(value, best, "input", "output_values")
    count = call.input(1)
    call.one_of(count.type, (t.INT32, t.INT16), "top_k->type", number=2)
    places = call.output(1)
    if not count.is_known or _has_unknown_dimension(value):
        call.dynamic(places, best)
        return
    call.ensure_eq(count.elements, 1, "NumElements(top_k)")
    wanted = values_of(count)[0]
    call.ensure_msg(value.rank >= 1, "TopK k input must have 1 or more dimensions.")
    call.ensure_msg(wanted <= max(value.shape[-1], 0), "TopK k is higher than the internal dimension.")
    for output in (places, best):
        call.resize(output, (*value.shape[:-1], max(wanted, 0)))


def one_hot(call: PrepareCall) -> None:
    call.counts(4)
    indices, depth, on, off = (call.input(place) for place in range(4))
    output, axis = call.output(), call.option("axis")
    axis = indices.rank if axis == -1 else axis
    call.ensure_supported(
        on.type, (t.FLOAT32, t.INT16, t.INT32, t.INT64, t.INT8, t.UINT8, t.BOOL), "Unknown output data type: {}"
    )
    output.type = on.type
    call.one_of(indices.type, _INDICES, "op_context.indices->type")
    call.ensure(0 <= axis <= indices.rank, "op_context.axis >= 0 && op_context.axis < op_context.output_dims")
    for tensor, name in ((depth, "depth"), (on, "on_value"), (off, "off_value")):
        call.ensure_eq(tensor.elements, 1, f"NumElements(op_context.{name})")
    call.ensure_types_eq(off.type, on.type, "op_context.off_value->type", "op_context.dtype")
    if not depth.is_known:
        call.dynamic(output)
        return
    size = values_of(depth, t.INT32)[0]
    call.ensure(size >= 0, "*op_context.depth->data.i32 >= 0")
    call.resize(output, (*indices.shape[:axis], size, *indices.shape[axis:]))


def where(call: PrepareCall) -> None:
    """WHERE: of a constant condition, the number of its true elements is known."""
    condition, output = call.operands(1)
    call.ensure_supported(
        condition.type,
        (t.BOOL, t.FLOAT32, t.INT64, t.INT32, t.INT8, t.UINT8, t.UINT32),
        "Condition tensor has unsupported type: '{}'.",
    )
    output.type = t.INT64
    if not condition.is_known:
        call.dynamic(output)
        return
    if condition.type == t.BOOL:
        # The compiled kernel adds bytes up: one that is neither 0 nor 1, which C++ does not define, counts as often.
        count = sum(values_of(condition, TensorType.UINT8))
    else:
        count = sum(value != 0 for value in values_of(condition))
    call.resize(output, (count, condition.rank))


def select(call: PrepareCall) -> None:
    """SELECT, whose condition may be one value a row, and SELECT_V2, which broadcasts."""
    condition, x, y, output = call.operands(3)
    call.is_type(condition, t.BOOL, "input_condition")
    call.same_type(x, y, "input_x", "input_y")
    output.type = x.type
    if condition.elements == x.elements == y.elements == output.elements == 1:
        call.resize(output, output.shape)
        return
    if condition.shape == x.shape == y.shape:
        call.resize(output, x.shape)
    elif call.node.registration.op == "SELECT_V2":
        shape = call.broadcast(condition, x, y)
        call.ensure(len(shape) <= 8, "output_size->size <= 8")
        call.resize(output, shape)
    else:
        is_row = condition.rank == 0 or (condition.rank == 1 and condition.shape[0] == (x.shape[0] if x.shape else -1))
        call.ensure(is_row, "data->has_low_rank_input_condition")
        call.ensure(x.shape == y.shape, "HaveSameShapes(input_x, input_y)")
        call.resize(output, x.shape)
