"""Where esp-tflite-micro 1.3.3 (TFLM of January 2025) asks for other things than the reference snapshot.

Operators that TFLM gained later are still in the table: a firmware of that time cannot register them.

Source: tensorflow/lite/micro/kernels/{reduce_common,esp_nn/conv}.cc @ espressif/esp-tflite-micro v1.3.3.
"""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.ops.esp_nn import kernels
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.reduce import init_reduce, mean_or_sum
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import op_data


def _prepare_mean_or_sum(node: Node) -> Steps[None]:
    yield from mean_or_sum(node, iterates=False)


_CONV = next(model for model in kernels.MODELS if model.op == "CONV_2D")

MODELS: tuple[OpModel, ...] = (
    OpModel("MEAN", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum, "reduce_common.cc"),
    OpModel("SUM", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum, "reduce_common.cc"),
    # Init took too little until a91b807: sizeof(OpDataConv), although it keeps a NodeData.
    replace(_CONV, init=op_data("OpDataConv")),
)
