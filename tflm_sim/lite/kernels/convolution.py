"""Convolutions, pools, and what they need beside their output: im2col and col2im buffers, quantized inputs.

A float input with 8-bit or 4-bit weights is *hybrid*: the kernel quantizes its input while it runs.

Source: tflite/kernels/{conv,depthwise_conv,transpose_conv,pooling}.cc, padding.h
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.lite.kernels import types as t
from tflm_sim.lite.kernels.call import LARGEST_INT, PrepareCall, Shape, values_of
from tflm_sim.lite.kernels.dense import check_bias_type, check_multiplier
from tflm_sim.model.windows import output_size

NO_PADDING = -1
_LARGEST_STEP = 2**15 - 1
_CONVOLVED = (t.FLOAT32, t.UINT8, t.INT8, t.INT16)


def _spatial(call: PrepareCall, value: TfLiteTensor, window: Shape) -> tuple[int, int]:
    """Return height and width of the output; refuse the node, without a word, where there is none."""
    sizes = [
        output_size(
            call.option("padding", NO_PADDING),
            image=value.shape[axis],
            window=window[axis - 1],
            stride=call.option(f"stride_{name}"),
            dilation=call.option(f"dilation_{name}_factor"),
        )
        for axis, name in ((1, "h"), (2, "w"))
    ]
    height, width = (ensured(call, size) for size in sizes)
    return height, width


def ensured(call: PrepareCall, size: int | None) -> int:
    """Return a size, or refuse the node without a word."""
    if size is None:
        raise call.failure("")
    return size


def _ensure_steps(call: PrepareCall, *names: str) -> None:
    """Refuse the node unless its strides or dilations, by their options, are above zero and fit 16 bits."""
    for name in names:
        value = call.option(name.replace("height", "h").replace("width", "w"))
        call.ensure(value > 0, f"params->{name} > 0")
        call.ensure(value <= _LARGEST_STEP, f"params->{name} <= INT16_MAX")


def _ensure_positive(call: PrepareCall, *names: tuple[str, int]) -> None:
    for name, value in names:
        call.ensure(value > 0, f"{name} > 0")


def convolution(call: PrepareCall) -> None:
    """CONV_2D."""
    has_bias = call.input_count == 3
    call.ensure(has_bias or call.input_count == 2, "has_bias || node->inputs->size == 2")
    call.ensure_equal("node->outputs->size", call.output_count, 1)
    output, value, weights = call.output(), call.input(0), call.input(1)
    call.ensure_equal("input->dims->size", value.rank, 4)
    call.ensure_equal("filter->dims->size", weights.rank, 4)
    _ensure_positive(
        call,
        ("input->dims->data[1]", value.shape[1]),
        ("input->dims->data[2]", value.shape[2]),
        ("input_channel", value.shape[3]),
        ("filter->dims->data[1]", weights.shape[1]),
        ("filter->dims->data[2]", weights.shape[2]),
        ("filter->dims->data[0]", weights.shape[0]),
        ("filter_input_channel", weights.shape[3]),
    )
    call.ensure_equal("input_channel % filter_input_channel", value.shape[3] % weights.shape[3], 0)
    groups = value.shape[3] // weights.shape[3]
    call.ensure_equal("filter->dims->data[0] % data->groups", weights.shape[0] % groups, 0)
    call.ensure_type_in("input_type", value.type, *_CONVOLVED)
    call.ensure_types("output->type", output.type, value.type, "input_type")
    if value.type in (t.INT16, t.INT8):
        call.ensure_affine("filter", weights)
        for zero_point in weights.quantization.zero_point if weights.quantization else ():
            call.ensure_equal("affine_quantization->zero_point->data[i]", zero_point, 0)
    _ensure_steps(call, "stride_height", "stride_width", "dilation_height_factor", "dilation_width_factor")
    call.ensure(has_bias, "has_bias")
    bias = call.input(2)
    _check_bias(call, bias, value, weights, weights.shape[0])
    if value.type == t.INT16:
        call.ensure_symmetric(value, output)
        check_bias_type(call, bias)
    _place_convolution(call, value, weights, output, groups)


def _check_hybrid_groups(call: PrepareCall, weights: TfLiteTensor) -> None:
    """Refuse groups without a scale for each channel; the release has this, f67457790 not yet."""
    call.ensure(weights.type in (t.INT8, t.INT4), "filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4")
    parameters = weights.quantization
    call.ensure_affine("filter", weights, at=1)
    axis = parameters.quantized_dimension if parameters is not None else 0
    call.ensure_equal("affine_quantization->quantized_dimension", axis, 0)
    right = "filter->dims->data[0]"
    call.ensure_equal("affine_quantization->scale->size", len(weights.scales), weights.shape[0], right)


def _check_parameters(
    call: PrepareCall,
    value: TfLiteTensor,
    weights: TfLiteTensor,
    bias: TfLiteTensor | None,
    output: TfLiteTensor,
    channels: int,
) -> None:
    """Refuse scales that do not fit (PopulateConvolutionQuantizationParams)."""
    here = call.elsewhere("kernel_util.cc")
    count = len(weights.scales)
    text = "(affine_quantization->scale->size == 1 || affine_quantization->scale->size == {})"
    limit = "output_channels" if call.source == "depthwise_conv.cc" else "channels_out"
    call.ensure(count in (1, channels), text.format(limit))
    here.ensure_affine("input", value)
    here.ensure_affine("filter", weights)
    if count > 1 and weights.quantization is not None:
        text = "input->type == kTfLiteInt8 || input->type == kTfLiteInt16"
        here.ensure(value.type in (t.INT8, t.INT16), text)
        size = weights.shape[weights.quantization.quantized_dimension]
        right = "filter->dims->data[affine_quantization->quantized_dimension]"
        here.ensure_equal("num_channels", channels, size, right)
    if value.type == t.UINT8:
        check_multiplier(call, value, weights, bias, output)


def _check_bias(
    call: PrepareCall, bias: TfLiteTensor, value: TfLiteTensor, weights: TfLiteTensor, channels: int
) -> None:
    if value.type in (t.UINT8, t.INT8):
        call.ensure_types("bias->type", bias.type, t.INT32)
        call.ensure_equal("bias->params.zero_point", bias.zero_point, 0)
    elif value.type == t.INT16:
        text = "(bias->type == kTfLiteInt32) || (bias->type == kTfLiteInt64)"
        call.ensure(bias.type in (t.INT32, t.INT64), text)
        call.ensure_equal("bias->params.zero_point", bias.zero_point, 0, at=1)
    else:
        call.ensure_types("bias->type", bias.type, value.type, "input_type")
    call.ensure_equal("NumElements(bias)", bias.elements, channels, "SizeOfDimension(filter, 0)")


def _place_convolution(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, output: TfLiteTensor, groups: int
) -> None:
    is_hybrid = value.type == t.FLOAT32 and weights.type in (t.UINT8, t.INT8, t.INT4)
    is_per_channel = is_hybrid and _is_per_channel(call, weights, groups)
    is_dilated = call.option("dilation_h_factor") != 1 or call.option("dilation_w_factor") != 1
    needs_hwcn = value.type == t.FLOAT32 and not (is_hybrid or is_dilated) and _is_threaded(call, weights)
    is_windowed = weights.shape[1:3] != (1, 1) or call.option("stride_h") != 1 or call.option("stride_w") != 1
    needs_im2col = (is_dilated or is_windowed) and (call.is_optimized or is_hybrid) and not needs_hwcn
    channels, height, width = (weights.shape[0], *_spatial(call, value, weights.shape[1:3]))
    call.ensure_message(height * width <= LARGEST_INT, "Conv output spatial dimensions overflow.")
    batches = value.shape[0]
    keys = ["im2col"] * needs_im2col + ["hwcn_weights"] * needs_hwcn
    keys += ["input_quantized", "scaling_factors", "accum_scratch"] * is_hybrid
    keys += ["input_offset", "row_sums"] * is_per_channel
    taken = {key: call.reserve(1, key) for key in keys}
    call.take(*taken.values())
    if value.type != t.FLOAT32:
        _check_parameters(call, value, weights, call.optional_input(2), output, channels)
    call.resize(output, (batches, height, width, channels))
    depth = prod(weights.shape[1:])
    if needs_im2col:
        kind = value.type if not is_hybrid else t.INT8 if weights.type == t.INT4 else weights.type
        _place_im2col(call, taken["im2col"], kind, (batches, height, width, depth))
    if needs_hwcn:
        call.temporary(taken["hwcn_weights"], value.type, (depth, channels), AllocationType.ARENA_RW_PERSISTENT)
    rows = prod(value.shape[:3]) * groups
    shapes: dict[str, tuple[int, tuple[int, ...]]] = {
        "input_quantized": (t.INT8, value.shape),
        "scaling_factors": (t.FLOAT32, (rows,)),
        "accum_scratch": (t.INT32, (channels, batches * height * width)),
        "input_offset": (t.INT32, (rows,)),
    }
    for key in (key for key in shapes if key in taken):
        call.temporary(taken[key], *shapes[key])
    if is_per_channel:
        call.temporary(taken["row_sums"], t.INT32, (channels,), AllocationType.ARENA_RW_PERSISTENT)


def _place_im2col(call: PrepareCall, index: int, kind: int, shape: tuple[int, ...]) -> None:
    elements = prod(shape)
    if elements > LARGEST_INT:
        raise call.failure(f"Conv im2col elements ({elements}) exceed the 32-bit integer limit.")
    call.temporary(index, kind, shape)


def _is_per_channel(call: PrepareCall, weights: TfLiteTensor, groups: int) -> bool:
    """Whether a hybrid convolution has a scale for each channel."""
    if groups != 1:
        _check_hybrid_groups(call, weights)
    return groups != 1 or len(set(weights.scales)) > 1


def _is_threaded(call: PrepareCall, weights: TfLiteTensor) -> bool:
    """Whether the kernel with threads runs, for which the weights are turned around once."""
    is_kept = weights.allocation_type is not AllocationType.ARENA_RW and not weights.is_dynamic
    return call.is_optimized and call.subgraph.threads != 1 and is_kept


def _check_depthwise_types(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, output: TfLiteTensor, *, is_hybrid: bool
) -> None:
    call.ensure_type_in("data_type", value.type, *_CONVOLVED)
    call.ensure_types("output->type", output.type, value.type, "data_type")
    if not is_hybrid:
        text = "filter->type == data_type || data_type == kTfLiteInt16 || filter->type == kTfLiteInt4"
        call.ensure(weights.type in (value.type, t.INT4) or value.type == t.INT16, text)
    if value.type == t.INT16:
        call.ensure_symmetric(value, output)


def depthwise_convolution(call: PrepareCall) -> None:
    """DEPTHWISE_CONV_2D."""
    has_bias = call.input_count == 3
    call.ensure(has_bias or call.input_count == 2, "has_bias || NumInputs(node) == 2")
    value, weights = call.input(0), call.input(1)
    call.ensure_equal("NumOutputs(node)", call.output_count, 1)
    output = call.output()
    call.ensure_equal("NumDimensions(input)", value.rank, 4)
    call.ensure_equal("NumDimensions(filter)", weights.rank, 4)
    _ensure_steps(call, "dilation_height_factor", "dilation_width_factor")
    _ensure_steps(call, "stride_width", "stride_height")
    _ensure_positive(
        call,
        *((f"SizeOfDimension(input, {axis})", value.shape[axis]) for axis in (1, 2, 3)),
        *((f"SizeOfDimension(filter, {axis})", weights.shape[axis]) for axis in (1, 2, 3)),
    )
    is_hybrid = value.type == t.FLOAT32 and weights.type == t.INT8
    _check_depthwise_types(call, value, weights, output, is_hybrid=is_hybrid)
    call.ensure_equal("SizeOfDimension(filter, 0)", weights.shape[0], 1)
    channels = weights.shape[3]
    call.ensure_equal("output_channels % input_channels", channels % value.shape[3], 0)
    call.ensure(channels // value.shape[3] <= _LARGEST_STEP, "output_channels / input_channels <= INT16_MAX")
    if has_bias:
        _check_depthwise_bias(call, value, call.input(2), channels)
    height, width = _spatial(call, value, weights.shape[1:3])
    if value.type != t.FLOAT32:
        call.ensure_affine("filter", weights)
        _check_parameters(call, value, weights, call.optional_input(2), output, channels)
    if is_hybrid:
        _place_hybrid_depthwise(call, value, weights)
    call.resize(output, (value.shape[0], height, width, channels))


def _check_depthwise_bias(call: PrepareCall, value: TfLiteTensor, bias: TfLiteTensor, channels: int) -> None:
    kinds: dict[int, int] = {t.UINT8: t.INT32, t.INT8: t.INT32, t.INT16: t.INT64}
    right = "" if value.type in kinds else "data_type"
    call.ensure_types("bias->type", bias.type, kinds.get(value.type, value.type), right)
    if value.type in kinds:
        call.ensure_equal("bias->params.zero_point", bias.zero_point, 0, at=1 if value.type == t.INT16 else 0)
    call.ensure_equal("NumDimensions(bias)", bias.rank, 1)
    right = "SizeOfDimension(bias, 0)"
    call.ensure_equal("SizeOfDimension(filter, 3)", channels, bias.shape[0], right)


def _place_hybrid_depthwise(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor) -> None:
    call.ensure_quantized("filter", weights)
    axis = weights.quantization.quantized_dimension if weights.quantization else 0
    right = "filter->dims->data[affine_quantization->quantized_dimension]"
    count = len(weights.scales)
    call.ensure_equal("affine_quantization->scale->size", count, weights.shape[axis], right)
    taken = [call.reserve(1, key) for key in ("input_quantized", "scaling_factors", "input_offset")]
    call.temporary(taken[0], t.INT8, value.shape)
    call.temporary(taken[1], t.FLOAT32, value.shape[:1])
    call.temporary(taken[2], t.INT32, value.shape[:1])
    call.take(*taken)


def transpose_convolution(call: PrepareCall) -> None:
    """TRANSPOSE_CONV: its buffers are dynamic tensors, sized here where the output's shape is a constant."""
    has_bias = call.input_count == 4
    call.ensure(has_bias or call.input_count == 3, "has_bias || NumInputs(node) == 3")
    call.ensure_equal("NumOutputs(node)", call.output_count, 1)
    shape, weights, value, output = call.input(0), call.input(1), call.input(2), call.output()
    call.ensure_equal("NumDimensions(output_shape)", shape.rank, 1)
    call.ensure_equal("NumElements(output_shape)", shape.elements, 4, at=1)
    call.ensure_equal("NumDimensions(input)", value.rank, 4, at=1)
    call.ensure_equal("NumDimensions(weights)", weights.rank, 4, at=1)
    _ensure_steps(call, "stride_height", "stride_width")
    for axis in (1, 2, 3):
        call.ensure(value.shape[axis] > 0, f"SizeOfDimension(input, {axis}) > 0")
    for axis in (0, 1, 2):
        call.ensure(weights.shape[axis] > 0, f"SizeOfDimension(weights, {axis}) > 0")
    call.ensure_type_in("input->type", value.type, *_CONVOLVED)
    if value.type == t.FLOAT32:
        call.ensure_type_in("weights->type", weights.type, t.FLOAT32, t.INT8)
    elif value.type in (t.UINT8, t.INT8):
        call.ensure_types("weights->type", weights.type, value.type)
    _check_transposed_bias(call, call.optional_input(3), value, weights)
    if value.type == t.INT16:
        call.ensure_type_numbers("weights->type", weights.type, t.INT8, at=1)
        call.ensure_symmetric(value, output)
        check_bias_type(call, call.optional_input(3))
    call.ensure_types("output->type", output.type, value.type, "input->type")
    right = "SizeOfDimension(weights, 3)"
    call.ensure_equal("SizeOfDimension(input, 3)", value.shape[3], weights.shape[3], right)
    _place_transpose_convolution(call, shape, weights, value, output)


def _check_transposed_bias(
    call: PrepareCall, bias: TfLiteTensor | None, value: TfLiteTensor, weights: TfLiteTensor
) -> None:
    if bias is None:
        return
    if value.type in (t.UINT8, t.INT8):
        call.ensure_types("bias->type", bias.type, t.INT32)
        if value.type == t.INT8:
            call.ensure_equal("bias->params.zero_point", bias.zero_point, 0)
    elif value.type == t.INT16:
        call.ensure(bias.type in (t.INT64, t.INT32), "(bias->type == kTfLiteInt64) || (bias->type == kTfLiteInt32)")
        call.ensure_equal("bias->params.zero_point", bias.zero_point, 0, at=1)
    else:
        call.ensure_types("bias->type", bias.type, value.type, "input->type")
    right = "SizeOfDimension(weights, 0)"
    call.ensure_equal("NumElements(bias)", bias.elements, weights.shape[0], right)


def _place_transpose_convolution(
    call: PrepareCall, shape: TfLiteTensor, weights: TfLiteTensor, value: TfLiteTensor, output: TfLiteTensor
) -> None:
    is_integer = value.type in (t.UINT8, t.INT8, t.INT16)
    is_hybrid = value.type == t.FLOAT32 and weights.type == t.INT8
    keys = ["col2im", "transposed_weights"] if call.is_optimized else []
    keys += ["scratch"] if is_integer else []
    keys += ["input_quantized", "scaling_factors", "input_offset"] if is_hybrid else []
    taken = {key: call.reserve(1, key) for key in keys}
    call.take(*taken.values())
    tensors = {key: call.subgraph.tensors[index] for key, index in taken.items()}
    is_known = shape.is_constant
    wanted = values_of(shape)
    if not is_known:
        call.dynamic(output)
    elif shape.type != t.INT32:
        raise call.failure(f"Output shape is {t.type_name(shape.type)}, not int32.")
    else:
        call.resize(output, wanted)
        _check_geometry(call, value, weights, wanted)
    if call.is_optimized:
        size = (prod(value.shape[1:3]), prod(weights.shape[:3]))
        kind = t.FLOAT32 if value.type == t.FLOAT32 else t.INT32
        dynamic_temporary(call, tensors["col2im"], kind, size if is_known else None)
        order = (weights.shape[1], weights.shape[2], weights.shape[0], weights.shape[3])
        dynamic_temporary(call, tensors["transposed_weights"], weights.type, order if weights.is_constant else None)
    if is_integer:
        sums = _sum_type(call, value)
        tensors["scratch"].type = sums
        dynamic_temporary(call, tensors["scratch"], sums, wanted if is_known else None)
        call.ensure_affine("weights", weights)
        text = "(affine_quantization->scale->size == 1 || affine_quantization->scale->size == channels_out)"
        call.ensure(len(weights.scales) in (1, weights.shape[0]), text)
    if is_hybrid:
        pixels = (value.elements // weights.shape[3],)
        call.temporary(taken["input_quantized"], t.INT8, value.shape)
        call.temporary(taken["scaling_factors"], t.FLOAT32, pixels)
        call.temporary(taken["input_offset"], t.INT32, pixels)
        _check_transposed_scales(call, weights)


def _sum_type(call: PrepareCall, value: TfLiteTensor) -> int:
    """Return the type of the sums of integers; that of the bias in the options where 16-bit values have one."""
    if value.type != t.INT16:
        return t.INT32
    stored: int = call.option("quantized_bias_type", t.FLOAT32)
    return t.INT64 if stored == t.FLOAT32 else stored


def _check_transposed_scales(call: PrepareCall, weights: TfLiteTensor) -> None:
    call.ensure(weights.quantization is not None, "affine_quantization", at=1)
    axis = weights.quantization.quantized_dimension if weights.quantization else 0
    if len(weights.scales) != weights.shape[axis]:
        call.ensure_equal("affine_quantization->scale->size", len(weights.scales), 1)


def _check_geometry(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, wanted: Shape) -> None:
    """Refuse an output that a convolution would not make into the input."""
    axes = (("height", 1, "stride_h"), ("width", 2, "stride_w"))
    for axis in (1, 2):
        call.ensure(wanted[axis] > 0, f"SizeOfDimension(output, {axis}) > 0")
    for name, axis, stride in axes:
        padding = call.option("padding", NO_PADDING)
        found = output_size(padding, image=wanted[axis], window=weights.shape[axis], stride=call.option(stride))
        size = ensured(call, found)
        call.ensure_equal(f"computed_input_{name}", size, value.shape[axis], f"SizeOfDimension(input, {axis})")


def dynamic_temporary(call: PrepareCall, tensor: TfLiteTensor, kind: int, shape: Shape | None) -> None:
    """Make a temporary dynamic, of a type and a shape where that is known."""
    if shape is None:
        call.dynamic(tensor)
        return
    tensor.type = kind
    tensor.allocation_type = AllocationType.DYNAMIC
    call.resize(tensor, shape)


def pool(call: PrepareCall) -> None:
    """AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D."""
    call.counts(1)
    output, value = call.output(), call.input(0)
    call.ensure_equal("NumDimensions(input)", value.rank, 4)
    call.ensure_types("input->type", value.type, output.type, "output->type")
    strides = call.option("stride_h"), call.option("stride_w")
    _ensure_positive(call, ("params->stride_height", strides[0]), ("params->stride_width", strides[1]))
    windows = call.option("filter_height"), call.option("filter_width")
    height, width = (
        output_size(call.option("padding", NO_PADDING), image=image, window=window, stride=stride)
        for image, window, stride in zip(value.shape[1:3], windows, strides, strict=True)
    )
    # Without a width nobody asks for the height; both begin as 0.
    call.resize(output, (value.shape[0], (height or 0) if width is not None else 0, width or 0, value.shape[3]))
