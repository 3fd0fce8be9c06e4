"""Kernels that only look at shapes: RESHAPE, SHAPE, TRANSPOSE, PAD and their like.

Source: tflite/kernels/{reshape,squeeze,expand_dims,shape,rank,fill,range,tile,transpose,pad,...}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import product
from math import ceil, prod

from tflm_sim.extensions.lite.graph_info import NO_TYPE, AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import MAX_INT, PrepareCall, values_of
from tflm_sim.extensions.lite.tensor_bytes import element_size
from tflm_sim.model.element_types import type_number
from tflm_sim.units import float32, int32

_RESHAPE_UTILS = "./tflite/kernels/internal/reshape_utils.h"


def _reshape_now(call: PrepareCall, value: TfLiteTensor, shape: TfLiteTensor | None, output: TfLiteTensor) -> None:
    if value.is_known:
        output.free(AllocationType.PERSISTENT_RO)
    call.resize(output, _resolved(call, value, _requested_shape(call, shape)))
    if value.is_known and output.data is not None and value.data is not None:
        if len(value.data) > output.size:
            raise IndexError("the kernel writes past the end of an output of another type")
        output.data = bytearray(value.data[: output.size])


def reshape(call: PrepareCall) -> bool | None:
    """RESHAPE: the shape is an input, or an option; that of a constant is a constant."""
    call.ensure(call.input_count in (1, 2), "NumInputs(node) == 1 || NumInputs(node) == 2")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    output = call.output()
    if output.type == t.STRING:
        return None
    value, shape = call.operand(0, "input"), call.optional_input(1)
    if shape is None and call.input_count == 2:
        raise call.abort("the kernel uses an input that is absent")
    if call.input_count == 1 or (shape is not None and shape.is_known):
        _reshape_now(call, value, shape, output)
        return None
    if output.allocation_type is AllocationType.ARENA_RW:
        output.size = value.size
    return True


def _requested_shape(call: PrepareCall, shape: TfLiteTensor | None) -> list[int]:
    if call.input_count == 2 and shape is not None and shape.rank == 1 and shape.type == t.INT32:
        return list(values_of(shape))
    wanted = list(call.option("new_shape", ()))
    return [] if wanted == [0] else wanted  # an old converter wrote a scalar's shape so


def _stretched(call: PrepareCall, wanted: list[int]) -> int:
    """Return the place of the one -1, or -1."""
    stretch = -1
    for place, size in enumerate(wanted):
        if size != -1:
            call.ensure_msg(size >= 0, "output shape contains negative dimension", _RESHAPE_UTILS)
        elif stretch != -1:
            raise call.failure(f"{_RESHAPE_UTILS}:57 stretch_dim != -1 ({stretch} != -1)")
        else:
            stretch = place
    return stretch


def _resolved(call: PrepareCall, value: TfLiteTensor, wanted: list[int]) -> list[int]:
    """Return a shape whose one -1 became what is left."""
    stretch = _stretched(call, wanted)
    elements = prod(size for size in wanted if size != -1)
    if stretch != -1:
        if value.elements == 0 and elements != 0:
            wanted[stretch] = 0
        else:
            wanted[stretch] = prod(filter(None, value.shape)) // prod(size for size in wanted if size not in (0, -1))
        elements *= wanted[stretch]
    message = f"num_input_elements != num_output_elements ({value.elements} != {elements})"
    call.ensure_msg(value.elements == elements, message, _RESHAPE_UTILS)
    return wanted


def squeeze(call: PrepareCall) -> None:
    """SQUEEZE: dimensions of size 1 disappear, all of them or those that the options name."""
    value, output = call.operands(1)
    call.ensure(value.rank <= 8, "input_num_dims <= 8")
    named = call.option("squeeze_dims", ())
    gone = {place for place, size in enumerate(value.shape) if size == 1} if not len(named) else set()
    for place in named:
        current = place + value.rank if place < 0 else place
        is_one = 0 <= current < value.rank and value.shape[current] == 1
        call.ensure(is_one, "current >= 0 && current < input_num_dims && input_dims->data[current] == 1")
        gone.add(current)
    call.resize(output, [size for place, size in enumerate(value.shape) if place not in gone])


def expand_dims(call: PrepareCall) -> None:
    value, axis, output = call.operands(2)
    output.type = value.type
    call.ensure_double_eq(value.scale, output.scale, "input->params.scale", "output->params.scale")
    call.ensure_eq(value.zero_point, output.zero_point, "input->params.zero_point", "output->params.zero_point")
    if value.type == t.INT16:
        call.zero_points(input=value)
    if not axis.is_known:
        call.dynamic(output)
        return
    call.ensure_eq(axis.elements, 1, "NumElements(&axis)")
    if axis.type not in (t.INT32, t.INT64):
        raise call.failure("")
    place = values_of(axis)[0]
    place += value.rank + 1 if place < 0 else 0
    call.ensure(place <= value.rank, "axis <= input_dims.size")
    call.ensure(place >= 0, "axis >= 0")
    call.resize(output, (*value.shape[:place], 1, *value.shape[place:]))


def shape_of(call: PrepareCall) -> None:
    """SHAPE: a constant as soon as the input's shape is known."""
    value, output = call.operands(1)
    wanted = call.option("out_type", NO_TYPE)
    if wanted not in (t.INT32, t.INT64):
        raise call.failure(f"Unknown shape output data type: {type_number(wanted)}")
    output.type = wanted
    call.store(output, (value.rank,), value.shape)


def rank_of(call: PrepareCall) -> None:
    """RANK: a constant."""
    value, output = call.operands(1)
    output.type = t.INT32
    call.store(output, (), (value.rank,))


def fill(call: PrepareCall) -> None:
    dims, value, output = call.operands(2)
    call.rank(dims, 1, "dims")
    call.one_of(dims.type, (t.INT32, t.INT64), "dtype")
    call.rank(value, 0, "value")
    output.type = value.type
    call.ensure_double_eq(output.scale, value.scale, "output->params.scale", "value->params.scale")
    call.ensure_eq(output.zero_point, value.zero_point, "output->params.zero_point", "value->params.zero_point")
    if value.type == t.INT16:
        call.zero_points(value=value)
    if not dims.is_known:
        call.dynamic(output)
        return
    sizes = values_of(dims)
    if any(size < 0 for size in sizes):
        raise call.failure(f"Fill dimensions must be >= 0 got {type_number(dims.type)}")
    call.resize(output, [int32(size) for size in sizes])


def range_of(call: PrepareCall) -> None:
    """RANGE: of constants, a constant."""
    call.counts(3)
    ends = [call.input(place) for place in range(3)]
    for end, name in zip(ends, ("start", "limit", "delta"), strict=True):
        call.rank(end, 0, name, number=2 if name == "delta" else 1)
    kind = ends[0].type
    call.ensure_supported(kind, (t.FLOAT32, t.INT32, t.INT64), "Unknown index output data type: {}")
    call.ensure_types_eq(ends[1].type, kind, "limit->type", "dtype")
    call.ensure_types_eq(ends[2].type, kind, "delta->type", "dtype")
    output = call.output()
    output.type = kind
    if not all(end.is_known for end in ends):
        call.dynamic(output)
        return
    output.free(AllocationType.PERSISTENT_RO)
    start, limit, delta = (values_of(end)[0] for end in ends)
    call.ensure(delta != 0, "!std::equal_to<T>()(delta, 0)")
    is_finite = (start >= limit and delta < 0) or (start <= limit and delta > 0)
    call.ensure(is_finite, "(start >= limit && delta < 0) || (start <= limit && delta > 0)")
    if kind == t.FLOAT32:
        steps = abs(float32(float32(limit - start) / delta))
        count = ceil(steps) if steps <= MAX_INT else -(2**31)  # what the machine makes of a float that is no int
    else:
        count = int32(-(-abs(limit - start) // abs(delta)))
    call.store(output, (count,), lambda: [start + place * delta for place in range(count)])


def _tiled_size(call: PrepareCall, size: int, times: int) -> int:
    if times < 0:
        raise call.failure("Multipliers must be non-negative.")
    if size * times >= 2**31:
        limits = "Output shape dimensions must be in range [0, INT32_MAX]."
        raise call.failure(f"Cannot multiply {size} and {times}. {limits}")
    return size * times


def tile(call: PrepareCall) -> None:
    call.counts(2)
    value, output = call.input(0), call.output()
    call.same_type(value, output)
    multipliers = call.input(1)
    call.ensure_supported(multipliers.type, (t.INT32, t.INT64), "Multipliers of type '{}' are not supported by tile.")
    if not multipliers.is_known:
        call.dynamic(output)
        return
    if value.is_known:
        output.free(AllocationType.PERSISTENT_RO)
    call.ensure_eq(value.rank, multipliers.elements, "num_dimensions", "num_multipliers")
    shape = [_tiled_size(call, *pair) for pair in zip(value.shape, values_of(multipliers), strict=True)]
    if not value.is_known or value.type == t.STRING:
        call.resize(output, shape)
        return
    values, strides = values_of(value), [prod(value.shape[place + 1 :]) for place in range(len(value.shape))]
    places = product(*(range(size) for size in shape))
    call.store(
        output,
        shape,
        [
            values[sum(at % size * step for at, size, step in zip(place, value.shape, strides, strict=True))]
            for place in places
        ],
    )


def transpose(call: PrepareCall) -> None:
    call.counts(2)
    value, output = call.input(0), call.output()
    call.ensure_msg(value.rank <= 8, "Transpose op only supports 1D-8D input arrays.")
    call.same_type(value, output, "op_context.input", "op_context.output")
    perm = call.input(1)
    if not perm.is_known:
        call.dynamic(output)
        return
    call.rank(perm, 1, "op_context->perm")
    call.ensure_eq(perm.shape[0], value.rank, "op_context->perm->dims->data[0]", "dims")
    order = values_of(perm, t.INT32)
    is_inside = all(-value.rank <= place < value.rank for place in order)
    call.ensure_msg(is_inside, "Transpose op permutations array is out of bounds.")
    call.resize(output, [value.shape[place] for place in order])


def matrix_diag(call: PrepareCall) -> None:
    value, output = call.operands(1)
    call.ensure(value.rank >= 1, "input_dims_size >= 1")
    output.type = value.type
    call.resize(output, (*value.shape, value.shape[-1]))


def matrix_set_diag(call: PrepareCall) -> None:
    call.counts(2)
    value, output = call.input(0), call.output()
    call.ensure(value.rank >= 2, "input_dims_size >= 2")
    output.type = value.type
    call.resize(output, value.shape)


def broadcast_to(call: PrepareCall) -> None:
    call.ensure(call.input_count == 2, "NumInputs(node) == 2")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    value, shape, output = call.input(0), call.input(1), call.output()
    call.one_of(shape.type, (t.INT32, t.INT64), "op_context.shape->type")
    call.same_c_type(value, output, "op_context.input", "op_context.output")
    call.ensure(value.type != t.STRING, "op_context.input->type != kTfLiteString")
    if not shape.is_known:
        call.dynamic(output)
        return
    message = "Output shape must be broadcastable from input shape."
    call.rank(shape, 1, "op_context->shape")
    wanted = values_of(shape)
    call.ensure_msg(value.rank <= len(wanted), message)
    for size, other in zip(reversed(value.shape), reversed(wanted), strict=False):
        call.ensure_msg(size in (1, other), message)
    call.resize(output, wanted)


def broadcast_args(call: PrepareCall) -> None:
    """BROADCAST_ARGS: of constants, a constant."""
    call.ensure(call.input_count == 2, "NumInputs(node) == 2")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    one, other, output = call.input(0), call.input(1), call.output()
    call.one_of(one.type, (t.INT32, t.INT64), "op_context.shape1->type")
    call.same_c_type(one, other, "op_context.shape1", "op_context.shape2")
    call.same_c_type(one, output, "op_context.shape1", "op_context.output")
    call.rank(one, 1, "op_context.shape1")
    call.rank(other, 1, "op_context.shape2")
    rank = max(one.shape[0], other.shape[0])
    if not (one.is_known and other.is_known):
        call.resize(output, (rank,))
        return
    rows = [(1,) * (rank - len(values)) + values for values in (values_of(one), values_of(other))]
    pairs = list(zip(*rows, strict=True))
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        raise call.abort("two shapes do not broadcast")
    call.store(output, (rank,), [other if one == 1 else one for one, other in pairs])


def bitcast(call: PrepareCall) -> None:
    """BITCAST: the last dimension grows or goes with the size of an element."""
    value, output = call.operands(1)
    size, other = element_size(value.type), element_size(output.type)
    if size > other:
        call.resize(output, (*value.shape, size // other))
    elif size < other:
        text = "output_type_size / input_type_size"
        call.ensure_eq(value.shape[-1], other // size, "input->dims->data[dims - 1]", text)
        call.resize(output, value.shape[:-1])
    else:
        call.resize(output, value.shape)


def rng_bit_generator(call: PrepareCall) -> None:
    """STABLEHLO_RNG_BIT_GENERATOR."""
    call.counts(1, 2)
    state, key, output = call.input(0), call.output(0), call.output(1)
    call.is_c_type(state, t.UINT64, "initial_state")
    call.rank(state, 1, "initial_state")
    call.is_c_type(key, t.UINT64, "output_key")
    call.ensure(key.shape == state.shape, "HaveSameShapes(output_key, initial_state)")
    call.one_of(output.type, (t.INT32, t.INT64, t.UINT32, t.UINT64), "output->type")
    call.resize(key, key.shape)
    call.resize(output, output.shape)
