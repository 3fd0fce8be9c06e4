"""Operators along an axis: CUMSUM, REVERSE_V2.

Source: tensorflow/lite/micro/kernels/{cumsum,reverse}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.graph.eval_tensor import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import INPUT, OUTPUT, Kernel, Prepare, counts, source, unchecked
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import fail

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


def _cumsum(
    k: Kernel, maybe_input: KernelTensor | None, maybe_axis: KernelTensor | None, maybe_output: KernelTensor | None
) -> Steps[None]:
    source = k.require(maybe_input, "input")
    k.one_of(source.type, (TensorType.FLOAT32, TensorType.INT8), "input->type")
    axis = k.require(maybe_axis, "axis")
    k.is_c_type(axis, TensorType.INT32, "axis")
    k.ensure_count_eq(axis.flat_size, 1, "NumElements(axis)", "1")
    k.ensure(len(source.shape) >= 1, "NumDimensions(input) >= 1")
    output = k.require(maybe_output, "output")
    k.same_c_type(source, output)
    k.ensure(source.shape == output.shape, "HaveSameShapes(input, output)")
    if output.type == TensorType.INT8:
        k.node.user_data = "cumsum.OpData"
        yield Persistent(k.node.target.sizeof("cumsum.OpData"), "cumsum.OpData")
        _check_multipliers(k, source, output)


def _check_multipliers(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    """``QuantizeMultiplierSmallerThanOneExp`` halts on a multiplier outside (0, 1), and on one that rounds up to 1.

    The input's multiplier is always a half, unless its scale is 0 (no quantization) or not a finite number.
    """
    twice_scale = 2 * source.scale
    limit = (1 << CUMSUM_INTEGER_SHIFT) * output.scale
    if not abs(twice_scale) < float("inf") or twice_scale == 0 or limit == 0:
        raise k.abort("input and output are quantized")
    k.check(0 < twice_scale / limit < 1 - 2**-32, "0 < real_output_multiplier < 1")


def _reverse(k: Kernel, source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> None:
    k.rank(axis, 1, "axis")
    k.ensure(len(source.shape) <= MAX_RUNTIME_RANK, "NumDimensions(input) <= kMaxDimensions")
    k.ensure(len(source.shape) >= axis.flat_size, "NumDimensions(input) >= NumElements(axis)")
    if source.type not in _REVERSIBLE:
        raise fail(f"Type '{type_name(source.type)}' is not supported by reverse.")
    if axis.type != TensorType.INT32:
        raise fail(f"Axis Type '{type_name(axis.type)}' is not supported by reverse.")
    k.same_c_type(source, output)


_AXIS = source(1, "axis")

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CUMSUM",
        "TfLiteCumsumParams",
        prepare=Prepare(
            "cumsum.cc", counts(2), takes=(unchecked(INPUT), unchecked(_AXIS), unchecked(OUTPUT)), body=_cumsum
        ),
    ),
    OpModel("REVERSE_V2", prepare=Prepare("reverse.cc", counts(2), takes=(INPUT, _AXIS, OUTPUT), body=_reverse)),
)
