"""Operators that Edge Impulse's SDK has and its TFLM does not: rows on top of whatever kernels are linked.

IMAG and REAL, which since November 2023 do not give their temp tensors back, are modelled until then only.

Source: edgeimpulse/inferencing-sdk-cpp, tensorflow/lite/micro/kernels @ 919819f (1.93.20).
"""

from __future__ import annotations

from tflm_sim.ops.op_table import OpTable
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.targets.changes import REFERENCE_FAMILIES
from tflm_sim.targets.runtime import Runtime

FAMILIES = {
    "batch_matmul": "BATCH_MATMUL",
    "others": (
        "COMPLEX_ABS REDUCE_ALL REDUCE_ANY REDUCE_MIN RFFT2D SCATTER_ND SELECT TILE TOPK_V2 TreeEnsembleClassifier"
    ),
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

_ABSENT_UNTIL_2023 = frozenset(["CUMSUM", "FLOOR_DIV", "FLOOR_MOD"])
"""Operators of TFLM of April 2021 that the SDKs of August 2021 to August 2023 have not."""
_REPLACED_BY_TREES = frozenset(["TFLite_Detection_PostProcess"])
"""What went when TreeEnsembleClassifier came."""
_UNTIL_2023 = {
    "edge_impulse_2021": {"until_2023": "ADD_N L2_POOL_2D", "binary_arithmetic": "DIV"},
    "edge_impulse_2022": {
        "until_2023": "GATHER SELECT SELECT_V2",
        "others": "COMPLEX_ABS IMAG REAL RFFT2D",
        "reduce": "SUM",
        "slice": "SLICE",
    },
    "edge_impulse_2023": {
        "batch_matmul": "BATCH_MATMUL",
        "binary_arithmetic": "SQUARED_DIFFERENCE",
        "others": "REDUCE_MIN",
        "slice": "TRANSPOSE",
    },
    "edge_impulse_trees": {"others": "TreeEnsembleClassifier", "softmax": "LOG_SOFTMAX"},
}
"""What these SDKs have besides, by the change that brought it: modules here, and those of TFLM's later kernels."""


def table_until_2023(base: OpTable, runtime: Runtime) -> OpTable:
    """Return the kernels of the SDKs of August 2021 to August 2023, on those of their TFLM."""
    here: dict[str, str] = {}
    later: dict[str, str] = {}
    for change, families in _UNTIL_2023.items():
        for family, ops in families.items() if runtime.has(change) else ():
            table = later if family in REFERENCE_FAMILIES and family != "batch_matmul" else here
            table[family] = f"{table.get(family, '')} {ops}"
    absent = _ABSENT_UNTIL_2023 | (_REPLACED_BY_TREES if runtime.has("edge_impulse_trees") else frozenset())
    upstream = OpTable(REFERENCE.package, later, base=base.without(absent))
    return OpTable(__name__, here, base=upstream)


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
