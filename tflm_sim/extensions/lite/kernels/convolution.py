"""Convolutions, pools, and what they need beside their output: im2col buffers, quantized inputs.

A float input with 8-bit or 4-bit weights is *hybrid*: the kernel quantizes its input while it runs.

Source: tflite/kernels/{conv,depthwise_conv,pooling}.cc, padding.h
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import MAX_INT, PrepareCall, Shape
from tflm_sim.extensions.lite.kernels.dense import check_bias_type
from tflm_sim.extensions.lite.kernels.scales import check_convolution
from tflm_sim.model.windows import output_size

NO_PADDING = -1
_MAX_STEP = 2**15 - 1
CONVOLVED = (t.FLOAT32, t.UINT8, t.INT8, t.INT16)


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


def ensure_steps(call: PrepareCall, *names: str) -> None:
    """Refuse the node unless its strides or dilations, by their options, are above zero and fit 16 bits."""
    for name in names:
        value = call.option(name.replace("height", "h").replace("width", "w"))
        call.ensure(value > 0, f"params->{name} > 0")
        call.ensure(value <= _MAX_STEP, f"params->{name} <= INT16_MAX")


def _ensure_positive(call: PrepareCall, *names: tuple[str, int]) -> None:
    for name, value in names:
        call.ensure(value > 0, f"{name} > 0")


def convolution(call: PrepareCall) -> None:
    has_bias = call.input_count == 3
    call.ensure(has_bias or call.input_count == 2, "has_bias || node->inputs->size == 2")
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    output, value, weights = call.output(), call.input(0), call.input(1)
    call.dims_size(4, input=value, filter=weights)
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
    call.ensure_eq(value.shape[3] % weights.shape[3], 0, "input_channel % filter_input_channel")
    groups = value.shape[3] // weights.shape[3]
    call.ensure_eq(weights.shape[0] % groups, 0, "filter->dims->data[0] % data->groups")
    call.one_of(value.type, CONVOLVED, "input_type")
    call.ensure_types_eq(output.type, value.type, "output->type", "input_type")
    if value.type in (t.INT16, t.INT8):
        call.affine(weights, "filter")
        for zero_point in weights.quantization.zero_point if weights.quantization else ():
            call.ensure_eq(zero_point, 0, "affine_quantization->zero_point->data[i]")
    ensure_steps(call, "stride_height", "stride_width", "dilation_height_factor", "dilation_width_factor")
    call.ensure(has_bias, "has_bias")
    bias = call.input(2)
    _check_bias(call, bias, value, weights.shape[0])
    if value.type == t.INT16:
        call.zero_points(input=value, output=output)
        check_bias_type(call, bias)
    _place_convolution(call, value, weights, output, groups)


def _check_hybrid_groups(call: PrepareCall, weights: TfLiteTensor) -> None:
    """Refuse groups without a scale for each channel; the release has this, f67457790 not yet."""
    call.ensure(weights.type in (t.INT8, t.INT4), "filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4")
    parameters = weights.quantization
    call.affine(weights, "filter", number=2)
    axis = parameters.quantized_dimension if parameters is not None else 0
    call.ensure_eq(axis, 0, "affine_quantization->quantized_dimension")
    call.ensure_eq(len(weights.scales), weights.shape[0], "affine_quantization->scale->size", "filter->dims->data[0]")


def _check_parameters(
    call: PrepareCall,
    value: TfLiteTensor,
    weights: TfLiteTensor,
    bias: TfLiteTensor | None,
    output: TfLiteTensor,
    channels: int,
) -> None:
    """Refuse weights that have neither one scale nor one for each channel, and scales that do not fit."""
    count = len(weights.scales)
    text = "(affine_quantization->scale->size == 1 || affine_quantization->scale->size == {})"
    limit = "output_channels" if call.source == "depthwise_conv.cc" else "channels_out"
    call.ensure(count in (1, channels), text.format(limit))
    check_convolution(call, value, weights, bias, output, channels)


def _check_bias(call: PrepareCall, bias: TfLiteTensor, value: TfLiteTensor, channels: int) -> None:
    if value.type in (t.UINT8, t.INT8):
        call.is_type(bias, t.INT32, "bias")
        call.zero_points(bias=bias)
    elif value.type == t.INT16:
        call.ensure(bias.type in (t.INT32, t.INT64), "(bias->type == kTfLiteInt32) || (bias->type == kTfLiteInt64)")
        call.zero_points(bias=bias, number=2)
    else:
        call.ensure_types_eq(bias.type, value.type, "bias->type", "input_type")
    call.ensure_eq(bias.elements, channels, "NumElements(bias)", "SizeOfDimension(filter, 0)")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which kernel of CONV_2D runs, as far as that decides its temporaries.

    Attributes:
        is_hybrid: Floats are quantized on the way, for weights that are integers.
        is_per_channel: And there is a scale for each channel.
        needs_im2col: Windows are copied one behind the other.
        needs_hwcn: The weights are turned around once, for the kernel with threads.
    """

    is_hybrid: bool
    is_per_channel: bool
    needs_im2col: bool
    needs_hwcn: bool

    @property
    def temporaries(self) -> list[str]:
        """Their names, in the order in which they are added."""
        keys = ["im2col"] * self.needs_im2col + ["hwcn_weights"] * self.needs_hwcn
        keys += ["input_quantized", "scaling_factors", "accum_scratch"] * self.is_hybrid
        return keys + ["input_offset", "row_sums"] * self.is_per_channel


def _chosen(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, groups: int) -> _Chosen:
    """Return which kernel runs; refuse groups that none takes."""
    is_hybrid = value.type == t.FLOAT32 and weights.type in (t.UINT8, t.INT8, t.INT4)
    is_per_channel = is_hybrid and _is_per_channel(call, weights, groups)
    is_dilated = any(call.option(f"dilation_{axis}_factor") != 1 for axis in "hw")
    needs_hwcn = not is_hybrid and not is_dilated and _is_threaded(call, value, weights)
    is_copied = (is_dilated or _is_windowed(call, weights)) and not needs_hwcn
    return _Chosen(is_hybrid, is_per_channel, is_copied and (call.is_optimized or is_hybrid), needs_hwcn)


def _is_windowed(call: PrepareCall, weights: TfLiteTensor) -> bool:
    """Return whether an output pixel is made of other pixels than the one in its place."""
    return weights.shape[1:3] != (1, 1) or any(call.option(f"stride_{axis}") != 1 for axis in "hw")


def _place_convolution(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, output: TfLiteTensor, groups: int
) -> None:
    chosen = _chosen(call, value, weights, groups)
    channels, height, width = (weights.shape[0], *_spatial(call, value, weights.shape[1:3]))
    call.ensure_msg(height * width <= MAX_INT, "Conv output spatial dimensions overflow.")
    taken = {key: call.reserve(1, key) for key in chosen.temporaries}
    call.take(*taken.values())
    if value.type != t.FLOAT32:
        _check_parameters(call, value, weights, call.optional_input(2), output, channels)
    batches, depth = value.shape[0], prod(weights.shape[1:])
    call.resize(output, (batches, height, width, channels))
    if chosen.needs_im2col:
        hybrid = t.INT8 if weights.type == t.INT4 else weights.type
        kind = hybrid if chosen.is_hybrid else value.type
        _place_im2col(call, taken["im2col"], kind, (batches, height, width, depth))
    rows = prod(value.shape[:3]) * groups
    placed: dict[str, tuple[int, Shape, AllocationType]] = {
        "hwcn_weights": (value.type, (depth, channels), AllocationType.ARENA_RW_PERSISTENT),
        "input_quantized": (t.INT8, value.shape, AllocationType.ARENA_RW),
        "scaling_factors": (t.FLOAT32, (rows,), AllocationType.ARENA_RW),
        "accum_scratch": (t.INT32, (channels, batches * height * width), AllocationType.ARENA_RW),
        "input_offset": (t.INT32, (rows,), AllocationType.ARENA_RW),
        "row_sums": (t.INT32, (channels,), AllocationType.ARENA_RW_PERSISTENT),
    }
    for key in filter(taken.__contains__, placed):
        call.temporary(taken[key], *placed[key])


def _place_im2col(call: PrepareCall, index: int, kind: int, shape: tuple[int, ...]) -> None:
    elements = prod(shape)
    if elements > MAX_INT:
        raise call.failure(f"Conv im2col elements ({elements}) exceed the 32-bit integer limit.")
    call.temporary(index, kind, shape)


def _is_per_channel(call: PrepareCall, weights: TfLiteTensor, groups: int) -> bool:
    """Whether a hybrid convolution has a scale for each channel."""
    if groups != 1:
        _check_hybrid_groups(call, weights)
    return groups != 1 or len(set(weights.scales)) > 1


def _is_threaded(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor) -> bool:
    """Whether the kernel for floats with threads runs, for which the weights are turned around once."""
    is_kept = weights.allocation_type is not AllocationType.ARENA_RW and not weights.is_dynamic
    return value.type == t.FLOAT32 and call.is_optimized and call.subgraph.threads != 1 and is_kept


def _check_depthwise_types(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, output: TfLiteTensor, *, is_hybrid: bool
) -> None:
    call.one_of(value.type, CONVOLVED, "data_type")
    call.ensure_types_eq(output.type, value.type, "output->type", "data_type")
    if not is_hybrid:
        text = "filter->type == data_type || data_type == kTfLiteInt16 || filter->type == kTfLiteInt4"
        call.ensure(weights.type in (value.type, t.INT4) or value.type == t.INT16, text)
    if value.type == t.INT16:
        call.zero_points(input=value, output=output)


def depthwise_convolution(call: PrepareCall) -> None:
    has_bias = call.input_count == 3
    call.ensure(has_bias or call.input_count == 2, "has_bias || NumInputs(node) == 2")
    value, weights = call.input(0), call.input(1)
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    output = call.output()
    call.rank(value, 4, "input")
    call.rank(weights, 4, "filter")
    ensure_steps(call, "dilation_height_factor", "dilation_width_factor")
    ensure_steps(call, "stride_width", "stride_height")
    _ensure_positive(
        call,
        *((f"SizeOfDimension(input, {axis})", value.shape[axis]) for axis in (1, 2, 3)),
        *((f"SizeOfDimension(filter, {axis})", weights.shape[axis]) for axis in (1, 2, 3)),
    )
    is_hybrid = value.type == t.FLOAT32 and weights.type == t.INT8
    _check_depthwise_types(call, value, weights, output, is_hybrid=is_hybrid)
    call.ensure_eq(weights.shape[0], 1, "SizeOfDimension(filter, 0)")
    channels = weights.shape[3]
    call.ensure_eq(channels % value.shape[3], 0, "output_channels % input_channels")
    call.ensure(channels // value.shape[3] <= _MAX_STEP, "output_channels / input_channels <= INT16_MAX")
    if has_bias:
        _check_depthwise_bias(call, value, call.input(2), channels)
    height, width = _spatial(call, value, weights.shape[1:3])
    if value.type != t.FLOAT32:
        call.affine(weights, "filter")
        _check_parameters(call, value, weights, call.optional_input(2), output, channels)
    if is_hybrid:
        _place_hybrid_depthwise(call, value, weights)
    call.resize(output, (value.shape[0], height, width, channels))


def _check_depthwise_bias(call: PrepareCall, value: TfLiteTensor, bias: TfLiteTensor, channels: int) -> None:
    kinds: dict[int, int] = {t.UINT8: t.INT32, t.INT8: t.INT32, t.INT16: t.INT64}
    right = "" if value.type in kinds else "data_type"
    call.ensure_types_eq(bias.type, kinds.get(value.type, value.type), "bias->type", right)
    if value.type in kinds:
        call.zero_points(bias=bias, number=2 if value.type == t.INT16 else 1)
    call.rank(bias, 1, "bias")
    call.ensure_eq(channels, bias.shape[0], "SizeOfDimension(filter, 3)", "SizeOfDimension(bias, 0)")


def _place_hybrid_depthwise(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor) -> None:
    call.ensure(weights.is_quantized, "filter->quantization.type != kTfLiteNoQuantization")
    axis = weights.quantization.quantized_dimension if weights.quantization else 0
    right = "filter->dims->data[affine_quantization->quantized_dimension]"
    count = len(weights.scales)
    call.ensure_eq(count, weights.shape[axis], "affine_quantization->scale->size", right)
    taken = [call.reserve(1, key) for key in ("input_quantized", "scaling_factors", "input_offset")]
    call.temporary(taken[0], t.INT8, value.shape)
    call.temporary(taken[1], t.FLOAT32, value.shape[:1])
    call.temporary(taken[2], t.INT32, value.shape[:1])
    call.take(*taken)


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
    call.rank(value, 4, "input")
    call.same_type(value, output)
    strides = call.option("stride_h"), call.option("stride_w")
    _ensure_positive(call, ("params->stride_height", strides[0]), ("params->stride_width", strides[1]))
    windows = call.option("filter_height"), call.option("filter_width")
    height, width = (
        output_size(call.option("padding", NO_PADDING), image=image, window=window, stride=stride)
        for image, window, stride in zip(value.shape[1:3], windows, strides, strict=True)
    )
    # Without a width nobody asks for the height; both begin as 0.
    call.resize(output, (value.shape[0], (height or 0) if width is not None else 0, width or 0, value.shape[3]))
