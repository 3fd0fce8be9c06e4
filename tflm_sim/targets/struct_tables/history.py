"""Structs as they were before a change of upstream's history, the newest change first.

Read so: a runtime that does not have the change has the struct as it stands here, unless an older change, further down,
says otherwise. A struct that a runtime does not know at all keeps its newest form: nothing asks for it.

Source: the headers and kernels of tensorflow/tflite-micro in the commit before each change.
"""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_C = "tensorflow/lite/c/"
_MICRO = "tensorflow/lite/micro/"
_K = _MICRO + "kernels/"
_TYPES = "tensorflow/lite/kernels/internal/types.h"

_BUFFERS = "ptr buffer_head_; ptr buffer_tail_; ptr head_; ptr tail_; ptr temp_"
_COUNTED = "intptr temp_buffer_ptr_check_sum_; int temp_buffer_count_"
_RECORDING = "size_t requested_head_bytes_; size_t requested_tail_bytes_; size_t used_bytes_; size_t alloc_count_"
_RECORDED = "; ".join(
    f"RecordedAllocation recorded_{name}_data_"
    for name in (
        "tflite_eval_tensor",
        "persistent_tflite_tensor",
        "persistent_tflite_tensor_quantization",
        "persistent_buffer",
        "tflite_tensor_variable_buffer",
        "node_and_registration_array",
        "op",
    )
)


def _arena(members: str) -> CStruct:
    return declare("SingleArenaBufferAllocator", _MICRO + "simple_memory_allocator.h", members)


def _allocator(members: str) -> CStruct:
    return declare("MicroAllocator", _MICRO + "micro_allocator.h", "ptr vtable; " + members)


_LSTM = "unidirectional_sequence_lstm.UnidirectionalSequenceLstmOpData"
_LSTM_MEMBERS = (
    "bool use_layer_norm; int[12] scratch_index; int32 row_sums_size; ptr row_sums; bool compute_row_sums; "
    "int32 input_zero_point; int32 output_state_zero_point; IntegerLstmParameter integer_lstm_param"
)


BEFORE: tuple[tuple[str, CStruct], ...] = (
    (
        "concatenation_int32_axis",
        declare(
            "ConcatenationParams",
            _TYPES,
            "int8 axis; ptr input_zeropoint; ptr input_scale; uint16 inputs_count; int32 output_zeropoint; "
            "float output_scale",
        ),
    ),
    (
        "reduce_iterates",
        declare(
            "OpDataReduce",
            _K + "reduce.h",
            "int32 multiplier; int shift; int temp_buffer_idx; int resolved_axis_idx; int input_zp; "
            "float input_scale; int output_zp; float output_scale; int num_output_elements; int num_axis",
        ),
    ),
    (
        "fc_per_channel",
        declare(
            "OpDataFullyConnected",
            _K + "fully_connected.h",
            "int32 output_multiplier; int output_shift; int32 output_activation_min; int32 output_activation_max; "
            "int input_quantized_index; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point; "
            "int filter_buffer_index",
        ),
    ),
    ("relu6_int16", declare("Relu6OpData", _K + "activations.h", "int8 six_int8; int8 zero_int8")),
    (
        "quantized_bias_type",
        declare(
            "TfLiteConvParams",
            _C + "builtin_op_data.h",
            "enum padding; int stride_width; int stride_height; enum activation; int dilation_width_factor; "
            "int dilation_height_factor",
        ),
    ),
    (
        "quantized_bias_type",
        declare(
            "TfLiteFullyConnectedParams",
            _C + "builtin_op_data.h",
            "enum activation; enum weights_format; bool keep_num_dims; bool asymmetric_quantize_inputs",
        ),
    ),
    (
        "quantized_bias_type",
        declare(
            "TfLiteTransposeConvParams",
            _C + "builtin_op_data.h",
            "enum padding; int stride_width; int stride_height; enum activation",
        ),
    ),
    (
        "strided_slice_offset",
        declare(
            "TfLiteStridedSliceParams",
            _C + "builtin_op_data.h",
            "int begin_mask; int end_mask; int ellipsis_mask; int new_axis_mask; int shrink_axis_mask",
        ),
    ),
    (
        "strided_slice_offset",
        declare(
            "StridedSliceParams",
            _TYPES,
            "int8 start_indices_count; int32[5] start_indices; int8 stop_indices_count; int32[5] stop_indices; "
            "int8 strides_count; int32[5] strides; uint16 begin_mask; uint16 ellipsis_mask; uint16 end_mask; "
            "uint16 new_axis_mask; uint16 shrink_axis_mask",
        ),
    ),
    (
        "select_as_in_tflite",
        declare("select.OpData", _K + "select.cc", "bool requires_broadcast; bool has_low_rank_input_condition"),
    ),
    (
        "arithmetic_int16",
        declare(
            "ArithmeticParams",
            _TYPES,
            "uint8 broadcast_category; int32 input1_offset; int32 input2_offset; int32 output_offset; "
            "int32 output_multiplier; int output_shift; int left_shift; int32 input1_multiplier; int input1_shift; "
            "int32 input2_multiplier; int input2_shift; int32 quantized_activation_min; "
            "int32 quantized_activation_max; float float_activation_min; float float_activation_max; "
            "int64 int64_activation_min; int64 int64_activation_max; int[5] broadcast_shape",
        ),
    ),
    (
        "variable_defaults",
        declare(
            "MicroResourceVariables::MicroResourceVariable",
            _MICRO + "micro_resource_variable.h",
            "ptr container; ptr shared_name; ptr resource_buffer; size_t bytes",
        ),
    ),
    (
        "lstm_diagonal",
        declare(
            "TfLiteUnidirectionalSequenceLSTMParams",
            _C + "builtin_op_data.h",
            "enum activation; float cell_clip; float proj_clip; bool time_major; bool asymmetric_quantize_inputs",
        ),
    ),
    (
        "transpose_conv_activation",
        declare(
            "TfLiteTransposeConvParams",
            _C + "builtin_op_data.h",
            "enum padding; int stride_width; int stride_height",
        ),
    ),
    (
        "fc_int4",
        declare(
            "OpDataFullyConnected",
            _K + "fully_connected.h",
            "int32 output_multiplier; int output_shift; int32 output_activation_min; int32 output_activation_max; "
            "int input_quantized_index; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point",
        ),
    ),
    (
        "reduce_num_axis",
        declare(
            "OpDataReduce",
            _K + "reduce.h",
            "int32 multiplier; int shift; int temp_buffer_idx; int resolved_axis_idx; int input_zp; "
            "float input_scale; int output_zp; float output_scale; int num_output_elements",
        ),
    ),
    (
        "lstm_redesigned",
        declare(
            "IntegerLstmParameter",
            _K + "lstm_eval.h",
            "int32[34] scales; int16 quantized_cell_clip; int8 quantized_proj_clip; int32 hidden_zp; int32 cell_scale; "
            "int32[4] variance_guards; ptr[9] effective_biases; int32[8] intermediate_scale_a; "
            "int32[8] intermediate_scale_b; int32[12] intermediate_zp",
        ),
    ),
    ("lstm_redesigned", declare(_LSTM, _K + "unidirectional_sequence_lstm.cc", _LSTM_MEMBERS)),
    (
        "lstm_without_hybrid",
        declare(_LSTM, _K + "unidirectional_sequence_lstm.cc", _LSTM_MEMBERS + "; float[16] hybrid_lstm_scales"),
    ),
    (
        "conv_int4",
        declare(
            "OpDataConv",
            _K + "conv.h",
            "TfLitePaddingValues padding; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point; "
            "int32 output_multiplier; int output_shift; ptr per_channel_output_multiplier; "
            "ptr per_channel_output_shift; int32 output_activation_min; int32 output_activation_max",
        ),
    ),
    (
        "no_error_reporter",
        _arena(
            "INonPersistentBufferAllocator base; IPersistentBufferAllocator base2; ptr error_reporter_; "
            f"{_BUFFERS}; {_COUNTED}"
        ),
    ),
    (
        "no_error_reporter",
        _allocator(
            "ptr non_persistent_buffer_allocator_; ptr persistent_buffer_allocator_; ptr builtin_data_allocator_; "
            "ptr memory_planner_; ptr error_reporter_; bool model_is_allocating_; "
            "size_t scratch_buffer_request_count_; ptr scratch_buffer_head_; size_t max_head_buffer_usage_"
        ),
    ),
    (
        "reduce_scratch_dims_undone",
        declare(
            "OpDataReduce",
            _K + "reduce.h",
            "int32 multiplier; int shift; int temp_buffer_idx; int temp_index_idx; int resolved_axis_idx; "
            "int normalized_dims_idx; int input_zp; float input_scale; int output_zp; float output_scale; "
            "int num_output_elements",
        ),
    ),
    (
        "reduce_scratch_dims",
        declare(
            "OpDataReduce",
            _K + "reduce.h",
            "int32 multiplier; int shift; int temp_buffer_idx; int resolved_axis_idx; int input_zp; "
            "float input_scale; int output_zp; float output_scale; int num_output_elements",
        ),
    ),
    ("allocator_interfaces", _arena(f"ptr vtable; ptr error_reporter_; {_BUFFERS}; {_COUNTED}")),
    (
        "allocator_interfaces",
        _allocator(
            "ptr memory_allocator_; ptr builtin_data_allocator_; ptr memory_planner_; ptr error_reporter_; "
            "bool model_is_allocating_; size_t scratch_buffer_request_count_; ptr scratch_buffer_head_; "
            "size_t max_head_buffer_usage_"
        ),
    ),
    (
        "if_as_while",
        declare(
            "if.OpData",
            _K + "if.cc",
            "int then_subgraph_index; int else_subgraph_index; ptr intermediate_input_buffer; "
            "ptr intermediate_output_buffer",
        ),
    ),
    (
        "resizable_buffer",
        _allocator(
            "ptr memory_allocator_; ptr builtin_data_allocator_; ptr memory_planner_; ptr error_reporter_; "
            "bool model_is_allocating_; size_t scratch_buffer_request_count_; size_t max_head_buffer_usage_"
        ),
    ),
    (
        "plan_across_subgraphs",
        declare("internal::ScratchBufferRequest", _MICRO + "micro_allocator.h", "size_t bytes; int node_idx"),
    ),
    ("temps_counted", _arena(f"ptr vtable; ptr error_reporter_; {_BUFFERS}")),
    (
        "if_intermediate_buffers",
        declare("if.OpData", _K + "if.cc", "int then_subgraph_index; int else_subgraph_index"),
    ),
    (
        "svdf_state_zero_point",
        declare(
            "OpDataSvdf",
            _K + "svdf.h",
            "int32 effective_scale_1_a; int32 effective_scale_2_a; int effective_scale_1_b; int effective_scale_2_b; "
            "int scratch_tensor_index; int scratch_output_tensor_index; int input_zero_point; int output_zero_point",
        ),
    ),
    (
        "planner_in_arena",
        _allocator(
            "ptr memory_allocator_; ptr builtin_data_allocator_; ptr error_reporter_; bool model_is_allocating_; "
            "size_t scratch_buffer_request_count_; size_t max_head_buffer_usage_"
        ),
    ),
    (
        "node_intermediates",
        declare(
            "TfLiteNode",
            _C + "common.h",
            "ptr inputs; ptr outputs; ptr user_data; ptr builtin_data; ptr custom_initial_data; "
            "int custom_initial_data_size",
        ),
    ),
    (
        "no_uint8_relu6",
        declare(
            "Relu6OpData", _K + "activations.cc", "int8 six_int8; int8 zero_int8; uint8 six_uint8; uint8 zero_uint8"
        ),
    ),
    (
        "transpose_conv_bias",
        declare(
            "transpose_conv.OpData",
            _K + "transpose_conv.cc",
            "ConvParams params; int scratch_buffer_index; ptr per_channel_output_multiplier; "
            "ptr per_channel_output_shift",
        ),
    ),
    (
        "several_subgraphs",
        _allocator(
            "ptr memory_allocator_; ptr error_reporter_; bool model_is_allocating_; "
            "size_t scratch_buffer_request_count_; size_t max_head_buffer_usage_"
        ),
    ),
)
