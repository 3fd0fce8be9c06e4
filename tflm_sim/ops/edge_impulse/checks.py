"""What the SDK's own kernels share. Its checks print nothing: the SDK is built with TF_LITE_STRIP_ERROR_STRINGS."""

from __future__ import annotations

from typing import Any

from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.prepare import Take
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import fail, temp_at


def refuse_unless(condition: bool, text: str) -> None:
    """Refuse where ``condition`` does not hold; ``text`` says for people what is wrong."""
    if not condition:
        raise fail(f"Edge Impulse's kernel refuses this: {text}")


def taken(node: Node, *takes: Take) -> Steps[Any]:
    """Take the tensors; return a :class:`~tflm_sim.ops.kernel.Kernel` and then each of them."""
    tensors = []
    for take in takes:
        indices = node.operator.outputs if take.is_output else node.operator.inputs
        tensor = yield from temp_at(indices, take.position)
        refuse_unless(tensor is not None, f"{take.name} != nullptr")
        tensors.append(tensor)
    return (Kernel(node, ""), *tensors)
