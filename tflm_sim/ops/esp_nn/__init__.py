"""esp-tflite-micro's ESP-NN kernels: rows that replace the reference kernels' of the same operator.

Source: tensorflow/lite/micro/kernels/esp_nn @ espressif/esp-tflite-micro 1.4.0; espressif/esp-nn by version in
``scratch_sizes``.
"""

from __future__ import annotations

from tflm_sim.ops.esp_nn.kernels import MODELS
from tflm_sim.ops.op_model import OpModel

ESP_NN: dict[str, OpModel] = {model.op: model for model in MODELS}
