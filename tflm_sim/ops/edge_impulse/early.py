"""The kernels of Edge Impulse's SDKs until July 2021, TensorFlow's of mid-2020: most keep nothing.

    CONV_2D, DEPTHWISE_CONV_2D   Init: OpData; Prepare: multiplier and shift of each channel, of any type
    FULLY_CONNECTED, QUANTIZE, DEQUANTIZE                       Init: OpData
    MEAN, REDUCE_MAX (since June 2021)                          Init: OpData; Prepare: scratch

With CMSIS-NN, OpData has a pointer to a buffer of the function's, which is persistent: of CONV_2D for int8, of
DEPTHWISE_CONV_2D with a depth multiplier of 1 and of pooling for any type.

Source: tensorflow/lite/micro/kernels, CMSIS/NN/Source, edgeimpulse/inferencing-sdk-cpp @ 7e29702, 6887772, 00ea795.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, conv_params, isa
from tflm_sim.ops.edge_impulse.checks import refuse_unless, taken
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation, int_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, source
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.reference.conv import CONV, DEPTHWISE_CONV, Convolution
from tflm_sim.ops.reference.quantization import (
    check_activation_range,
    check_convolution_multiplier,
    check_convolution_quantization,
)
from tflm_sim.ops.reference.slice import strided_slice
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import op_data, optional_input

_FLOAT32, _INT8, _UINT8, _INT16, _INT32 = (
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.INT32,
)
_FILTER = source(1, "filter")
_QUANTIZED = (_INT8, _UINT8, _INT16)
_JOINED = (_FLOAT32, _UINT8, _INT8, _INT32, TensorType.INT64)
_MAX_CONCATENATED = 10
_MAX_DIMS = 4


def _kept(size: int, label: str) -> Steps[None]:
    if size > 0:
        yield Persistent(size, label)


def _arrays(node: Node, kernel: KernelTensor, kind: Convolution) -> Steps[None]:
    yield Persistent(4 * kernel.shape[kind.axis], "per_channel_output_multiplier")
    yield Persistent(4 * kernel.shape[kind.axis], "per_channel_output_shift")


def _check_quantization(
    node: Node, kind: Convolution, value: KernelTensor, kernel: KernelTensor, output: KernelTensor
) -> Steps[None]:
    """``CalculateOpData``."""
    refuse_unless(len(node.inputs) in (2, 3) and len(node.outputs) == 1, f"inputs and outputs of {node.op}")
    if value.type != _FLOAT32:
        bias = yield from optional_input(node, 2)
        activation, channels = fused_activation(node, kind.table), kernel.shape[kind.axis]
        check_convolution_quantization(node, value, kernel, bias, output, activation=activation, channel_count=channels)


def _convolution(node: Node, kind: Convolution) -> Steps[None]:
    _, output, value, kernel = yield from taken(node, OUTPUT, INPUT, _FILTER)
    yield from _arrays(node, kernel, kind)
    if value.type == _INT8:
        affine = kernel.affine
        scales = 0 if affine is None else affine.scale_count
        refuse_unless(scales in (1, kernel.shape[kind.axis]), f"the scales of the filter of {node.op}")
        refuse_unless(affine is not None and affine.zero_point_count == scales, f"the zero points of {node.op}")
    yield from _check_quantization(node, kind, value, kernel, output)


def _cmsis_conv(node: Node) -> Steps[None]:
    _, value, kernel, output = yield from taken(node, INPUT, _FILTER, OUTPUT)
    yield from _arrays(node, kernel, CONV)
    yield from _check_quantization(node, CONV, value, kernel, output)
    if value.type == _INT8:
        image, window = Dims(*value.shape), Dims(1, *kernel.shape[1:])
        params = conv_params(node, CONV.table, image, window)
        size = buffer_sizes(node).arm_convolve_wrapper_s8_get_buffer_size(
            isa(node), params, image, window, Dims(*output.shape)
        )
        yield from _kept(size, "convolve_wrapper_s8")


def _cmsis_depthwise_conv(node: Node) -> Steps[None]:
    _, value, kernel = yield from taken(node, INPUT, _FILTER)
    yield from _arrays(node, kernel, DEPTHWISE_CONV)
    if int_option(node, DEPTHWISE_CONV.table, "depth_multiplier") == 1:
        column = 2 * value.shape[3] * kernel.shape[1] * kernel.shape[2]
        yield from _kept(2 * column + 4 if isa(node) == "mve" else column, "depthwise_conv_s8_opt")


def _cmsis_pool(node: Node) -> Steps[None]:
    _, value, _ = yield from taken(node, INPUT, OUTPUT)
    yield from _kept(2 * value.shape[3] if isa(node) == "dsp" else 0, "avgpool_s8")


def _cmsis_fully_connected(node: Node) -> Steps[None]:
    _, value, kernel, output = yield from taken(node, INPUT, _FILTER, OUTPUT)
    refuse_unless(value.type == output.type == kernel.type, "types of FULLY_CONNECTED")


def _fully_connected(node: Node) -> Steps[None]:
    yield from _cmsis_fully_connected(node)
    _, value, kernel, output = yield from taken(node, INPUT, _FILTER, OUTPUT)
    if value.type != _FLOAT32:
        bias = yield from optional_input(node, 2)
        check_convolution_multiplier(node, value, kernel, bias, output.scale)
        check_activation_range(node, fused_activation(node, "FullyConnectedOptions"), output)


def _quantize(node: Node) -> Steps[None]:
    _, value, output = yield from taken(node, INPUT, OUTPUT)
    refuse_unless(output.affine is not None and output.affine.scale_count == 1, "the output's scales of QUANTIZE")
    refuse_unless(value.type in (_FLOAT32, _INT16, _INT8) and output.type in (_UINT8, _INT8), "types of QUANTIZE")


def _dequantize(node: Node) -> Steps[None]:
    _, value, output = yield from taken(node, INPUT, OUTPUT)
    refuse_unless(value.type in _QUANTIZED and output.type in (_FLOAT32, _INT32), "types of DEQUANTIZE")


def _init_reduce(node: Node) -> Steps[object]:
    if node.target.runtime.has("edge_impulse_mean"):
        yield Persistent(node.target.sizeof("OpDataReduce"), "OpDataReduce")
    return "OpDataReduce"


def _mean(node: Node) -> Steps[None]:
    _, value, axis, output = yield from taken(node, INPUT, source(1, "axis"), OUTPUT)
    refuse_unless(axis.type == _INT32, "the type of MEAN's axes")
    if node.target.runtime.has("edge_impulse_mean") and value.type in (_INT8, _UINT8):
        yield Scratch(4 * flat_size(output), "temp_buffer")


def _reduce_max(node: Node) -> Steps[None]:
    _, value, axis = yield from taken(node, INPUT, source(1, "axis"))
    refuse_unless(axis.type == _INT32, "the type of REDUCE_MAX's axes")
    yield Scratch(4 * len(value.shape), "temp_buffer")
    yield Scratch(4 * flat_size(axis), "resolved_axis")


def _same_type(node: Node) -> Steps[None]:
    """Of operators on floats or bools alone, of one input."""
    _, value, output = yield from taken(node, INPUT, OUTPUT)
    wanted = TensorType.BOOL if node.op == "LOGICAL_NOT" else _FLOAT32
    refuse_unless(value.type == output.type == wanted, f"types of {node.op}")


def _softmax(node: Node) -> Steps[None]:
    _, value = yield from taken(node, INPUT)
    refuse_unless(len(value.shape) >= 1, "a scalar for SOFTMAX")


def _concatenation(node: Node) -> Steps[None]:
    _, output, *values = yield from taken(node, OUTPUT, *map(source, range(len(node.inputs))))
    refuse_unless(fused_activation(node, "ConcatenationOptions") == 0, "an activation of CONCATENATION")
    refuse_unless(values[0].type in _JOINED and values[0].type == output.type, "types of CONCATENATION")
    refuse_unless(len(values) <= _MAX_CONCATENATED, f"CONCATENATION of more than {_MAX_CONCATENATED} tensors")
    refuse_unless(all(len(value.shape) <= _MAX_DIMS for value in values), "CONCATENATION of more than 4 dimensions")


def _reshape(node: Node) -> Steps[None]:
    _, value, output = yield from taken(node, INPUT, OUTPUT)
    refuse_unless(value.type == output.type, "types of RESHAPE")
    refuse_unless(_OPEN in output.shape or prod(output.shape) == prod(value.shape), "the shapes of RESHAPE")


_PARTS = INPUT, *(source(position, name) for position, name in enumerate(("begin", "end", "strides"), start=1)), OUTPUT


def _strided_slice(node: Node) -> Steps[None]:
    k, *tensors = yield from taken(node, *_PARTS)
    strided_slice(k, *tensors)


def _pad(node: Node) -> Steps[None]:
    k, value, paddings, output = yield from taken(node, INPUT, source(1, "paddings"), OUTPUT)
    refuse_unless(value.type == output.type, f"types of {node.op}")
    refuse_unless(paddings.is_constant and flat_size(paddings) == 2 * len(output.shape), f"the paddings of {node.op}")
    refuse_unless(len(value.shape) <= _MAX_DIMS, f"{node.op} of more than 4 dimensions")
    added = k.constants(paddings, flat_size(paddings), "paddings")
    padded = tuple(map(sum, zip(value.shape, added[::2], added[1::2], strict=True)))
    refuse_unless(padded == output.shape, f"the output's shape of {node.op}")


_OPEN = -1
_WITHOUT_CHECKS = (
    "ADD ARG_MAX ARG_MIN EQUAL FLOOR GREATER GREATER_EQUAL L2_NORMALIZATION LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR "
    "LOGISTIC MAXIMUM MINIMUM MUL NEG NOT_EQUAL PACK PRELU RELU RELU6 RESIZE_NEAREST_NEIGHBOR SPLIT SUB TANH UNPACK"
)
_ONE_INPUT = "ABS CEIL COS LOG LOGICAL_NOT ROUND RSQRT SIN SQRT SQUARE"
_OTHER_PREPARES: dict[str, Any] = {
    **dict.fromkeys(_ONE_INPUT.split(), _same_type),
    **dict.fromkeys(("PAD", "PADV2"), _pad),
    "CONCATENATION": _concatenation,
    "RESHAPE": _reshape,
    "SOFTMAX": _softmax,
    "STRIDED_SLICE": _strided_slice,
}
_POOLING = ("AVERAGE_POOL_2D", "MAX_POOL_2D")

MODELS: tuple[OpModel, ...] = (
    *(OpModel(op) for op in (*_WITHOUT_CHECKS.split(), *_POOLING)),
    *(OpModel(op, prepare=prepare) for op, prepare in _OTHER_PREPARES.items()),
    OpModel("CONV_2D", None, op_data("edge_impulse/early.Conv"), partial(_convolution, kind=CONV)),
    OpModel("DEPTHWISE_CONV_2D", None, op_data("edge_impulse/early.Conv"), partial(_convolution, kind=DEPTHWISE_CONV)),
    OpModel("DEQUANTIZE", None, op_data("edge_impulse/early.Scaling"), _dequantize),
    OpModel("FULLY_CONNECTED", None, op_data("edge_impulse/early.FullyConnected"), _fully_connected),
    OpModel("MEAN", None, _init_reduce, _mean),
    OpModel("QUANTIZE", None, op_data("edge_impulse/early.Scaling"), _quantize),
    OpModel("REDUCE_MAX", None, _init_reduce, _reduce_max),
)
CMSIS_MODELS: tuple[OpModel, ...] = (
    OpModel("CONV_2D", None, op_data("edge_impulse/early.CmsisConv"), _cmsis_conv),
    OpModel("DEPTHWISE_CONV_2D", None, op_data("edge_impulse/early.CmsisConv"), _cmsis_depthwise_conv),
    OpModel("FULLY_CONNECTED", None, op_data("edge_impulse/early.CmsisFullyConnected"), _cmsis_fully_connected),
    *(OpModel(op, None, op_data("edge_impulse/early.CmsisPool"), _cmsis_pool) for op in _POOLING),
)
