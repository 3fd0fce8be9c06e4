"""Structs of builds that differ from upstream's at the same place in its history, each row with the reason.

A row replaces the struct of the same name. Of the wheel's build 8f6596d only size and alignment on x86-64 are known (32
and 8, read from the arena of the running wheel), not the members' names.
"""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, WHEEL_SNAPSHOT

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
        # Before per-channel layers (47b545074).
        declare(
            "cmsis_nn/fully_connected.OpData",
            _CHIRALE + "micro/kernels/cmsis_nn/fully_connected.cpp",
            "OpDataFullyConnected reference_op_data; ptr per_channel_output_multiplier; "
            "ptr per_channel_output_shift; int buffer_idx; int32 batches; int32 accum_depth; int32 output_depth",
        ),
    ),
}
