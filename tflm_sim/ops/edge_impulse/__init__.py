"""Operators that Edge Impulse's SDK has and its TFLM does not: rows on top of whatever kernels are linked.

What is not among them (IMAG, REAL, TreeEnsembleClassifier) is not registered here, as if it was not linked.

Source: edgeimpulse/inferencing-sdk-cpp, tensorflow/lite/micro/kernels @ 919819f (1.93.20).
"""

from __future__ import annotations

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
