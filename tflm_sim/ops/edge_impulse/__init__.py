"""Operators that Edge Impulse's SDK has and its TFLM does not: rows on top of whatever kernels are linked.

What is not among them (IMAG, REAL, TreeEnsembleClassifier) is not registered here, as if it was not linked.

Source: edgeimpulse/inferencing-sdk-cpp, tensorflow/lite/micro/kernels @ 919819f (1.93.20).
"""

from __future__ import annotations

from tflm_sim.ops.op_table import OpTable

FAMILIES = {
    "batch_matmul": "BATCH_MATMUL",
    "others": "COMPLEX_ABS REDUCE_ALL REDUCE_ANY REDUCE_MIN RFFT2D SCATTER_ND SELECT TILE TOPK_V2",
}
"""Module name to the operators that it models."""
OPERATORS = frozenset(op for ops in FAMILIES.values() for op in ops.split())
"""All of them."""

SINCE = {
    "REDUCE_ALL": "edge_impulse_reductions",
    "REDUCE_ANY": "edge_impulse_reductions",
    "SCATTER_ND": "edge_impulse_reductions",
    "TILE": "edge_impulse_tile",
    "TOPK_V2": "edge_impulse_tile",
}
"""The change that brought an operator, where the SDK did not have it from the first version that is modelled on."""

NOT_MODELLED_UNTIL_2023 = frozenset(
    [
        "ABS",
        "ADD_N",
        "CUMSUM",
        "EXPAND_DIMS",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "GATHER",
        "L2_POOL_2D",
        "RSQRT",
        "TRANSPOSE_CONV",
    ]
)
"""Operators whose kernels in the SDKs of August 2021 to August 2023 are not all those of their TFLM, or not there.

What came to these SDKs besides (BATCH_MATMUL, DIV, SELECT, SLICE, SUM, TRANSPOSE ...) is not modelled either.
"""

_EARLY = (
    "ABS ADD ARG_MAX ARG_MIN AVERAGE_POOL_2D CEIL CONCATENATION CONV_2D COS DEPTHWISE_CONV_2D DEQUANTIZE EQUAL FLOOR "
    "FULLY_CONNECTED GREATER GREATER_EQUAL L2_NORMALIZATION LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR "
    "LOGISTIC MAXIMUM MAX_POOL_2D MEAN MINIMUM MUL NEG NOT_EQUAL PACK PAD PADV2 PRELU QUANTIZE RELU RELU6 RESHAPE "
    "RESIZE_NEAREST_NEIGHBOR ROUND RSQRT SIN SOFTMAX SPLIT SQRT SQUARE STRIDED_SLICE SUB TANH UNPACK"
)
_SINCE_JUNE_2021 = "REDUCE_MAX"
_EARLY_CMSIS_NN = "AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MAX_POOL_2D"


def early_table(*, has_cmsis_nn: bool, has_reduce_max: bool) -> OpTable:
    """Return the kernels of the SDKs until July 2021.

    Their CIRCULAR_BUFFER, SVDF and TFLite_Detection_PostProcess are not modelled.
    """
    ops = f"{_EARLY} {_SINCE_JUNE_2021}" if has_reduce_max else _EARLY
    table = OpTable(__name__, {"early": ops})
    return OpTable(__name__, {"early": _EARLY_CMSIS_NN}, rows="CMSIS_MODELS", base=table) if has_cmsis_nn else table
