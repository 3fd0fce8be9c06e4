"""SOFTMAX, which keeps two lookup tables for int16, and LOG_SOFTMAX, which keeps data for int8 only.

Source: tensorflow/lite/micro/kernels/softmax_common.cc, log_softmax.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_shape
from tflm_sim.ops.reference.node_checks import ensure_counts, float_option
from tflm_sim.ops.reference.quantization import check_smaller_than_one, divide, float32, softmax_scaling
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    freeing,
    full_place,
    input_tensor,
    op_data,
    output_tensor,
)

_FILE, _LOG = "softmax_common.cc", "log_softmax.cc"
_FLOAT32, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16
# LUTSize<int16_t>() entries of 2 bytes. Source: tensorflow/lite/kernels/internal/common.h @ 90b983c.
_INT16_TABLE_SIZE = 513 * 2


def _prepare(node: Node) -> Steps[None]:
    ensure_counts(node, _FILE, 148, inputs=1)
    source = yield from input_tensor(node, 0, f"{_FILE}:151")
    ensure(len(source.shape) >= 1, f"{_FILE}:152", "NumDimensions(input) >= 1")
    output = yield from output_tensor(node, 0, f"{_FILE}:154")
    ensure(node.user_data is not None, f"{_FILE}:156", "node->user_data != nullptr")
    yield from freeing(softmax_params(node, source, output), source, output)


def softmax_params(node: Node, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    """``CalculateSoftmaxParams``."""
    if source.type == _INT16:
        for table, line in (("exp_lut", 39), ("one_over_one_plus_x_lut", 43)):
            offset = yield Persistent(_INT16_TABLE_SIZE, table, checked=True)
            name = "raw_exp_lut" if table == "exp_lut" else table
            ensure(offset is not None, f"{_FILE}:{line}", f"{name} != nullptr")
    if output.type == _INT16:
        text = "input->type == kTfLiteInt8 || input->type == kTfLiteInt16"
        ensure(source.type in (_INT8, _INT16), f"{_FILE}:49", text)
    else:
        ensure_c_types_eq(source.type, output.type, f"{_FILE}:52", "input->type", "output->type")
    if source.type == _INT16:
        _check_int16(source, output)
    elif source.type == _INT8:
        _check_int8(output)
        softmax_scaling(node, float_option(node, "SoftmaxOptions", "beta"), source.scale)
    else:
        ensure_types_eq(source.type, _FLOAT32, f"{_FILE}:133", "input->type", "kTfLiteFloat32")


def _check_int16(source: KernelTensor, output: KernelTensor) -> None:
    _ensure_zero_point(output, 0, 57)
    ensure_eq(source.zero_point, 0, f"{_FILE}:91", "input->params.zero_point", "0")
    _ensure_scale_near(output, 32768, 93)


def _check_int8(output: KernelTensor) -> None:
    if output.type == _INT16:
        _ensure_zero_point(output, -32768, 98)
        _ensure_scale_near(output, 65536, 99)
    else:
        _ensure_zero_point(output, -128, 103)
        ensure(output.scale == 1 / 256, f"{_FILE}:104", "output->params.scale == 1.f / 256")


def _ensure_zero_point(output: KernelTensor, expected: int, line: int) -> None:
    ensure_eq(output.zero_point, expected, f"{_FILE}:{line}", "output->params.zero_point", str(expected))


def _ensure_scale_near(output: KernelTensor, divisor: int, line: int) -> None:
    """TF_LITE_ENSURE_NEAR of the output's scale and 1 / divisor, which a scale that is no number passes."""
    target = 1 / divisor
    delta = float32(abs(output.scale - target))
    if delta > float32(0.001) * target:
        values = f"({output.scale:f} != {target:f})"
        raise fail(f"{full_place(_FILE)}:{line} output->params.scale not near 1.f / {divisor} {values}")


def _prepare_log(node: Node) -> Steps[None]:
    ensure_counts(node, _LOG, 49, inputs=1)
    source = yield from input_tensor(node, 0, f"{_LOG}:53")
    output = yield from output_tensor(node, 0, f"{_LOG}:56")
    ensure_types_eq(source.type, output.type, f"{_LOG}:57", "input->type", "output->type")
    ensure(source.shape == output.shape, f"{_LOG}:59", "HaveSameShapes(input, output)")
    if source.type == _INT8:
        struct = "log_softmax.LogSoftmaxOpData"
        offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
        ensure(output.scale == 16.0 / 256, f"{_LOG}:72", "output->params.scale == kOutputScale")
        ensure(output.zero_point == 127, f"{_LOG}:73", "output->params.zero_point == kOutputZeroPoint")
        if offset is None:
            raise abort(f"{_LOG}:77", "data != nullptr")
        _check_log_scaling(node, source)
    yield from free(source, output)


def _check_log_scaling(node: Node, source: KernelTensor) -> None:
    """``PreprocessLogSoftmaxScalingExp`` and the depth of the last axis."""
    multiplier, left_shift = softmax_scaling(node, 1.0, source.scale)
    check_smaller_than_one(node, divide(float(1 << (31 - left_shift)), float(multiplier)))
    if not runtime_shape(source):
        raise abort(f"{_LOG}:92", "0 <= skip_dim")


MODELS: tuple[OpModel, ...] = (
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("SoftmaxParams"), _prepare, _FILE),
    OpModel("LOG_SOFTMAX", None, None, _prepare_log, _LOG),
)
