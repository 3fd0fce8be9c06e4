"""FULLY_CONNECTED, and the data of a fully connected layer that the LSTM gates share.

Temps: input, filter, bias, output. A filter with more than one scale asks for the multiplier and the shift of each
channel, 2 x 4 bytes x scales, in the tail; an int4 or a compressed filter for scratch.

Source: tensorflow/lite/micro/kernels/fully_connected.cc, fully_connected_common.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.conv import decompressed_filter_and_bias, unpacked_filter
from tflm_sim.ops.reference.node_checks import convertible_types, int_option, require_op_data
from tflm_sim.ops.reference.quantization import (
    activation_range_error,
    check_convolution_multiplier,
    fused_activation,
)
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    dim,
    ensure,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    input_tensor,
    op_data,
    optional_input,
    output_tensor,
    size_of,
)

_FILE, _COMMON = "fully_connected.cc", "fully_connected_common.cc"
_TABLE = "FullyConnectedOptions"
FILTER_TYPES: dict[int, tuple[int, ...]] = {
    TensorType.FLOAT32: (TensorType.FLOAT32,),
    TensorType.INT8: (TensorType.INT8, TensorType.INT4),
    TensorType.INT16: (TensorType.INT8,),
}
_WEIGHTS_FORMATS = (0, 1)


def _prepare(node: Node) -> Steps[None]:
    yield from fully_connected_prepare(node, _FILE, 39, "Input type: {} with filter type: {} not supported.")


def fully_connected_prepare(node: Node, file: str, line: int, refusal: str) -> Steps[None]:
    """Prepare a fully connected layer, as the reference and the ESP-NN kernel do.

    Args:
        node: The operator.
        file: The upstream file; its checks are as far from ``line`` in both.
        line: Where it checks its op data.
        refusal: What it prints of input and filter types that do not go together.
    """
    require_op_data(node, f"{file}:{line}")
    source = yield from input_tensor(node, 0, f"{file}:{line + 9}")
    kernel = yield from input_tensor(node, 1, f"{file}:{line + 12}", "filter")
    bias = yield from optional_input(node, 2)
    output = yield from output_tensor(node, 0, f"{file}:{line + 17}")
    ensure_types_eq(source.type, output.type, f"{file}:{line + 18}", "input->type", "output->type")
    if kernel.type not in FILTER_TYPES.get(source.type, (kernel.type,)):
        raise fail(refusal.format(type_name(source.type), type_name(kernel.type)))
    yield from unpacked_filter(node, kernel)
    yield from fully_connected_data(
        node,
        source,
        kernel,
        bias,
        activation=fused_activation(node, _TABLE),
        output_type=output.type,
        output_scale=output.scale,
    )
    yield from decompressed_filter_and_bias(node, kernel)
    yield from free(source, kernel, bias, output)


def fully_connected_data(
    node: Node,
    source: KernelTensor,
    kernel: KernelTensor,
    bias: KernelTensor | None,
    *,
    activation: int,
    output_type: int,
    output_scale: float,
) -> Steps[None]:
    """``CalculateOpDataFullyConnected``: nothing for float32, else the checks and the per-channel arrays.

    Args:
        node: The operator.
        source: The layer's input; filter: [units, input size].
        kernel: The filter.
        bias: The bias, None to check none.
        activation: The fused activation.
        output_type: Of the layer's output, which need not be a tensor of the model.
        output_scale: Likewise.
    """
    if source.type == TensorType.FLOAT32:
        return
    if kernel.affine is not None and len(kernel.affine.scale) > 1:
        yield from _per_channel(node, source, kernel)
    else:
        check_convolution_multiplier(source, kernel, bias, output_scale)
    if kernel.zero_point != 0:
        raise abort(f"{_COMMON}:148", "filter->params.zero_point == 0")
    error = activation_range_error(activation, output_type, output_scale)
    if error is not None:
        raise fail(error)


def _per_channel(node: Node, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    """A scale for each row of the filter."""
    assert kernel.affine is not None, "the caller counted its scales"
    scale_count = len(kernel.affine.scale)
    ensure(
        source.type in (TensorType.INT8, TensorType.INT16) and kernel.type != TensorType.INT4,
        f"{_COMMON}:99",
        "(input->type == kTfLiteInt8 && filter->type != kTfLiteInt4) || "
        "(input->type == kTfLiteInt16 && filter->type != kTfLiteInt4)",
    )
    ensure_eq(
        scale_count,
        dim(kernel, kernel.affine.quantized_dimension, f"{_COMMON}:107"),
        f"{_COMMON}:107",
        "per_channel_quantization_size",
        "filter->dims->data[affine_quantization->quantized_dimension]",
    )
    yield Persistent(size_of(node, scale_count, 4), "per_channel_output_multiplier")
    yield Persistent(size_of(node, scale_count, 4), "per_channel_output_shift")


def parse(node: Node) -> None:
    convertible_types(_TABLE, "quantized_bias_type")(node)
    if int_option(node, _TABLE, "weights_format") not in _WEIGHTS_FORMATS:
        raise fail("Unhandled fully-connected weights format.")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("OpDataFullyConnected"),
        _prepare,
        _FILE,
        parse=parse,
    ),
)
