"""Silicon Labs' kernels for the Matrix Vector Processor of their EFR32 chips, on top of CMSIS-NN's.

Source: SiliconLabs/gecko_sdk 911f6cdef (4.4.1), util/third_party/tensorflow_extra/siliconlabs and platform/compute.
"""

from __future__ import annotations

FAMILIES = {"kernels": "ADD AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED MAX_POOL_2D MUL TRANSPOSE_CONV"}
"""Module name to the operators that it models."""
