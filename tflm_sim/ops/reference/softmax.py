"""SOFTMAX, which keeps two lookup tables for int16, and LOG_SOFTMAX, which keeps data for int8 only.

Source: tensorflow/lite/micro/kernels/softmax_common.cc, log_softmax.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from functools import partial

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import PLAIN, EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import float_option
from tflm_sim.ops.prepare import Prepare, counts
from tflm_sim.ops.reference.arithmetic import runtime_shape
from tflm_sim.ops.reference.quantization import check_smaller_than_one, divide, softmax_scaling
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import op_data

_COMMON = "softmax_common.cc"
_FLOAT32, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16
# LUTSize<int16_t>() entries of 2 bytes. Source: tensorflow/lite/kernels/internal/common.h @ 90b983c.
_INT16_TABLE_SIZE = 513 * 2
_DECIMAL_SHIFTS = (3, 4, 8, 11, 13, 14, 17, 18, 19, 20, 21, 22, 23)
"""10,000,000 / 2^23 less 1, as a sum of powers of two."""


def take_softmax(k: Kernel) -> Steps[tuple[KernelTensor, KernelTensor]]:
    """Run the first half of ``SoftmaxPrepare`` as every kernel library has it: counts and tensors."""
    k.counts(inputs=1)
    source = yield from k.input(0)
    k.ensure(len(source.shape) >= 1, "NumDimensions(input) >= 1")
    return source, (yield from k.output(0))


def _prepare(node: Node) -> Steps[None]:
    k = Kernel(node, _COMMON)
    source, output = yield from take_softmax(k)
    k.ensure(node.user_data is not None, "node->user_data != nullptr")
    yield from k.freeing(softmax_params(node, source, output), source, output)


def softmax_params(node: Node, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    """``CalculateSoftmaxParams``."""
    k = Kernel(node, _COMMON)
    if source.type == _INT16:
        for table, name in (("exp_lut", "raw_exp_lut"), ("one_over_one_plus_x_lut", "one_over_one_plus_x_lut")):
            offset = yield Persistent(_INT16_TABLE_SIZE, table, checked=True)
            k.ensure(offset is not None, f"{name} != nullptr")
    if output.type == _INT16:
        k.one_of(source.type, (_INT8, _INT16), "input->type")
    else:
        k.same_c_type(source, output)
    if source.type == _INT16:
        k.within("InitializeLutForInt16").zero_points(output=output)
        k.zero_points(input=source)
        _ensure_scale_near(k, output, 32768)
    elif source.type == _INT8:
        _check_int8(k, output)
        node.check_tensors(_check_scaling, source)
    elif source.type == TensorType.UINT8 and k.has("tensorflow_uint8"):
        _ensure_zero_point(k.within("CalculateSoftmaxParams"), output, 0)
    else:
        k.is_type(source, _FLOAT32, "input")


def _check_scaling(node: Node, source: KernelTensor) -> None:
    softmax_scaling(node, float_option(node, "SoftmaxOptions", "beta"), source.scale)


def _check_int8(k: Kernel, output: KernelTensor) -> None:
    if output.type == _INT16:
        _ensure_zero_point(k, output, -32768)
        _ensure_scale_near(k, output, 65536)
    else:
        _ensure_zero_point(k, output, -128)
        k.ensure(output.scale == 1 / 256, "output->params.scale == 1.f / 256")


def _ensure_zero_point(k: Kernel, output: KernelTensor, expected: int) -> None:
    k.ensure_eq(output.zero_point, expected, "output->params.zero_point", str(expected))


def _ensure_scale_near(k: Kernel, output: KernelTensor, divisor: int) -> None:
    """TF_LITE_ENSURE_NEAR of the output's scale and 1 / divisor."""
    k.ensure_near(output.scale, 1 / divisor, "output->params.scale", f"1.f / {divisor}", partial(_shown, k))


def _shown(k: Kernel, value: float) -> str:
    if k.has("vsnprintf"):
        return f"{value:f}"
    return _as_power_of_two(*struct.unpack("<I", struct.pack("<f", value)))


def _as_power_of_two(bits: int) -> str:
    """``FastFloatToBufferLeft``, which MicroVsnprintf used for ``%f``: 1.5*2^-3.

    Source: tensorflow/lite/micro/micro_string.cc @ f050eec7e.
    """
    sign, exponent, fraction = "-" if bits >> 31 else "", (bits >> 23 & 255) - 127, bits & 0x7FFFFF
    if exponent == 128:
        return sign + ("NaN" if fraction else "Inf")
    scaled = fraction + sum(fraction >> shift for shift in _DECIMAL_SHIFTS)
    return f"{sign}1.{f'{scaled:07d}'.rstrip('0') or '0'}*2^{exponent}"


def _log_softmax(k: Kernel, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.same_type(source, output)
    k.ensure(source.shape == output.shape, "HaveSameShapes(input, output)")
    if source.type == _INT8:
        is_there = yield from k.persistent("log_softmax.LogSoftmaxOpData")
        k.ensure(output.scale == 16.0 / 256, "output->params.scale == kOutputScale")
        k.ensure(output.zero_point == 127, "output->params.zero_point == kOutputZeroPoint")
        k.check(is_there, "data != nullptr")
        _check_log_scaling(k, source)


def _check_log_scaling(k: Kernel, source: KernelTensor) -> None:
    """``PreprocessLogSoftmaxScalingExp`` and the depth of the last axis."""
    multiplier, left_shift = softmax_scaling(k.node, 1.0, source.scale)
    check_smaller_than_one(divide(float(1 << (31 - left_shift)), float(multiplier)))
    k.check(bool(runtime_shape(source)), "0 <= skip_dim")


MODELS: tuple[OpModel, ...] = (
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("SoftmaxParams"), _prepare),
    OpModel("LOG_SOFTMAX", prepare=Prepare("log_softmax.cc", counts(1), body=_log_softmax)),
)

EVALS: tuple[EvalRow, ...] = (
    known_types("LOG_SOFTMAX", "i0", "FLOAT32 INT8", "LOG_SOFTMAX only supports float32, int8, got {name}."),
    known_types("SOFTMAX", "i0", "FLOAT32 INT8 INT16", PLAIN),
)
