"""Operators along an axis: CUMSUM, REVERSE_V2.

Source: tensorflow/lite/micro/kernels/{cumsum,reverse}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.reference.node_checks import ensure_counts, require
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_c_types_eq,
    ensure_count_eq,
    ensure_eq,
    fail,
    free,
    input_tensor,
    optional_input,
    optional_output,
    output_tensor,
)

CUMSUM_INTEGER_SHIFT = 20
_REVERSIBLE = (
    TensorType.INT32,
    TensorType.FLOAT32,
    TensorType.UINT8,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT64,
    TensorType.BOOL,
)


def _prepare_cumsum(node: Node) -> Steps[None]:
    ensure_counts(node, "cumsum.cc", 48, inputs=2)
    maybe_source = yield from optional_input(node, 0)
    maybe_axis = yield from optional_input(node, 1)
    source = require(maybe_source, "cumsum.cc:58", "input")
    text = "input->type == kTfLiteFloat32 || input->type == kTfLiteInt8"
    ensure(source.type in (TensorType.FLOAT32, TensorType.INT8), "cumsum.cc:58", text)
    axis = require(maybe_axis, "cumsum.cc:60", "axis")
    ensure_c_types_eq(axis.type, TensorType.INT32, "cumsum.cc:60", "axis->type", "kTfLiteInt32")
    ensure_count_eq(node, axis.flat_size, 1, "cumsum.cc:62", "NumElements(axis)", "1")
    ensure(len(source.shape) >= 1, "cumsum.cc:64", "NumDimensions(input) >= 1")
    output = require((yield from optional_output(node, 0)), "cumsum.cc:69", "output")
    ensure_c_types_eq(source.type, output.type, "cumsum.cc:69", "input->type", "output->type")
    ensure(source.shape == output.shape, "cumsum.cc:70", "HaveSameShapes(input, output)")
    if output.type == TensorType.INT8:
        node.user_data = "cumsum.OpData"
        yield Persistent(node.target.sizeof("cumsum.OpData"), "cumsum.OpData")
        _check_multipliers(source, output)
    yield from free(source, axis, output)


def _check_multipliers(source: KernelTensor, output: KernelTensor) -> None:
    """``QuantizeMultiplierSmallerThanOneExp`` halts on a multiplier outside (0, 1), and on one that rounds up to 1.

    The input's multiplier is always a half, unless its scale is 0 (no quantization) or not a finite number.
    """
    twice_scale = 2 * source.scale
    limit = (1 << CUMSUM_INTEGER_SHIFT) * output.scale
    if not abs(twice_scale) < float("inf") or twice_scale == 0 or limit == 0:
        raise abort("cumsum.cc:83", "input and output are quantized")
    multiplier = twice_scale / limit
    if not 0 < multiplier < 1 - 2**-32:
        raise abort("cumsum.cc:92", "0 < real_output_multiplier < 1")


def _prepare_reverse(node: Node) -> Steps[None]:
    ensure_counts(node, "reverse.cc", 47, inputs=2)
    source = yield from input_tensor(node, 0, "reverse.cc:53")
    axis = yield from input_tensor(node, 1, "reverse.cc:56", "axis")
    output = yield from output_tensor(node, 0, "reverse.cc:59")
    ensure_eq(len(axis.shape), 1, "reverse.cc:60", "NumDimensions(axis)", "1")
    ensure(len(source.shape) <= MAX_RUNTIME_RANK, "reverse.cc:61", "NumDimensions(input) <= kMaxDimensions")
    ensure(len(source.shape) >= axis.flat_size, "reverse.cc:62", "NumDimensions(input) >= NumElements(axis)")
    if source.type not in _REVERSIBLE:
        raise fail(f"Type '{type_name(source.type)}' is not supported by reverse.")
    if axis.type != TensorType.INT32:
        raise fail(f"Axis Type '{type_name(axis.type)}' is not supported by reverse.")
    ensure_c_types_eq(source.type, output.type, "reverse.cc:79", "input->type", "output->type")
    yield from free(source, axis, output)


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("CUMSUM", "TfLiteCumsumParams", None, _prepare_cumsum, _K + "cumsum.cc"),
    OpModel("REVERSE_V2", None, None, _prepare_reverse, _K + "reverse.cc"),
)
