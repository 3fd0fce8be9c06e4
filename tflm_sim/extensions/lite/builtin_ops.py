"""The builtin operators of the mobile runtime: versions, kernels, and what may be computed in place.

Source: tflite/core/kernels/register.cc, tflite/kernels/register_ref.cc and the kernels in tflite/kernels
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from tflm_sim.errors import PrepareError, UsageError
from tflm_sim.extensions.lite.graph_info import InplaceOperator, TfLiteContext, TfLiteNode, TfLiteRegistration
from tflm_sim.extensions.lite.kernels.call import OPTIMIZED, REFERENCE
from tflm_sim.extensions.lite.kernels.table import BUILTINS, CUSTOMS
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE, has
from tflm_sim.extras import install_command

# (first version, last version), both inclusive, and the operators.
_VERSIONS = {
    (1, 1): """
        ADD_N ASSIGN_VARIABLE ATAN2 BITCAST BITWISE_XOR BROADCAST_ARGS BUCKETIZE CALL_ONCE CEIL COMPLEX_ABS CONV_3D
        CONV_3D_TRANSPOSE CUMSUM DENSIFY DILATE ELU EMBEDDING_LOOKUP_SPARSE EXPAND_DIMS FLOOR HARD_SWISH HASHTABLE
        HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE IF IMAG L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION
        LOGICAL_AND LOGICAL_NOT LOGICAL_OR LSH_PROJECTION MATRIX_DIAG MATRIX_SET_DIAG MULTINOMIAL NEG
        NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT POW PRELU RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK
        READ_VARIABLE REAL REDUCE_ALL REDUCE_ANY REDUCE_WINDOW RELU_0_TO_1 RELU_N1_TO_1 RESHAPE REVERSE_SEQUENCE RFFT2D
        RIGHT_SHIFT ROUND SCATTER_ND SEGMENT_SUM SHAPE SKIP_GRAM SQUARE STABLEHLO_ADD STABLEHLO_AND STABLEHLO_CASE
        STABLEHLO_COMPOSITE STABLEHLO_GATHER STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD
        STABLEHLO_REDUCE_WINDOW STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_SCATTER STABLEHLO_SHIFT_LEFT UNIQUE
        UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM VAR_HANDLE WHILE ZEROS_LIKE
    """,
    (1, 2): """
        COS DEPTH_TO_SPACE DIV EXP FAKE_QUANT FLOOR_MOD GREATER L2_NORMALIZATION LEAKY_RELU LESS_EQUAL LOG LOG_SOFTMAX
        RANGE REDUCE_PROD SELECT_V2 SIGN SIN SPACE_TO_DEPTH SQRT SQUARED_DIFFERENCE SQUEEZE SUM WHERE
    """,
    (1, 3): """
        ARG_MAX ARG_MIN AVERAGE_POOL_2D BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN FLOOR_DIV GELU
        GREATER_EQUAL LESS LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD REDUCE_MAX REDUCE_MIN RELU RELU6 RNN RSQRT
        SPARSE_TO_DENSE SPLIT_V TANH TILE TOPK_V2 UNIDIRECTIONAL_SEQUENCE_RNN
    """,
    (1, 4): """
        BATCH_MATMUL BATCH_TO_SPACE_ND LSTM MAXIMUM MINIMUM NOT_EQUAL RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2
        SELECT SOFTMAX SPACE_TO_BATCH_ND SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
    """,
    (2, 4): "BROADCAST_TO",
    (1, 5): "ABS EMBEDDING_LOOKUP EQUAL FILL PACK SPLIT SUB TRANSPOSE_CONV",
    (1, 6): "ADD DYNAMIC_UPDATE_SLICE GATHER_ND PAD PADV2 QUANTIZE UNPACK",
    (1, 7): "CONCATENATION DEPTHWISE_CONV_2D",
    (1, 8): "CONV_2D GATHER MUL SLICE STRIDED_SLICE",
    (1, 9): "CAST DEQUANTIZE TRANSPOSE",
    (1, 14): "FULLY_CONNECTED",
}
# Where the reference kernels were registered for other versions, and which operators they lacked.
_REFERENCE_VERSIONS = {
    (1, 1): "COS DEPTH_TO_SPACE RANGE SIN SQUEEZE",
    (1, 2): "ARG_MAX ARG_MIN GELU TILE",
    (1, 3): "ABS SOFTMAX UNIDIRECTIONAL_SEQUENCE_LSTM",
    (1, 4): "STRIDED_SLICE",
    (1, 5): "ADD",
    (1, 6): "DEPTHWISE_CONV_2D",
    (1, 7): "MUL",
    (1, 8): "TRANSPOSE",
}
_NOT_IN_REFERENCE = """
    CEIL ELU HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE ROUND SEGMENT_SUM STABLEHLO_AND STABLEHLO_CASE
    STABLEHLO_SHIFT_LEFT
"""
_UNMODIFIED = InplaceOperator.DATA_UNMODIFIED | InplaceOperator.INPUT0_SHARED
_EITHER_INPUT = InplaceOperator.INPUT0_SHARED | InplaceOperator.INPUT1_SHARED
_INPLACE = {
    "RESHAPE": _UNMODIFIED,
    "EXPAND_DIMS": _UNMODIFIED,
    "SQUEEZE": _UNMODIFIED,
    "BITCAST": _UNMODIFIED,
    "ADD": _EITHER_INPUT,
    "SUB": _EITHER_INPUT,
    "MUL": _EITHER_INPUT,
    "DIV": _EITHER_INPUT,
    "SOFTMAX": InplaceOperator.INPUT0_SHARED,
    "DYNAMIC_UPDATE_SLICE": InplaceOperator.INPUT0_SHARED,
}


def builtin_op_resolver(
    kernels: str = OPTIMIZED, *, runs: bool = False, release: str = DEFAULT_RELEASE
) -> MutableOpResolver:
    """Return upstream's BuiltinOpResolver, or BuiltinRefOpResolver; more may be added.

    Args:
        kernels: "optimized" or "reference".
        release: That of the runtime.
        runs: Whether the operators that ``numpy_kernels`` has can be run as well; that takes numpy.
    """
    invoke, runnable = _runnable() if runs else (None, frozenset())
    resolver = MutableOpResolver(release)
    for op, (first, last) in _versions(kernels, release).items():
        row = BUILTINS[op]
        registration = TfLiteRegistration(
            inplace_operator=_INPLACE.get(op, InplaceOperator.NONE),
            init=row.init,
            prepare=row.bound(kernels),
            invoke=invoke if op in runnable else None,
        )
        resolver.add_builtin(op, registration, min_version=first, max_version=last)
    if kernels == REFERENCE:
        resolver.flex_registration = TfLiteRegistration("CUSTOM", "Flex", prepare=_refuse_flex)
    for name, row in CUSTOMS.items():
        resolver.add_custom(name, TfLiteRegistration(init=row.init, prepare=row.bound(kernels)))
    return resolver


def _runnable() -> tuple[Callable[[Any, TfLiteNode], None], Collection[str]]:
    try:
        from tflm_sim.extensions.lite.numpy_kernels import KERNELS, invoke
    except ImportError as error:
        raise UsageError(f"running a model takes numpy: {install_command('numpy')}") from error
    return invoke, frozenset(KERNELS)


def _refuse_flex(_subgraph: TfLiteContext, _node: TfLiteNode) -> None:
    message = (
        "Regular TensorFlow ops are not supported by this interpreter. Make sure you invoke the Flex delegate before "
        "inference."
    )
    raise PrepareError(message, device_message=message)


def _versions(kernels: str, release: str) -> dict[str, tuple[int, int]]:
    table = {op: versions for versions, ops in _VERSIONS.items() for op in ops.split()}
    if has(release, "cast_10_fully_connected_15"):
        table |= {"CAST": (1, 10), "FULLY_CONNECTED": (1, 15)}
    if kernels == OPTIMIZED or has(release, "reference_has_all"):
        return table
    table.update({op: versions for versions, ops in _REFERENCE_VERSIONS.items() for op in ops.split()})
    return {op: versions for op, versions in table.items() if op not in _NOT_IN_REFERENCE.split()}
