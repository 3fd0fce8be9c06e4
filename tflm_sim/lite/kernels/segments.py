"""Kernels that collect and scatter: UNIQUE, segments, windows, and StableHLO's gather and scatter.

Source: tflite/kernels/{unique,segment_sum,unsorted_segment,sparse_to_dense,dilate,stablehlo_reduce_window,...}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import pairwise

from tflm_sim.lite.graph_info import NO_TYPE
from tflm_sim.lite.kernels import types as t
from tflm_sim.lite.kernels.call import Call, Shape, values_of

_INDICES = (t.INT32, t.INT64)


def unique(call: Call) -> None:
    """UNIQUE: only the running model knows how many."""
    call.counts(1, 2)
    value, output, places = call.input(0), call.output(0), call.output(1)
    stored = call.option("idx_out_type", NO_TYPE)
    if stored == NO_TYPE and "idx_out_type" not in call.options:
        raise call.failure("Unique index output array can only be Int32 or Int64, requested: NOTYPE")
    wanted = t.INT64 if stored == t.INT64 else t.INT32
    call.ensure_types("output_unique_tensor->type", output.type, value.type, "input->type")
    call.ensure_types("output_index_tensor->type", places.type, wanted, "params->index_out_type")
    call.ensure_equal("NumDimensions(input)", value.rank, 1)
    call.dynamic(output)
    call.resize(places, value.shape)


def segment_sum(call: Call) -> None:
    """SEGMENT_SUM."""
    call.counts(2)
    data, segments, output = call.input(0), call.input(1), call.output()
    call.ensure_type_in("data->type", data.type, t.INT32, t.FLOAT32)
    call.ensure_type_numbers("segment_ids->type", segments.type, t.INT32)
    if not (data.is_known and segments.is_known):
        call.dynamic(output)
        return
    call.ensure(data.rank >= 1, "NumDimensions(&data) >= 1")
    call.ensure_equal("NumDimensions(&segment_ids)", segments.rank, 1)
    call.ensure_equal("segment_id_size", segments.elements, data.shape[0], "data.dims->data[0]")
    numbers = values_of(segments)
    if numbers:
        call.ensure_equal("current_segment_id", numbers[0], 0)
    for previous, number in pairwise(numbers):
        call.ensure(number - previous in (0, 1), "delta == 0 || delta == 1")
    call.resize(output, (numbers[-1] + 1 if numbers else 0, *data.shape[1:]))


def unsorted_segment(call: Call) -> None:
    """UNSORTED_SEGMENT_SUM and its like."""
    call.counts(3)
    data, segments, count, output = call.input(0), call.input(1), call.input(2), call.output()
    call.ensure_type_in("data->type", data.type, t.INT32, t.FLOAT32)
    call.ensure_type_numbers("segment_ids->type", segments.type, t.INT32)
    call.ensure_type_numbers("num_segments->type", count.type, t.INT32)
    if data.is_dynamic or not (segments.is_known and count.is_known):
        call.dynamic(output)
        return
    call.ensure(segments.rank <= data.rank, "segment_ids_rank <= data_rank")
    left, right = "SizeOfDimension(&segment_ids, i)", "SizeOfDimension(&data, i)"
    for one, other in zip(segments.shape, data.shape, strict=False):
        call.ensure_equal(left, one, other, right)
    number = values_of(count)[0]
    call.ensure(number >= 0, "num_segments_ >= 0")
    call.ensure(max(values_of(segments), default=-1) < number, "max_index < num_segments_")
    call.resize(output, (number, *data.shape[segments.rank :]))


def sparse_to_dense(call: Call) -> None:
    """SPARSE_TO_DENSE."""
    call.counts(4)
    indices, shape, values, default = (call.input(place) for place in range(4))
    call.ensure(indices.rank < 3, "NumDimensions(indices) < 3")
    call.ensure_equal("NumDimensions(output_shape)", shape.rank, 1)
    call.ensure(values.rank < 2, "NumDimensions(values) < 2")
    call.ensure_equal("NumElements(default_value)", default.elements, 1)
    call.ensure_type_in("indices->type", indices.type, *_INDICES)
    call.ensure_type_in("output_shape->type", shape.type, *_INDICES)
    call.ensure_type_in("values->type", values.type, *_INDICES, t.INT8, t.UINT8, t.FLOAT32)
    call.ensure_types("values->type", values.type, default.type, "default_value->type")
    left, right = "NumElements(indices)", "NumElements(output_shape)"
    counted = indices.elements
    if indices.rank == 2:
        call.ensure_equal("SizeOfDimension(indices, 1)", indices.shape[1], shape.elements, right)
        left, counted = "SizeOfDimension(indices, 0)", indices.shape[0]
    if values.rank:
        call.ensure_equal(left, counted, values.elements, "NumElements(values)")
    if indices.rank < 2:
        call.ensure_equal(right, shape.elements, 1)
    output = call.output()
    output.type = values.type
    if not shape.is_known:
        call.dynamic(output)
        return
    call.resize(output, values_of(shape))


def dynamic_update_slice(call: Call) -> None:
    """DYNAMIC_UPDATE_SLICE."""
    value, update, start, output = call.input(0), call.input(1), call.input(2), call.output()
    call.ensure(start.rank == 1, "NumDimensions(start_indices) == 1")
    call.ensure(start.shape[0] == value.rank, "SizeOfDimension(start_indices, 0) == NumDimensions(operand)")
    call.ensure(update.rank == value.rank, "NumDimensions(update) == NumDimensions(operand)")
    for one, other in zip(update.shape, value.shape, strict=True):
        call.ensure(one <= other, "SizeOfDimension(update, i) <= SizeOfDimension(operand, i)")
    call.counts(3)
    call.ensure_types("operand->type", value.type, update.type, "update->type")
    call.ensure_type_in("start_indices->type", start.type, *_INDICES)
    output.type = value.type
    call.resize(output, value.shape)


def dilate(call: Call) -> None:
    """DILATE."""
    value, dilations, output = call.input(0), call.input(1), call.output()
    call.ensure(value.rank > 0, "ctx.input_tensor->dims->size > 0")
    if not dilations.is_constant:
        call.dynamic(output)
        return
    factors = values_of(dilations)
    call.resize(output, [(size - 1) * factor + 1 for size, factor in zip(value.shape, factors, strict=True)])


def stablehlo_gather(call: Call) -> None:
    """STABLEHLO_GATHER: the output's rank is the file's."""
    call.counts(2)
    value, starts, output = call.input(0), call.input(1), call.output()
    if starts.type not in _INDICES:
        raise call.failure(f"(Index Type: {t.type_name(starts.type)}) currently not supported.\n")
    sizes = call.option("slice_sizes", ())
    call.ensure_equal("data->num_slice_sizes", len(sizes), value.rank, "operand->dims->size")
    collapsed, offsets = call.option("collapsed_slice_dims", ()), call.option("offset_dims", ())
    slices = iter([size for place, size in enumerate(sizes) if place not in collapsed])
    vector = call.option("index_vector_dim")
    batches = iter([size for place, size in enumerate(starts.shape) if place != vector])
    call.resize(output, [next(slices) if place in offsets else next(batches) for place in range(output.rank)])


def stablehlo_scatter(call: Call) -> None:
    """STABLEHLO_SCATTER."""
    call.counts(3)
    value, indices, output = call.input(0), call.input(1), call.output()
    if indices.type not in _INDICES:
        raise call.failure(f"(Index Type: {t.type_name(indices.type)}) currently not supported.\n")
    call.resize(output, value.shape)


def stablehlo_pad(call: Call) -> None:
    """STABLEHLO_PAD."""
    value, output = call.input(0), call.output()
    call.ensure(value.type == output.type, "input_tensor->type == output_tensor->type")
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    rows = zip(value.shape, *(call.option(name, ()) for name in names), strict=True)
    call.resize(output, [max(low + high + size + max(size - 1, 0) * gap, 0) for size, low, high, gap in rows])


def reduce_window(call: Call) -> None:
    """REDUCE_WINDOW."""
    call.ensure_equal("NumInputs(node)", call.input_count, 5, "kNumInputTensors")
    call.ensure_equal("NumOutputs(node)", call.output_count, 1, "kNumOutputTensors")
    value, output = call.input(0), call.output()
    rows = [values_of(call.input(place)) for place in (2, 3, 4)]
    call.resize(output, _windows(value.shape, *rows))


def stablehlo_reduce_window(call: Call) -> None:
    """STABLEHLO_REDUCE_WINDOW dilates and pads first, each into a temporary."""
    value, output, rank = call.input(0), call.output(), call.input(0).rank
    first = call.reserve(2)
    call.take(first, first + 1)
    ones, zeros = (1,) * rank, (0,) * (2 * rank)
    dilations = call.option("base_dilations", ()) or ones
    dilated = [(size - 1) * factor + 1 for size, factor in zip(value.shape, dilations, strict=True)]
    pads = call.option("padding", ()) or zeros
    padded = [size + pads[2 * place] + pads[2 * place + 1] for place, size in enumerate(dilated)]
    call.temporary(first, value.type, dilated)
    call.temporary(first + 1, value.type, padded)
    windows, strides = call.option("window_dimensions", ()), call.option("window_strides", ()) or ones
    call.resize(output, _windows(tuple(padded), windows, strides, call.option("window_dilations", ()) or ones))


def _windows(shape: Shape, sizes: Shape, strides: Shape, dilations: Shape) -> list[int]:
    rows = zip(shape, sizes, strides, dilations, strict=True)
    return [max((size - ((window - 1) * gap + 1)) // stride + 1, 0) for size, window, stride, gap in rows]
