"""What esp-tflite-micro's ESP-NN kernels keep per node. Source: espressif/esp-tflite-micro 1.4.0."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_K = "espressif/esp-tflite-micro tensorflow/lite/micro/kernels/esp_nn/"

STRUCTS: tuple[CStruct, ...] = (
    declare("esp_nn/conv.NodeData", _K + "conv.cc:39", "OpDataConv op_data; int buffer_idx"),
    declare("esp_nn/depthwise_conv.NodeData", _K + "depthwise_conv.cc:38", "OpDataConv op_data; int buffer_idx"),
    declare("esp_nn/softmax.NodeData", _K + "softmax.cc:42", "SoftmaxParams op_data; int buffer_idx"),
)
