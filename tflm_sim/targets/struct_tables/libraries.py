"""What the kernels of CMSIS-NN (4ab83cc) and of esp-tflite-micro (1.4.0) keep per node."""

from __future__ import annotations

STRUCTS = """
// ARM-software/CMSIS-NN Include/arm_nn_types.h
struct cmsis_nn_dims { int32_t n, h, w, c; };  // :85
struct cmsis_nn_lstm_gate {  // :226
  int32_t input_multiplier, input_shift; void *input_weights, *input_effective_bias;
  int32_t hidden_multiplier, hidden_shift; void *hidden_weights, *hidden_effective_bias, *bias; enum activation_type;
};
struct [[cmsis_conv_groups]] cmsis_nn_lstm_params {  // :243
  int32_t time_major, batch_size, time_steps, input_size, hidden_size, input_offset, forget_to_cell_multiplier,
  forget_to_cell_shift, input_to_cell_multiplier, input_to_cell_shift, cell_clip, cell_scale_power,
  output_multiplier, output_shift, output_offset; cmsis_nn_lstm_gate forget_gate, input_gate, cell_gate, output_gate;
};
struct [[!cmsis_conv_groups]] cmsis_nn_lstm_params {  // :203 @ d071e9f
  int32_t time_major, scaling[34], cell_state_shift, hidden_offset, output_state_offset; int16_t cell_clip;
  int8_t projection_clip; int32_t guard[4]; void *layer_norm[4], *biases[13]; int32_t activation[2];
};

// tensorflow/lite/micro/kernels/cmsis_nn/add.cc
struct cmsis_nn/add.OpData {  // :37
  bool requires_broadcast; int input1_shift, input2_shift;
  int32_t output_activation_min, output_activation_max, input1_multiplier, input2_multiplier, output_multiplier;
  int output_shift, left_shift; int32_t input1_offset, input2_offset, output_offset;
  [[cmsis_float_activation]] float output_activation_min_f32, output_activation_max_f32;
};

// tensorflow/lite/micro/kernels/cmsis_nn/batch_matmul.cc
struct cmsis_nn/batch_matmul.OpData {  // :35
  OpDataBatchMatmul reference_op_data; cmsis_nn_dims output_shape; int buffer_idx;
};

// tensorflow/lite/micro/kernels/cmsis_nn/conv.cc
struct cmsis_nn/conv.OpData { OpDataConv reference_op_data; int buffer_idx; };  // :33

// tensorflow/lite/micro/kernels/cmsis_nn/depthwise_conv.cc
struct cmsis_nn/depthwise_conv.OpData { OpDataConv reference_op_data; int buffer_idx; };  // :35

// tensorflow/lite/micro/kernels/cmsis_nn/fully_connected.cc
struct cmsis_nn/fully_connected.OpData {  // :35
  OpDataFullyConnected reference_op_data; [[fc_per_channel]] int buffer_conv_1x1_idx;
  [[cmsis_fc_1x1 && !fc_per_channel]] void *per_channel_output_multiplier, *per_channel_output_shift;
  int buffer_idx; [[cmsis_keeps_sums]] void *kernel_sums; [[fc_hybrid]] int32_t batches, accum_depth, output_depth;
};

// tensorflow/lite/micro/kernels/cmsis_nn/pooling.cc
struct cmsis_nn/pooling.OpData { OpDataPooling reference_op_data; int buffer_idx; };  // :30

// tensorflow/lite/micro/kernels/cmsis_nn/softmax.cc
struct cmsis_nn/softmax.CMSISNNSoftmaxParams { SoftmaxParams softmax_params; int32_t num_rows, row_size; };  // :32

// tensorflow/lite/micro/kernels/cmsis_nn/svdf.cc
struct cmsis_nn/svdf.CmsisNnOpDataSvdf {  // :34
  int32_t effective_scale_1_a, effective_scale_2_a;
  int effective_scale_1_b, effective_scale_2_b, scratch_tensor_index, scratch_output_tensor_index,
  input_zero_point, output_zero_point; [[cmsis_svdf_int8]] int activation_state_zero_point;
  [[cmsis_for_size && kernels_for_size]] int scratch_weight_tensor_index;
  [[cmsis_keeps_sums]] void *kernel_sums;
};

// tensorflow/lite/micro/kernels/cmsis_nn/transpose_conv.cc
struct cmsis_nn/transpose_conv.OpData {  // :47
  ConvParams params; int scratch_buffer_index, scratch_buffer_output_index, bias_converted_buffer_index;
  void *per_channel_output_multiplier, *per_channel_output_shift;
};

// tensorflow/lite/micro/kernels/cmsis_nn/unidirectional_sequence_lstm.cc
struct cmsis_nn/unidirectional_sequence_lstm.OpData {  // :35
  OpDataLSTM params_ref; cmsis_nn_lstm_params params_cmsis_nn;
};

// espressif/esp-tflite-micro tensorflow/lite/micro/kernels/esp_nn/conv.cc
struct esp_nn/conv.NodeData { OpDataConv op_data; int buffer_idx; };  // :39

// espressif/esp-tflite-micro tensorflow/lite/micro/kernels/esp_nn/depthwise_conv.cc
struct esp_nn/depthwise_conv.NodeData { OpDataConv op_data; int buffer_idx; };  // :38

// espressif/esp-tflite-micro tensorflow/lite/micro/kernels/esp_nn/softmax.cc
struct esp_nn/softmax.NodeData { SoftmaxParams op_data; int buffer_idx; };  // :42

// edgeimpulse/inferencing-sdk-cpp tensorflow/lite/micro/kernels/batch_matmul.cc @ 919819f
struct edge_impulse/batch_matmul.HybridOpData {  // :56
  float filter_scale; int input_quantized_index, scaling_factors_index, input_offsets_index;
  void *row_sums_buffer; bool compute_row_sums;
};

// edgeimpulse/inferencing-sdk-cpp tensorflow/lite/micro/kernels/rfft2d.cc @ 919819f
struct edge_impulse/rfft2d.OpData { int kiss_fft_output_buffer_index; };  // :43

// edgeimpulse/inferencing-sdk-cpp tensorflow/lite/micro/kernels/tile.cc @ 919819f
struct edge_impulse/tile.OpData { bool noop; };  // :26

// edgeimpulse/inferencing-sdk-cpp tensorflow/lite/micro/kernels/tree_ensemble_classifier.cc @ 919819f
struct edge_impulse/tree.OpDataTree {  // :47
  uint32_t num_leaf_nodes, num_internal_nodes, num_trees;
  void *nodes_modes, *nodes_featureids, *nodes_values, *nodes_truenodeids, *nodes_falsenodeids, *nodes_weights;
  void *nodes_classids, *tree_root_ids, *buffer_t; size_t buffer_length;
};

// edgeimpulse/inferencing-sdk-cpp tensorflow/lite/micro/kernels/{conv,fully_connected,pooling,quantize}.cc @ 6887772
struct edge_impulse/early.Conv {  // conv.cc:1026
  TfLitePaddingValues padding; int32_t output_multiplier; int output_shift;
  void *per_channel_output_multiplier, *per_channel_output_shift; int32_t output_activation_min, output_activation_max;
};
struct edge_impulse/early.CmsisConv : edge_impulse/early.Conv { void *scratch_buffer; };  // conv.cc:49
struct edge_impulse/early.FullyConnected {  // fully_connected.cc:690
  int32_t output_multiplier; int output_shift; int32_t output_activation_min, output_activation_max;
  int input_quantized_index;
};
struct edge_impulse/early.CmsisFullyConnected : edge_impulse/early.FullyConnected { void *scratch_buffer; };  // :38
struct edge_impulse/early.CmsisPool { TfLitePaddingValues padding; void *scratch_buffer; };  // pooling.cc:40
struct edge_impulse/early.Scaling { int32_t output_multiplier; int output_shift; };  // quantize.cc:29, dequantize.cc

// SiliconLabs/gecko_sdk platform/compute/nn/mvp/inc/sl_mvp_ml_conv2d.h @ 911f6cdef; that of depthwise_conv2d.h has no
// scratch_buffer
struct sli_mvp_ml_depthwise_conv2d_s8_params_t {
  int batches, in_channels; void *input; int input_height, input_width, out_channels; void *output;
  int output_height, output_width, output_activation_min, output_activation_max; void *output_scaler, *filter;
  int filter_height, filter_width; void *bias; int stride_height, stride_width; bool padding;
  int pad_height, pad_width, dilation_height, dilation_width, input_offset, output_offset;
};
struct sli_mvp_ml_conv2d_s8_params_t { sli_mvp_ml_depthwise_conv2d_s8_params_t same; void *scratch_buffer; };
struct sli_mvp_ml_pooling_s8_params_t {
  int batches, channels; void *input; int input_height, input_width; void *output;
  int output_height, output_width, output_activation_min, output_activation_max, filter_height, filter_width,
  stride_height, stride_width; bool padding; int pad_height, pad_width;
};
struct sli_mvp_ml_fully_connected_s8_params_t {
  void *input; int input_shape[4], input_offset; void *weight; int weight_shape[4], weight_offset; void *bias;
  size_t bias_length; void *output; int output_shape[4], output_offset; int16_t output_multiplier;
  int8_t activation_min, activation_max;
};
struct sli_mvp_ml_add_s8_params_t {
  void *input1; int input1_offset; float input1_multiplier; void *input2; int input2_offset; float input2_multiplier;
  void *output; int output_offset; float output_multiplier; size_t length; int8_t activation_min, activation_max;
};
struct sli_mvp_ml_mul_s8_params_t {
  void *input1; int input1_offset; void *input2; int input2_offset; void *output; int output_offset;
  float output_multiplier; size_t length; int8_t activation_min, activation_max;
};

// SiliconLabs/gecko_sdk util/third_party/tensorflow_extra/siliconlabs/*.cc @ 911f6cdef
struct siliconlabs/conv.OpData {  // :26
  enum supported; float activation_min_f32, activation_max_f32; int scratch_buffer_index;
  sli_mvp_ml_conv2d_s8_params_t op_params; void *per_channel_output_multiplier, *per_channel_output_shift;
};
struct siliconlabs/depthwise_conv.OpData {  // :26
  enum supported; float activation_min_f32, activation_max_f32; int scratch_buffer_index;
  sli_mvp_ml_depthwise_conv2d_s8_params_t op_params;
  void *per_channel_output_multiplier, *per_channel_output_shift;
};
struct siliconlabs/transpose_conv.OpData {
  enum supported; float activation_min_f32, activation_max_f32; int scratch_buffer_index;
  sli_mvp_ml_conv2d_s8_params_t op_params; void *per_channel_output_multiplier, *per_channel_output_shift;
};
struct siliconlabs/pooling.OpData {
  float activation_min_f32, activation_max_f32; sli_mvp_ml_pooling_s8_params_t op_params; enum supported;
  int buffer_idx;
};
struct siliconlabs/fully_connected.OpData {
  int32_t output_multiplier; int output_shift; sli_mvp_ml_fully_connected_s8_params_t op_params; void *bias_fp16;
  bool use_mvp;
};
struct siliconlabs/add.OpData {
  bool requires_broadcast; int input1_shift, input2_shift;
  int32_t input1_multiplier, input2_multiplier, output_multiplier; int output_shift, left_shift;
  sli_mvp_ml_add_s8_params_t params; float output_activation_min_f32, output_activation_max_f32;
};
struct siliconlabs/mul.SlOpDataMul { OpDataMul opdata; sli_mvp_ml_mul_s8_params_t params; };
"""
