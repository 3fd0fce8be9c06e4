"""What TFLM keeps for each operator: the builtin data that its parser allocates (``TfLite...Params``), and what the
reference and signal kernels keep in ``user_data``: ``OpData`` and its parts. Signal: kissfft v130."""

from __future__ import annotations

STRUCTS = """
// tensorflow/compiler/mlir/lite/core/c/builtin_op_data.h
struct TfLitePaddingValues { int width, height, width_offset, height_offset; };  // :72
struct TfLiteMirrorPaddingParams { enum mode; };  // :76
struct TfLiteConvParams {  // :104
  enum padding; int stride_width, stride_height; enum activation; int dilation_width_factor, dilation_height_factor;
  [[quantized_bias_type]] enum quantized_bias_type;
};
struct TfLitePoolParams {  // :129
  enum padding; int stride_width, stride_height, filter_width, filter_height; enum activation;
  TfLitePaddingValues computed;
};
struct TfLiteDepthwiseConvParams {  // :151
  enum padding; int stride_width, stride_height, depth_multiplier; enum activation;
  int dilation_width_factor, dilation_height_factor;
};
struct TfLiteSVDFParams { int rank; enum activation; bool asymmetric_quantize_inputs; };  // :159
struct TfLiteFullyConnectedParams {  // :211
  enum activation, weights_format; bool keep_num_dims, asymmetric_quantize_inputs;
  [[quantized_bias_type]] enum quantized_bias_type;
  // tflite/converter/core/c/builtin_op_data.h in google-ai-edge/LiteRT @ 8eb5f3084, from where TFLM copies the struct.
  // ParseFullyConnected in the wheel 0.dev20261012203412 allocates 32 bytes, and writes these at 0x10 and 0x18.
  [[fc_quant_spec]] void *quant_spec; [[fc_quant_spec]] int quant_spec_size;
};
struct TfLiteSoftmaxParams { float beta; };  // :225
struct TfLiteConcatenationParams { int axis; enum activation; };  // :230
struct TfLiteAddParams { enum activation; bool pot_scale_int16; };  // :236
struct TfLiteBatchMatMulParams { bool adj_x, adj_y, asymmetric_quantize_inputs; };  // :253
struct TfLiteMulParams { enum activation; };  // :257
struct TfLiteSubParams { enum activation; bool pot_scale_int16; };  // :263
struct TfLiteDivParams { enum activation; };  // :267
struct TfLiteL2NormParams { enum activation; };  // :271
struct TfLiteLSTMParams {  // :297
  enum activation; float cell_clip, proj_clip; enum kernel_type; bool asymmetric_quantize_inputs;
};
struct TfLiteUnidirectionalSequenceLSTMParams {  // :313
  enum activation; float cell_clip, proj_clip; bool time_major, asymmetric_quantize_inputs;
  [[lstm_diagonal]] bool diagonal_recurrent_tensors;
};
struct TfLiteResizeBilinearParams { bool align_corners, half_pixel_centers; };  // :340
struct TfLiteResizeNearestNeighborParams { bool align_corners, half_pixel_centers; };  // :345
struct TfLiteReshapeParams { int32_t shape[8]; int num_dimensions; };  // :361
struct TfLiteSpaceToDepthParams { int block_size; };  // :371
struct TfLiteDepthToSpaceParams { int block_size; };  // :375
struct TfLiteCastParams { enum in_data_type, out_data_type; };  // :380
struct TfLiteGatherParams { int axis, batch_dims; };  // :395
struct TfLiteReducerParams { bool keep_dims; };  // :403
struct TfLiteSplitParams { int num_splits; };  // :407
struct TfLiteSplitVParams { int num_splits; };  // :411
struct TfLiteSqueezeParams { int32_t squeeze_dims[8]; int num_squeeze_dims; };  // :418
struct TfLiteStridedSliceParams {  // :430
  int begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask; [[strided_slice_offset]] bool offset;
};
struct TfLiteArgMaxParams { enum output_type; };  // :434
struct TfLiteArgMinParams { enum output_type; };  // :438
struct TfLiteTransposeConvParams {  // :452
  enum padding; int stride_width, stride_height; [[transpose_conv_activation]] enum activation;
  [[quantized_bias_type]] enum quantized_bias_type;
};
struct TfLiteShapeParams { enum out_type; };  // :460
struct TfLitePackParams { int values_count, axis; };  // :479
struct TfLiteUnpackParams { int num, axis; };  // :488
struct TfLiteLeakyReluParams { float alpha; };  // :492
struct TfLiteIfParams { int then_subgraph_index, else_subgraph_index; };  // :514
struct TfLiteWhileParams { int cond_subgraph_index, body_subgraph_index; };  // :519
struct TfLiteCumsumParams { bool exclusive, reverse; };  // :524
struct TfLiteCallOnceParams { int init_subgraph_index; };  // :528
struct TfLiteVarHandleParams { void *container, *shared_name; };  // :539

// tensorflow/lite/kernels/internal/types.h
struct PaddingValues { int16_t width, height, width_offset, height_offset; };  // :72
struct QuantizationParams { int32_t zero_point; double scale; };  // :169
struct ActivationParams {  // :652
  uint8_t activation_type; int32_t quantized_activation_min, quantized_activation_max;
};
struct ReluParams : ActivationParams {  // :659
  int32_t input_offset, output_offset, output_multiplier; int output_shift;
};
struct ArithmeticParams {  // :675
  uint8_t broadcast_category; int32_t input1_offset, input2_offset, output_offset, output_multiplier;
  int output_shift, left_shift; int32_t input1_multiplier; int input1_shift; int32_t input2_multiplier;
  int input2_shift; int32_t quantized_activation_min, quantized_activation_max;
  float float_activation_min, float_activation_max; int64_t int64_activation_min, int64_activation_max;
  [[arithmetic_int16]] int16_t int16_activation_min, int16_activation_max; int broadcast_shape[5];
};
struct ConcatenationParams {  // :717
  [[!concatenation_int32_axis]] int8_t axis; [[concatenation_int32_axis]] int32_t axis;
  void *input_zeropoint, *input_scale; [[!concatenation_int32_axis]] uint16_t inputs_count;
  [[concatenation_int32_axis]] int32_t inputs_count; int32_t output_zeropoint; float output_scale;
};
struct ComparisonParams {  // :726
  int left_shift; int32_t input1_offset, input1_multiplier; int input1_shift;
  int32_t input2_offset, input2_multiplier; int input2_shift; bool is_broadcast;
};
struct ConvParams {  // :739
  uint8_t padding_type; PaddingValues padding_values;
  int16_t stride_width, stride_height, dilation_width_factor, dilation_height_factor;
  int32_t input_offset, weights_offset, output_offset, output_multiplier; int output_shift;
  int32_t quantized_activation_min, quantized_activation_max; float float_activation_min, float_activation_max;
};
struct DequantizationParams { double scale; int32_t zero_point; };  // :806
struct FullyConnectedParams {  // :822
  int32_t input_offset, weights_offset, output_offset, output_multiplier; int output_shift;
  int32_t quantized_activation_min, quantized_activation_max; float float_activation_min, float_activation_max;
  bool lhs_cacheable, rhs_cacheable; uint8_t weights_format;
};
struct L2NormalizationParams { int32_t input_zero_point; };  // :847
struct HardSwishParams {  // :859
  int16_t input_zero_point, output_zero_point, reluish_multiplier_fixedpoint_int16; int reluish_multiplier_exponent;
  int16_t output_multiplier_fixedpoint_int16; int output_multiplier_exponent;
};
struct PadParams {  // :909
  int8_t left_padding_count; [[pad_5d]] int32_t left_padding[5]; [[!pad_5d]] int32_t left_padding[4];
  int8_t right_padding_count; [[pad_5d]] int32_t right_padding[5]; [[!pad_5d]] int32_t right_padding[4];
  uint8_t resizing_category;
};
struct PreluParams {  // :917
  int32_t input_offset, alpha_offset, output_offset, output_multiplier_1; int output_shift_1;
  int32_t output_multiplier_2; int output_shift_2;
};
struct SoftmaxParams {  // :968
  double beta; int32_t input_multiplier, input_left_shift, reverse_scaling_divisor, reverse_scaling_right_shift;
  int diff_min; int32_t zero_point; float scale;
  void *table, *exp_lut, *one_over_one_plus_x_lut, *uint8_table1, *uint8_table2;
};
struct SpaceToBatchParams { int32_t output_offset; };  // :990
struct StridedSliceParams {  // :1011
  int8_t start_indices_count; int32_t start_indices[5]; int8_t stop_indices_count; int32_t stop_indices[5];
  int8_t strides_count; int32_t strides[5];
  uint16_t begin_mask, ellipsis_mask, end_mask, new_axis_mask, shrink_axis_mask; [[strided_slice_offset]] bool offset;
};

// tensorflow/lite/micro/kernels/activations.h
struct ReluOpData { ReluParams params; };  // :31
struct Relu6OpData {  // :35
  [[relu6_int16]] int32_t six, zero; [[!relu6_int16]] int8_t six_int8, zero_int8;
  [[!no_uint8_relu6]] uint8_t six_uint8, zero_uint8;
};

// tensorflow/lite/micro/kernels/add.h
struct OpDataAdd {  // :31
  bool requires_broadcast; int input1_shift, input2_shift;
  int32_t output_activation_min, output_activation_max, input1_multiplier, input2_multiplier, output_multiplier;
  int output_shift, left_shift; int32_t input1_offset, input2_offset, output_offset;
  float output_activation_min_f32, output_activation_max_f32;
};

// tensorflow/lite/micro/kernels/add_n.cc
struct add_n.OpData {  // :36
  int32_t output_activation_min, output_activation_max, input_offset, output_offset, input_multiplier,
  output_multiplier; int input_shift, output_shift, left_shift, scratch_index;
};

// tensorflow/lite/micro/kernels/assign_variable.cc
struct assign_variable.OpData { int scratch_index; };  // :41

// tensorflow/lite/micro/kernels/batch_matmul.h
struct QuantizationOpDataBatchMatmul {  // :25
  int32_t output_multiplier; int output_shift;
  int32_t output_activation_min, output_activation_max, lhs_zero_point, rhs_zero_point, output_zero_point;
};
struct OpDataBatchMatmul {  // :41
  void *quantization, *lhs_transposed_tensor, *rhs_transposed_tensor;
  bool rhs_is_transposed, lhs_is_constant_tensor, rhs_is_constant_tensor;
};

// tensorflow/lite/micro/kernels/call_once.cc
struct call_once.OpData { int init_subgraph_index; bool has_run; };  // :34

// tensorflow/lite/micro/kernels/circular_buffer.h
struct OpDataCircularBuffer { int cycles_until_run, cycles_max; };  // :36

// tensorflow/lite/micro/kernels/comparisons.cc
struct comparisons.OpData { ComparisonParams params; };  // :28

// tensorflow/lite/micro/kernels/concatenation.cc
struct concatenation.OpData { ConcatenationParams params; [[compression]] int scratch_indices[10]; };  // :34

// tensorflow/lite/micro/kernels/conv.h
struct OpDataConv {  // :27
  TfLitePaddingValues padding; int32_t input_zero_point, filter_zero_point, output_zero_point, output_multiplier;
  int output_shift; void *per_channel_output_multiplier, *per_channel_output_shift;
  int32_t output_activation_min, output_activation_max; [[conv_int4]] int filter_buffer_index;
  [[compression]] int weights_scratch_index, bias_scratch_index;
};

// tensorflow/lite/micro/kernels/cumsum.cc
struct cumsum.OpData {  // :35
  int32_t output_activation_min, output_activation_max, input_offset, output_offset, input_multiplier,
  output_multiplier; int input_shift, output_shift, left_shift;
};

// tensorflow/lite/micro/kernels/decode_state.h
struct DecodeState { void *vtable, *context_, *micro_profiler_; };  // :30

// tensorflow/lite/micro/kernels/decode_state_huffman.h
struct DecodeStateHuffman : DecodeState {  // :27
  void *compressed_codewords_; size_t count_codewords_; void *huffman_tables_; bool use_32bit_table_;
  uint8_t initial_table_size_;
};

// tensorflow/lite/micro/kernels/decode_state_lut.h
struct DecodeStateLut : DecodeState {  // :26
  void *compressed_indices_; size_t count_indices_, num_channels_, elements_per_channel_; void *value_table_;
  uint8_t value_table_channel_stride_, compressed_bit_width_; bool use_alternate_axis_;
};

// tensorflow/lite/micro/kernels/decode_state_prune.h
struct DecodeStatePrune : DecodeState {  // :26
  void *compressed_indices_; size_t count_indices_, num_channels_, elements_per_channel_;
  void *value_table_, *zero_points_; int8_t single_zero_point_; bool use_alternate_axis_;
};

// tensorflow/lite/micro/kernels/dequantize.h
struct DequantizeOpData {  // :25
  DequantizationParams quantization_params; int32_t output_multiplier; int output_shift; int32_t output_zero_point;
};

// tensorflow/lite/micro/kernels/detection_postprocess.cc
struct detection_postprocess.CenterSizeEncoding { float y, x, h, w; };  // :79
struct detection_postprocess.OpData {  // :91
  int max_detections, max_classes_per_detection, detections_per_class;
  float non_max_suppression_score_threshold, intersection_over_union_threshold; int num_classes;
  bool use_regular_non_max_suppression; detection_postprocess.CenterSizeEncoding scale_values;
  int active_candidate_idx, decoded_boxes_idx, scores_idx, score_buffer_idx, keep_scores_idx,
  scores_after_regular_non_max_suppression_idx, sorted_values_idx, keep_indices_idx, sorted_indices_idx,
  buffer_idx, selected_idx; TfLiteQuantizationParams input_box_encodings, input_class_predictions, input_anchors;
};

// tensorflow/lite/micro/kernels/div.cc
struct div.OpDataDiv {  // :33
  int32_t input1_zero_point, input2_zero_point, output_zero_point, output_activation_min, output_activation_max,
  output_multiplier; int output_shift;
};

// tensorflow/lite/micro/kernels/elementwise.cc
struct elementwise.OpDataAbsRsqrt {  // :36
  int32_t multiplier; int shift, input_offset, output_offset; bool needs_rescale;
  [[quantization_type_int]] int input_quantization_type; [[!quantization_type_int]] enum input_quantization_type;
  enum input_type;
};

// tensorflow/lite/micro/kernels/elu.cc
struct elu.OpData { int8_t table[256]; };  // :40

// tensorflow/lite/micro/kernels/embedding_lookup.cc
struct embedding_lookup.OpData { float scale; size_t num_columns; };  // :46

// tensorflow/lite/micro/kernels/ethos_u/ethosu.cc
struct ethosu.OpData { int cms_data_size, base_addr_idx, base_addr_size_idx; };  // :29

// tensorflow/lite/micro/kernels/fully_connected.h
struct OpDataFullyConnected {  // :26
  int32_t output_multiplier; int output_shift; int32_t output_activation_min, output_activation_max;
  int input_quantized_index; int32_t input_zero_point, filter_zero_point, output_zero_point;
  [[fc_int4]] int filter_buffer_index;
  [[fc_per_channel]] void *per_channel_output_multiplier, *per_channel_output_shift;
  [[fc_per_channel]] bool is_per_channel; [[compression]] int weights_scratch_index, bias_scratch_index;
};

// tensorflow/lite/micro/kernels/if.cc
struct if.OpData {  // :36
  int then_subgraph_index, else_subgraph_index;
  [[if_intermediate_buffers && !if_as_while]] void *intermediate_input_buffer, *intermediate_output_buffer;
};

// tensorflow/lite/micro/kernels/leaky_relu.h
struct LeakyReluOpData {  // :27
  int32_t output_multiplier_alpha, output_shift_alpha, output_multiplier_identity, output_shift_identity,
  input_zero_point, output_zero_point;
};

// tensorflow/lite/micro/kernels/log_softmax.cc
struct log_softmax.LogSoftmaxOpData {  // :32
  int32_t input_multiplier, input_left_shift, reverse_scaling_divisor, reverse_scaling_right_shift; int diff_min;
  size_t outer_size, depth;
};

// tensorflow/lite/micro/kernels/logistic.h
struct OpDataLogistic {  // :28
  int32_t input_zero_point, input_range_radius, input_multiplier; int input_left_shift;
};

// tensorflow/lite/micro/kernels/lstm_shared.h
struct GateParameters { FullyConnectedParams input_fc_params, recurrent_fc_params; };  // :70
struct InterGateParameters { ArithmeticParams forget_cell_mul_params, input_mul_params, output_mul_params; };  // :76
struct LstmSizeInfo { bool time_major; int batch_size, time_steps, input_dimension, state_dimension; };  // :84
struct CellStateInfo { float cell_clip; int16_t quantized_cell_clip; int32_t cell_state_scale_power; };  // :93
struct OpDataLSTM {  // :108
  LstmSizeInfo size_info; CellStateInfo cell_state_info; enum cell_gate_nonlinear_type;
  GateParameters forget_gate_parameters, input_gate_parameters, cell_gate_parameters, output_gate_parameters;
  InterGateParameters inter_gate_parameters; int buffer_indices[4];
};

// tensorflow/lite/micro/kernels/mirror_pad.cc
struct mirror_pad.OpDataMirrorPad {  // :24
  int input_dims, output_size, offset, output_dims_num_elements_buffer_index, input_dims_num_elements_buffer_index;
};

// tensorflow/lite/micro/kernels/mul.h
struct OpDataMul {  // :30
  int32_t input1_zero_point, input2_zero_point, output_activation_min, output_activation_max, output_zero_point,
  output_multiplier; int output_shift;
  [[cmsis_float_activation]] float output_activation_min_f32, output_activation_max_f32;
};

// tensorflow/lite/micro/kernels/pad.h
struct OpData { PadParams params; int32_t output_zero_point; };  // :24

// tensorflow/lite/micro/kernels/pooling.h
struct OpDataPooling {  // :37
  TfLitePaddingValues padding; int32_t activation_min, activation_max;
  [[cmsis_float_activation]] float activation_min_f32, activation_max_f32;
};

// tensorflow/lite/micro/kernels/quantize.h
struct OpDataQuantizeReference {  // :23
  QuantizationParams quantization_params; int32_t requantize_output_multiplier; int requantize_output_shift;
  int32_t input_zero_point;
};

// tensorflow/lite/micro/kernels/reduce.h
struct OpDataReduce {  // :27
  int32_t multiplier; int shift;
  [[reduce_iterates]] int scratch_accumulator_idx, scratch_resolved_axis_idx, scratch_input_iter_idx;
  [[!reduce_iterates]] int temp_buffer_idx; [[reduce_scratch_dims && !reduce_scratch_dims_undone]] int temp_index_idx;
  [[!reduce_iterates]] int resolved_axis_idx;
  [[reduce_scratch_dims && !reduce_scratch_dims_undone]] int normalized_dims_idx; int input_zp; float input_scale;
  int output_zp; float output_scale; int num_output_elements; [[reduce_num_axis]] int num_axis;
};

// tensorflow/lite/micro/kernels/select.cc
struct select.OpData { bool requires_broadcast; [[!select_as_in_tflite]] bool has_low_rank_input_condition; };  // :34

// tensorflow/lite/micro/kernels/squared_difference.cc
struct squared_difference.OpData { bool requires_broadcast; ArithmeticParams arithmetic_params; };  // :30

// tensorflow/lite/micro/kernels/sub.h
struct OpDataSub {  // :30
  bool requires_broadcast; int input1_shift, input2_shift;
  int32_t output_activation_min, output_activation_max, input1_multiplier, input2_multiplier, output_multiplier;
  int output_shift, left_shift; int32_t input1_offset, input2_offset, output_offset;
};

// tensorflow/lite/micro/kernels/svdf.h
struct OpDataSvdf {  // :23
  int32_t effective_scale_1_a, effective_scale_2_a;
  int effective_scale_1_b, effective_scale_2_b, scratch_tensor_index, scratch_output_tensor_index,
  input_zero_point, output_zero_point; [[svdf_state_zero_point]] int activation_state_zero_point;
};

// tensorflow/lite/micro/kernels/tanh.cc
struct tanh.OpData { int32_t input_zero_point, input_range_radius, input_multiplier; int input_left_shift; };  // :37

// tensorflow/lite/micro/kernels/transpose_conv.cc
struct transpose_conv.OpData {  // :36
  ConvParams params; int scratch_buffer_index; [[compression]] int filter_scratch_index, bias_scratch_index;
  [[transpose_conv_bias]] int bias_converted_buffer_index;
  void *per_channel_output_multiplier, *per_channel_output_shift;
};

// tensorflow/lite/micro/kernels/var_handle.cc
struct var_handle.OpData { int32_t resource_id; };  // :35

// tensorflow/lite/micro/kernels/while.cc
struct while.OpData { int cond_subgraph_index, body_subgraph_index; };  // :34

// kissfft v130 _kiss_fft_guts.h
struct kiss_fft_state { int nfft, inverse, factors[64]; };

// kissfft v130 tools/kiss_fftr.c
struct kiss_fftr_state { void *substate, *tmpbuf, *super_twiddles; };

// signal/micro/kernels/delay.cc
struct delay.TFLMSignalFrontendDelayParams {  // :38
  int32_t frame_size, delay_length, outer_dims; void *state_buffers, *circular_buffers;
};

// signal/micro/kernels/energy.cc
struct energy.TFLMSignalEnergyParams { int32_t end_index, start_index; };  // :40

// signal/micro/kernels/filter_bank.cc
struct filter_bank.TFLMSignalFilterBankParams { tflm_signal::FilterbankConfig config; void *work_area; };  // :44

// signal/micro/kernels/filter_bank_log.cc
struct filter_bank_log.TFLMSignalLogParams { int input_correction_bits, output_scale; };  // :40

// signal/micro/kernels/filter_bank_spectral_subtraction.cc
struct filter_bank_spectral_subtraction.TFLMSignalSpectralSubtractionParams {  // :48
  tflm_signal::SpectralSubtractionConfig config; void *noise_estimate; size_t noise_estimate_size;
};

// signal/micro/kernels/framer.cc
struct framer.TFLMSignalFramerParams {  // :40
  int32_t frame_size, frame_step, outer_dims, n_frames; bool prefill; void *state_buffers, *circular_buffers;
};

// signal/micro/kernels/irfft.cc
struct irfft.TfLiteAudioFrontendIrfftParams {  // :42
  int32_t fft_length, input_size, input_length, output_length; enum fft_type; void *state;
};

// signal/micro/kernels/overlap_add.cc
struct overlap_add.TFLMSignalOverlapAddParams {  // :41
  int32_t frame_size, frame_step, outer_dims, n_frames; enum type; void *state_buffers;
};

// signal/micro/kernels/pcan.cc
struct tflm_signal::TfLitePcanParams { int snr_shift; };  // :41

// signal/micro/kernels/rfft.cc
struct rfft.TfLiteAudioFrontendRfftParams {  // :44
  int32_t fft_length, input_size, input_length, output_length; enum fft_type; void *work_area;
  int scratch_buffer_index; void *state;
};

// signal/micro/kernels/stacker.cc
struct stacker.TFLMSignalStackerParams {  // :41
  int32_t num_channels, stacker_left_context, stacker_right_context, stacker_step; size_t buffer_size, step_size;
  bool stacker_has_first_frame; void *state, *circular_buffer;
};

// signal/micro/kernels/window.cc
struct window.TFLMSignalWindowParams { int32_t shift, input_size; };  // :39

// signal/src/circular_buffer.h
struct tflm_signal::CircularBuffer {  // :25
  size_t capacity, read, write; int32_t empty, buffer_size; void *buffer;
};

// signal/src/filter_bank.h
struct tflm_signal::FilterbankConfig {  // :25
  int32_t num_channels; void *channel_frequency_starts, *channel_weight_starts, *channel_widths, *weights, *unweights;
  int32_t output_scale, input_correction_bits;
};

// signal/src/filter_bank_spectral_subtraction.h
struct tflm_signal::SpectralSubtractionConfig {  // :25
  int32_t num_channels; uint32_t smoothing, one_minus_smoothing, min_signal_remaining, alternate_smoothing,
  alternate_one_minus_smoothing, smoothing_bits, spectral_subtraction_bits; bool clamping;
};

// signal/src/irfft_float.cc
struct tflm_signal::IrfftFloatState { int32_t fft_length; void *cfg; };  // :27

// tensorflow/lite/micro/kernels/lstm_eval.h, unidirectional_sequence_lstm.cc until 0a1ccdfdd
struct [[!lstm_redesigned]] IntegerLstmParameter {
  int32_t scales[34]; int16_t quantized_cell_clip; int8_t quantized_proj_clip;
  int32_t hidden_zp, cell_scale, variance_guards[4]; void *effective_biases[9];
  int32_t intermediate_scale_a[8], intermediate_scale_b[8], intermediate_zp[12];
};
struct [[!lstm_redesigned]] unidirectional_sequence_lstm.UnidirectionalSequenceLstmOpData {
  bool use_layer_norm; int scratch_index[12]; int32_t row_sums_size; void *row_sums; bool compute_row_sums;
  int32_t input_zero_point, output_state_zero_point; IntegerLstmParameter integer_lstm_param;
  [[!lstm_without_hybrid]] float hybrid_lstm_scales[16];
};
"""
