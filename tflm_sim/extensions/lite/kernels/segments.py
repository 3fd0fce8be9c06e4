"""Kernels that collect and scatter: UNIQUE, segments, windows, and StableHLO's gather and scatter.

Source: tflite/kernels/{unique,segment_sum,unsorted_segment,sparse_to_dense,dilate,stablehlo_reduce_window,...}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import NO_TYPE, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import MAX_INT, PrepareCall, Shape, values_of
from tflm_sim.extensions.lite.tensor_bytes import element_size

_INDICES = (t.INT32, t.INT64)


def unique(call: PrepareCall) -> None:
    """UNIQUE: only the running model knows how many."""
    call.counts(1, 2)
    value, output, places = call.input(0), call.output(0), call.output(1)
    stored = call.option("idx_out_type", NO_TYPE)
    if stored == NO_TYPE and "idx_out_type" not in call.options:
        raise call.failure("Unique index output array can only be Int32 or Int64, requested: NOTYPE")
    wanted = t.INT64 if stored == t.INT64 else t.INT32
    call.same_type(output, value, "output_unique_tensor", "input")
    call.ensure_types_eq(places.type, wanted, "output_index_tensor->type", "params->index_out_type")
    call.rank(value, 1, "input")
    call.dynamic(output)
    call.resize(places, value.shape)


def segment_sum(call: PrepareCall) -> None:
    data, segments, output = call.operands(2)
    call.one_of(data.type, (t.INT32, t.FLOAT32), "data->type")
    call.is_c_type(segments, t.INT32, "segment_ids")
    if not (data.is_known and segments.is_known):
        call.dynamic(output)
        return
    call.ensure(data.rank >= 1, "NumDimensions(&data) >= 1")
    call.rank(segments, 1, "&segment_ids")
    call.ensure_eq(segments.elements, data.shape[0], "segment_id_size", "data.dims->data[0]")
    numbers = values_of(segments)
    if numbers:
        call.ensure_eq(numbers[0], 0, "current_segment_id")
    for previous, number in pairwise(numbers):
        call.ensure(number - previous in (0, 1), "delta == 0 || delta == 1")
    call.resize(output, (numbers[-1] + 1 if numbers else 0, *data.shape[1:]))


def unsorted_segment(call: PrepareCall) -> None:
    """UNSORTED_SEGMENT_SUM and its like."""
    data, segments, count, output = call.operands(3)
    call.one_of(data.type, (t.INT32, t.FLOAT32), "data->type")
    call.is_c_type(segments, t.INT32, "segment_ids")
    call.is_c_type(count, t.INT32, "num_segments")
    if data.is_dynamic or not (segments.is_known and count.is_known):
        call.dynamic(output)
        return
    call.ensure(segments.rank <= data.rank, "segment_ids_rank <= data_rank")
    left, right = "SizeOfDimension(&segment_ids, i)", "SizeOfDimension(&data, i)"
    for one, other in zip(segments.shape, data.shape, strict=False):
        call.ensure_eq(one, other, left, right)
    conditions = ("num_segments.dims->size == 1 && num_segments.dims->data[0] == 1", "num_segments.dims->size == 0")
    call.ensure(count.shape in ((), (1,)), f"({conditions[0]}) || {conditions[1]}")
    number = values_of(count)[0]
    call.ensure(number >= 0, "num_segments_ >= 0")
    call.ensure(max(values_of(segments), default=-1) < number, "max_index < num_segments_")
    call.resize(output, (number, *data.shape[segments.rank :]))


def sparse_to_dense(call: PrepareCall) -> None:
    call.counts(4)
    indices, shape, values, default = (call.input(place) for place in range(4))
    call.ensure(indices.rank < 3, "NumDimensions(indices) < 3")
    call.rank(shape, 1, "output_shape")
    call.ensure(values.rank < 2, "NumDimensions(values) < 2")
    call.ensure_eq(default.elements, 1, "NumElements(default_value)")
    call.one_of(indices.type, _INDICES, "indices->type")
    call.one_of(shape.type, _INDICES, "output_shape->type")
    call.one_of(values.type, (*_INDICES, t.INT8, t.UINT8, t.FLOAT32), "values->type")
    call.same_type(values, default, "values", "default_value")
    left, right = "NumElements(indices)", "NumElements(output_shape)"
    counted = indices.elements
    if indices.rank == 2:
        call.ensure_eq(indices.shape[1], shape.elements, "SizeOfDimension(indices, 1)", right)
        left, counted = "SizeOfDimension(indices, 0)", indices.shape[0]
    if values.rank:
        call.ensure_eq(counted, values.elements, left, "NumElements(values)")
    if indices.rank < 2:
        call.ensure_eq(shape.elements, 1, right)
    output = call.output()
    output.type = values.type
    if not shape.is_known:
        call.dynamic(output)
        return
    call.resize(output, values_of(shape))


def dynamic_update_slice(call: PrepareCall) -> None:
    value, update, start, output = call.input(0), call.input(1), call.input(2), call.output()
    call.ensure(start.rank == 1, "NumDimensions(start_indices) == 1")
    call.ensure(start.shape[0] == value.rank, "SizeOfDimension(start_indices, 0) == NumDimensions(operand)")
    call.ensure(update.rank == value.rank, "NumDimensions(update) == NumDimensions(operand)")
    for one, other in zip(update.shape, value.shape, strict=True):
        call.ensure(one <= other, "SizeOfDimension(update, i) <= SizeOfDimension(operand, i)")
    call.counts(3)
    call.same_type(value, update, "operand", "update")
    call.one_of(start.type, _INDICES, "start_indices->type")
    output.type = value.type
    call.resize(output, value.shape)


def dilate(call: PrepareCall) -> None:
    call.ensure_eq(call.input_count, 3, "NumInputs(node)", "DilationContext::kNumInputTensors")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)", "DilationContext::kNumOutputTensors")
    value, dilations, padding, output = call.input(0), call.input(1), call.input(2), call.output()
    call.ensure(value.rank > 0, "ctx.input_tensor->dims->size > 0")
    left = "ctx.input_tensor->type"
    call.ensure_c_types_eq(value.type, output.type, left, "ctx.output_tensor->type")
    call.ensure_c_types_eq(value.type, padding.type, left, "ctx.padding_value_tensor->type")
    if not dilations.is_constant:
        call.dynamic(output)
        return
    factors = values_of(dilations, t.INT32)
    call.resize(output, [(size - 1) * factors[place] + 1 for place, size in enumerate(value.shape)])


def stablehlo_gather(call: PrepareCall) -> None:
    """STABLEHLO_GATHER: the output's rank is the file's."""
    call.counts(2, number=0)
    value, starts = call.input(0), call.input(1)
    _check_index_type(call, starts)
    output = call.output()
    sizes, collapsed, offsets = (call.vector(name) for name in ("slice_sizes", "collapsed_slice_dims", "offset_dims"))
    call.ensure_eq(len(sizes), value.rank, "data->num_slice_sizes", "operand->dims->size")
    call.ensure(len(collapsed) <= len(sizes), "data->num_collapsed_slice_dims <= data->num_slice_sizes")
    call.ensure(len(offsets) <= output.rank, "data->num_offset_dims <= output->dims->size")
    vector = call.option("index_vector_dim")
    call.ensure(vector <= starts.rank, "data->index_vector_dim <= start_indices->dims->size")
    slices = [size for place, size in enumerate(sizes) if place not in collapsed]
    batches = [size for place, size in enumerate(starts.shape) if place != vector]
    shape = [(slices if place in offsets else batches).pop(0) for place in range(output.rank)]
    call.resize(output, shape)


def _check_index_type(call: PrepareCall, indices: TfLiteTensor) -> None:
    call.ensure_supported(indices.type, _INDICES, "(Index Type: {}) currently not supported.\n")


_SCATTERED = ("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")


def stablehlo_scatter(call: PrepareCall) -> None:
    call.counts(3)
    value, indices, updates = call.input(0), call.input(1), call.input(2)
    _check_index_type(call, indices)
    output = call.output()
    call.resize(output, value.shape)
    for name, tensor, what in (
        ("update_window_dims", updates, "updates"),
        ("inserted_window_dims", output, "output"),
        ("scatter_dims_to_operand_dims", value, "input"),
    ):
        call.ensure(len(call.vector(name)) <= tensor.rank, f"data->num_{name} <= {what}->dims->size")
    text = "data->index_vector_dim <= scatter_indices->dims->size"
    call.ensure(call.option("index_vector_dim") <= indices.rank, text)
    index = call.option("update_computation_subgraph_index")
    if not 0 <= index < len(call.subgraph.siblings):
        raise call.failure("Computation subgraph not found for stablehlo.scatter.")
    nodes = call.subgraph.siblings[index].execution_nodes
    if len(nodes) > 1:
        only = "Only one kernel allowed within the stablehlo region."
        raise call.failure(f"{only} ({len(nodes)}) kernels found.\n")
    if nodes and nodes[0].registration.op not in _SCATTERED:
        names = "update, Add, Multiply, Maximum and Minimum"
        raise call.failure(f"Only {names} operations are currently supported for stablehlo.scatter.")


def stablehlo_pad(call: PrepareCall) -> None:
    """STABLEHLO_PAD: where one dimension disappears, all do."""
    value, padding = call.input(0), call.input(1)
    call.ensure(value.type == padding.type, "input_tensor->type == padding_value_tensor->type")
    is_counted = min(padding.shape, default=0) >= 0 and prod(padding.shape) <= MAX_INT
    call.ensure_msg(is_counted, "StableHLO Pad padding value size overflowed.")
    call.ensure_eq(padding.elements, 1, "padding_value_count")
    try:
        element_size(value.type)
    except PrepareError as failure:
        call.subgraph.reports.append(failure.device_message)
        call.ensure(False, "GetSizeOfType(context, input_tensor->type, &element_size) == kTfLiteOk")
    limits = "between 1 and the maximum supported rank."
    call.ensure_msg(1 <= value.rank <= _MAX_RANK, f"StableHLO Pad input rank must be {limits}")
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    is_outward = all(gap >= 0 for gap in call.vector("interior_padding")[: value.rank])
    call.ensure_msg(is_outward, "StableHLO Pad interior padding must be non-negative.")
    rows = zip(value.shape, *((*call.vector(name), *(0,) * _MAX_RANK) for name in names), strict=False)
    shape = [size + max(size - 1, 0) * gap + low + high for size, low, high, gap in rows]
    call.ensure_msg(max(shape) <= MAX_INT, "StableHLO Pad output dimension does not fit in TfLiteIntArray.")
    output = call.output()
    call.ensure(value.type == output.type, "input_tensor->type == output_tensor->type")
    call.resize(output, shape if min(shape) > 0 else (0,) * len(shape))


_MAX_RANK = 8
_WINDOWS = ("window_dimensions", "window_strides", "window_dilations")


def _check_windows(call: PrepareCall, inputs: int, number: int) -> tuple[TfLiteTensor, TfLiteTensor]:
    """Return input and output of a reduction over windows, which it checks; ``number`` is 1 for StableHLO's."""
    call.ensure_eq(call.input_count, inputs, "NumInputs(node)", "kNumInputTensors", number=number)
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)", "kNumOutputTensors", number=number)
    value, start, output = call.input(0), call.input(1), call.output()
    windows = [(name, call.input(place)) for place, name in enumerate(_WINDOWS, 2)] if number > 1 else []
    for name, tensor in windows:
        call.ensure(tensor.is_constant, f"IsConstantTensor({name}_tensor)")
    left = "input_tensor->type"
    call.ensure_c_types_eq(value.type, output.type, left, "output_tensor->type", number=number)
    call.ensure_c_types_eq(value.type, start.type, left, "init_value_tensor->type", number=number)
    for name, tensor in windows:
        call.ensure_c_types_eq(tensor.type, t.INT64, f"{name}_tensor->type")
    call.ensure(value.rank > 0, "input_tensor->dims->size > 0", number=number)
    call.ensure(value.rank <= _MAX_WINDOWED_RANK, "input_tensor->dims->size <= kMaxReduceWindowRank", number=number)
    return value, output


_MAX_WINDOWED_RANK = 6


def reduce_window(call: PrepareCall) -> None:
    value, output = _check_windows(call, 5, 2)
    rows = [values_of(call.input(place)) for place in (2, 3, 4)]
    call.resize(output, _windows(value.shape, *rows))


def stablehlo_reduce_window(call: PrepareCall) -> None:
    """STABLEHLO_REDUCE_WINDOW dilates and pads first, each into a temporary."""
    value, output = _check_windows(call, 2, 1)
    rank = value.rank
    ones, zeros = (1,) * rank, (0,) * (2 * rank)
    dilations, pads = call.vector("base_dilations") or ones, call.vector("padding") or zeros
    windows, strides, gaps = (call.vector(name) or ones for name in _WINDOWS)
    for name, row in zip(("base_dilations", *_WINDOWS), (dilations, windows, strides, gaps), strict=True):
        call.ensure(len(row) >= rank and min(row[:rank]) > 0, f"AllGtThanZero({name})")
    first = call.reserve(2)
    call.take(first, first + 1)
    dilated = [(size - 1) * dilations[place] + 1 for place, size in enumerate(value.shape)]
    padded = [size + pads[2 * place] + pads[2 * place + 1] for place, size in enumerate(dilated)]
    temporaries = [call.temporary(first + place, value.type, None) for place in (0, 1)]
    for tensor, sizes in zip(temporaries, (dilated, padded), strict=True):
        call.resize(tensor, sizes)
    call.resize(output, _windows(tuple(padded), windows, strides, gaps))


def _windows(shape: Shape, sizes: Shape, strides: Shape, dilations: Shape) -> list[int]:
    result = []
    for place, size in enumerate(shape):
        span = (sizes[place] - 1) * dilations[place] + 1
        result.append((size - span) // strides[place] + 1 if span <= size else 0)
    return result


_GATHERED = (t.BFLOAT16, t.FLOAT16, t.FLOAT32, t.UINT8, t.INT8, t.INT16, t.INT64, t.INT32, t.STRING, t.BOOL)


def gather_nd(call: PrepareCall) -> None:
    value, indices, output = call.operands(2)
    call.ensure_supported(value.type, _GATHERED, "Params of type '{}' are not supported by gather_nd.")
    call.ensure_supported(indices.type, (*_INDICES, t.INT16), "Indices of type '{}' are not supported by gather_nd.")
    if value.rank < 1:
        raise call.failure("Params must be at least a vector.")
    if indices.rank < 1:
        raise call.failure("Indices must be at least a vector.")
    depth = indices.shape[-1]
    if not 0 <= depth <= value.rank:
        raise call.failure("Index innermost dimension length must be in [0, params rank].")
    output.type = value.type
    call.resize(output, (*indices.shape[:-1], *value.shape[depth:]))


def scatter_nd(call: PrepareCall) -> None:
    call.counts(3)
    indices, updates, shape = call.input(0), call.input(1), call.input(2)
    call.ensure_supported(
        updates.type,
        (t.FLOAT32, t.UINT8, t.BOOL, t.INT8, t.INT64, t.INT32),
        "Updates of type '{}' are not supported by scatter_nd.",
    )
    if indices.type != shape.type:
        raise call.failure("Indices and shape must have the same type.")
    output = call.output()
    output.type = updates.type
    if not shape.is_known:
        call.dynamic(output)
        return
    if indices.type != t.INT32:
        raise call.failure(f"Indices of type '{t.type_name(indices.type)}' are not supported by scatter_nd.")
    text = (
        "(indices.DimensionsCount() >= 1) && (updates.DimensionsCount() >= 1) && (shape_shape.DimensionsCount() == 1)"
    )
    call.ensure(indices.rank >= 1 and updates.rank >= 1 and shape.rank == 1, text)
    sizes, outer = values_of(shape), indices.rank - 1
    for one, other in zip(indices.shape[:outer], updates.shape, strict=False):
        call.ensure_eq(one, other, "indices.Dims(i)", "updates.Dims(i)")
    depth = indices.shape[outer]
    left, right = "updates.DimensionsCount() - outer_dims", "shape_shape.Dims(0) - ix"
    call.ensure_eq(updates.rank - outer, len(sizes) - depth, left, right)
    for one, other in zip(updates.shape[outer:], sizes[depth:], strict=False):
        call.ensure_eq(one, other, "updates.Dims(i + outer_dims)", "shape_data[ix + i]")
    call.resize(output, sizes)
