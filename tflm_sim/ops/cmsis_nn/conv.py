"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV with CMSIS-NN.

    Init      OpData                                      persistent
    Prepare   input, filter, output                       temps
              multiplier and shift of each channel        persistent, 2 x 4 bytes x channels (int8, int16)
              input, filter, bias, output once more       temps
              what the CMSIS-NN function asks for         scratch

TRANSPOSE_CONV takes its temps in the order output, input, filter, its scratch before the second round of temps, and two
buffers: the second holds the reversed filter. Neither is left out when it has 0 bytes.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{conv,depthwise_conv,transpose_conv}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.element_types import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims, DwConvParams, Tile, TransposeConvParams
from tflm_sim.ops.cmsis_nn.geometry import (
    buffer_sizes,
    check_pair,
    check_rank_4,
    check_supported_input,
    conv_params,
    isa,
    optional_scratch,
)
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, result, source, unchecked
from tflm_sim.ops.reference import output_shapes
from tflm_sim.ops.reference.arithmetic import flat_size, matching_dim
from tflm_sim.ops.reference.conv import (
    CONV,
    DEPTHWISE_CONV,
    FILTER,
    convolution_data,
    parse_conv,
    parse_transpose_conv,
    per_channel_arrays,
    read_height_and_width,
    reshaped_output,
    transpose_conv_data,
    unpacked_filter,
)
from tflm_sim.ops.reference.window import strides
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import fail, op_data, size_of

_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16
_QUANTIZED = (_INT8, _INT16)
_EVERY_TYPE = "cmsis_without_uint8"
_TRANSPOSE_PAIRS = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT8))


def _conv(
    k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor, bias: KernelTensor | None
) -> Steps[None]:
    k.same_c_type(source, output)
    check_supported_input(k, source)
    check_pair(k, source, kernel)
    _check_conv_shapes(k, source, kernel, output)
    if k.has("cmsis_conv_int4") and not k.has("cmsis_int4"):
        yield from unpacked_filter(k.node, kernel)
    arrays = False
    if k.knows(source.type, _QUANTIZED, {_INT16: "cmsis_conv_int16"}) or not k.has(_EVERY_TYPE):
        arrays = yield from per_channel_arrays(k.node, kernel.shape[0])
    yield from convolution_data(k.node, CONV, source.type, arrays_allocated=arrays)
    if k.has("output_shapes"):
        yield from reshaped_output(k, CONV, source, kernel, output)
    if source.type != _FLOAT32:
        yield from _conv_scratch(k, source, kernel, output, bias)


def _check_conv_shapes(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    if k.has("cmsis_conv_groups"):
        _check_conv_dims(k, source, kernel, output)
    elif k.has("output_shapes"):
        output_shapes.check_conv(k, source, kernel, output)
    else:
        matching_dim((source.shape, 0), (output.shape, 0))
        check_rank_4(k, input=source, filter=kernel, output=output)


def _conv_scratch(
    k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor, bias: KernelTensor | None
) -> Steps[None]:
    """Request the scratch buffer of the convolution's wrapper, if that is known for the type."""
    image, window, result = Dims(*source.shape), Dims(1, *kernel.shape[1:]), Dims(*output.shape)
    params = conv_params(k.node, CONV.table, image, window)
    sizes, build = buffer_sizes(k.node), isa(k.node)
    if source.type == _INT8:
        size = sizes.arm_convolve_wrapper_s8_get_buffer_size(build, params, image, window, result)
        yield from optional_scratch(size, "convolve_wrapper_s8")
    if source.type == _INT16 and k.has("cmsis_conv_int16") and (bias is None or bias.type == TensorType.INT64):
        k.zero_points(input=source, output=output)
        size = sizes.arm_convolve_wrapper_s16_get_buffer_size(build, params, image, window, result)
        yield from optional_scratch(size, "convolve_wrapper_s16")


def _check_conv_dims(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Refuse other than four dimensions, another batch count, and input channels that are no multiple of a group's."""
    k.dims_size(4, input=source, filter=kernel, output=output)
    k.ensure_eq(source.shape[0], output.shape[0], "input->dims->data[0]", "output->dims->data[0]")
    group_channels = kernel.shape[3]
    k.ensure(group_channels > 0, "filter->dims->data[3] > 0")
    groups, rest = divmod(source.shape[3], group_channels)
    k.ensure_eq(rest, 0, "input->dims->data[3] % filter->dims->data[3]")
    k.check(groups != 0 and output.shape[3] % groups == 0, "output->dims->data[3] % groups == 0")


def _depthwise_conv(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.same_c_type(source, output)
    check_supported_input(k, source)
    check_pair(k, source, kernel)
    if k.has("output_shapes"):
        output_shapes.check_depthwise_conv(k, source, kernel, output)
    read_height_and_width(k, source, kernel, output)
    arrays = False
    is_quantized = k.knows(source.type, _QUANTIZED, {_INT16: "cmsis_depthwise_conv_int16"})
    if is_quantized:
        k.affine(kernel, "filter")
        if source.type == _INT16:
            k.zero_points(input=source, output=output)
        _check_scales(k, kernel, k.dim(kernel, DEPTHWISE_CONV.axis), DEPTHWISE_CONV.axis_name)
    if is_quantized or not k.has(_EVERY_TYPE):
        arrays = yield from per_channel_arrays(k.node, k.dim(kernel, DEPTHWISE_CONV.axis))
    if not k.has("cmsis_int4"):
        yield from unpacked_filter(k.node, kernel)
    yield from convolution_data(k.node, DEPTHWISE_CONV, source.type, arrays_allocated=arrays)
    if k.has("output_shapes"):
        yield from reshaped_output(k, DEPTHWISE_CONV, source, kernel, output)
    if source.type == _INT8:
        yield from optional_scratch(_depthwise_size(k, source, kernel, output), "depthwise_conv_wrapper")


def _depthwise_size(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> int:
    """Return the bytes that an int8 depthwise convolution asks for."""
    check_rank_4(k, input=source, filter=kernel, output=output)
    batches = matching_dim((source.shape, 0), (output.shape, 0))
    matching_dim((output.shape, 3), (kernel.shape, 3))
    k.check(batches == 1 or k.has("cmsis_depthwise_batches"), "batch_size == 1")
    image, window, result = Dims(*source.shape), Dims(1, *kernel.shape[1:]), Dims(*output.shape)
    params = DwConvParams(0, *conv_params(k.node, DEPTHWISE_CONV.table, image, window))
    sizes = buffer_sizes(k.node)
    if kernel.type == _INT4 and k.has("cmsis_int4"):
        return sizes.arm_depthwise_conv_wrapper_s4_get_buffer_size(isa(k.node), params, image, window, result)
    if kernel.type != _INT8 and k.has("cmsis_int4"):
        raise fail(f"Filter type {type_name(kernel.type)} ({type_number(kernel.type)}) not supported.")
    return sizes.arm_depthwise_conv_wrapper_s8_get_buffer_size(isa(k.node), params, image, window, result)


def _transpose_conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    k.same_c_type(source, output)
    check_supported_input(k, source)
    is_old_pair = not k.has("cmsis_checks_types") and source.type == kernel.type
    k.ensure_msg(is_old_pair or (source.type, kernel.type) in _TRANSPOSE_PAIRS, HYBRID)
    read_height_and_width(k, output, kernel)
    arrays = yield from per_channel_arrays(k.node, k.dim(kernel, 0))
    if source.type == _INT8:
        yield from _transpose_scratch(k, source, kernel, output)
    if source.type == _INT16:
        yield Scratch(size_of(k.node, flat_size(output), 8), "accumulator")
    if source.type in _QUANTIZED:
        k.affine(kernel, "filter")
        _check_scales(k, kernel, kernel.shape[0], CONV.axis_name)
    inner = k.within("CalculateOpData")
    yield from transpose_conv_data(
        inner, source.type, activation=0, check_int16=_check_int16_bias, arrays_allocated=arrays
    )


def _transpose_scratch(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Request the two buffers of the int8 kernel, also when they have 0 bytes; once the second held the sums."""
    check_rank_4(k, input=source, filter=kernel, output=output)
    batches = matching_dim((source.shape, 0), (output.shape, 0))
    output_depth = matching_dim((kernel.shape, 0), (output.shape, 3))
    input_depth = matching_dim((source.shape, 3), (kernel.shape, 3))
    params = TransposeConvParams(Tile(*strides(k.node, "TransposeConvOptions")))
    image = Dims(batches, source.shape[1], source.shape[2], input_depth)
    window = Dims(output_depth, kernel.shape[1], kernel.shape[2], input_depth)
    result = Dims(batches, output.shape[1], output.shape[2], output_depth)
    sizes = buffer_sizes(k.node)
    yield Scratch(
        sizes.arm_transpose_conv_s8_get_buffer_size(isa(k.node), params, image, window, result), "transpose_conv_s8"
    )
    if not k.has("cmsis_transpose_conv_reversed"):
        yield Scratch(size_of(k.node, result.h * result.w * result.c, 4), "accumulator")
        return
    reverse = sizes.arm_transpose_conv_s8_get_reverse_conv_buffer_size(params, image, window)
    yield Scratch(reverse, "transpose_conv_s8_reverse_conv")


def _check_int16_bias(k: Kernel, kernel: KernelTensor, output: KernelTensor, bias: KernelTensor | None) -> None:
    k.require(bias, "bias")


def _check_scales(k: Kernel, kernel: KernelTensor, channel_count: int, axis: str) -> None:
    """Refuse scales that are neither one nor one per channel, or that are not as many as the zero points."""
    affine, size = kernel.affine, "affine_quantization->scale->size"
    assert affine is not None, "the caller checked that there are scales"
    if affine.scale_count not in (1, channel_count):
        k.ensure(False, f"{size} == 1 || {size} == filter->dims->data[{axis}]")
    k.ensure_eq(affine.scale_count, affine.zero_point_count, size, "affine_quantization->zero_point->size")


# Upstream looks for CONV_2D's bias among the outputs, where it has none.
_NO_BIAS = unchecked(result(2, "bias"))

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("cmsis_nn/conv.OpData"),
        Prepare("cmsis_nn/conv.cc", OP_DATA, takes=(INPUT, FILTER, OUTPUT, _NO_BIAS), body=_conv, frees=(2, 0, 1, 3)),
        parse=parse_conv,
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("cmsis_nn/depthwise_conv.OpData"),
        Prepare(
            "cmsis_nn/depthwise_conv.cc", OP_DATA, takes=(INPUT, FILTER, OUTPUT), body=_depthwise_conv, frees=(2, 0, 1)
        ),
    ),
    OpModel(
        "TRANSPOSE_CONV",
        "TfLiteTransposeConvParams",
        op_data("cmsis_nn/transpose_conv.OpData"),
        Prepare(
            "cmsis_nn/transpose_conv.cc",
            OP_DATA,
            takes=(OUTPUT, source(2), FILTER),
            body=_transpose_conv,
            function="Prepare",
        ),
        parse=parse_transpose_conv,
    ),
)
