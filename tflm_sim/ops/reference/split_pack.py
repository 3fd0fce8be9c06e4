"""Operators that cut a tensor up or put tensors together: SPLIT, SPLIT_V, PACK, UNPACK.

Source: tensorflow/lite/micro/kernels/{split,split_v,pack,unpack}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.kernel import Kernel, Prepare, source, unchecked
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.requests import KernelTensor


def _some_inputs(k: Kernel) -> None:
    k.check(k.node.operator.inputs is not None, "node->inputs != nullptr")


def _three_inputs(k: Kernel) -> None:
    k.ensure_eq(len(k.node.inputs), 3, "NumInputs(node)", "3")


def _constant_axis(k: Kernel, axis: KernelTensor | None) -> None:
    constant = k.require(axis, "axis").is_constant
    k.ensure_msg(constant, "Non-constant >axis< tensor is not supported")


_SPLIT = Prepare("split.cc", _some_inputs, takes=(source(0, "axis"),), body=_constant_axis)
_SPLIT_V = Prepare("split_v.cc", _three_inputs, takes=(unchecked(source(2, "axis")),), body=_constant_axis)

MODELS: tuple[OpModel, ...] = (
    OpModel("SPLIT", "TfLiteSplitParams", prepare=_SPLIT),
    OpModel("SPLIT_V", "TfLiteSplitVParams", prepare=_SPLIT_V),
    OpModel("PACK", "TfLitePackParams", source="pack.cc"),
    OpModel("UNPACK", "TfLiteUnpackParams", source="unpack.cc"),
)
