"""What the reference kernels keep per node (``OpData`` and its parts). Source: snapshot 90b983c."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_K = "tensorflow/lite/micro/kernels/"
_TYPES = "tensorflow/lite/kernels/internal/types.h"

STRUCTS: tuple[CStruct, ...] = (
    declare(
        "detection_postprocess.CenterSizeEncoding",
        _K + "detection_postprocess.cc:79",
        "float y; float x; float h; float w",
    ),
    declare(
        "log_softmax.LogSoftmaxOpData",
        _K + "log_softmax.cc:32",
        "int32 input_multiplier; int32 input_left_shift; int32 reverse_scaling_divisor; "
        "int32 reverse_scaling_right_shift; int diff_min; size_t outer_size; size_t depth",
    ),
    declare(
        "add_n.OpData",
        _K + "add_n.cc:36",
        "int32 output_activation_min; int32 output_activation_max; int32 input_offset; int32 output_offset; "
        "int32 input_multiplier; int32 output_multiplier; int input_shift; int output_shift; int left_shift; "
        "int scratch_index",
    ),
    declare("call_once.OpData", _K + "call_once.cc:34", "int init_subgraph_index; bool has_run"),
    declare("comparisons.OpData", _K + "comparisons.cc:28", "ComparisonParams params"),
    declare(
        "concatenation.OpData",
        _K + "concatenation.cc:34",
        "ConcatenationParams params; ?compression int[10] scratch_indices",
    ),
    declare(
        "cumsum.OpData",
        _K + "cumsum.cc:35",
        "int32 output_activation_min; int32 output_activation_max; int32 input_offset; int32 output_offset; "
        "int32 input_multiplier; int32 output_multiplier; int input_shift; int output_shift; int left_shift",
    ),
    declare(
        "detection_postprocess.OpData",
        _K + "detection_postprocess.cc:91",
        "int max_detections; int max_classes_per_detection; int detections_per_class; "
        "float non_max_suppression_score_threshold; float intersection_over_union_threshold; int num_classes; "
        "bool use_regular_non_max_suppression; detection_postprocess.CenterSizeEncoding scale_values; "
        "int active_candidate_idx; int decoded_boxes_idx; int scores_idx; int score_buffer_idx; "
        "int keep_scores_idx; int scores_after_regular_non_max_suppression_idx; int sorted_values_idx; "
        "int keep_indices_idx; int sorted_indices_idx; int buffer_idx; int selected_idx; "
        "TfLiteQuantizationParams input_box_encodings; TfLiteQuantizationParams input_class_predictions; "
        "TfLiteQuantizationParams input_anchors",
    ),
    declare("elu.OpData", _K + "elu.cc:40", "int8[256] table"),
    declare("embedding_lookup.OpData", _K + "embedding_lookup.cc:46", "float scale; size_t num_columns"),
    declare("if.OpData", _K + "if.cc:36", "int then_subgraph_index; int else_subgraph_index"),
    declare("select.OpData", _K + "select.cc:34", "bool requires_broadcast"),
    declare(
        "squared_difference.OpData",
        _K + "squared_difference.cc:30",
        "bool requires_broadcast; ArithmeticParams arithmetic_params",
    ),
    declare(
        "tanh.OpData",
        _K + "tanh.cc:37",
        "int32 input_zero_point; int32 input_range_radius; int32 input_multiplier; int input_left_shift",
    ),
    declare(
        "transpose_conv.OpData",
        _K + "transpose_conv.cc:36",
        "ConvParams params; int scratch_buffer_index; ?compression int filter_scratch_index; "
        "?compression int bias_scratch_index; int bias_converted_buffer_index; "
        "ptr per_channel_output_multiplier; ptr per_channel_output_shift",
    ),
    declare("var_handle.OpData", _K + "var_handle.cc:35", "int32 resource_id"),
    declare("while.OpData", _K + "while.cc:34", "int cond_subgraph_index; int body_subgraph_index"),
    declare(
        "elementwise.OpDataAbsRsqrt",
        _K + "elementwise.cc:36",
        "int32 multiplier; int shift; int input_offset; int output_offset; bool needs_rescale; "
        "int input_quantization_type; enum input_type",
    ),
    declare(
        "div.OpDataDiv",
        _K + "div.cc:33",
        "int32 input1_zero_point; int32 input2_zero_point; int32 output_zero_point; int32 output_activation_min; "
        "int32 output_activation_max; int32 output_multiplier; int output_shift",
    ),
    declare(
        "mirror_pad.OpDataMirrorPad",
        _K + "mirror_pad.cc:24",
        "int input_dims; int output_size; int offset; int output_dims_num_elements_buffer_index; "
        "int input_dims_num_elements_buffer_index",
    ),
    declare(
        "ActivationParams",
        _TYPES + ":652",
        "uint8 activation_type; int32 quantized_activation_min; int32 quantized_activation_max",
    ),
    declare(
        "ArithmeticParams",
        _TYPES + ":675",
        "uint8 broadcast_category; int32 input1_offset; int32 input2_offset; int32 output_offset; "
        "int32 output_multiplier; int output_shift; int left_shift; int32 input1_multiplier; int input1_shift; "
        "int32 input2_multiplier; int input2_shift; int32 quantized_activation_min; "
        "int32 quantized_activation_max; float float_activation_min; float float_activation_max; "
        "int64 int64_activation_min; int64 int64_activation_max; int16 int16_activation_min; "
        "int16 int16_activation_max; int[5] broadcast_shape",
    ),
    declare(
        "CellStateInfo",
        _K + "lstm_shared.h:93",
        "float cell_clip; int16 quantized_cell_clip; int32 cell_state_scale_power",
    ),
    declare(
        "ComparisonParams",
        _TYPES + ":726",
        "int left_shift; int32 input1_offset; int32 input1_multiplier; int input1_shift; int32 input2_offset; "
        "int32 input2_multiplier; int input2_shift; bool is_broadcast",
    ),
    declare(
        "ConcatenationParams",
        _TYPES + ":717",
        "int32 axis; ptr input_zeropoint; ptr input_scale; int32 inputs_count; int32 output_zeropoint; "
        "float output_scale",
    ),
    declare(
        "ConvParams",
        _TYPES + ":739",
        "uint8 padding_type; PaddingValues padding_values; int16 stride_width; int16 stride_height; "
        "int16 dilation_width_factor; int16 dilation_height_factor; int32 input_offset; int32 weights_offset; "
        "int32 output_offset; int32 output_multiplier; int output_shift; int32 quantized_activation_min; "
        "int32 quantized_activation_max; float float_activation_min; float float_activation_max",
    ),
    declare("DecodeState", _K + "decode_state.h:30", "ptr vtable; ptr context_; ptr micro_profiler_"),
    declare(
        "DecodeStateHuffman",
        _K + "decode_state_huffman.h:27",
        "DecodeState base; ptr compressed_codewords_; size_t count_codewords_; ptr huffman_tables_; "
        "bool use_32bit_table_; uint8 initial_table_size_",
    ),
    declare(
        "DecodeStateLut",
        _K + "decode_state_lut.h:26",
        "DecodeState base; ptr compressed_indices_; size_t count_indices_; size_t num_channels_; "
        "size_t elements_per_channel_; ptr value_table_; uint8 value_table_channel_stride_; "
        "uint8 compressed_bit_width_; bool use_alternate_axis_",
    ),
    declare(
        "DecodeStatePrune",
        _K + "decode_state_prune.h:26",
        "DecodeState base; ptr compressed_indices_; size_t count_indices_; size_t num_channels_; "
        "size_t elements_per_channel_; ptr value_table_; ptr zero_points_; int8 single_zero_point_; "
        "bool use_alternate_axis_",
    ),
    declare("DequantizationParams", _TYPES + ":806", "double scale; int32 zero_point"),
    declare(
        "DequantizeOpData",
        _K + "dequantize.h:25",
        "DequantizationParams quantization_params; int32 output_multiplier; int output_shift; int32 output_zero_point",
    ),
    declare(
        "FullyConnectedParams",
        _TYPES + ":822",
        "int32 input_offset; int32 weights_offset; int32 output_offset; int32 output_multiplier; "
        "int output_shift; int32 quantized_activation_min; int32 quantized_activation_max; "
        "float float_activation_min; float float_activation_max; bool lhs_cacheable; bool rhs_cacheable; "
        "uint8 weights_format",
    ),
    declare(
        "GateParameters",
        _K + "lstm_shared.h:70",
        "FullyConnectedParams input_fc_params; FullyConnectedParams recurrent_fc_params",
    ),
    declare(
        "HardSwishParams",
        _TYPES + ":859",
        "int16 input_zero_point; int16 output_zero_point; int16 reluish_multiplier_fixedpoint_int16; "
        "int reluish_multiplier_exponent; int16 output_multiplier_fixedpoint_int16; "
        "int output_multiplier_exponent",
    ),
    declare(
        "InterGateParameters",
        _K + "lstm_shared.h:76",
        "ArithmeticParams forget_cell_mul_params; ArithmeticParams input_mul_params; "
        "ArithmeticParams output_mul_params",
    ),
    declare("L2NormalizationParams", _TYPES + ":847", "int32 input_zero_point"),
    declare(
        "LeakyReluOpData",
        _K + "leaky_relu.h:27",
        "int32 output_multiplier_alpha; int32 output_shift_alpha; int32 output_multiplier_identity; "
        "int32 output_shift_identity; int32 input_zero_point; int32 output_zero_point",
    ),
    declare(
        "LstmSizeInfo",
        _K + "lstm_shared.h:84",
        "bool time_major; int batch_size; int time_steps; int input_dimension; int state_dimension",
    ),
    declare("OpData", _K + "pad.h:24", "PadParams params; int32 output_zero_point"),
    declare(
        "OpDataAdd",
        _K + "add.h:31",
        "bool requires_broadcast; int input1_shift; int input2_shift; int32 output_activation_min; "
        "int32 output_activation_max; int32 input1_multiplier; int32 input2_multiplier; int32 output_multiplier; "
        "int output_shift; int left_shift; int32 input1_offset; int32 input2_offset; int32 output_offset; "
        "float output_activation_min_f32; float output_activation_max_f32",
    ),
    declare(
        "OpDataBatchMatmul",
        _K + "batch_matmul.h:41",
        "ptr quantization; ptr lhs_transposed_tensor; ptr rhs_transposed_tensor; bool rhs_is_transposed; "
        "bool lhs_is_constant_tensor; bool rhs_is_constant_tensor",
    ),
    declare("OpDataCircularBuffer", _K + "circular_buffer.h:36", "int cycles_until_run; int cycles_max"),
    declare(
        "OpDataConv",
        _K + "conv.h:27",
        "TfLitePaddingValues padding; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point; "
        "int32 output_multiplier; int output_shift; ptr per_channel_output_multiplier; "
        "ptr per_channel_output_shift; int32 output_activation_min; int32 output_activation_max; "
        "int filter_buffer_index; ?compression int weights_scratch_index; ?compression int bias_scratch_index",
    ),
    declare(
        "OpDataFullyConnected",
        _K + "fully_connected.h:26",
        "int32 output_multiplier; int output_shift; int32 output_activation_min; int32 output_activation_max; "
        "int input_quantized_index; int32 input_zero_point; int32 filter_zero_point; int32 output_zero_point; "
        "int filter_buffer_index; ptr per_channel_output_multiplier; ptr per_channel_output_shift; "
        "bool is_per_channel; ?compression int weights_scratch_index; ?compression int bias_scratch_index",
    ),
    declare(
        "OpDataLSTM",
        _K + "lstm_shared.h:108",
        "LstmSizeInfo size_info; CellStateInfo cell_state_info; enum cell_gate_nonlinear_type; "
        "GateParameters forget_gate_parameters; GateParameters input_gate_parameters; "
        "GateParameters cell_gate_parameters; GateParameters output_gate_parameters; "
        "InterGateParameters inter_gate_parameters; int[4] buffer_indices",
    ),
    declare(
        "OpDataLogistic",
        _K + "logistic.h:28",
        "int32 input_zero_point; int32 input_range_radius; int32 input_multiplier; int input_left_shift",
    ),
    declare(
        "OpDataMul",
        _K + "mul.h:30",
        "int32 input1_zero_point; int32 input2_zero_point; int32 output_activation_min; "
        "int32 output_activation_max; int32 output_zero_point; int32 output_multiplier; int output_shift; "
        "float output_activation_min_f32; float output_activation_max_f32",
    ),
    declare(
        "OpDataPooling",
        _K + "pooling.h:37",
        "TfLitePaddingValues padding; int32 activation_min; int32 activation_max; float activation_min_f32; "
        "float activation_max_f32",
    ),
    declare(
        "OpDataQuantizeReference",
        _K + "quantize.h:23",
        "QuantizationParams quantization_params; int32 requantize_output_multiplier; "
        "int requantize_output_shift; int32 input_zero_point",
    ),
    declare(
        "OpDataReduce",
        _K + "reduce.h:27",
        "int32 multiplier; int shift; int scratch_accumulator_idx; int scratch_resolved_axis_idx; "
        "int scratch_input_iter_idx; int input_zp; float input_scale; int output_zp; float output_scale; "
        "int num_output_elements; int num_axis",
    ),
    declare(
        "OpDataSub",
        _K + "sub.h:30",
        "bool requires_broadcast; int input1_shift; int input2_shift; int32 output_activation_min; "
        "int32 output_activation_max; int32 input1_multiplier; int32 input2_multiplier; int32 output_multiplier; "
        "int output_shift; int left_shift; int32 input1_offset; int32 input2_offset; int32 output_offset",
    ),
    declare(
        "OpDataSvdf",
        _K + "svdf.h:23",
        "int32 effective_scale_1_a; int32 effective_scale_2_a; int effective_scale_1_b; int effective_scale_2_b; "
        "int scratch_tensor_index; int scratch_output_tensor_index; int input_zero_point; int output_zero_point; "
        "int activation_state_zero_point",
    ),
    declare(
        "PadParams",
        _TYPES + ":909",
        "int8 left_padding_count; int32[5] left_padding; int8 right_padding_count; int32[5] right_padding; "
        "uint8 resizing_category",
    ),
    declare("PaddingValues", _TYPES + ":72", "int16 width; int16 height; int16 width_offset; int16 height_offset"),
    declare(
        "PreluParams",
        _TYPES + ":917",
        "int32 input_offset; int32 alpha_offset; int32 output_offset; int32 output_multiplier_1; "
        "int output_shift_1; int32 output_multiplier_2; int output_shift_2",
    ),
    declare(
        "QuantizationOpDataBatchMatmul",
        _K + "batch_matmul.h:25",
        "int32 output_multiplier; int output_shift; int32 output_activation_min; int32 output_activation_max; "
        "int32 lhs_zero_point; int32 rhs_zero_point; int32 output_zero_point",
    ),
    declare("QuantizationParams", _TYPES + ":169", "int32 zero_point; double scale"),
    declare("Relu6OpData", _K + "activations.h:35", "int32 six; int32 zero"),
    declare("ReluOpData", _K + "activations.h:31", "ReluParams params"),
    declare(
        "ReluParams",
        _TYPES + ":659",
        "ActivationParams base; int32 input_offset; int32 output_offset; int32 output_multiplier; int output_shift",
    ),
    declare(
        "SoftmaxParams",
        _TYPES + ":968",
        "double beta; int32 input_multiplier; int32 input_left_shift; int32 reverse_scaling_divisor; "
        "int32 reverse_scaling_right_shift; int diff_min; int32 zero_point; float scale; ptr table; ptr exp_lut; "
        "ptr one_over_one_plus_x_lut; ptr uint8_table1; ptr uint8_table2",
    ),
    declare("SpaceToBatchParams", _TYPES + ":990", "int32 output_offset"),
    declare(
        "StridedSliceParams",
        _TYPES + ":1011",
        "int8 start_indices_count; int32[5] start_indices; int8 stop_indices_count; int32[5] stop_indices; "
        "int8 strides_count; int32[5] strides; uint16 begin_mask; uint16 ellipsis_mask; uint16 end_mask; "
        "uint16 new_axis_mask; uint16 shrink_axis_mask; bool offset",
    ),
    declare("assign_variable.OpData", _K + "assign_variable.cc:41", "int scratch_index"),
    declare(
        "ethosu.OpData",
        _K + "ethos_u/ethosu.cc:29",
        "int cms_data_size; int base_addr_idx; int base_addr_size_idx",
    ),
)
