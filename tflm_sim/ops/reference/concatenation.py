"""CONCATENATION.

    input 0, output | input 0 freed, types checked | each input: taken, checked, [scratch to decompress it], freed

Source: tensorflow/lite/micro/kernels/concatenation.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.reference.node_checks import ensure_double_eq, require_op_data
from tflm_sim.ops.reference.quantization import fused_activation
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import (
    decompression_scratch,
    ensure,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    input_tensor,
    op_data,
    output_tensor,
)

_FILE = "concatenation.cc"
_MAX_INPUT_COUNT = 10
_TYPE_TEXTS = {
    TensorType.FLOAT32: "kTfLiteFloat32",
    TensorType.INT8: "kTfLiteInt8",
    TensorType.INT16: "kTfLiteInt16",
    TensorType.INT32: "kTfLiteInt32",
    TensorType.INT64: "kTfLiteInt64",
    TensorType.BOOL: "kTfLiteBool",
}


def _ensure_types(input_type: int, output_type: int) -> None:
    """Check the first input's type and the output's."""
    chain = " || ".join(f"input_type == {text}" for text in _TYPE_TEXTS.values())
    ensure(input_type in _TYPE_TEXTS, f"{_FILE}:148", chain)
    ensure_types_eq(output_type, input_type, f"{_FILE}:154", "output_type", "input_type")


def _ensure_input(node: Node, tensor: KernelTensor, input_type: int, output: KernelTensor) -> None:
    """Check one input: its type, its rank, and that it needs no rescaling."""
    ensure_types_eq(tensor.type, input_type, f"{_FILE}:169", "input->type", "input_type")
    if len(tensor.shape) > MAX_RUNTIME_RANK:
        limit = f"Op Concatenation does not currently support num dimensions > {MAX_RUNTIME_RANK} "
        raise fail(f"{limit}Tensor has {len(tensor.shape)} dimensions.")
    if input_type == TensorType.INT8:
        texts = ("static_cast<double>(input->params.scale)", "static_cast<double>(output_tensor->params.scale)")
        ensure_double_eq(node, tensor.scale, output.scale, f"{_FILE}:183", texts=texts)
        names = "input->params.zero_point", "output_tensor->params.zero_point"
        ensure_eq(tensor.zero_point, output.zero_point, f"{_FILE}:185", *names)
    elif input_type == TensorType.INT16:
        ensure_eq(tensor.zero_point, 0, f"{_FILE}:189", "input->params.zero_point", "0")


def _prepare(node: Node) -> Steps[None]:
    first = yield from input_tensor(node, 0, f"{_FILE}:137", "input_tensor")
    output = yield from output_tensor(node, 0, f"{_FILE}:141", "output_tensor")
    yield from free(first)
    ensure_eq(fused_activation(node, "ConcatenationOptions"), 0, f"{_FILE}:147", "params->activation", "kTfLiteActNone")
    _ensure_types(first.type, output.type)
    ensure(len(node.inputs) <= _MAX_INPUT_COUNT, f"{_FILE}:158", "num_inputs <= kMaxInputNum")
    require_op_data(node, f"{_FILE}:161")
    for position in range(len(node.inputs)):
        tensor = yield from input_tensor(node, position, f"{_FILE}:168")
        _ensure_input(node, tensor, first.type, output)
        yield from decompression_scratch(node, position)
        yield from free(tensor)
    if first.type == TensorType.INT16:
        ensure_eq(output.zero_point, 0, f"{_FILE}:205", "output_tensor->params.zero_point", "0")
    yield from free(output)


MODELS: tuple[OpModel, ...] = (
    OpModel("CONCATENATION", "TfLiteConcatenationParams", op_data("concatenation.OpData"), _prepare, _FILE),
)
