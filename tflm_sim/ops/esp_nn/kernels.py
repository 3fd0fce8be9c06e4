"""CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and SOFTMAX with ESP-NN: the reference Prepare, and scratch for int8.

ADD, MUL, AVERAGE_POOL_2D and MAX_POOL_2D have ESP-NN kernels too, with the reference OpData and Prepare: they have no
row.

Source: tensorflow/lite/micro/kernels/esp_nn/{conv,depthwise_conv,fully_connected,softmax}.cc @ esp-tflite-micro 1.4.0.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from tflm_sim.model.types import TensorType
from tflm_sim.ops.esp_nn.dims import DataDims, Layer
from tflm_sim.ops.esp_nn.scratch_sizes import scratch_sizes
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, Take, unchecked
from tflm_sim.ops.prepare import source as input_at
from tflm_sim.ops.reference import conv as reference
from tflm_sim.ops.reference.fully_connected import LAYER, fully_connected, layer_data, parse_fully_connected
from tflm_sim.ops.reference.softmax import softmax_params, take_softmax
from tflm_sim.ops.reference.window import dilations, strides_padding_dilations
from tflm_sim.ops.requests import KernelTensor, Overrun, Persistent, Scratch, Steps
from tflm_sim.ops.roles import op_data

_INT4, _INT8, _INT16 = TensorType.INT4, TensorType.INT8, TensorType.INT16


def _conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    input_channels, group_channels = k.dim(source, 3), k.dim(kernel, 3)
    k.ensure(group_channels > 0, "filter_input_channels > 0")
    k.ensure_eq(input_channels % group_channels, 0, "input_channels % filter_input_channels")
    k.same_c_type(source, output)
    k.ensure_msg((source.type, kernel.type) in reference.CONV_PAIRS, HYBRID)
    output_channels = k.dim(output, 3 if source.type == _INT8 else 2)
    arrays = yield from reference.per_channel_arrays(k.node, kernel.shape[0])
    if source.type == _INT8 or (source.type == _INT16 and k.has("esp_conv_int4")):
        reference.check_scales(k, kernel, reference.CONV.axis, reference.CONV.axis_name)
    yield from reference.convolution_data(k.node, reference.CONV, source.type, arrays_allocated=arrays)
    if k.has("esp_conv_int4"):
        yield from reference.unpacked_filter(k.node, kernel)
    if source.type == _INT8:
        image = DataDims(source.shape[1], source.shape[2], input_channels)
        result = DataDims(output.shape[1], output.shape[2], output_channels)
        # Without the filter's channels ESP-NN sees no groups.
        seen = group_channels if k.has("esp_conv_filter_channels") else 0
        window = DataDims(kernel.shape[1], kernel.shape[2], seen)
        layer = _layer(k.node, reference.CONV.table, image, window, result)
        sizes = scratch_sizes(k.node.target.kernel_library)
        index = yield from _optional_scratch(sizes.esp_nn_get_conv_scratch_size(layer))
        op_data_offset = k.node.user_data
        if isinstance(op_data_offset, int):
            end = op_data_offset + k.node.target.sizeof("OpDataConv")
            yield Overrun(end, index, "OpDataConv")


def _depthwise_conv(k: Kernel, output: KernelTensor, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    node = k.node
    _check_depthwise(k, source, kernel, output)
    arrays = yield from reference.per_channel_arrays(node, kernel.shape[3])
    if source.type == _INT8:
        reference.check_scales(k, kernel, reference.DEPTHWISE_CONV.axis, reference.DEPTHWISE_CONV.axis_name)
    pairs = (_INT8, _INT4), (_INT16, _INT8)
    k.ensure_msg(source.type == kernel.type or (source.type, kernel.type) in pairs, HYBRID)
    if k.has("esp_conv_int4"):
        yield from reference.unpacked_filter(node, kernel)
    yield from reference.convolution_data(node, reference.DEPTHWISE_CONV, source.type, arrays_allocated=arrays)
    if source.type == _INT8:
        image, result, window = [DataDims(*tensor.shape[1:]) for tensor in (source, output, kernel)]
        ch_mult = int_option(node, reference.DEPTHWISE_CONV.table, "depth_multiplier")
        layer = _layer(node, reference.DEPTHWISE_CONV.table, image, window, result, ch_mult)
        sizes = scratch_sizes(node.target.kernel_library)
        yield from _optional_scratch(sizes.esp_nn_get_depthwise_conv_scratch_size(layer))


def _check_depthwise(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Refuse other than four dimensions, no dilation, and filters that are no multiple of the input's channels."""
    k.dims_size(4, input=source, filter=kernel, output=output)
    dilation = dilations(k.node, reference.DEPTHWISE_CONV.table)
    k.ensure(dilation.h > 0, "params.dilation_height_factor > 0")
    k.ensure(dilation.w > 0, "params.dilation_width_factor > 0")
    k.ensure_eq(kernel.shape[0], 1, "filter->dims->data[0]")
    k.ensure(source.shape[3] != 0, "num_input_channels != 0")
    k.ensure_eq(kernel.shape[3] % source.shape[3], 0, "num_filter_channels % num_input_channels")


def _layer(node: Node, table: str, image: DataDims, window: DataDims, result: DataDims, ch_mult: int = 0) -> Layer:
    stride, padding, _ = strides_padding_dilations(node, table, image[:2], window[:2])
    return Layer(image, window, result, stride, padding, ch_mult)


def _optional_scratch(size: int) -> Steps[int]:
    """Request a scratch buffer unless its size is 0 bytes; return its index, -1 without one."""
    index: int = (yield Scratch(size, "esp_nn")) if size > 0 else -1
    return index


def _prepare_softmax(node: Node) -> Steps[None]:
    k = Kernel(node, "esp_nn/softmax.cc")
    source, output = yield from take_softmax(k)
    k.ensure(node.user_data is not None, "node->user_data != nullptr")
    yield from softmax_params(node, source, output)
    if source.type == output.type == _INT8:
        # Upstream takes the second dimension for the width of a row, whatever the rank.
        sizes = scratch_sizes(node.target.kernel_library)
        yield from _optional_scratch(sizes.esp_nn_get_softmax_scratch_size(k.dim(source, 1), 0))
    yield from k.free(source, output)


def _init_conv(node: Node) -> Steps[object]:
    """Init takes too little for its NodeData in some releases: an OpDataConv. Then return where that lies."""
    if node.target.runtime.has("esp_conv_short_node_data"):
        return (yield Persistent(node.target.sizeof("OpDataConv"), "OpDataConv", checked=True))
    return (yield from op_data("esp_nn/conv.NodeData")(node))


def _fully_connected(
    k: Kernel, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> Steps[None]:
    if k.has("esp_as_reference"):
        yield from _AS_REFERENCE(k, source, kernel, bias, output)
        return
    k.same_type(source, output)
    k.ensure_msg(source.type == kernel.type, HYBRID)
    yield from layer_data(k.node, source, kernel, bias, output)


_AS_REFERENCE = fully_connected("Input type: {} with filter type : {} not supported.")
_TENSORS = OUTPUT, INPUT, reference.FILTER
_INPUT_FIRST = INPUT, reference.FILTER, OUTPUT
_WITH_BIAS = INPUT, reference.FILTER, unchecked(input_at(2, "bias")), OUTPUT


def _by_version(
    file: str, body: Callable[..., Steps[None]], *orders: tuple[str, tuple[Take, ...]]
) -> Callable[[Node], Steps[None]]:
    """Return the Prepare that takes its tensors in the order of the first change that the runtime has.

    Args:
        file: The upstream file.
        body: What happens with the output, the input and the filter, in whatever order they were taken.
        orders: The change ("" for the oldest order), and what is taken.
    """

    def row(takes: tuple[Take, ...]) -> Prepare:
        ordered = itemgetter(*[takes.index(take) for take in _TENSORS])
        return Prepare(file, OP_DATA, takes=takes, body=lambda k, *tensors: body(k, *ordered(tensors)))

    rows = [(change, row(takes)) for change, takes in orders]

    def prepare(node: Node) -> Steps[None]:
        has = node.target.runtime.has
        return next(row for change, row in rows if not change or has(change))(node)

    return prepare


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CONV_2D",
        "TfLiteConvParams",
        _init_conv,
        _by_version("esp_nn/conv.cc", _conv, ("esp_conv_int4", _TENSORS), ("", _INPUT_FIRST)),
        parse=reference.parse_conv,
    ),
    OpModel(
        "DEPTHWISE_CONV_2D",
        "TfLiteDepthwiseConvParams",
        op_data("esp_nn/depthwise_conv.NodeData"),
        _by_version(
            "esp_nn/depthwise_conv.cc",
            _depthwise_conv,
            ("esp_as_reference", _TENSORS),
            ("esp_conv_int4", _INPUT_FIRST),
            ("", _WITH_BIAS),
        ),
    ),
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("OpDataFullyConnected"),
        Prepare("esp_nn/fully_connected.cc", OP_DATA, takes=LAYER, body=_fully_connected),
        parse=parse_fully_connected,
    ),
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("esp_nn/softmax.NodeData"), _prepare_softmax),
)
