"""FULLY_CONNECTED, and the data of a fully connected layer that the LSTM gates share.

Temps: input, filter, bias, output. A filter with more than one scale asks for the multiplier and the shift of each
channel, 2 x 4 bytes x scales, in the tail; an int4 or a compressed filter for scratch.

Source: tensorflow/lite/micro/kernels/fully_connected.cc, fully_connected_common.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.element_types import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import CMSIS_NN, ESP_NN, INPUT_TYPE, INT8_OR_4, PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import convertible_types, fused_activation, int_option
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, source, unchecked
from tflm_sim.ops.reference.conv import FILTER, decompressed_filter_and_bias, unpacked_filter
from tflm_sim.ops.reference.quantization import check_convolution_multiplier, ensure_activation_range
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import fail, op_data, size_of

_COMMON = "fully_connected_common.cc"
TABLE = "FullyConnectedOptions"
FILTER_TYPES: dict[int, tuple[int, ...]] = {
    TensorType.FLOAT32: (TensorType.FLOAT32,),
    TensorType.INT8: (TensorType.INT8, TensorType.INT4),
    TensorType.INT16: (TensorType.INT8,),
}
_WEIGHTS_FORMATS = (0, 1)
_NO_PER_CHANNEL = (
    "FullyConnected per-channel quantization not yet supported. Please set "
    "converter._experimental_disable_per_channel_quantization_for_dense_layers = True."
)


def fully_connected(refusal: str) -> Callable[..., Steps[None]]:
    """Return what the reference and the ESP-NN kernel do with their tensors.

    Args:
        refusal: What it prints of input and filter types that do not go together.
    """

    def body(
        k: Kernel, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
    ) -> Steps[None]:
        k.same_type(source, output)
        if not k.has("fc_hybrid"):
            k.ensure_msg(source.type == kernel.type, HYBRID)
        if k.has("fc_filter_types") and kernel.type not in FILTER_TYPES.get(source.type, (kernel.type,)):
            raise fail(_spaced(k, refusal).format(type_name(source.type), type_name(kernel.type)))
        if k.has("fc_int4"):
            yield from unpacked_filter(k.node, kernel)
        if k.has("fc_no_per_channel") and kernel.affine is not None:
            Kernel(k.node, _COMMON).ensure_msg(kernel.affine.scale_count == 1, _NO_PER_CHANNEL)
        yield from layer_data(k.node, source, kernel, bias, output)
        yield from decompressed_filter_and_bias(k.node, kernel)

    return body


def _spaced(k: Kernel, refusal: str) -> str:
    """Return the refusal as it was before a space was dropped."""
    return refusal if k.has("fc_decompression") else refusal.replace("filter type:", "filter type :")


def layer_data(
    node: Node, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> Steps[None]:
    """``CalculateOpDataFullyConnected`` of a FULLY_CONNECTED."""
    if source.type != TensorType.FLOAT32:
        yield from _per_channel_arrays(node, source, kernel)
        node.check_tensors(_check_layer, source, kernel, bias, output)


def _check_layer(
    node: Node, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> None:
    activation = fused_activation(node, TABLE)
    _check_scales(node, source, kernel, bias, activation, output.type, output.scale)


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
    if source.type != TensorType.FLOAT32:
        yield from _per_channel_arrays(node, source, kernel)
        _check_scales(node, source, kernel, bias, activation, output_type, output_scale)


def _is_per_channel(k: Kernel, kernel: KernelTensor) -> bool:
    return k.has("fc_per_channel") and kernel.affine is not None and kernel.affine.scale_count > 1


def _check_scales(
    node: Node,
    source: KernelTensor,
    kernel: KernelTensor,
    bias: KernelTensor | None,
    activation: int,
    output_type: int,
    output_scale: float,
) -> None:
    k = Kernel(node, _COMMON)
    if not _is_per_channel(k, kernel):
        check_convolution_multiplier(node, source, kernel, bias, output_scale)
    k.debug_check(kernel.zero_point == 0 or not k.has("fc_filter_zero_point"), "filter->params.zero_point == 0")
    ensure_activation_range(node, activation, output_type, output_scale)


def _per_channel_arrays(node: Node, source: KernelTensor, kernel: KernelTensor) -> Steps[None]:
    """What a scale for each row of the filter takes."""
    k = Kernel(node, _COMMON)
    if kernel.affine is None or not _is_per_channel(k, kernel):
        return
    scale_count = kernel.affine.scale_count
    if k.has("fc_per_channel_int16"):
        k.ensure(
            source.type in (TensorType.INT8, TensorType.INT16) and kernel.type != TensorType.INT4,
            "(input->type == kTfLiteInt8 && filter->type != kTfLiteInt4) || "
            "(input->type == kTfLiteInt16 && filter->type != kTfLiteInt4)",
        )
    else:
        is_int8 = source.type == TensorType.INT8 and kernel.type != TensorType.INT4
        k.ensure(is_int8, "input->type == kTfLiteInt8 && filter->type != kTfLiteInt4")
    k.ensure_eq(
        scale_count,
        k.dim(kernel, kernel.affine.quantized_dimension),
        "per_channel_quantization_size",
        "filter->dims->data[affine_quantization->quantized_dimension]",
    )
    yield Persistent(size_of(k.node, scale_count, 4), "per_channel_output_multiplier")
    yield Persistent(size_of(k.node, scale_count, 4), "per_channel_output_shift")


_parse_bias_type = convertible_types(TABLE, "quantized_bias_type", since="quantized_bias_type")


def parse_fully_connected(node: Node) -> None:
    """Refuse a bias type and a weights format that the parser does not know."""
    _parse_bias_type(node)
    if int_option(node, TABLE, "weights_format") not in _WEIGHTS_FORMATS:
        raise fail("Unhandled fully-connected weights format.")


LAYER = INPUT, FILTER, unchecked(source(2, "bias")), OUTPUT
_BODY = fully_connected("Input type: {} with filter type: {} not supported.")

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("OpDataFullyConnected"),
        Prepare("fully_connected.cc", OP_DATA, takes=LAYER, body=_BODY),
        parse=parse_fully_connected,
    ),
)

_BY_FILTER = (
    Switch("i0", "FLOAT32 INT8 INT16", INPUT_TYPE),
    # It prints the filter's name and the input's number.
    Switch("i1", INT8_OR_4, "Filter type {name} (9) not supported.", when="i0 INT8"),
    Switch("i1", "INT8", "Filter type {name} (7) not supported.", when="i0 INT16"),
)

# Of ESP-NN: kernels/esp_nn/fully_connected.cc of esp-tflite-micro @ v1.3.0 and v1.3.1 (upstream of 2024-05-29).
EVALS: tuple[EvalRow, ...] = (
    EvalRow("FULLY_CONNECTED", _BY_FILTER, 942),
    known_types("FULLY_CONNECTED", "i0", "FLOAT32 INT8 INT16", PLAIN, 665),
    known_types("FULLY_CONNECTED", "i0", "FLOAT32 INT8", PLAIN),
    EvalRow("FULLY_CONNECTED", _BY_FILTER, 1495, ESP_NN),
    known_types("FULLY_CONNECTED", "i0", "FLOAT32 INT8", PLAIN, 0, ESP_NN),
    EvalRow(
        "FULLY_CONNECTED",
        (
            Switch("i0", "FLOAT32 INT8 INT16", PLAIN),
            Switch("i1", INT8_OR_4, "Filter Type {name} ({number}) not supported.", when="i0 INT8"),
        ),
        942,
        CMSIS_NN,
    ),
)
