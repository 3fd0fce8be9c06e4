"""Structs that differ from the reference snapshot, per snapshot, each row with the reason.

A row replaces the struct of the same name. Of the wheel's build 8f6596d only size and alignment on x86-64 are known (32
and 8, read from the arena of the running wheel), not the members' names.
"""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, ESP_1_3_3_SNAPSHOT, WHEEL_SNAPSHOT

_ESP_1_3_3 = "espressif/esp-tflite-micro v1.3.3 tensorflow/lite/"
_CHIRALE = "spaziochirale/Chirale_TensorFlowLite v2.0.0 src/tensorflow/lite/"

SNAPSHOT_STRUCTS: dict[str, tuple[CStruct, ...]] = {
    WHEEL_SNAPSHOT: (
        declare(
            "TfLiteFullyConnectedParams",
            "measured in tflite-micro 0.dev20261023182759",
            "enum activation; enum weights_format; bool keep_num_dims; bool asymmetric_quantize_inputs; "
            "enum quantized_bias_type; int64[2] unnamed",
        ),
    ),
    ESP_1_3_3_SNAPSHOT: (
        # Before the iterator went into a scratch buffer (tflite-micro 0efdd51a3).
        declare(
            "OpDataReduce",
            _ESP_1_3_3 + "micro/kernels/reduce.h",
            "int32 multiplier; int shift; int temp_buffer_idx; int resolved_axis_idx; int input_zp; "
            "float input_scale; int output_zp; float output_scale; int num_output_elements; int num_axis",
        ),
    ),
    CHIRALE_SNAPSHOT: (
        # Without TF_LITE_STATIC_MEMORY.
        declare(
            "TfLiteTensor",
            _CHIRALE + "core/c/common.h",
            "enum type; ptr data; ptr dims; TfLiteQuantizationParams params; enum allocation_type; size_t bytes; "
            "ptr allocation; ptr name; ptr delegate; int buffer_handle; bool data_is_stale; bool is_variable; "
            "TfLiteQuantization quantization; ptr sparsity; ptr dims_signature",
        ),
        declare(
            "TfLiteNode",
            _CHIRALE + "core/c/common.h",
            "ptr inputs; ptr outputs; ptr intermediates; ptr temporaries; ptr user_data; ptr builtin_data; "
            "ptr custom_initial_data; int custom_initial_data_size; ptr delegate; bool might_have_side_effect",
        ),
        # Before quantized_bias_type (tflite-micro ad8d238f9, 39ba5a848) and per-channel layers (47b545074).
        declare(
            "TfLiteConvParams",
            _CHIRALE + "core/c/builtin_op_data.h",
            "enum padding; int stride_width; int stride_height; enum activation; int dilation_width_factor; "
            "int dilation_height_factor",
        ),
        declare(
            "TfLiteFullyConnectedParams",
            _CHIRALE + "core/c/builtin_op_data.h",
            "enum activation; enum weights_format; bool keep_num_dims; bool asymmetric_quantize_inputs",
        ),
        declare(
            "OpDataFullyConnected",
            _CHIRALE + "micro/kernels/fully_connected.h",
            "int32 output_multiplier; int output_shift; int32 output_activation_min; int32 output_activation_max; "
            "int input_quantized_index; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point; "
            "int filter_buffer_index",
        ),
        declare(
            "cmsis_nn/fully_connected.OpData",
            _CHIRALE + "micro/kernels/cmsis_nn/fully_connected.cpp",
            "OpDataFullyConnected reference_op_data; ptr per_channel_output_multiplier; "
            "ptr per_channel_output_shift; int buffer_idx; int32 batches; int32 accum_depth; int32 output_depth",
        ),
        # Before default values (808ddbf75).
        declare(
            "MicroResourceVariables::MicroResourceVariable",
            _CHIRALE + "micro/micro_resource_variable.h",
            "ptr container; ptr shared_name; ptr resource_buffer; size_t bytes",
        ),
    ),
}
