"""TFLM's CMSIS-NN kernels: rows that replace the reference kernels' of the same operator.

Source: tensorflow/lite/micro/kernels/cmsis_nn @ 90b983c; ARM-software/CMSIS-NN by version in ``buffer_sizes``.
"""

from __future__ import annotations

FAMILIES = {
    "adapted": "ADD MUL AVERAGE_POOL_2D MAX_POOL_2D SOFTMAX SVDF UNIDIRECTIONAL_SEQUENCE_LSTM",
    "conv": "CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV",
    "dense": "FULLY_CONNECTED BATCH_MATMUL",
}
"""Module name to the operators that it models."""

SINCE = {
    "SOFTMAX": "cmsis_softmax",
    "TRANSPOSE_CONV": "cmsis_transpose_conv",
    "BATCH_MATMUL": "cmsis_batch_matmul",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "cmsis_lstm",
}
"""The change that brought a kernel, where TFLM was there before; until then it links the reference kernel."""

UNTIL = {"MUL": "cmsis_common_mul"}
"""The change since which a kernel has the reference Prepare."""
