"""CIRCULAR_BUFFER: the state of a strided streaming convolution.

Source: tensorflow/lite/micro/kernels/{circular_buffer,circular_buffer_common}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import INPUT, OUTPUT, Kernel, Prepare, unchecked
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.custom_options import int_slots
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps

_STRUCT = "OpDataCircularBuffer"


def _init(node: Node) -> Steps[object]:
    yield Persistent(node.target.sizeof(_STRUCT), _STRUCT)
    if node.operator.custom_options:
        int_slots(Kernel(node, "circular_buffer.cc"), 0)
    return _STRUCT


def _circular_buffer(k: Kernel, maybe_input: KernelTensor | None, maybe_output: KernelTensor | None) -> None:
    k.op_data()
    source, output = k.present(maybe_input, "input"), k.present(maybe_output, "output")
    k.ensure_eq(k.dim(source, 0), k.dim(output, 0), "input->dims->data[0]", "output->dims->data[0]")
    k.ensure_eq(1, k.dim(source, 1), "1", "input->dims->data[1]")
    k.ensure_eq(k.dim(source, 2), k.dim(output, 2), "input->dims->data[2]", "output->dims->data[2]")
    k.ensure_eq(k.dim(output, 3), k.dim(source, 3), "output->dims->data[3]", "input->dims->data[3]")
    k.same_type(source, output)
    k.is_type(source, TensorType.INT8, "input")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CIRCULAR_BUFFER",
        init=_init,
        prepare=Prepare(
            "circular_buffer_common.cc", takes=(unchecked(INPUT), unchecked(OUTPUT)), body=_circular_buffer
        ),
    ),
)
