"""Silicon Labs' kernels for the MVP: seven operators, int8 and float32; CMSIS-NN does what the MVP cannot.

    Init      OpData                                      persistent
    Prepare   output, bias, input, filter                 temps (CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV)
              on the MVP: bias and scale of each channel  persistent, 2 x 2 bytes x channels
              else: multiplier and shift of each channel  persistent, 2 x 4 bytes x channels, and CMSIS-NN's scratch

TRANSPOSE_CONV asks for a sum for each element of its output, of 2 bytes on the MVP and of 4 else; FULLY_CONNECTED keeps
a bias of 2 bytes a unit on the MVP. ADD and MUL keep their OpData only. float32 keeps nothing besides.

Source: util/third_party/tensorflow_extra/siliconlabs/{add,conv,depthwise_conv,fully_connected,mul,pooling,
transpose_conv}.cc @ SiliconLabs/gecko_sdk 911f6cdef (4.4.1); the same in simplicity_sdk a1a37fa7 (2024.6.0), and in
SiliconLabs/mltk 5ae4b25 (0.20.0) but for what does not move memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from tflm_sim.errors import PrepareError
from tflm_sim.model.element_types import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.model.windows import output_size
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, isa, optional_scratch
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.mvp.depthwise import takes_depthwise_conv
from tflm_sim.ops.mvp.program import Axis, MvpLayer
from tflm_sim.ops.mvp.supported import (
    takes_average_pool,
    takes_conv,
    takes_fully_connected,
    takes_max_pool,
    takes_transpose_conv,
)
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation, int_option, option
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.reference.arithmetic import flat_size, matching_dim
from tflm_sim.ops.reference.binary_arithmetic import check_sum
from tflm_sim.ops.reference.conv import parse_conv, parse_transpose_conv
from tflm_sim.ops.reference.fully_connected import TABLE as LAYER
from tflm_sim.ops.reference.fully_connected import parse_fully_connected
from tflm_sim.ops.reference.pooling import TABLE as POOL
from tflm_sim.ops.reference.quantization import (
    ACTIVATION_NONE,
    ACTIVATION_RELU6,
    check_activation_range,
    check_convolution_multiplier,
    check_convolution_quantization,
    divide,
)
from tflm_sim.ops.reference.window import Extent, dilations, padding_before, strides
from tflm_sim.ops.requests import FreeTempTensors, KernelTensor, Log, Persistent, Steps
from tflm_sim.ops.roles import abort, fail, op_data, optional_input, optional_output, present, size_of, undefined

_FLOAT32, _INT8 = TensorType.FLOAT32, TensorType.INT8
_FOLDER = "util/third_party/tensorflow_extra/siliconlabs/"


class _Convolution(NamedTuple):
    """What tells the three convolutions apart.

    Attributes:
        file: Where it is.
        options: The builtin options.
        axis: The filter's dimension of output channels.
        inputs: Where the input, the filter and the bias are among the inputs.
        takes: Whether the MVP takes a layer.
        fallback: The scratch that the kernel asks for otherwise: its bytes and what it is.
    """

    file: str
    options: str
    axis: int
    inputs: tuple[int, int, int]
    takes: Callable[[MvpLayer], bool]
    fallback: Callable[[Node, ConvParams, KernelTensor, KernelTensor, KernelTensor], tuple[int, str]]

    def prepare(self, node: Node) -> Steps[None]:
        _check_op_data(node, self.file)
        at_input, at_filter, at_bias = self.inputs
        output = yield from optional_output(node, 0)
        bias = yield from optional_input(node, at_bias)
        maybe_source = yield from optional_input(node, at_input)
        maybe_filter = yield from optional_input(node, at_filter)
        line = 122 if self.options == "TransposeConvOptions" else 118
        source = present(maybe_source, f"{_FOLDER}{self.file}:{line}", "input")
        output = present(output, f"{_FOLDER}{self.file}:{line + 1}", "output")
        kernel = present(maybe_filter, f"{_FOLDER}{self.file}:{line + 2}", "filter")
        _check_rank_4(self.file, source, kernel, output)
        if source.type == _INT8:
            yield from self._int8(node, source, kernel, bias, output)
        elif source.type != _FLOAT32:
            raise fail(f"Type {type_name(source.type)} not currently supported.")
        yield FreeTempTensors((source, kernel, output, bias))

    def _int8(
        self, node: Node, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
    ) -> Steps[None]:
        layer, params = self._layer(node, source, kernel, output)
        channels = kernel.shape[self.axis]
        activation = fused_activation(node, self.options)
        if self.takes(layer):
            for label in ("bias", "output_scaler"):
                yield Persistent(size_of(node, channels, 2), label)
            _check_read(self.file, bias)
            if kernel.affine is None:
                raise undefined(_FOLDER + self.file, "the filter has no scales, which are read")
            check_activation_range(node, activation, output)
            if self.options == "TransposeConvOptions":
                yield from optional_scratch(size_of(node, flat_size(output), 2), "accumulator")
            return
        for label in ("per_channel_output_multiplier", "per_channel_output_shift"):
            yield Persistent(size_of(node, channels, 4), label)
        check_convolution_quantization(
            node, source, kernel, bias, output, activation=activation, channel_count=channels
        )
        yield from optional_scratch(*self.fallback(node, params, source, kernel, output))

    def _layer(
        self, node: Node, source: KernelTensor, kernel: KernelTensor, output: KernelTensor
    ) -> tuple[MvpLayer, ConvParams]:
        image, window, result = source.shape[1:3], kernel.shape[1:3], output.shape[1:3]
        is_transposed = self.options == "TransposeConvOptions"
        stride, dilation = strides(node, self.options), Extent(1, 1) if is_transposed else dilations(node, self.options)
        padding = option(node, self.options, "padding")
        before = padding_before(padding, image=image, window=window, stride=stride, dilation=dilation)
        _check_sizes(self.file, (*source.shape, *kernel.shape, *output.shape, *stride))
        rows, columns = (Axis(*sizes) for sizes in zip(image, window, result, stride, before, strict=True))
        batches, channels = source.shape[0], source.shape[3]
        layer = MvpLayer(batches, rows, columns, channels, kernel.shape[self.axis], padding == 0, dilation)
        return layer, ConvParams(stride, before, dilation)


def _conv_fallback(
    node: Node, params: ConvParams, source: KernelTensor, kernel: KernelTensor, output: KernelTensor
) -> tuple[int, str]:
    image, window, result = Dims(*source.shape), Dims(1, *kernel.shape[1:]), Dims(*output.shape)
    size = buffer_sizes(node).arm_convolve_wrapper_s8_get_buffer_size(isa(node), params, image, window, result)
    return size, "convolve_wrapper_s8"


def _depthwise_fallback(
    node: Node, params: ConvParams, source: KernelTensor, kernel: KernelTensor, output: KernelTensor
) -> tuple[int, str]:
    image, window, result = Dims(*source.shape), Dims(1, *kernel.shape[1:]), Dims(*output.shape)
    dw_params = DwConvParams(0, *params)
    size = buffer_sizes(node).arm_depthwise_conv_wrapper_s8_get_buffer_size(isa(node), dw_params, image, window, result)
    return size, "depthwise_conv_wrapper"


def _transpose_fallback(
    node: Node, params: ConvParams, source: KernelTensor, kernel: KernelTensor, output: KernelTensor
) -> tuple[int, str]:
    return size_of(node, flat_size(output), 4), "accumulator"


_CONV = _Convolution("conv.cc", "Conv2DOptions", 0, (0, 1, 2), takes_conv, _conv_fallback)
_DEPTHWISE = _Convolution(
    "depthwise_conv.cc", "DepthwiseConv2DOptions", 3, (0, 1, 2), takes_depthwise_conv, _depthwise_fallback
)
_TRANSPOSE = _Convolution(
    "transpose_conv.cc", "TransposeConvOptions", 0, (2, 1, 3), takes_transpose_conv, _transpose_fallback
)


def _check_op_data(node: Node, file: str) -> None:
    if node.user_data is None:
        raise abort(_FOLDER + file, "node->user_data != nullptr")


def _check_rank_4(file: str, *tensors: KernelTensor) -> None:
    rank = min(len(tensor.shape) for tensor in tensors)
    if rank < 4:
        raise abort(_FOLDER + file, f"dims->data[3] of a tensor of rank {rank}")


def _check_sizes(file: str, sizes: tuple[int, ...]) -> None:
    if min(sizes) < 1:
        raise undefined(_FOLDER + file, "a dimension or a stride is 0, which is divided by or never counted down")


def _check_read(file: str, bias: KernelTensor | None) -> None:
    """Refuse a bias that is computed: Prepare reads it."""
    if bias is not None and not bias.is_constant:
        raise undefined(_FOLDER + file, "the bias is no constant, and is read before there is data")


def _prepare_average_pool(node: Node) -> Steps[None]:
    source, output = yield from _pooled(node, 112)
    if source.type == _INT8 and not takes_average_pool(_pool_layer(node, source, output), clips=_clips(node, output)):
        sizes = buffer_sizes(node)
        size = sizes.arm_avgpool_s8_get_buffer_size(isa(node), output.shape[2], source.shape[3])
        yield from optional_scratch(size, "avgpool")
    yield FreeTempTensors((source, output))


def _prepare_max_pool(node: Node) -> Steps[None]:
    source, output = yield from _pooled(node, 154)
    if source.type == _INT8:
        takes_max_pool(_pool_layer(node, source, output))
    yield FreeTempTensors((source, output))


def _pooled(node: Node, line: int) -> Steps[tuple[KernelTensor, KernelTensor]]:
    """What both poolings do: take input and output, then once more for the parameters."""
    _check_op_data(node, "pooling.cc")
    maybe_source = yield from optional_input(node, 0)
    maybe_output = yield from optional_output(node, 0)
    source = present(maybe_source, f"{_FOLDER}pooling.cc:{line}", "input")
    output = present(maybe_output, f"{_FOLDER}pooling.cc:{line + 1}", "output")
    again = yield from optional_input(node, 0)
    output_again = yield from optional_output(node, 0)
    if again is None or output_again is None:
        raise undefined(f"{_FOLDER}pooling.cc", "the second temp tensor is a null pointer, which is read")
    _check_pool(node, source, output)
    if source.type != _FLOAT32:
        try:
            check_activation_range(node, fused_activation(node, POOL), output)
        except PrepareError as error:
            yield Log(error.device_message)
        if source.type != _INT8:
            raise fail(f"Type {type_name(source.type)} not currently supported.")
    yield FreeTempTensors((again, output_again))
    return source, output


def _check_pool(node: Node, source: KernelTensor, output: KernelTensor) -> None:
    matching_dim((source.shape, 0), (output.shape, 0))
    matching_dim((source.shape, 3), (output.shape, 3))
    _check_rank_4("pooling.cc", source, output)
    for axis, side, letter in ((1, "height", "h"), (2, "width", "w")):
        size = output_size(
            option(node, POOL, "padding"),
            image=source.shape[axis],
            window=int_option(node, POOL, f"filter_{side}"),
            stride=int_option(node, POOL, f"stride_{letter}"),
        )
        if (size or 0) != output.shape[axis]:
            raise abort(f"{_FOLDER}pooling.cc:{73 + axis}", f"out_{side} == data->op_params.output_{side}")


def _pool_layer(node: Node, source: KernelTensor, output: KernelTensor) -> MvpLayer:
    window = Extent(int_option(node, POOL, "filter_height"), int_option(node, POOL, "filter_width"))
    image, stride = source.shape[1:3], strides(node, POOL)
    padding = option(node, POOL, "padding")
    before = padding_before(padding, image=image, window=window, stride=stride, dilation=(1, 1))
    _check_sizes("pooling.cc", (*source.shape, *output.shape, *window, *stride))
    rows, columns = (Axis(*sizes) for sizes in zip(image, window, output.shape[1:3], stride, before, strict=True))
    return MvpLayer(source.shape[0], rows, columns, source.shape[3], source.shape[3], padding == 0)


def _clips(node: Node, output: KernelTensor) -> bool:
    """Return whether the activation leaves out some of int8's values; where its range is refused, it is all 0."""
    activation = fused_activation(node, POOL)
    if output.type != _INT8:
        return True
    if activation in (ACTIVATION_NONE, 4, 5):
        return False
    bounds = {ACTIVATION_RELU6: (0.0, 6.0)}.get(activation, (-1.0, 1.0) if activation == 2 else (0.0, math.inf))
    steps = [divide(bound, output.scale) for bound in bounds]
    if any(math.isnan(step) for step in steps):
        return True
    low, high = (
        output.zero_point + math.copysign(math.floor(abs(step) + 0.5), step) if math.isfinite(step) else step
        for step in steps
    )
    return low > -128 or high < 127


def _prepare_fully_connected(node: Node) -> Steps[None]:
    _check_op_data(node, "fully_connected.cc")
    maybe_source = yield from optional_input(node, 0)
    kernel = yield from optional_input(node, 1)
    bias = yield from optional_input(node, 2)
    maybe_output = yield from optional_output(node, 0)
    source = present(maybe_source, _FOLDER + "fully_connected.cc:77", "input")
    output = present(maybe_output, _FOLDER + "fully_connected.cc:78", "output")
    if source.type not in (_FLOAT32, _INT8):
        raise PrepareError(f"{_FOLDER}fully_connected.cc refuses {type_name(source.type)}, and says nothing")
    length = 0 if bias is None else flat_size(bias)
    if source.type == _INT8:
        if kernel is None:
            raise undefined(_FOLDER + "fully_connected.cc", "weight is a null pointer, which is read")
        node.check_tensors(_check_layer, source, kernel, bias, output)
        for tensor in (source, kernel, output):
            if len(tensor.shape) > 4:
                raise abort(_FOLDER + "fully_connected.cc:41", "dim->size <= 4")
        (batches, units), (_, depth) = _first_two(output), _first_two(kernel)
        if takes_fully_connected(batches, depth, units, length) and bias is not None:
            is_there = yield Persistent(size_of(node, length, 2), "bias", checked=True)
            if is_there is None:
                raise PrepareError(f"{_FOLDER}fully_connected.cc has no room for its bias, and says nothing")
            _check_read("fully_connected.cc", bias)
    yield FreeTempTensors((source, kernel, bias, output))


def _check_layer(
    node: Node, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> None:
    check_activation_range(node, fused_activation(node, LAYER), output)
    check_convolution_multiplier(node, source, kernel, bias, output.scale)


def _first_two(tensor: KernelTensor) -> tuple[int, int]:
    """Return two dimensions, 0 for those that are not there."""
    shape = (*tensor.shape, 0, 0)
    return shape[0], shape[1]


def _prepare_add(node: Node) -> Steps[None]:
    _check_op_data(node, "add.cc")
    input1 = present((yield from optional_input(node, 0)), _FOLDER + "add.cc:183", "input1")
    input2 = present((yield from optional_input(node, 1)), _FOLDER + "add.cc:186", "input2")
    output = present((yield from optional_output(node, 0)), _FOLDER + "add.cc:189", "output")
    if output.type == _INT8:
        check_sum(Kernel(node, "add_common.cc"), input1, input2, output)
    yield FreeTempTensors((input1, input2, output))


def _prepare_mul(node: Node) -> Steps[None]:
    """The reference MUL, then its three tensors once more for the MVP's parameters."""
    reference = REFERENCE["MUL"].prepare
    assert reference is not None
    yield from reference(node)
    tensors = []
    for wanted, position in ((optional_input, 0), (optional_input, 1), (optional_output, 0)):
        tensor = yield from wanted(node, position)
        if tensor is None:
            raise undefined(_FOLDER + "mul.cc", "a temp tensor is a null pointer, which is read")
        tensors.append(tensor)
    yield FreeTempTensors(tuple(tensors))


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        op_data("siliconlabs/conv.OpData"),
        _CONV.prepare,
        _FOLDER + "conv.cc",
        parse_conv,
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("siliconlabs/depthwise_conv.OpData"),
        _DEPTHWISE.prepare,
        _FOLDER + "depthwise_conv.cc",
    ),
    OpModel(
        "TRANSPOSE_CONV",
        "TfLiteTransposeConvParams",
        op_data("siliconlabs/transpose_conv.OpData"),
        _TRANSPOSE.prepare,
        _FOLDER + "transpose_conv.cc",
        parse_transpose_conv,
    ),
    OpModel(
        "AVERAGE_POOL_2D",
        "TfLitePoolParams",
        op_data("siliconlabs/pooling.OpData"),
        _prepare_average_pool,
        _FOLDER + "pooling.cc",
    ),
    OpModel(
        "MAX_POOL_2D",
        "TfLitePoolParams",
        op_data("siliconlabs/pooling.OpData"),
        _prepare_max_pool,
        _FOLDER + "pooling.cc",
    ),
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("siliconlabs/fully_connected.OpData"),
        _prepare_fully_connected,
        _FOLDER + "fully_connected.cc",
        parse_fully_connected,
    ),
    OpModel("ADD", "TfLiteAddParams", op_data("siliconlabs/add.OpData"), _prepare_add, _FOLDER + "add.cc"),
    OpModel("MUL", "TfLiteMulParams", op_data("siliconlabs/mul.SlOpDataMul"), _prepare_mul, _FOLDER + "mul.cc"),
)
