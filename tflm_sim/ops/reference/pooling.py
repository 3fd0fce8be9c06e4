"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D. Shapes: [n, h, w, c].

L2_POOL_2D keeps no OpData, writes the output's shape into a persistent copy of its dims, and pools float32 only.

Source: tensorflow/lite/micro/kernels/pooling_common.cc, l2_pool_2d.cc; tensorflow/lite/kernels/padding.h @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, int_option, option, require_op_data
from tflm_sim.ops.reference.quantization import activation_range_error, float32, fused_activation
from tflm_sim.ops.reference.window import output_size
from tflm_sim.ops.requests import KernelTensor, Log, Steps
from tflm_sim.ops.roles import (
    dim,
    ensure,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    input_tensor,
    op_data,
    output_tensor,
    writable_dims,
)

_FILE, _L2 = "pooling_common.cc", "l2_pool_2d.cc"
_TABLE = "Pool2DOptions"


def pooling_prepare(node: Node) -> Steps[None]:
    """``PoolingPrepare``, which other kernel libraries share."""
    require_op_data(node, f"{_FILE}:54")
    source = yield from input_tensor(node, 0, f"{_FILE}:61")
    output = yield from output_tensor(node, 0, f"{_FILE}:64")
    dim(source, 2, f"{_FILE}:37")
    if source.type in (TensorType.INT8, TensorType.INT16):
        yield from _quantized(node, source, output)
    elif source.type != TensorType.FLOAT32:
        raise fail(f"Type {type_name(source.type)} ({type_number(source.type)}) not supported.")
    yield from free(source, output)


def _quantized(node: Node, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Refuse a change of scale or zero point; an impossible activation range is only printed."""
    ensure(abs(float32(source.scale - output.scale)) <= 1.0e-6, f"{_FILE}:73", "scale_diff <= 1.0e-6")
    same_zero_point = source.zero_point == output.zero_point
    ensure(same_zero_point, f"{_FILE}:74", "input->params.zero_point == output->params.zero_point")
    error = activation_range_error(fused_activation(node, _TABLE), output.type, output.scale)
    if error is not None:
        yield Log(error)


def _prepare_l2(node: Node) -> Steps[None]:
    ensure_counts(node, _L2, 44, inputs=1)
    output = yield from output_tensor(node, 0, f"{_L2}:48")
    source = yield from input_tensor(node, 0, f"{_L2}:51")
    ensure_eq(len(source.shape), 4, f"{_L2}:52", "NumDimensions(input)", "kTensorShapeRank")
    ensure_eq(len(output.shape), 4, f"{_L2}:53", "NumDimensions(output)", "kTensorShapeRank")
    ensure_types_eq(source.type, output.type, f"{_L2}:54", "input->type", "output->type")
    ensure_types_eq(source.type, TensorType.FLOAT32, f"{_L2}:71", "input->type", "kTfLiteFloat32")
    batches, height, width, channels = source.shape
    yield from writable_dims(output, (batches, *_output_size(node, height, width), channels))
    yield from free(output, source)


def _output_size(node: Node, height: int, width: int) -> tuple[int, int]:
    """Return ``ComputePaddingHeightWidth``'s height and width: a 0 stands for what the options make impossible."""
    width_out = _windowed_size(node, width, "w", "filter_width")
    height_out = None if width_out is None else _windowed_size(node, height, "h", "filter_height")
    return height_out or 0, width_out or 0


def _windowed_size(node: Node, size: int, axis: str, filter_name: str) -> int | None:
    """Return how many positions the window has along an axis, None when the options make it impossible."""
    stride, window = int_option(node, _TABLE, f"stride_{axis}"), int_option(node, _TABLE, filter_name)
    return output_size(option(node, _TABLE, "padding"), image=size, window=window, stride=stride)


MODELS: tuple[OpModel, ...] = (
    OpModel("AVERAGE_POOL_2D", "TfLitePoolParams", op_data("OpDataPooling"), pooling_prepare, _FILE),
    OpModel("MAX_POOL_2D", "TfLitePoolParams", op_data("OpDataPooling"), pooling_prepare, _FILE),
    OpModel("L2_POOL_2D", "TfLitePoolParams", None, _prepare_l2, _L2),
)
