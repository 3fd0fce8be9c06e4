"""CONCATENATION.

    input 0, output | input 0 freed, types checked | each input: taken, checked, [scratch to decompress it], freed

Source: tensorflow/lite/micro/kernels/concatenation.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import decompression_scratch, fail, op_data

_MAX_INPUT_COUNT = 10
_TYPES = (
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
    TensorType.BOOL,
)


def _ensure_input(k: Kernel, tensor: KernelTensor, input_type: int, output: KernelTensor) -> None:
    """Check one input: its type, its rank, and that it needs no rescaling."""
    k.ensure_types_eq(tensor.type, input_type, "input->type", "input_type")
    if len(tensor.shape) > MAX_RUNTIME_RANK:
        limit = f"Op Concatenation does not currently support num dimensions > {MAX_RUNTIME_RANK} "
        raise fail(f"{limit}Tensor has {len(tensor.shape)} dimensions.")
    if input_type == TensorType.INT8:
        texts = "static_cast<double>(input->params.scale)", "static_cast<double>(output_tensor->params.scale)"
        k.ensure_double_eq(tensor.scale, output.scale, *texts)
        names = "input->params.zero_point", "output_tensor->params.zero_point"
        k.ensure_eq(tensor.zero_point, output.zero_point, *names)
    elif input_type == TensorType.INT16:
        k.zero_points(input=tensor)


def _prepare(node: Node) -> Steps[None]:
    k = Kernel(node, "concatenation.cc")
    first = yield from k.input(0, "input_tensor")
    output = yield from k.output(0, "output_tensor")
    yield from k.free(first)
    k.ensure_eq(fused_activation(node, "ConcatenationOptions"), 0, "params->activation", "kTfLiteActNone")
    k.one_of(first.type, _TYPES, "input_type")
    k.ensure_types_eq(output.type, first.type, "output_type", "input_type")
    k.ensure(len(node.inputs) <= _MAX_INPUT_COUNT, "num_inputs <= kMaxInputNum")
    k.op_data()
    for position in range(len(node.inputs)):
        tensor = yield from k.input(position)
        _ensure_input(k, tensor, first.type, output)
        yield from decompression_scratch(node, position)
        yield from k.free(tensor)
    if first.type == TensorType.INT16:
        k.zero_points(output_tensor=output)
    yield from k.free(output)


MODELS: tuple[OpModel, ...] = (
    OpModel("CONCATENATION", "TfLiteConcatenationParams", op_data("concatenation.OpData"), _prepare),
)
