"""TFLM's reference kernels: one module per family, one ``OpModel`` row per registration.

Every operator of ``MicroMutableOpResolver`` at the reference snapshot has a row; ``custom`` has also the one that
only a build with the Ethos-U driver registers. A family is imported when one of its operators is looked up.
"""

from __future__ import annotations

from tflm_sim.ops.op_table import OpTable

_FAMILIES = {
    "activations": "RELU RELU6 LEAKY_RELU PRELU HARD_SWISH ELU LOGISTIC TANH",
    "axes": "CUMSUM REVERSE_V2 SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND SPACE_TO_DEPTH DEPTH_TO_SPACE",
    "batch_matmul": "BATCH_MATMUL",
    "binary_arithmetic": (
        "ADD SUB MUL DIV SQUARED_DIFFERENCE ADD_N MAXIMUM MINIMUM FLOOR_DIV FLOOR_MOD "
        "EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL "
    ),
    "broadcast": "BROADCAST_TO BROADCAST_ARGS SELECT_V2 FILL ZEROS_LIKE",
    "concatenation": "CONCATENATION SPLIT SPLIT_V PACK UNPACK",
    "control_flow": "IF WHILE CALL_ONCE",
    "conv": "CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV",
    "custom": "CIRCULAR_BUFFER TFLite_Detection_PostProcess",
    "decode": "TFLM_DECODE",
    "elementwise": (
        "ABS RSQRT SIN COS LOG SQRT SQUARE LOGICAL_NOT CEIL ROUND EXP NEG FLOOR LOGICAL_AND LOGICAL_OR "
        "CAST QUANTIZE DEQUANTIZE L2_NORMALIZATION "
    ),
    "fully_connected": "FULLY_CONNECTED",
    "gather": "GATHER GATHER_ND EMBEDDING_LOOKUP DYNAMIC_UPDATE_SLICE",
    "lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "pad": "PAD PADV2 MIRROR_PAD",
    "pooling": "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D",
    "reduce": "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_ALL ARG_MAX ARG_MIN",
    "reshape": "RESHAPE SQUEEZE EXPAND_DIMS SHAPE",
    "resize": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    "signal_fft": "SignalRfft SignalIrfft SignalFftAutoScale",
    "signal_frames": "SignalDelay SignalFramer SignalOverlapAdd SignalStacker SignalWindow",
    "signal_spectrum": (
        "SignalEnergy SignalFilterBank SignalFilterBankLog SignalFilterBankSpectralSubtraction "
        "SignalFilterBankSquareRoot SignalPCAN "
    ),
    "slice": "TRANSPOSE STRIDED_SLICE SLICE",
    "softmax": "SOFTMAX LOG_SOFTMAX",
    "svdf": "SVDF",
    "variables": "VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE",
}
REFERENCE = OpTable(__name__, _FAMILIES)
"""The registrations of a plain build, by operator name."""

COMPRESSION_FAMILIES = {"variables": "ASSIGN_VARIABLE"}
"""What a build with USE_TFLM_COMPRESSION registers instead."""

ETHOS_U_FAMILIES = {"custom": "ethos-u"}
"""What a build with the Ethos-U driver registers besides."""
