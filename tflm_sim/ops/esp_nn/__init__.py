"""esp-tflite-micro's ESP-NN kernels: rows that replace the reference kernels' of the same operator.

Source: tensorflow/lite/micro/kernels/esp_nn @ espressif/esp-tflite-micro 1.4.0; espressif/esp-nn by version in
``scratch_sizes``.
"""

from __future__ import annotations

FAMILIES = {"kernels": "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED SOFTMAX"}
"""Module name to the operators that it models."""
