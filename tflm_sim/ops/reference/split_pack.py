"""Operators that cut a tensor up or put tensors together: SPLIT, SPLIT_V, PACK, UNPACK.

Source: tensorflow/lite/micro/kernels/{split,split_v,pack,unpack}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import require
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import abort, ensure_eq, ensure_msg, free, input_tensor, optional_input

_AXIS_MESSAGE = "Non-constant >axis< tensor is not supported"


def _check_axis(axis: KernelTensor, file: str) -> Steps[None]:
    ensure_msg(axis.is_constant, file, _AXIS_MESSAGE)
    yield from free(axis)


def _prepare_split(node: Node) -> Steps[None]:
    if node.operator.inputs is None:
        raise abort("split.cc:72", "node->inputs != nullptr")
    axis = yield from input_tensor(node, 0, "split.cc:73", "axis")
    yield from _check_axis(axis, "split.cc")


def _prepare_split_v(node: Node) -> Steps[None]:
    ensure_eq(len(node.inputs), 3, "split_v.cc:75", "NumInputs(node)", "3")
    axis = require((yield from optional_input(node, 2)), "split_v.cc:82", "axis")
    yield from _check_axis(axis, "split_v.cc")


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("SPLIT", "TfLiteSplitParams", None, _prepare_split, _K + "split.cc"),
    OpModel("SPLIT_V", "TfLiteSplitVParams", None, _prepare_split_v, _K + "split_v.cc"),
    OpModel("PACK", "TfLitePackParams", None, None, _K + "pack.cc"),
    OpModel("UNPACK", "TfLiteUnpackParams", None, None, _K + "unpack.cc"),
)
