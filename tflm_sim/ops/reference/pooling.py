"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D. Shapes: [n, h, w, c].

L2_POOL_2D keeps no OpData, writes the output's shape into a persistent copy of its dims, and pools float32 only.

Source: tensorflow/lite/micro/kernels/pooling_common.cc, l2_pool_2d.cc; tensorflow/lite/kernels/padding.h @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.model.element_types import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.model.windows import output_size
from tflm_sim.ops.eval_types import CMSIS_NN, ESP_NN, NOT_SUPPORTED, EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation, int_option, option
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, counts
from tflm_sim.ops.reference.quantization import check_activation_range
from tflm_sim.ops.requests import KernelTensor, Log, Steps
from tflm_sim.ops.roles import fail, op_data, writable_dims
from tflm_sim.units import float32

TABLE = "Pool2DOptions"
_COMMON = "pooling_common.cc"
_QUANTIZED = (TensorType.INT8, TensorType.INT16, TensorType.UINT8)
_QUANTIZED_SINCE: dict[int, str] = {TensorType.INT16: "pooling_int16", TensorType.UINT8: "early_uint8_kernels"}


def _pool(k: Kernel, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.dim(source, 2)
    if k.knows(source.type, _QUANTIZED, _QUANTIZED_SINCE):
        yield from _quantized(k, source, output)
    elif source.type != TensorType.FLOAT32 and k.has("pooling_int16"):
        raise fail(f"Type {type_name(source.type)} ({type_number(source.type)}) not supported.")


def _quantized(k: Kernel, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Refuse a change of scale or zero point; an impossible activation range is only printed."""
    k.node.check_tensors(_same_quantization, source, output)
    try:
        check_activation_range(k.node, fused_activation(k.node, TABLE), output)
    except PrepareError as error:
        yield Log(error.device_message)


def _same_quantization(node: Node, source: KernelTensor, output: KernelTensor) -> None:
    k = Kernel(node, _COMMON)
    k.ensure(abs(float32(source.scale - output.scale)) <= 1.0e-6, "scale_diff <= 1.0e-6")
    same_zero_point = source.zero_point == output.zero_point
    k.ensure(same_zero_point, "input->params.zero_point == output->params.zero_point")


pooling_prepare = Prepare(_COMMON, OP_DATA, body=_pool)
"""``PoolingPrepare``, which other kernel libraries share."""


def _l2_pool(k: Kernel, output: KernelTensor, source: KernelTensor) -> Steps[None]:
    for tensor, name in ((source, "input"), (output, "output")):
        k.ensure_eq(len(tensor.shape), 4, f"NumDimensions({name})", "kTensorShapeRank")
    k.same_type(source, output)
    k.is_type(source, TensorType.FLOAT32, "input")
    batches, height, width, channels = source.shape
    yield from writable_dims(output, (batches, *_output_size(k.node, height, width), channels))


def _output_size(node: Node, height: int, width: int) -> tuple[int, int]:
    """Return ``ComputePaddingHeightWidth``'s height and width: a 0 stands for what the options make impossible."""
    width_out = _windowed_size(node, width, "w", "filter_width")
    height_out = None if width_out is None else _windowed_size(node, height, "h", "filter_height")
    return height_out or 0, width_out or 0


def _windowed_size(node: Node, size: int, axis: str, filter_name: str) -> int | None:
    """Return how many positions the window has along an axis, None when the options make it impossible."""
    stride, window = int_option(node, TABLE, f"stride_{axis}"), int_option(node, TABLE, filter_name)
    return output_size(option(node, TABLE, "padding"), image=size, window=window, stride=stride)


MODELS: tuple[OpModel, ...] = (
    OpModel("AVERAGE_POOL_2D", "TfLitePoolParams", op_data("OpDataPooling"), pooling_prepare),
    OpModel("MAX_POOL_2D", "TfLitePoolParams", op_data("OpDataPooling"), pooling_prepare),
    OpModel(
        "L2_POOL_2D",
        "TfLitePoolParams",
        prepare=Prepare("l2_pool_2d.cc", counts(1), takes=(OUTPUT, INPUT), body=_l2_pool),
    ),
)

_AVERAGE = "Input type {name} is not currently supported"

EVALS: tuple[EvalRow, ...] = (
    known_types("L2_POOL_2D", "i0", "FLOAT32", "L2_POOL_2D only supports float32 currently, got {name}."),
    known_types("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8 INT16", _AVERAGE, 982),
    known_types("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8", _AVERAGE),
    known_types("MAX_POOL_2D", "i0", "FLOAT32 INT8 INT16", NOT_SUPPORTED, 982),
    known_types("MAX_POOL_2D", "i0", "FLOAT32 INT8", NOT_SUPPORTED),
    known_types("MAX_POOL_2D", "i0", "FLOAT32 INT8 INT16", _AVERAGE, 982, CMSIS_NN),
    # Source: kernels/esp_nn/pooling.cc of esp-tflite-micro @ v1.2.0, kernels/pooling.cc of Edge Impulse's SDK @ 29ca890
    known_types("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8 INT16", _AVERAGE, 1332, ESP_NN),
    known_types("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8", _AVERAGE, 0, ESP_NN),
    known_types("MAX_POOL_2D", "i0", "FLOAT32 INT8 INT16", NOT_SUPPORTED, 1332, ESP_NN),
    known_types("MAX_POOL_2D", "i0", "FLOAT32 INT8", NOT_SUPPORTED, 0, ESP_NN),
)
