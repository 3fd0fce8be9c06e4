"""TFLM's CMSIS-NN kernels: rows that replace the reference kernels' of the same operator.

Source: tensorflow/lite/micro/kernels/cmsis_nn @ 90b983c; ARM-software/CMSIS-NN by version in ``buffer_sizes``.
"""

from __future__ import annotations

from tflm_sim.ops.cmsis_nn import add, conv, dense, lstm, pool_softmax_svdf
from tflm_sim.ops.op_model import OpModel

CMSIS_NN: dict[str, OpModel] = {
    model.op: model for family in (add, conv, dense, lstm, pool_softmax_svdf) for model in family.MODELS
}
