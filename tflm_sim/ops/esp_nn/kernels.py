"""CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and SOFTMAX with ESP-NN: the reference Prepare, and scratch for int8.

ADD, MUL, AVERAGE_POOL_2D and MAX_POOL_2D have ESP-NN kernels too, with the reference OpData and Prepare: they have no
row.

Source: tensorflow/lite/micro/kernels/esp_nn/{conv,depthwise_conv,fully_connected,softmax}.cc @ esp-tflite-micro 1.4.0.
"""

from __future__ import annotations

from typing import cast

from tflm_sim.model.types import TensorType
from tflm_sim.ops.esp_nn.dims import ConvParams, DataDims, Implementation
from tflm_sim.ops.esp_nn.scratch_sizes import SCRATCH_SIZES, ScratchSizes
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.conv import check_scales, convolution_data, per_channel_arrays, unpacked_filter
from tflm_sim.ops.reference.fully_connected import fully_connected_prepare, parse
from tflm_sim.ops.reference.node_checks import convertible_types, ensure_counts, int_option, require_op_data
from tflm_sim.ops.reference.softmax import softmax_params
from tflm_sim.ops.reference.window import Extent, padding_before, strides
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import (
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_msg,
    free,
    input_tensor,
    op_data,
    output_tensor,
)

_CONV, _DEPTHWISE = "esp_nn/conv.cc", "esp_nn/depthwise_conv.cc"
_FULLY_CONNECTED, _SOFTMAX = "esp_nn/fully_connected.cc", "esp_nn/softmax.cc"
_HYBRID = "Hybrid models are not supported on TFLite Micro."
_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16


def _sizes(node: Node) -> ScratchSizes:
    """Return the scratch-size functions of the linked ESP-NN."""
    library = node.target.kernel_library
    return SCRATCH_SIZES[library.version][cast(Implementation, library.variant)]


def _prepare_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_CONV}:52")
    output = yield from output_tensor(node, 0, f"{_CONV}:63")
    source = yield from input_tensor(node, 0, f"{_CONV}:66")
    kernel = yield from input_tensor(node, 1, f"{_CONV}:69", "filter")
    input_channels, group_channels = dim(source, 3, f"{_CONV}:72"), dim(kernel, 3, f"{_CONV}:73")
    ensure(group_channels > 0, f"{_CONV}:74", "filter_input_channels > 0")
    rest = input_channels % group_channels
    ensure_eq(rest, 0, f"{_CONV}:75", "input_channels % filter_input_channels", "0")
    ensure_c_types_eq(source.type, output.type, f"{_CONV}:77", "input->type", "output->type")
    pairs = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT4), (_INT8, _INT8))
    ensure_msg((source.type, kernel.type) in pairs, _CONV, _HYBRID)
    output_channels = dim(output, 3, f"{_CONV}:137") if source.type == _INT8 else dim(output, 2, f"{_CONV}:90")
    arrays = yield from per_channel_arrays(node, kernel.shape[0])
    if source.type in (_INT8, _INT16):
        check_scales(kernel, 0, "kConvQuantizedDimension", f"{_CONV}:104", f"{_CONV}:113")
    yield from convolution_data(node, source.type, "conv_common.cc", axis=0, arrays_allocated=arrays)
    yield from unpacked_filter(node, kernel)
    if source.type == _INT8:
        image = DataDims(source.shape[1], source.shape[2], input_channels)
        result = DataDims(output.shape[1], output.shape[2], output_channels)
        window = DataDims(kernel.shape[1], kernel.shape[2], group_channels)
        params = _conv_params(node, "Conv2DOptions", image, window)
        yield from _optional_scratch(_sizes(node).esp_nn_get_conv_scratch_size(image, window, result, params))
    yield from free(output, source, kernel)


def _prepare_depthwise_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_DEPTHWISE}:164")
    output = yield from output_tensor(node, 0, f"{_DEPTHWISE}:175")
    source = yield from input_tensor(node, 0, f"{_DEPTHWISE}:178")
    kernel = yield from input_tensor(node, 1, f"{_DEPTHWISE}:181", "filter")
    _check_depthwise(node, source, kernel, output)
    arrays = yield from per_channel_arrays(node, kernel.shape[3])
    if source.type == _INT8:
        axis = "kDepthwiseConvQuantizedDimension"
        check_scales(kernel, 3, axis, f"{_DEPTHWISE}:217", f"{_DEPTHWISE}:226")
    pairs = ((_INT8, _INT4), (_INT16, _INT8))
    ensure_msg(source.type == kernel.type or (source.type, kernel.type) in pairs, _DEPTHWISE, _HYBRID)
    yield from unpacked_filter(node, kernel)
    file = "depthwise_conv_common.cc"
    yield from convolution_data(node, source.type, file, axis=3, arrays_allocated=arrays)
    if source.type == _INT8:
        image, result, window = (DataDims(*tensor.shape[1:]) for tensor in (source, output, kernel))
        table = "DepthwiseConv2DOptions"
        params = _conv_params(node, table, image, window, ch_mult=int_option(node, table, "depth_multiplier"))
        yield from _optional_scratch(_sizes(node).esp_nn_get_depthwise_conv_scratch_size(image, window, result, params))
    yield from free(output, source, kernel)


def _check_depthwise(node: Node, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Refuse other than four dimensions, no dilation, and filters that are no multiple of the input's channels."""
    for tensor, line, name in ((source, 184, "input"), (kernel, 185, "filter"), (output, 186, "output")):
        ensure_eq(len(tensor.shape), 4, f"{_DEPTHWISE}:{line}", f"{name}->dims->size", "4")
    for axis, line in (("h", 187), ("w", 188)):
        name = f"dilation_{'height' if axis == 'h' else 'width'}_factor"
        dilation = int_option(node, "DepthwiseConv2DOptions", f"dilation_{axis}_factor")
        ensure(dilation > 0, f"{_DEPTHWISE}:{line}", f"params.{name} > 0")
    ensure_eq(kernel.shape[0], 1, f"{_DEPTHWISE}:191", "filter->dims->data[0]", "1")
    ensure(source.shape[3] != 0, f"{_DEPTHWISE}:196", "num_input_channels != 0")
    rest = kernel.shape[3] % source.shape[3]
    ensure_eq(rest, 0, f"{_DEPTHWISE}:197", "num_filter_channels % num_input_channels", "0")


def _conv_params(node: Node, table: str, image: DataDims, window: DataDims, *, ch_mult: int = 0) -> ConvParams:
    """Return strides and padding of a convolution."""
    padding = padding_before(node, table, image=Extent(*image[:2]), window=Extent(*window[:2]))
    return ConvParams(strides(node, table), padding, ch_mult)


def _optional_scratch(size: int) -> Steps[None]:
    """Request a scratch buffer unless its size is 0 bytes."""
    if size > 0:
        yield Scratch(size, "esp_nn")


def _prepare_fully_connected(node: Node) -> Steps[None]:
    refusal = "Input type: {} with filter type : {} not supported."
    yield from fully_connected_prepare(node, _FULLY_CONNECTED, 47, refusal)


def _prepare_softmax(node: Node) -> Steps[None]:
    ensure_counts(node, _SOFTMAX, 135, inputs=1)
    source = yield from input_tensor(node, 0, f"{_SOFTMAX}:138")
    ensure(len(source.shape) >= 1, f"{_SOFTMAX}:139", "NumDimensions(input) >= 1")
    output = yield from output_tensor(node, 0, f"{_SOFTMAX}:141")
    ensure(node.user_data is not None, f"{_SOFTMAX}:143", "node->user_data != nullptr")
    yield from softmax_params(node, source, output)
    if source.type == output.type == _INT8:
        # Upstream takes the second dimension for the width of a row, whatever the rank.
        width = dim(source, 1, f"{_SOFTMAX}:153")
        yield from _optional_scratch(_sizes(node).esp_nn_get_softmax_scratch_size(width, 0))
    yield from free(source, output)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("esp_nn/conv.NodeData"),
        _prepare_conv,
        _CONV,
        parse=convertible_types("Conv2DOptions", "quantized_bias_type"),
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("esp_nn/depthwise_conv.NodeData"),
        _prepare_depthwise_conv,
        _DEPTHWISE,
    ),
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("OpDataFullyConnected"),
        _prepare_fully_connected,
        _FULLY_CONNECTED,
        parse=parse,
    ),
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("esp_nn/softmax.NodeData"), _prepare_softmax, _SOFTMAX),
)
