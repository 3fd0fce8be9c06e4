"""TFLM's CMSIS-NN kernels: rows that replace the reference kernels' of the same operator.

Source: tensorflow/lite/micro/kernels/cmsis_nn @ 90b983c; ARM-software/CMSIS-NN by version in ``buffer_sizes``.
"""

from __future__ import annotations

FAMILIES = {
    "add": "ADD",
    "conv": "CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV",
    "dense": "FULLY_CONNECTED BATCH_MATMUL",
    "lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "pool_softmax_svdf": "AVERAGE_POOL_2D MAX_POOL_2D SOFTMAX SVDF",
}
"""Module name to the operators that it models."""
