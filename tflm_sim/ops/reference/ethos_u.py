"""ethos-u: a part of the model that Vela compiled for the Ethos-U NPU.

``MicroMutableOpResolver::AddEthosU`` registers it only in a build that links the Ethos-U driver. None of the targets
here does by default, so it is not among the reference rows: TFLM then says "Failed to get registration from op code
CUSTOM".

Source: tensorflow/lite/micro/kernels/{ethosu.cc,ethos_u/ethosu.cc} @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import require, require_op_data
from tflm_sim.ops.requests import Scratch, Steps
from tflm_sim.ops.roles import abort, ensure, free, op_data, optional_input

_FILE = "ethos_u/ethosu.cc"


def _prepare(node: Node) -> Steps[None]:
    if node.operator.inputs is None:
        raise abort(f"{_FILE}:42", "node->inputs != nullptr")
    ensure(len(node.inputs) > 0, f"{_FILE}:42", "node->inputs->size > 0")
    require_op_data(node, f"{_FILE}:43")
    ensure(bool(node.operator.custom_options), f"{_FILE}:44", "node->custom_initial_data_size > 0")
    if node.operator.outputs is None:
        raise abort(f"{_FILE}:47", "node->outputs != nullptr")
    base_addresses = len(node.inputs) + len(node.outputs)
    yield Scratch(8 * base_addresses, "base addresses")
    yield Scratch(node.target.abi.pointer_size * base_addresses, "base address sizes")
    command_stream = require((yield from optional_input(node, 0)), f"{_FILE}:58", "tensor")
    yield from free(command_stream)


ETHOS_U = OpModel("ethos-u", None, op_data("ethosu.OpData"), _prepare, f"tensorflow/lite/micro/kernels/{_FILE}")
ETHOS_U_MODELS = (ETHOS_U,)
