"""PAD, PADV2 and MIRROR_PAD.

Source: tensorflow/lite/micro/kernels/{pad,pad_common,mirror_pad}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.node_checks import constant_values, ensure_double_eq, require, require_op_data
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import (
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_count_eq,
    ensure_eq,
    ensure_msg,
    free,
    input_tensor,
    op_data,
    optional_input,
    optional_output,
    output_tensor,
)
from tflm_sim.units import int32

_PAD, _MIRROR_PAD = "pad_common.cc", "mirror_pad.cc"
_MAX_RANK = 5
_INT_SIZE = 4


def _ensure_padded_shape(source: KernelTensor, paddings: KernelTensor, output: KernelTensor) -> None:
    """Check that the output has the input's dims plus the paddings, a constant pair for each dim."""
    rank = len(output.shape)
    pair_count = runtime_flat_size(runtime_shape(paddings))
    ensure_eq(pair_count, rank * 2, f"{_PAD}:66", "GetTensorShape(paddings).FlatSize()", "output->dims->size * 2")
    ensure_msg(paddings.is_constant, _PAD, "Non-constant >paddings< tensor is not supported")
    values = constant_values(paddings, rank * 2, f"{_PAD}:78", name="paddings")
    for i, size in enumerate(output.shape):
        expected = int32(dim(source, i, f"{_PAD}:78") + values[2 * i] + values[2 * i + 1])
        ensure_eq(size, expected, f"{_PAD}:79", "output_dim", "expected_dim")


def _ensure_int8_pad_value(node: Node, constant: KernelTensor | None, output: KernelTensor) -> None:
    """Check that the padding value can be written in the output's quantization."""
    zero_point = "output->params.zero_point"
    if constant is None:
        limits = "std::numeric_limits<int8_t>::min()", "std::numeric_limits<int8_t>::max()"
        ensure(output.zero_point >= -128, f"{_PAD}:103", f"{zero_point} >= {limits[0]}")
        ensure(output.zero_point <= 127, f"{_PAD}:105", f"{zero_point} <= {limits[1]}")
        return
    values = output.zero_point, constant.zero_point
    ensure_eq(*values, f"{_PAD}:110", zero_point, "constant_values->params.zero_point")
    texts = "static_cast<double>(output->params.scale)", "static_cast<double>(constant_values->params.scale)"
    ensure_double_eq(node, output.scale, constant.scale, f"{_PAD}:112", texts=texts)


def prepare_pad(node: Node) -> Steps[None]:
    """``PadPrepare``, of PAD and of PADV2 alike."""
    require_op_data(node, f"{_PAD}:33")
    ensure(len(node.inputs) in (2, 3), f"{_PAD}:36", "NumInputs(node) == 2 || NumInputs(node) == 3")
    ensure_eq(len(node.outputs), 1, f"{_PAD}:37", "NumOutputs(node)", "1")
    source = yield from input_tensor(node, 0, f"{_PAD}:41")
    paddings = yield from input_tensor(node, 1, f"{_PAD}:44", "paddings")
    constant = yield from optional_input(node, 2)
    output = yield from output_tensor(node, 0, f"{_PAD}:51")
    ensure_c_types_eq(source.type, output.type, f"{_PAD}:53", "input->type", "output->type")
    limit = "NumDimensions(input) <= reference_ops::PadKernelMaxDimensionCount()"
    ensure(len(source.shape) <= _MAX_RANK, f"{_PAD}:56", limit)
    if constant is not None:
        ensure_c_types_eq(source.type, constant.type, f"{_PAD}:60", "input->type", "constant_values->type")
        ensure_count_eq(node, constant.flat_size, 1, f"{_PAD}:62", "NumElements(constant_values)", "1")
    _ensure_padded_shape(source, paddings, output)
    if source.type == TensorType.INT8:
        _ensure_int8_pad_value(node, constant, output)
    yield from free(source, paddings, constant, output)


def _prepare_mirror_pad(node: Node) -> Steps[None]:
    require_op_data(node, f"{_MIRROR_PAD}:172")
    source = yield from optional_input(node, 0)
    matrix = yield from optional_input(node, 1)
    output = yield from optional_output(node, 0)
    paddings = require(matrix, f"{_MIRROR_PAD}:181", "padding_matrix")
    ensure_eq(len(paddings.shape), 2, f"{_MIRROR_PAD}:181", "NumDimensions(padding_matrix)", "2")
    rank = len(require(source, f"{_MIRROR_PAD}:182", "input_tensor").shape)
    texts = "SizeOfDimension(padding_matrix, 0)", "NumDimensions(input_tensor)"
    ensure_eq(paddings.shape[0], rank, f"{_MIRROR_PAD}:182", *texts)
    require(output, f"{_MIRROR_PAD}:194", "output_tensor")
    yield Scratch(rank * _INT_SIZE, "output_dims_num_elements")
    yield Scratch(rank * _INT_SIZE, "input_dims_num_elements")
    yield from free(source, paddings, output)


MODELS: tuple[OpModel, ...] = (
    OpModel("PAD", None, op_data("OpData"), prepare_pad, _PAD),
    OpModel("PADV2", None, op_data("OpData"), prepare_pad, _PAD),
    OpModel(
        "MIRROR_PAD",
        "TfLiteMirrorPaddingParams",
        op_data("mirror_pad.OpDataMirrorPad"),
        _prepare_mirror_pad,
        _MIRROR_PAD,
    ),
)
