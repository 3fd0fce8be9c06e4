"""The kernels of Chirale_TensorFLowLite 2.0.0, the Arduino library: TFLM of January 2023 with CMSIS-NN of October 2022.

Only the operators here were compared with that library's sources; every other one is refused by name. Where a kernel of
today differs only in its checks, its row is used, so that messages are today's.

Source: src/tensorflow/lite/micro/kernels/cmsis_nn @ spaziochirale/Chirale_TensorFlowLite v2.0.0, which is
tensorflow/tflite-micro 0c425da36 and ARM-software/CMSIS-NN e98ee09, built without TF_LITE_STATIC_MEMORY.
"""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.errors import UnsupportedOpError
from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn import add, conv, pool_softmax_svdf
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, isa, optional_scratch
from tflm_sim.ops.kernel import OP_DATA, Kernel, Prepare
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.reference import reshape
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.conv import unpacked_filter
from tflm_sim.ops.reference.fully_connected import LAYER
from tflm_sim.ops.reference.quantization import check_activation_range, check_convolution_multiplier
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import op_data, size_of

_FULLY_CONNECTED = "cmsis_nn/fully_connected.cc"
_COMPARED_TYPES = (TensorType.FLOAT32, TensorType.INT8)


def unmodelled(op: str) -> OpModel:
    """Return the row of an operator of this library that was not compared with its sources."""

    def init(node: Node) -> Steps[object]:
        yield from ()
        raise _refusal(node, f"{op} of Chirale_TensorFLowLite 2.0.0 is not modelled")

    return OpModel(op, None, init, None, "")


def _refusal(node: Node, message: str) -> UnsupportedOpError:
    return UnsupportedOpError(message, op=node.op, subgraph=node.subgraph_index, node=node.index)


def _only_float_and_int8(model: OpModel) -> OpModel:
    """Return the row with inputs and filters of other types refused, which that library treats differently."""

    def prepare(node: Node) -> Steps[None]:
        for position in (0, 1):
            tensor = node.input(position)
            if tensor is not None and tensor.type not in (*_COMPARED_TYPES, TensorType.INT32):
                raise _refusal(node, f"{node.op} of Chirale_TensorFLowLite 2.0.0 is modelled for float32 and int8 only")
        assert model.prepare is not None, "the rows here have a Prepare"
        yield from model.prepare(node)

    return replace(model, prepare=prepare)


def _fully_connected(
    k: Kernel, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> Steps[None]:
    node = k.node
    k.same_type(source, output)
    accumulation_depth = runtime_dim(runtime_shape(kernel), len(kernel.shape) - 1)
    if source.type != TensorType.FLOAT32:
        check_convolution_multiplier(node, source, kernel, bias, output.scale)
        check_activation_range(node, fused_activation(node, "FullyConnectedOptions"), output.type, output.scale)
    if source.type == TensorType.INT8:
        yield from _int8_buffers(node, output, accumulation_depth)
    yield from unpacked_filter(node, kernel)


def _int8_buffers(node: Node, output: KernelTensor, accumulation_depth: int) -> Steps[None]:
    """Keep the quantization that fakes channels for a pointwise convolution, where the layer can run as one."""
    sizes = buffer_sizes(node)
    output_depth = output.shape[-1]
    if len(output.shape) > 2 and accumulation_depth % 4 == 0:
        yield Persistent(size_of(node, output_depth, 4), "per_channel_output_multiplier")
        yield Persistent(size_of(node, output_depth, 4), "per_channel_output_shift")
        image = Dims(runtime_flat_size(output.shape[:-1]), 1, 1, accumulation_depth)
        yield from optional_scratch(sizes.arm_convolve_1x1_s8_fast_get_buffer_size(isa(node), image), "convolve_1x1_s8")
        return
    window = Dims(accumulation_depth, 1, 1, output_depth)
    yield from optional_scratch(sizes.arm_fully_connected_s8_get_buffer_size(isa(node), window), "fully_connected_s8")


_TODAY = {
    model.op: model
    for family in (add.MODELS, conv.MODELS, pool_softmax_svdf.MODELS, reshape.MODELS)
    for model in family
}

MODELS: tuple[OpModel, ...] = (
    *(
        _only_float_and_int8(_TODAY[op])
        for op in ("ADD", "CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "SOFTMAX")
    ),
    _TODAY["RESHAPE"],
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("cmsis_nn/fully_connected.OpData"),
        Prepare(_FULLY_CONNECTED, OP_DATA, takes=LAYER, body=_fully_connected, frees=(3, 0, 1, 2)),
    ),
)
