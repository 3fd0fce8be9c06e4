"""FLOOR_DIV and FLOOR_MOD: an Init that allocates nothing, and three tensors of one type.

Source: tensorflow/lite/micro/kernels/{floor_div,floor_mod}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import ensure_types_eq, free, input_tensor, output_tensor


def _init(_node: Node) -> Steps[object]:
    """Allocate nothing; the null pointer is not None here, which would mean that an allocation failed."""
    yield from ()
    return "no op data"


def _prepare(file: str, first_line: int) -> Callable[[Node], Steps[None]]:
    """``CalculateOpData``, whose first check is at ``first_line``."""

    def prepare(node: Node) -> Steps[None]:
        ensure_counts(node, file, first_line, inputs=2)
        input1 = yield from input_tensor(node, 0, f"{file}:{first_line + 5}", "input1")
        input2 = yield from input_tensor(node, 1, f"{file}:{first_line + 8}", "input2")
        output = yield from output_tensor(node, 0, f"{file}:{first_line + 11}")
        ensure_types_eq(input1.type, input2.type, f"{file}:{first_line + 13}", "input1->type", "input2->type")
        ensure_types_eq(input1.type, output.type, f"{file}:{first_line + 14}", "input1->type", "output->type")
        yield from free(input1, input2, output)

    return prepare


MODELS: tuple[OpModel, ...] = (
    OpModel("FLOOR_DIV", None, _init, _prepare("floor_div.cc", 37), "floor_div.cc"),
    OpModel("FLOOR_MOD", None, _init, _prepare("floor_mod.cc", 42), "floor_mod.cc"),
)
