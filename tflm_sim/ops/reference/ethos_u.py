"""ethos-u: a part of the model that Vela compiled for the Ethos-U NPU.

``MicroMutableOpResolver::AddEthosU`` registers it only in a build that links the Ethos-U driver. None of the targets
here does by default, so it is not among the reference rows: TFLM then says "Failed to get registration from op code
CUSTOM".

Source: tensorflow/lite/micro/kernels/{ethosu.cc,ethos_u/ethosu.cc} @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Scratch, Steps
from tflm_sim.ops.roles import op_data


def _prepare(node: Node) -> Steps[None]:
    k = Kernel(node, "ethos_u/ethosu.cc")
    k.check(node.operator.inputs is not None, "node->inputs != nullptr")
    k.ensure(len(node.inputs) > 0, "node->inputs->size > 0")
    k.op_data()
    k.ensure(bool(node.operator.custom_options), "node->custom_initial_data_size > 0")
    k.check(node.operator.outputs is not None, "node->outputs != nullptr")
    base_addresses = len(node.inputs) + len(node.outputs)
    yield Scratch(8 * base_addresses, "base addresses")
    yield Scratch(node.target.abi.pointer_size * base_addresses, "base address sizes")
    command_stream = k.require((yield from k.optional_input(0)), "tensor")
    yield from k.free(command_stream)


ETHOS_U = OpModel("ethos-u", None, op_data("ethosu.OpData"), _prepare)
ETHOS_U_MODELS = (ETHOS_U,)
