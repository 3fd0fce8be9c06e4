"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV.

    Init      OpData                                      persistent
    Prepare   output, input, filter                       temps
              multiplier and shift of each channel        persistent, 2 x 4 bytes x channels
              (int4: the unpacked filter)                 scratch
              input, filter, bias, output once more       temps
              (compressed: filter, bias)                  scratch

The per-channel arrays are there for float models too. Shapes: input [n, h, w, c]; filter [out_channels, h, w, c] for
CONV_2D and TRANSPOSE_CONV, [1, h, w, out_channels] for DEPTHWISE_CONV_2D.

Source: tensorflow/lite/micro/kernels/{conv_common,depthwise_conv_common,transpose_conv}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.node_checks import convertible_types, require, require_op_data
from tflm_sim.ops.reference.quantization import check_convolution_quantization, ensure_affine, fused_activation
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import (
    abort,
    decompression_scratch,
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_msg,
    fail,
    free,
    input_tensor,
    is_compressed,
    op_data,
    optional_input,
    output_tensor,
    size_of,
)

_CONV, _DEPTHWISE, _TRANSPOSE = "conv_common.cc", "depthwise_conv_common.cc", "transpose_conv.cc"
_HYBRID = "Hybrid models are not supported on TFLite Micro."
_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16


def _prepare_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_CONV}:140")
    output = yield from output_tensor(node, 0, f"{_CONV}:150")
    source = yield from input_tensor(node, 0, f"{_CONV}:153")
    kernel = yield from input_tensor(node, 1, f"{_CONV}:156", "filter")
    ensure_c_types_eq(source.type, output.type, f"{_CONV}:158", "input->type", "output->type")
    pairs = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT4), (_INT8, _INT8))
    ensure_msg((source.type, kernel.type) in pairs, _CONV, _HYBRID)
    _read_height_and_width(f"{_CONV}:167", source, kernel, output)
    channel_count = dim(kernel, 0, f"{_CONV}:175")
    arrays = yield from per_channel_arrays(node, channel_count)
    if source.type in (_INT8, _INT16):
        check_scales(kernel, 0, "kConvQuantizedDimension", f"{_CONV}:185", f"{_CONV}:194")
    yield from convolution_data(node, source.type, _CONV, axis=0, arrays_allocated=arrays)
    yield from unpacked_filter(node, kernel)
    yield from decompressed_filter_and_bias(node, kernel)
    yield from free(kernel, source, output)


def _prepare_depthwise_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_DEPTHWISE}:140")
    output = yield from output_tensor(node, 0, f"{_DEPTHWISE}:150")
    source = yield from input_tensor(node, 0, f"{_DEPTHWISE}:153")
    kernel = yield from input_tensor(node, 1, f"{_DEPTHWISE}:156", "filter")
    _read_height_and_width(f"{_DEPTHWISE}:158", source, kernel, output)
    channel_count = dim(kernel, 3, f"{_DEPTHWISE}:166")
    arrays = yield from per_channel_arrays(node, channel_count)
    if source.type == _INT8:
        check_scales(kernel, 3, "kDepthwiseConvQuantizedDimension", f"{_DEPTHWISE}:176", f"{_DEPTHWISE}:185")
    pairs = ((_INT8, _INT4), (_INT16, _INT8))
    ensure_msg(source.type == kernel.type or (source.type, kernel.type) in pairs, _DEPTHWISE, _HYBRID)
    yield from unpacked_filter(node, kernel)
    yield from convolution_data(node, source.type, _DEPTHWISE, axis=3, arrays_allocated=arrays)
    yield from decompressed_filter_and_bias(node, kernel)
    yield from free(output, source, kernel)


def _prepare_transpose_conv(node: Node) -> Steps[None]:
    require_op_data(node, f"{_TRANSPOSE}:153")
    output = yield from output_tensor(node, 0, f"{_TRANSPOSE}:164")
    source = yield from input_tensor(node, 2, f"{_TRANSPOSE}:167")
    kernel = yield from input_tensor(node, 1, f"{_TRANSPOSE}:170", "filter")
    ensure_msg(source.type == kernel.type or (source.type, kernel.type) == (_INT16, _INT8), _TRANSPOSE, _HYBRID)
    _read_height_and_width(f"{_TRANSPOSE}:179", output, kernel)
    channel_count = dim(kernel, 0, f"{_TRANSPOSE}:185")
    arrays = yield from per_channel_arrays(node, channel_count)
    if source.type in (_INT8, _INT16):
        count = runtime_flat_size(runtime_shape(output))
        yield Scratch(size_of(node, count, 4 if source.type == _INT8 else 8), "accumulator")
        check_scales(kernel, 0, "kTransposeConvQuantizedDimension", f"{_TRANSPOSE}:213", f"{_TRANSPOSE}:222")
    yield from _transpose_conv_data(node, source.type, arrays_allocated=arrays)
    yield from decompression_scratch(node, 1)
    yield from decompression_scratch(node, 3)
    yield from free(output, source, kernel)


def _read_height_and_width(place: str, *tensors: KernelTensor) -> None:
    """The reads of ``dims->data[1]`` and ``dims->data[2]``."""
    for tensor in tensors:
        dim(tensor, 2, place)


def per_channel_arrays(node: Node, channel_count: int) -> Steps[bool]:
    """Allocate the multipliers and the shifts; return whether both are there."""
    size = size_of(node, channel_count, 4)
    multiplier = yield Persistent(size, "per_channel_output_multiplier", checked=True)
    shift = yield Persistent(size, "per_channel_output_shift", checked=True)
    return multiplier is not None and shift is not None


def check_scales(kernel: KernelTensor, axis: int, axis_name: str, affine_place: str, place: str) -> None:
    """Refuse a filter without quantization, or with scales that are neither one nor one per channel."""
    ensure_affine(kernel, affine_place, "filter")
    assert kernel.affine is not None, "ensure_affine raises without quantization"
    size = "affine_quantization->scale->size"
    right = len(kernel.affine.scale) in (1, kernel.shape[axis])
    ensure(right, place, f"{size} == 1 || {size} == filter->dims->data[{axis_name}]")


def convolution_data(node: Node, type_: int, file: str, *, axis: int, arrays_allocated: bool) -> Steps[None]:
    """``CalculateOpDataConv`` and ``CalculateOpDataDepthwiseConv``, which share their lines but not the frees."""
    has_bias = len(node.inputs) == 3
    ensure(has_bias or len(node.inputs) == 2, f"{file}:88", "has_bias || node->inputs->size == 2")
    ensure_eq(len(node.outputs), 1, f"{file}:89", "node->outputs->size", "1")
    source = yield from input_tensor(node, 0, f"{file}:102")
    kernel = yield from input_tensor(node, 1, f"{file}:105", "filter")
    bias = yield from optional_input(node, 2)
    output = yield from output_tensor(node, 0, f"{file}:110")
    if type_ != _FLOAT32:
        table = "Conv2DOptions" if file == _CONV else "DepthwiseConv2DOptions"
        channel_count = kernel.shape[axis]
        check_convolution_quantization(
            source, kernel, bias, output, activation=fused_activation(node, table), channel_count=channel_count
        )
        _check_written(f"{file}:117", channel_count, arrays_allocated)
    if file == _CONV:
        yield from free(output, source, kernel, bias)
        return
    yield from free(source, kernel)
    if has_bias:
        yield from free(require(bias, f"{file}:132", "bias"))
    yield from free(output)


def _transpose_conv_data(node: Node, type_: int, *, arrays_allocated: bool) -> Steps[None]:
    """``CalculateOpData`` of TRANSPOSE_CONV."""
    count = len(node.inputs)
    ensure(count in (3, 4), f"{_TRANSPOSE}:78", "has_bias || node->inputs->size == 3")
    ensure_eq(len(node.outputs), 1, f"{_TRANSPOSE}:79", "node->outputs->size", "1")
    if type_ == _FLOAT32:
        return
    source = yield from input_tensor(node, 2, f"{_TRANSPOSE}:102")
    kernel = yield from input_tensor(node, 1, f"{_TRANSPOSE}:105", "filter")
    bias = yield from optional_input(node, 3)
    output = yield from output_tensor(node, 0, f"{_TRANSPOSE}:110")
    activation = fused_activation(node, "TransposeConvOptions")
    channel_count = kernel.shape[0]
    check_convolution_quantization(source, kernel, bias, output, activation=activation, channel_count=channel_count)
    _check_written(f"{_TRANSPOSE}:113", channel_count, arrays_allocated)
    if source.type == _INT16:
        if kernel.type != _INT8 or output.type != _INT16:
            raise abort(f"{_TRANSPOSE}:124", "filter->type == kTfLiteInt8 and output->type == kTfLiteInt16")
        if bias is not None and bias.type == _INT16:
            yield Scratch(size_of(node, runtime_flat_size(runtime_shape(bias)), 8), "bias_converted")
    yield from free(source, kernel, output, bias)


def _check_written(place: str, channel_count: int, arrays_allocated: bool) -> None:
    """The per-channel values are written: through a null pointer when the arena had no room for them."""
    if channel_count > 0 and not arrays_allocated:
        raise abort(place, "per_channel_output_multiplier != nullptr")


def unpacked_filter(node: Node, kernel: KernelTensor) -> Steps[None]:
    """Request scratch for an int4 filter, one byte per element."""
    if kernel.type == _INT4:
        yield Scratch(size_of(node, runtime_flat_size(runtime_shape(kernel)), 1), "unpacked_filter")


def decompressed_filter_and_bias(node: Node, kernel: KernelTensor) -> Steps[None]:
    """Request scratch for a compressed filter (input 1) and a compressed bias (input 2)."""
    if is_compressed(node, 1) and kernel.type == _INT4:
        raise fail("Compression not supported with INT4 tensors")
    yield from decompression_scratch(node, 1)
    yield from decompression_scratch(node, 2)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("OpDataConv"),
        _prepare_conv,
        _CONV,
        parse=convertible_types("Conv2DOptions", "quantized_bias_type"),
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("OpDataConv"),
        _prepare_depthwise_conv,
        _DEPTHWISE,
    ),
    OpModel(
        "TRANSPOSE_CONV",
        "TfLiteTransposeConvParams",
        op_data("transpose_conv.OpData"),
        _prepare_transpose_conv,
        _TRANSPOSE,
        parse=convertible_types("TransposeConvOptions", "quantized_bias_type"),
    ),
)
