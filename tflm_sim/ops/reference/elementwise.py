"""Operators that map each element on its own: ABS, RSQRT, SIN ... LOGICAL_NOT, CEIL, ROUND, EXP.

NEG, FLOOR, LOGICAL_AND and LOGICAL_OR have neither Init nor Prepare: whatever the model says, they ask for nothing.
Prepare in ``elementwise.cc`` accepts every type: what looks there like a call of the template's ``IsSupportedType`` is
a cast to the function pointer type of that name, and no type's number is a null pointer.

Source: tensorflow/lite/micro/kernels/{elementwise,ceil,round,exp,neg,floor,logical}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, require_op_data
from tflm_sim.ops.reference.quantization import ensure_affine
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import dim, ensure_eq, ensure_types_eq, free, input_tensor, op_data, output_tensor
from tflm_sim.units import int32

_FILE = "elementwise.cc"


def _prepare_generic(node: Node) -> Steps[None]:
    """``GenericPrepare``: one input and one output of the same type."""
    ensure_counts(node, _FILE, 81, inputs=1)
    source = yield from input_tensor(node, 0, f"{_FILE}:85")
    output = yield from output_tensor(node, 0, f"{_FILE}:88")
    ensure_types_eq(source.type, output.type, f"{_FILE}:89", "input->type", "output->type")
    yield from free(source, output)


def _prepare_abs_rsqrt(node: Node) -> Steps[None]:
    """``PrepareAbsRsqrt``: with op data, and int8 and quantized int16 need both quantizations."""
    ensure_counts(node, _FILE, 105, inputs=1)
    source = yield from input_tensor(node, 0, f"{_FILE}:108")
    output = yield from output_tensor(node, 0, f"{_FILE}:110")
    ensure_types_eq(source.type, output.type, f"{_FILE}:111", "input->type", "output->type")
    require_op_data(node, f"{_FILE}:119", "op_data")
    if source.type == TensorType.INT8 or (source.type == TensorType.INT16 and source.affine):
        _ensure_quantized(source, output)
    yield from free(source, output)


def _ensure_quantized(source: KernelTensor, output: KernelTensor) -> None:
    """Refuse a tensor without affine quantization, and int16 with a zero point."""
    ensure_affine(source, f"{_FILE}:130", "input")
    ensure_affine(output, f"{_FILE}:132", "output")
    if source.type == TensorType.INT16:
        ensure_eq(source.zero_point, 0, f"{_FILE}:149", "op_data->input_offset", "0")
        ensure_eq(output.zero_point, 0, f"{_FILE}:150", "op_data->output_offset", "0")


def _ensure_same_float(source: KernelTensor, output: KernelTensor, file: str, line: int) -> None:
    """Refuse all but float32 of one shape; the first check is at ``line``, the others on the lines after it."""
    ensure_types_eq(source.type, TensorType.FLOAT32, f"{file}:{line}", "input->type", "kTfLiteFloat32")
    ensure_types_eq(output.type, source.type, f"{file}:{line + 1}", "output->type", "input->type")
    ensure_eq(int32(output.bytes), int32(source.bytes), f"{file}:{line + 2}", "output->bytes", "input->bytes")
    ranks = len(output.shape), len(source.shape)
    ensure_eq(*ranks, f"{file}:{line + 3}", "output->dims->size", "input->dims->size")
    place = f"{file}:{line + 5}"
    for i, size in enumerate(output.shape):
        ensure_eq(size, dim(source, i, place), place, "output->dims->data[i]", "input->dims->data[i]")


def _ceil_round(file: str, first_line: int) -> Callable[[Node], Steps[None]]:
    """The Prepare of CEIL and of ROUND, which takes the tensors before it counts them."""

    def prepare(node: Node) -> Steps[None]:
        source = yield from input_tensor(node, 0, f"{file}:{first_line}")
        output = yield from output_tensor(node, 0, f"{file}:{first_line + 3}")
        ensure_counts(node, file, first_line + 4, inputs=1)
        _ensure_same_float(source, output, file, first_line + 6)
        yield from free(source, output)

    return prepare


def _prepare_exp(node: Node) -> Steps[None]:
    ensure_counts(node, "exp.cc", 33, inputs=1)
    source = yield from input_tensor(node, 0, "exp.cc:37")
    output = yield from output_tensor(node, 0, "exp.cc:40")
    _ensure_same_float(source, output, "exp.cc", 41)
    yield from free(source, output)


MODELS: tuple[OpModel, ...] = (
    *(OpModel(op, None, op_data("elementwise.OpDataAbsRsqrt"), _prepare_abs_rsqrt, _FILE) for op in ("ABS", "RSQRT")),
    *(
        OpModel(op, None, None, _prepare_generic, _FILE)
        for op in ("SIN", "COS", "LOG", "SQRT", "SQUARE", "LOGICAL_NOT")
    ),
    OpModel("CEIL", None, None, _ceil_round("ceil.cc", 35), "ceil.cc"),
    OpModel("ROUND", None, None, _ceil_round("round.cc", 34), "round.cc"),
    OpModel("EXP", None, None, _prepare_exp, "exp.cc"),
    OpModel("NEG", None, None, None, "neg.cc"),
    OpModel("FLOOR", None, None, None, "floor.cc"),
    OpModel("LOGICAL_AND", None, None, None, "logical.cc"),
    OpModel("LOGICAL_OR", None, None, None, "logical.cc"),
)
