"""CIRCULAR_BUFFER: the state of a strided streaming convolution.

Source: tensorflow/lite/micro/kernels/{circular_buffer,circular_buffer_common}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.custom_options import int_slots
from tflm_sim.ops.reference.node_checks import require_op_data
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import dim, ensure, ensure_eq, ensure_types_eq, free, optional_input, optional_output

_STRUCT = "OpDataCircularBuffer"


def _init(node: Node) -> Steps[object]:
    yield Persistent(node.target.sizeof(_STRUCT), _STRUCT)
    if node.operator.custom_options:
        int_slots(node, "circular_buffer.cc:61", 0)
    return _STRUCT


def _ensure_dims_eq(a: tuple[str, KernelTensor], b: tuple[str, KernelTensor], axis: int, line: int) -> None:
    place = f"circular_buffer_common.cc:{line}"
    (a_name, a_tensor), (b_name, b_tensor) = a, b
    texts = f"{a_name}->dims->data[{axis}]", f"{b_name}->dims->data[{axis}]"
    ensure_eq(dim(a_tensor, axis, place), dim(b_tensor, axis, place), place, *texts)


def _prepare(node: Node) -> Steps[None]:
    file = "circular_buffer_common.cc"
    maybe_source = yield from optional_input(node, 0)
    maybe_output = yield from optional_output(node, 0)
    require_op_data(node, f"{file}:46")
    ensure(maybe_source is not None, f"{file}:50", "input != nullptr")
    ensure(maybe_output is not None, f"{file}:51", "output != nullptr")
    assert maybe_source is not None, "ensured above"
    assert maybe_output is not None, "ensured above"
    source, output = ("input", maybe_source), ("output", maybe_output)
    _ensure_dims_eq(source, output, 0, 52)
    ensure_eq(1, dim(maybe_source, 1, f"{file}:53"), f"{file}:53", "1", "input->dims->data[1]")
    _ensure_dims_eq(source, output, 2, 54)
    _ensure_dims_eq(output, source, 3, 55)
    ensure_types_eq(maybe_source.type, maybe_output.type, f"{file}:57", "input->type", "output->type")
    ensure_types_eq(maybe_source.type, TensorType.INT8, f"{file}:60", "input->type", "kTfLiteInt8")
    yield from free(maybe_source, maybe_output)


MODELS: tuple[OpModel, ...] = (
    OpModel("CIRCULAR_BUFFER", None, _init, _prepare, "tensorflow/lite/micro/kernels/circular_buffer.cc"),
)
