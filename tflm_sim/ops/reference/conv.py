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

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tflm_sim.model.operator_facts import CHANNEL_AXES
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import CMSIS_NN, ESP_NN, INPUT_TYPE, INT8_OR_4, PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.eval_values import ValueRow
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import convertible_types, fused_activation
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, source, take_all, unchecked
from tflm_sim.ops.reference import output_shapes
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.reference.quantization import check_convolution_quantization
from tflm_sim.ops.requests import FreeTempTensors, KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import decompression_scratch, fail, is_compressed, op_data, size_of

_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16
CONV_PAIRS = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT4), (_INT8, _INT8))
"""Types of input and filter that go together."""


FILTER = source(1, "filter")
_TENSORS = INPUT, FILTER, unchecked(source(2, "bias")), OUTPUT
_TRANSPOSE_TENSORS = source(2), FILTER, unchecked(source(3, "bias")), OUTPUT
_INT16_SINCE: dict[int, str] = {_INT16: "kernels_8x16"}
_ACCUMULATES_SINCE: dict[int, str] = {**_INT16_SINCE, TensorType.UINT8: "uint8_kernels"}


class Convolution(NamedTuple):
    """What tells the two kinds of ``CalculateOpData*Conv`` apart, which every kernel library calls.

    Attributes:
        file: Where it is.
        function: Its name.
        table: The builtin options.
        axis: The filter's dimension of output channels.
        axis_name: Upstream's constant for it.
    """

    file: str
    function: str
    table: str
    axis: int
    axis_name: str


CONV = Convolution(
    "conv_common.cc", "CalculateOpDataConv", "Conv2DOptions", CHANNEL_AXES["CONV_2D"], "kConvQuantizedDimension"
)
DEPTHWISE_CONV = Convolution(
    "depthwise_conv_common.cc",
    "CalculateOpDataDepthwiseConv",
    "DepthwiseConv2DOptions",
    CHANNEL_AXES["DEPTHWISE_CONV_2D"],
    "kDepthwiseConvQuantizedDimension",
)


def _conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    k.same_c_type(source, output)
    k.ensure_msg((source.type, kernel.type) in CONV_PAIRS, HYBRID)
    if k.has("output_shapes"):
        output_shapes.check_conv(k, source, kernel, output)
    read_height_and_width(k, source, kernel, output)
    arrays = yield from _needed_arrays(k, source, k.dim(kernel, CONV.axis))
    if k.knows(source.type, (_INT8, _INT16), _INT16_SINCE):
        check_scales(k, kernel, CONV.axis, CONV.axis_name)
    yield from convolution_data(k.node, CONV, source.type, arrays_allocated=arrays)
    if k.has("output_shapes"):
        yield from reshaped_output(k, CONV, source, kernel, output)
    yield from unpacked_filter(k.node, kernel)
    yield from decompressed_filter_and_bias(k.node, kernel)


def _depthwise_conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    if k.has("output_shapes"):
        output_shapes.check_depthwise_conv(k, source, kernel, output)
    read_height_and_width(k, source, kernel, output)
    arrays = yield from _needed_arrays(k, source, k.dim(kernel, DEPTHWISE_CONV.axis))
    if source.type == _INT8:
        check_scales(k, kernel, DEPTHWISE_CONV.axis, DEPTHWISE_CONV.axis_name)
    pairs = (_INT8, _INT4), (_INT16, _INT8)
    k.ensure_msg(source.type == kernel.type or (source.type, kernel.type) in pairs, HYBRID)
    yield from unpacked_filter(k.node, kernel)
    yield from convolution_data(k.node, DEPTHWISE_CONV, source.type, arrays_allocated=arrays)
    if k.has("output_shapes"):
        yield from reshaped_output(k, DEPTHWISE_CONV, source, kernel, output)
    yield from decompressed_filter_and_bias(k.node, kernel)


def _transpose_conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    k.ensure_msg(source.type == kernel.type or (source.type, kernel.type) == (_INT16, _INT8), HYBRID)
    read_height_and_width(k, output, kernel)
    arrays = yield from per_channel_arrays(k.node, k.dim(kernel, 0))
    if k.knows(source.type, (_INT8, _INT16, TensorType.UINT8), _ACCUMULATES_SINCE):
        yield Scratch(size_of(k.node, flat_size(output), 8 if source.type == _INT16 else 4), "accumulator")
    if k.knows(source.type, (_INT8, _INT16), _INT16_SINCE):
        axis = "kTransposeConvQuantizedDimension" if k.has("transpose_conv_common") else "kConvQuantizedDimension"
        check_scales(k, kernel, 0, axis)
    inner, activation = k.within("CalculateOpData"), fused_activation(k.node, "TransposeConvOptions")
    yield from transpose_conv_data(
        inner, source.type, activation=activation, check_int16=_check_int16_types, arrays_allocated=arrays
    )
    yield from decompression_scratch(k.node, 1)
    yield from decompression_scratch(k.node, 3)


def read_height_and_width(k: Kernel, *tensors: KernelTensor) -> None:
    """The reads of ``dims->data[1]`` and ``dims->data[2]``."""
    for tensor in tensors:
        if len(tensor.shape) <= 2:
            k.dim(tensor, 2)


def _needed_arrays(k: Kernel, source: KernelTensor, channel_count: int) -> Steps[bool]:
    """Allocate :func:`per_channel_arrays`, unless a library leaves those out that nothing uses."""
    if source.type == _FLOAT32 and k.has("float_conv_without_arrays"):
        return False
    return (yield from per_channel_arrays(k.node, channel_count))


def per_channel_arrays(node: Node, channel_count: int) -> Steps[bool]:
    """Allocate the multipliers and the shifts; return whether both are there."""
    size = size_of(node, channel_count, 4)
    multiplier = yield Persistent(size, "per_channel_output_multiplier", checked=True)
    shift = yield Persistent(size, "per_channel_output_shift", checked=True)
    return multiplier is not None and shift is not None


def check_scales(k: Kernel, kernel: KernelTensor, axis: int, axis_name: str) -> None:
    """Refuse a filter without quantization, or with scales that are neither one nor one per channel."""
    k.affine(kernel, "filter")
    affine, size = kernel.affine, "affine_quantization->scale->size"
    assert affine is not None, "the check raises without quantization"
    if affine.scale_count not in (1, kernel.shape[axis]):
        k.ensure(False, f"{size} == 1 || {size} == filter->dims->data[{axis_name}]")


def convolution_data(node: Node, kind: Convolution, type_: int, *, arrays_allocated: bool) -> Steps[None]:
    """``CalculateOpDataConv`` and ``CalculateOpDataDepthwiseConv``, which differ in their frees."""
    k = Kernel(node, kind.file, kind.function)
    has_bias = len(node.inputs) == 3
    k.ensure(has_bias or len(node.inputs) == 2, "has_bias || node->inputs->size == 2")
    k.ensure_eq(len(node.outputs), 1, "node->outputs->size")
    source, kernel, bias, output = yield from take_all(k, _TENSORS)
    if type_ != _FLOAT32:
        count = kernel.shape[kind.axis]
        activation = fused_activation(node, kind.table)
        check_convolution_quantization(node, source, kernel, bias, output, activation=activation, channel_count=count)
        _check_written(k, count, arrays_allocated)
    if not k.has("temps_are_freed"):
        yield FreeTempTensors((source, kernel, bias, output))
    elif kind is CONV and k.has("conv_without_bias"):
        yield FreeTempTensors((output, source, kernel, bias))
    elif kind is CONV:
        yield FreeTempTensors((source, kernel, output, bias))
        k.require(bias, "bias")
    elif bias is None and (has_bias or not k.has("depthwise_conv_without_bias")):
        yield FreeTempTensors((source, kernel))
        k.require(bias, "bias")
    else:
        yield FreeTempTensors((source, kernel, bias, output))


def reshaped_output(
    k: Kernel, kind: Convolution, source: KernelTensor, kernel: KernelTensor, output: KernelTensor
) -> Steps[None]:
    """Compute the output's dims, as a convolution of this kind does."""
    return output_shapes.convolved_dims(k, kind.table, source, kernel, output, channels=kind.axis)


def _check_int16_types(k: Kernel, kernel: KernelTensor, output: KernelTensor, bias: KernelTensor | None) -> None:
    matching = kernel.type == _INT8 and output.type == _INT16
    k.check(matching, "filter->type == kTfLiteInt8 and output->type == kTfLiteInt16")


def transpose_conv_data(
    k: Kernel,
    type_: int,
    *,
    activation: int,
    check_int16: Callable[[Kernel, KernelTensor, KernelTensor, KernelTensor | None], None],
    arrays_allocated: bool,
) -> Steps[None]:
    """``CalculateOpData`` of TRANSPOSE_CONV.

    Args:
        k: The operator in that function of the kernel library.
        type_: The input's type.
        activation: The fused activation that it reads.
        check_int16: What it insists on for int16: of filter, output and bias.
        arrays_allocated: Whether the per-channel arrays are there.
    """
    node = k.node
    k.ensure(len(node.inputs) in (3, 4), "has_bias || node->inputs->size == 3")
    k.ensure_eq(len(node.outputs), 1, "node->outputs->size")
    if type_ == _FLOAT32:
        return
    source, kernel, bias, output = yield from take_all(k, _TRANSPOSE_TENSORS)
    count = kernel.shape[0]
    check_convolution_quantization(node, source, kernel, bias, output, activation=activation, channel_count=count)
    _check_written(k, count, arrays_allocated)
    if source.type == _INT16 and k.has("transpose_conv_bias"):
        check_int16(k, kernel, output, bias)
        if not k.has("transpose_conv_without_bias"):
            k.require(bias, "bias")
        if bias is not None and bias.type == _INT16:
            yield Scratch(size_of(node, flat_size(bias), 8), "bias_converted")
    yield from k.free(source, kernel, output, bias)


def _check_written(k: Kernel, channel_count: int, arrays_allocated: bool) -> None:
    """The per-channel values are written: through a null pointer when the arena had no room for them."""
    k.check(channel_count <= 0 or arrays_allocated, "per_channel_output_multiplier != nullptr")


def unpacked_filter(node: Node, kernel: KernelTensor) -> Steps[None]:
    """Request scratch for an int4 filter, one byte per element."""
    if kernel.type == _INT4:
        yield Scratch(size_of(node, flat_size(kernel), 1), "unpacked_filter")


def decompressed_filter_and_bias(node: Node, kernel: KernelTensor) -> Steps[None]:
    """Request scratch for a compressed filter (input 1) and a compressed bias (input 2)."""
    if not node.compressed_tensors:
        return
    if is_compressed(node, 1) and kernel.type == _INT4:
        raise fail("Compression not supported with INT4 tensors")
    yield from decompression_scratch(node, 1)
    yield from decompression_scratch(node, 2)


parse_conv = convertible_types("Conv2DOptions", "quantized_bias_type", since="quantized_bias_type")
parse_transpose_conv = convertible_types("TransposeConvOptions", "quantized_bias_type", since="quantized_bias_type")


def _depth_multiplier(node: Node) -> Iterator[str]:
    image, filters, multiplier = node.input(0), node.input(1), node.option("depth_multiplier")
    if image is None or filters is None or len(image.shape) != 4 or len(filters.shape) != 4:
        return
    inputs, outputs = image.shape[3], filters.shape[3]
    if inputs * multiplier != outputs:
        yield f"depth_multiplier is {multiplier} with {inputs} channels in and {outputs} out"


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("OpDataConv"),
        Prepare(
            "conv_common.cc",
            OP_DATA,
            takes=(OUTPUT, INPUT, FILTER),
            body=_conv,
            frees=(2, 1, 0),
            function="ConvPrepare",
        ),
        parse=parse_conv,
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("OpDataConv"),
        Prepare(
            "depthwise_conv_common.cc",
            OP_DATA,
            takes=(OUTPUT, INPUT, FILTER),
            body=_depthwise_conv,
            function="DepthwiseConvPrepare",
        ),
    ),
    OpModel(
        "TRANSPOSE_CONV",
        "TfLiteTransposeConvParams",
        op_data("transpose_conv.OpData"),
        Prepare(
            "transpose_conv.cc",
            OP_DATA,
            takes=(OUTPUT, source(2), FILTER),
            body=_transpose_conv,
            function="TransposeConvPrepare",
        ),
        parse=parse_transpose_conv,
    ),
)

_INPUT = Switch("i0", "FLOAT32 INT8 INT16", PLAIN)
_BIAS = Switch("i2", "INT32 INT64", "Bias type {name} ({number}) not supported.", when="i0 INT16")
_HYBRID = "Hybrid models are not supported on TFLite Micro."
_INT4_WEIGHTS = Switch("i1", INT8_OR_4, "Filter type {name} ({number}) not supported.", when="i0 INT8")
_FILTER_FOR = "Filter type {name} ({number}) for input type {input} not supported."

_CONV = (_INPUT, _BIAS, Switch("i1", INT8_OR_4, "Weight type {name} ({number}) not supported.", when="i0 INT8"))
_DEPTHWISE = (
    Switch("i0", "FLOAT32 INT8 INT16", INPUT_TYPE),
    Switch("i1", INT8_OR_4, _FILTER_FOR, when="i0 INT8"),
    Switch("i1", "INT8", _FILTER_FOR, when="i0 INT16"),
)

# Of ESP-NN: kernels/esp_nn of esp-tflite-micro @ v1.2.0 (upstream of 2023-09-29), v1.3.0 (2024-04-29) and v1.3.1.
EVALS: tuple[EvalRow, ...] = (
    EvalRow("CONV_2D", _CONV, 879),
    EvalRow("CONV_2D", (_INPUT, _BIAS), 637),
    known_types("CONV_2D", "i0", "FLOAT32 INT8 INT16", PLAIN, 139),
    known_types("CONV_2D", "i0", "FLOAT32 INT8", PLAIN),
    EvalRow("CONV_2D", (_INPUT, _INT4_WEIGHTS, _BIAS), 1289, CMSIS_NN),
    EvalRow("CONV_2D", (_INPUT, _INT4_WEIGHTS), 940, CMSIS_NN),
    known_types("CONV_2D", "i0", "FLOAT32 INT8 INT16", PLAIN, 139, CMSIS_NN),
    EvalRow("CONV_2D", _CONV, 1472, ESP_NN),
    EvalRow(
        "CONV_2D",
        (
            Switch("i1", "INT8", _HYBRID, when="i0 INT8"),
            Switch("i1", "INT16", _HYBRID, when="i0 INT16"),
            Switch("i0", "FLOAT32 INT8", PLAIN),
        ),
        0,
        ESP_NN,
    ),
    EvalRow("DEPTHWISE_CONV_2D", _DEPTHWISE, 1267),
    EvalRow("DEPTHWISE_CONV_2D", (Switch("i0", "FLOAT32 INT8", INPUT_TYPE), _INT4_WEIGHTS), 942),
    known_types("DEPTHWISE_CONV_2D", "i0", "FLOAT32 INT8", PLAIN),
    EvalRow("DEPTHWISE_CONV_2D", (_INPUT, _INT4_WEIGHTS), 942, CMSIS_NN),
    known_types("DEPTHWISE_CONV_2D", "i0", "FLOAT32 INT8 INT16", PLAIN, 664, CMSIS_NN),
    EvalRow("DEPTHWISE_CONV_2D", _DEPTHWISE, 1472, ESP_NN),
    known_types("DEPTHWISE_CONV_2D", "i0", "FLOAT32 INT8", PLAIN, 0, ESP_NN),
    known_types("TRANSPOSE_CONV", "i2", "FLOAT32 INT8 INT16", PLAIN, 139),
    known_types("TRANSPOSE_CONV", "i2", "FLOAT32 INT8", PLAIN),
)

VALUES: tuple[ValueRow, ...] = (ValueRow("DEPTHWISE_CONV_2D", undefined=_depth_multiplier),)
