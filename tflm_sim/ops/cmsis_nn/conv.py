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

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims, DwConvParams, Tile, TransposeConvParams
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, conv_params, isa, optional_scratch
from tflm_sim.ops.cmsis_nn.tensor_checks import (
    check_rank_4,
    check_supported_input,
    check_zero_zero_points,
    matching_dim,
)
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.conv import convolution_data, per_channel_arrays
from tflm_sim.ops.reference.node_checks import convertible_types, require_op_data
from tflm_sim.ops.reference.quantization import check_convolution_quantization, ensure_affine
from tflm_sim.ops.reference.window import strides
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import (
    abort,
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_msg,
    free,
    input_tensor,
    op_data,
    optional_input,
    optional_output,
    output_tensor,
    size_of,
)

_CONV, _DEPTHWISE, _TRANSPOSE = "cmsis_nn/conv.cc", "cmsis_nn/depthwise_conv.cc", "cmsis_nn/transpose_conv.cc"
_HYBRID = "Hybrid models are not supported on TFLite Micro."
_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16
_QUANTIZED = (_INT8, _INT16)
_PAIRS = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT4), (_INT8, _INT8))


def _prepare_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_CONV}:46")
    source = yield from input_tensor(node, 0, f"{_CONV}:58")
    kernel = yield from input_tensor(node, 1, f"{_CONV}:61", "filter")
    output = yield from output_tensor(node, 0, f"{_CONV}:64")
    # Upstream looks for the bias among the outputs, where CONV_2D has none.
    bias = yield from optional_output(node, 2)
    ensure_c_types_eq(source.type, output.type, f"{_CONV}:69", "input->type", "output->type")
    check_supported_input(source, _CONV)
    ensure_msg((source.type, kernel.type) in _PAIRS, _CONV, _HYBRID)
    _check_conv_dims(source, kernel, output)
    image, window, result = Dims(*source.shape), Dims(1, *kernel.shape[1:]), Dims(*output.shape)
    arrays = False
    if source.type in _QUANTIZED:
        arrays = yield from per_channel_arrays(node, kernel.shape[0])
    yield from convolution_data(node, source.type, "conv_common.cc", axis=0, arrays_allocated=arrays)
    params = conv_params(node, "Conv2DOptions", image, window)
    sizes, build = buffer_sizes(node), isa(node)
    if source.type == _INT8:
        size = sizes.arm_convolve_wrapper_s8_get_buffer_size(build, params, image, window, result)
        yield from optional_scratch(size, "convolve_wrapper_s8")
    if source.type == _INT16 and (bias is None or bias.type == TensorType.INT64):
        check_zero_zero_points(f"{_CONV}:158", input=source, output=output)
        size = sizes.arm_convolve_wrapper_s16_get_buffer_size(build, params, image, window, result)
        yield from optional_scratch(size, "convolve_wrapper_s16")
    yield from free(output, source, kernel, bias)


def _check_conv_dims(source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Refuse other than four dimensions, another batch count, and input channels that are no multiple of a group's."""
    for line, name, tensor in ((85, "input", source), (86, "filter", kernel), (87, "output", output)):
        ensure_eq(len(tensor.shape), 4, f"{_CONV}:{line}", f"{name}->dims->size", "4")
    batches = "input->dims->data[0]", "output->dims->data[0]"
    ensure_eq(source.shape[0], output.shape[0], f"{_CONV}:89", *batches)
    ensure(kernel.shape[3] > 0, f"{_CONV}:91", "filter->dims->data[3] > 0")
    rest = source.shape[3] % kernel.shape[3]
    ensure_eq(rest, 0, f"{_CONV}:92", "input->dims->data[3] % filter->dims->data[3]", "0")
    groups = source.shape[3] // kernel.shape[3]
    if groups == 0 or output.shape[3] % groups:
        raise abort(f"{_CONV}:95", "output->dims->data[3] % groups == 0")


def _prepare_depthwise_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_DEPTHWISE}:59")
    source = yield from input_tensor(node, 0, f"{_DEPTHWISE}:70")
    kernel = yield from input_tensor(node, 1, f"{_DEPTHWISE}:73", "filter")
    output = yield from output_tensor(node, 0, f"{_DEPTHWISE}:76")
    ensure_c_types_eq(source.type, output.type, f"{_DEPTHWISE}:78", "input->type", "output->type")
    check_supported_input(source, _DEPTHWISE)
    ensure_msg((source.type, kernel.type) in _PAIRS, _DEPTHWISE, _HYBRID)
    for tensor in (source, kernel, output):
        dim(tensor, 2, f"{_DEPTHWISE}:92")
    arrays = False
    if source.type in _QUANTIZED:
        ensure_affine(kernel, f"{_DEPTHWISE}:101", "filter")
        if source.type == _INT16:
            check_zero_zero_points(f"{_DEPTHWISE}:105", input=source, output=output)
        channel_count = dim(kernel, 3, f"{_DEPTHWISE}:119")
        _check_scales(kernel, f"{_DEPTHWISE}:116", channel_count, "kDepthwiseConvQuantizedDimension")
        arrays = yield from per_channel_arrays(node, channel_count)
    file = "depthwise_conv_common.cc"
    yield from convolution_data(node, source.type, file, axis=3, arrays_allocated=arrays)
    if source.type == _INT8:
        yield from optional_scratch(_depthwise_size(node, source, kernel, output), "depthwise_conv_wrapper")
    yield from free(output, source, kernel)


def _depthwise_size(node: Node, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> int:
    """Return the bytes that an int8 depthwise convolution asks for."""
    check_rank_4(f"{_DEPTHWISE}:144", input=source, filter=kernel, output=output)
    batches = matching_dim((source.shape, 0), (output.shape, 0))
    depth = matching_dim((output.shape, 3), (kernel.shape, 3))
    image = Dims(batches, *source.shape[1:])
    window = Dims(1, kernel.shape[1], kernel.shape[2], depth)
    result = Dims(batches, output.shape[1], output.shape[2], depth)
    params = DwConvParams(0, *conv_params(node, "DepthwiseConv2DOptions", image, window))
    sizes = buffer_sizes(node)
    four_bits = kernel.type == _INT4
    size_of_kernel = (
        sizes.arm_depthwise_conv_wrapper_s4_get_buffer_size
        if four_bits
        else sizes.arm_depthwise_conv_wrapper_s8_get_buffer_size
    )
    return size_of_kernel(isa(node), params, image, window, result)


def _prepare_transpose_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_TRANSPOSE}:158")
    output = yield from output_tensor(node, 0, f"{_TRANSPOSE}:169")
    source = yield from input_tensor(node, 2, f"{_TRANSPOSE}:172")
    kernel = yield from input_tensor(node, 1, f"{_TRANSPOSE}:175", "filter")
    ensure_c_types_eq(source.type, output.type, f"{_TRANSPOSE}:177", "input->type", "output->type")
    check_supported_input(source, _TRANSPOSE)
    pairs = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT8))
    ensure_msg((source.type, kernel.type) in pairs, _TRANSPOSE, _HYBRID)
    for tensor in (output, kernel):
        dim(tensor, 2, f"{_TRANSPOSE}:191")
    arrays = yield from per_channel_arrays(node, dim(kernel, 0, f"{_TRANSPOSE}:197"))
    if source.type == _INT8:
        yield from _transpose_scratch(node, source, kernel, output)
    if source.type == _INT16:
        yield Scratch(size_of(node, runtime_flat_size(runtime_shape(output)), 8), "accumulator")
    if source.type in _QUANTIZED:
        ensure_affine(kernel, f"{_TRANSPOSE}:266", "filter")
        _check_scales(kernel, f"{_TRANSPOSE}:275", kernel.shape[0], "kConvQuantizedDimension")
    yield from _transpose_conv_data(node, source.type, arrays_allocated=arrays)
    yield from free(output, source, kernel)


def _transpose_scratch(node: Node, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Request the two buffers of the int8 kernel, also when they have 0 bytes."""
    check_rank_4(f"{_TRANSPOSE}:212", input=source, filter=kernel, output=output)
    batches = matching_dim((source.shape, 0), (output.shape, 0))
    output_depth = matching_dim((kernel.shape, 0), (output.shape, 3))
    input_depth = matching_dim((source.shape, 3), (kernel.shape, 3))
    table = "TransposeConvOptions"
    params = TransposeConvParams(Tile(*strides(node, table)))
    image = Dims(batches, source.shape[1], source.shape[2], input_depth)
    window = Dims(output_depth, kernel.shape[1], kernel.shape[2], input_depth)
    result = Dims(batches, output.shape[1], output.shape[2], output_depth)
    sizes = buffer_sizes(node)
    yield Scratch(
        sizes.arm_transpose_conv_s8_get_buffer_size(isa(node), params, image, window, result), "transpose_conv_s8"
    )
    reverse = sizes.arm_transpose_conv_s8_get_reverse_conv_buffer_size(params, image, window)
    yield Scratch(reverse, "transpose_conv_s8_reverse_conv")


def _transpose_conv_data(node: Node, type_: int, *, arrays_allocated: bool) -> Steps[None]:
    """``CalculateOpData`` of TRANSPOSE_CONV."""
    ensure(len(node.inputs) in (3, 4), f"{_TRANSPOSE}:81", "has_bias || node->inputs->size == 3")
    ensure_eq(len(node.outputs), 1, f"{_TRANSPOSE}:82", "node->outputs->size", "1")
    if type_ == _FLOAT32:
        return
    source = yield from input_tensor(node, 2, f"{_TRANSPOSE}:110")
    kernel = yield from input_tensor(node, 1, f"{_TRANSPOSE}:113", "filter")
    bias = yield from optional_input(node, 3)
    output = yield from output_tensor(node, 0, f"{_TRANSPOSE}:118")
    check_convolution_quantization(source, kernel, bias, output, activation=0, channel_count=kernel.shape[0])
    if kernel.shape[0] > 0 and not arrays_allocated:
        raise abort(f"{_TRANSPOSE}:121", "per_channel_output_multiplier != nullptr")
    if source.type == _INT16:
        if bias is None:
            raise abort(f"{_TRANSPOSE}:134", "bias != nullptr")
        if bias.type == _INT16:
            yield Scratch(size_of(node, runtime_flat_size(runtime_shape(bias)), 8), "bias_converted")
    yield from free(source, kernel, output, bias)


def _check_scales(kernel: KernelTensor, place: str, channel_count: int, axis: str) -> None:
    """Refuse scales that are neither one nor one per channel, or that are not as many as the zero points."""
    assert kernel.affine is not None, "ensure_affine raises without quantization"
    scales, zero_points = len(kernel.affine.scale), len(kernel.affine.zero_point)
    size = "affine_quantization->scale->size"
    ensure(scales in (1, channel_count), place, f"{size} == 1 || {size} == filter->dims->data[{axis}]")
    file, _, line = place.rpartition(":")
    ensure_eq(scales, zero_points, f"{file}:{int(line) + 4}", size, "affine_quantization->zero_point->size")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("cmsis_nn/conv.OpData"),
        _prepare_conv,
        _CONV,
        parse=convertible_types("Conv2DOptions", "quantized_bias_type"),
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("cmsis_nn/depthwise_conv.OpData"),
        _prepare_depthwise_conv,
        _DEPTHWISE,
    ),
    OpModel(
        "TRANSPOSE_CONV",
        "TfLiteTransposeConvParams",
        op_data("cmsis_nn/transpose_conv.OpData"),
        _prepare_transpose_conv,
        _TRANSPOSE,
        parse=convertible_types("TransposeConvOptions", "quantized_bias_type"),
    ),
)
