"""What TFLM's CMSIS-NN kernels keep per node. Source: snapshot 90b983c; CMSIS-NN 4ab83cc."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_K = "tensorflow/lite/micro/kernels/cmsis_nn/"
_NN = "ARM-software/CMSIS-NN Include/arm_nn_types.h"

STRUCTS: tuple[CStruct, ...] = (
    declare("cmsis_nn_dims", _NN + ":85", "int32 n; int32 h; int32 w; int32 c"),
    declare(
        "cmsis_nn_lstm_gate",
        _NN + ":226",
        "int32 input_multiplier; int32 input_shift; ptr input_weights; ptr input_effective_bias; "
        "int32 hidden_multiplier; int32 hidden_shift; ptr hidden_weights; ptr hidden_effective_bias; ptr bias; "
        "enum activation_type",
    ),
    declare(
        "cmsis_nn_lstm_params",
        _NN + ":243",
        "int32 time_major; int32 batch_size; int32 time_steps; int32 input_size; int32 hidden_size; "
        "int32 input_offset; int32 forget_to_cell_multiplier; int32 forget_to_cell_shift; "
        "int32 input_to_cell_multiplier; int32 input_to_cell_shift; int32 cell_clip; int32 cell_scale_power; "
        "int32 output_multiplier; int32 output_shift; int32 output_offset; cmsis_nn_lstm_gate forget_gate; "
        "cmsis_nn_lstm_gate input_gate; cmsis_nn_lstm_gate cell_gate; cmsis_nn_lstm_gate output_gate",
    ),
    declare(
        "cmsis_nn/softmax.CMSISNNSoftmaxParams",
        _K + "softmax.cc:32",
        "SoftmaxParams softmax_params; int32 num_rows; int32 row_size",
    ),
    declare(
        "cmsis_nn/svdf.CmsisNnOpDataSvdf",
        _K + "svdf.cc:34",
        "int32 effective_scale_1_a; int32 effective_scale_2_a; int effective_scale_1_b; int effective_scale_2_b; "
        "int scratch_tensor_index; int scratch_output_tensor_index; int input_zero_point; int output_zero_point; "
        "int activation_state_zero_point; ptr kernel_sums",
    ),
    declare(
        "cmsis_nn/add.OpData",
        _K + "add.cc:37",
        "bool requires_broadcast; int input1_shift; int input2_shift; int32 output_activation_min; "
        "int32 output_activation_max; int32 input1_multiplier; int32 input2_multiplier; int32 output_multiplier; "
        "int output_shift; int left_shift; int32 input1_offset; int32 input2_offset; int32 output_offset; "
        "float output_activation_min_f32; float output_activation_max_f32",
    ),
    declare(
        "cmsis_nn/batch_matmul.OpData",
        _K + "batch_matmul.cc:35",
        "OpDataBatchMatmul reference_op_data; cmsis_nn_dims output_shape; int buffer_idx",
    ),
    declare("cmsis_nn/conv.OpData", _K + "conv.cc:33", "OpDataConv reference_op_data; int buffer_idx"),
    declare(
        "cmsis_nn/depthwise_conv.OpData",
        _K + "depthwise_conv.cc:35",
        "OpDataConv reference_op_data; int buffer_idx",
    ),
    declare(
        "cmsis_nn/fully_connected.OpData",
        _K + "fully_connected.cc:35",
        "OpDataFullyConnected reference_op_data; int buffer_conv_1x1_idx; int buffer_idx; ptr kernel_sums; "
        "int32 batches; int32 accum_depth; int32 output_depth",
    ),
    declare("cmsis_nn/pooling.OpData", _K + "pooling.cc:30", "OpDataPooling reference_op_data; int buffer_idx"),
    declare(
        "cmsis_nn/transpose_conv.OpData",
        _K + "transpose_conv.cc:47",
        "ConvParams params; int scratch_buffer_index; int scratch_buffer_output_index; "
        "int bias_converted_buffer_index; ptr per_channel_output_multiplier; ptr per_channel_output_shift",
    ),
    declare(
        "cmsis_nn/unidirectional_sequence_lstm.OpData",
        _K + "unidirectional_sequence_lstm.cc:35",
        "OpDataLSTM params_ref; cmsis_nn_lstm_params params_cmsis_nn",
    ),
)
