"""What changed in TFLM's history that moves a byte or a message: one row a change, and when operators came.

A position counts the first-parent commits of a repository up to one (``git rev-list --first-parent --count COMMIT``),
so that positions of one repository compare as times do. Upstream's commits behind ``reference.LAST_COUNTED`` are known
from pip wheels alone, and nobody has counted them: they stand one position a day behind it (a second one of that day,
one more).
"""

from __future__ import annotations

from dataclasses import dataclass

UPSTREAM = "tensorflow/tflite-micro"
ESP = "espressif/esp-tflite-micro"
EDGE_IMPULSE = "edgeimpulse/inferencing-sdk-cpp"
CORAL = "google-coral/coralmicro"
NEWEST = 1_000_000
"""The position of a build that is newer than all rows."""
NEVER = NEWEST + 1
"""The position at which what is never undone ends."""
BEFORE_UPSTREAM = 0
"""The position of Arduino_TensorFlowLite 2.4.0-ALPHA: what tensorflow/tensorflow held months before upstream began.

Source: src/tensorflow/lite in tinyMLx/arduino-library @ e01534c. What upstream's first library had since then stands at
that one's position.
"""
TENSORFLOW_OF_2020 = -1
"""The position of what tensorflow/tensorflow held in mid-2020, as Edge Impulse's SDKs did until July 2021."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of what is asked for.

    Attributes:
        position: The first that has it.
        commit: The same, by its hash.
        date: When it was committed, UTC.
        summary: What it does.
        tree: The repository.
        until: The first position that has it no longer.
    """

    position: int
    commit: str
    date: str
    summary: str
    tree: str = UPSTREAM
    until: int = NEVER


_DEVICE: dict[str, Change] = {
    "io_tensors": Change(4, "a37043ff7", "2021-04-09", "AllocateTensors() makes the input and output tensors"),
    "several_subgraphs": Change(
        55, "d7ac83e6d", "2021-05-13", "SubgraphAllocations; builtin-data allocator in the arena"
    ),
    "partial_lifetimes": Change(70, "f537895fe", "2021-05-21", "a tensor that is only written or only read is planned"),
    "resource_variables": Change(245, "26944780f", "2021-09-07", "MicroResourceVariables"),
    "planner_in_arena": Change(250, "a1f4b8804", "2021-09-09", "the GreedyMemoryPlanner is an object in the arena"),
    "no_inputs": Change(
        368, "4de0ea176", "2021-11-16", "a subgraph or an operator may have no inputs or outputs vector"
    ),
    "prepare_status_lost": Change(
        55, "d7ac83e6d", "2021-05-13", "AllocateTensors() goes on where a Prepare fails", until=377
    ),
    "outputs_are_used": Change(
        385, "1db0632b7", "2021-11-22", "an operator's unused output lives through the operator"
    ),
    "temps_checked": Change(533, "05b427e14", "2022-03-01", "temps must be given back before they are reset"),
    "plan_across_subgraphs": Change(534, "8c41f9606", "2022-03-02", "one plan for all subgraphs"),
    "resizable_buffer": Change(545, "a6f1b9ebc", "2022-03-08", "the head is a resizable buffer, given up for the plan"),
    "outputs_outlive_subgraphs": Change(
        556, "359c83a84", "2022-03-17", "IF's outputs live to the end of its subgraphs"
    ),
    "empty_tensors": Change(
        615, "78bb847ed", "2022-04-18", "empty tensors are not planned; intermediates must be empty"
    ),
    "two_arenas": Change(731, "60d83223d", "2022-07-01", "MicroAllocator::Create with two arenas"),
    "offline_by_shortest": Change(
        791, "445c1fea2", "2022-08-13", "metadata is compared up to the shorter name", until=798
    ),
    "offline_by_whole_name": Change(
        798, "c056e7463", "2022-08-16", "an offline plan's metadata is known by its whole name"
    ),
    "handles_once": Change(810, "6f99907d3", "2022-08-25", "scratch handles are allocated once, not for each subgraph"),
    "created_is_used": Change(929, "dbf8e4e7a", "2022-11-18", "what is created is used in that scope", until=960),
    "unused_tensors_live": Change(960, "7925e839c", "2022-12-14", "unused inputs and outputs have lifetimes"),
    "offline_variables": Change(
        1021, "58aa9833f", "2023-02-13", "variables are allocated while planning, or planned offline"
    ),
    "resolver_of_its_own": Change(
        1070, "77cc07a32", "2023-03-11", "a shorter message for an operator that is not linked"
    ),
    "offline_across_subgraphs": Change(
        1098, "e60e8caf5", "2023-03-29", "an offline plan has offsets for all subgraphs"
    ),
    "persistent_tensor_checked": Change(
        1215, "02414075e", "2023-06-16", "a persistent tensor that does not fit is refused"
    ),
    "temp_tensor_checked": Change(1621, "b15beb9d4", "2025-03-17", "a temp tensor that does not fit is refused"),
    "dynamic_tensors": Change(1662, "8eb17a7aa", "2025-08-22", "outputs with a dimension of 0 or less are refused"),
    "empty_outputs": Change(1663, "3b209129c", "2025-08-25", "an output of shape (0) is no dynamic tensor"),
    "limit_is_exceeded": Change(1847, "183da3e30", "2026-02-11", "'exceeds' is spelt right"),
}

_STRUCTS: dict[str, Change] = {
    "pad_5d": Change(4, "a37043ff7", "2021-04-09", "PadParams of five dimensions"),
    "cmsis_float_activation": Change(
        4, "a37043ff7", "2021-04-09", "CMSIS-NN: ADD, MUL and pooling keep the range of float activations"
    ),
    "no_uint8_relu6": Change(196, "ca7ed66b5", "2021-07-26", "RELU6 without uint8"),
    "node_intermediates": Change(229, "b6cbaea68", "2021-08-11", "TfLiteNode.intermediates"),
    "svdf_state_zero_point": Change(269, "c8c08497e", "2021-09-21", "SVDF with 8-bit weights and state"),
    "temps_counted": Change(480, "ff5c3a610", "2022-01-23", "temps are counted, their addresses summed up"),
    "if_intermediate_buffers": Change(472, "c680f9b13", "2022-01-19", "IF keeps two buffers of its own"),
    "if_as_while": Change(556, "359c83a84", "2022-03-17", "WHILE; IF without those buffers"),
    "allocator_interfaces": Change(589, "45022bbbe", "2022-04-05", "the arena's allocator has two interfaces"),
    "reduce_scratch_dims": Change(696, "ff246bcc0", "2022-06-06", "reduce keeps its index and dims in scratch"),
    "reduce_scratch_dims_undone": Change(705, "2710e3f8c", "2022-06-08", "the same undone"),
    "no_error_reporter": Change(841, "95761fcfd", "2022-09-19", "ErrorReporter members go"),
    "conv_int4": Change(879, "df704e135", "2022-10-14", "CONV_2D unpacks int4 filters in scratch"),
    "reduce_num_axis": Change(924, "79b493ae2", "2022-11-17", "MEAN as in TFLite"),
    "fc_int4": Change(942, "4f253e217", "2022-11-23", "FULLY_CONNECTED and DEPTHWISE_CONV_2D unpack int4 filters"),
    "transpose_conv_activation": Change(959, "b92a211e3", "2022-12-14", "TfLiteTransposeConvParams.activation"),
    "lstm_diagonal": Change(974, "8746ec938", "2023-01-10", "TfLiteUnidirectionalSequenceLSTMParams.diagonal_..."),
    "variable_defaults": Change(1033, "808ddbf75", "2023-02-17", "resource variables have default values"),
    "arithmetic_int16": Change(1072, "3eb568638", "2023-03-11", "ArithmeticParams.int16_activation_min, _max"),
    "select_as_in_tflite": Change(1185, "2b7a4ad62", "2023-06-01", "SELECT_V2 without its case of rank 1"),
    "strided_slice_offset": Change(1186, "982aaef60", "2023-06-01", "TfLiteStridedSliceParams.offset"),
    "quantized_bias_type": Change(1313, "ad8d238f9", "2023-09-14", "quantized_bias_type of three builtin options"),
    "relu6_int16": Change(1535, "ef2179ce0", "2024-09-26", "RELU6 of int16"),
    "fc_per_channel": Change(1538, "47b545074", "2024-09-27", "FULLY_CONNECTED per channel"),
    "quantization_type_int": Change(1594, "39ba5a848", "2024-12-11", "TfLiteQuantizationType is as wide as an int"),
    "concatenation_int32_axis": Change(1909, "e142972d4", "2026-07-02", "ConcatenationParams: int32 axis and count"),
    "fc_quant_spec": Change(
        1981, "1881137", "2026-10-12", "TfLiteFullyConnectedParams.quant_spec, later than the wheel of 2026-10-09"
    ),
    "transpose_conv_bias": Change(146, "95ae9340e", "2021-06-26", "TRANSPOSE_CONV converts its bias in scratch"),
}

_KERNELS: dict[str, Change] = {
    "compression": Change(1592, "112d7a65a", "2024-12-10", "compressed tensors"),
    "early_uint8_kernels": Change(
        BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "ADD, MUL and pooling of uint8", until=104
    ),
    "mul_int16": Change(1025, "35899fbaf", "2023-02-14", "MUL of int16"),
    "squared_difference_int16": Change(
        1064, "a4dc63912", "2023-03-06", "SQUARED_DIFFERENCE of int16; any scale of its output"
    ),
    "filter_int4": Change(876, "71d4b6cd4", "2022-10-13", "scales per channel for a filter of int4"),
    "pooling_int16": Change(982, "4b0314f25", "2023-01-17", "AVERAGE_POOL_2D and MAX_POOL_2D of int16"),
    "temps_are_freed": Change(498, "ce9451f54", "2022-02-01", "kernels give their temp tensors back"),
    "conv_without_bias": Change(1289, "17987e1a5", "2023-08-24", "CONV_2D frees its bias only when there is one"),
    "depthwise_conv_without_bias": Change(
        1607, "b1d8a0802", "2024-12-16", "DEPTHWISE_CONV_2D frees its bias only when there is one"
    ),
    "cmsis_without_uint8": Change(
        104, "0afb62f9d", "2021-06-08", "CMSIS-NN: kernels without uint8; arrays per channel for int8 alone"
    ),
    "cmsis_common_pooling": Change(135, "9345aa9ce", "2021-06-21", "CMSIS-NN: the reference Prepare of pooling"),
    "cmsis_add_int16": Change(146, "95ae9340e", "2021-06-26", "CMSIS-NN: ADD of int16"),
    "cmsis_common_mul": Change(350, "8b47571d2", "2021-11-09", "CMSIS-NN: the reference Prepare of MUL"),
    "cmsis_fc_1x1": Change(
        515, "06e32a48f", "2022-02-15", "CMSIS-NN: FULLY_CONNECTED of three or four dimensions as a convolution"
    ),
    "cmsis_conv_int16": Change(575, "1a0c74232", "2022-03-29", "CMSIS-NN: CONV_2D of int16"),
    "cmsis_svdf_int8": Change(650, "500cf89de", "2022-05-09", "CMSIS-NN: SVDF with 8-bit weights and state"),
    "cmsis_depthwise_conv_int16": Change(664, "7ad322134", "2022-05-11", "CMSIS-NN: DEPTHWISE_CONV_2D of int16"),
    "cmsis_fc_shapes": Change(
        665, "b0afe2890", "2022-05-11", "CMSIS-NN: FULLY_CONNECTED reads the last dimensions of tensors of any type"
    ),
    "cmsis_softmax": Change(675, "a3e7bdad0", "2022-05-13", "CMSIS-NN: SOFTMAX with a Prepare of its own"),
    "cmsis_conv_int4": Change(940, "8e83744d8", "2022-11-22", "CMSIS-NN: CONV_2D unpacks int4 filters in scratch"),
    "cmsis_lstm": Change(1061, "c373ad48b", "2023-03-02", "CMSIS-NN: UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "cmsis_keeps_sums": Change(1319, "3022d0960", "2023-09-19", "CMSIS-NN: kernel sums are computed in Prepare"),
    "cmsis_transpose_conv": Change(1361, "c845961df", "2023-11-07", "CMSIS-NN: TRANSPOSE_CONV"),
    "cmsis_int4": Change(1366, "5beca7c52", "2023-11-14", "CMSIS-NN's kernels for int4 weights"),
    "cmsis_conv_groups": Change(1427, "0ec823ed2", "2024-02-09", "CMSIS-NN: grouped CONV_2D, LSTM anew"),
    "cmsis_fc_sums_of_data": Change(
        1438, "f5e498b68", "2024-02-23", "CMSIS-NN: FULLY_CONNECTED keeps sums of a filter that has data"
    ),
    "cmsis_lstm_int16": Change(1468, "9741578df", "2024-04-23", "CMSIS-NN: UNIDIRECTIONAL_SEQUENCE_LSTM of int16"),
    "cmsis_checks_types": Change(1504, "5c2ac76b8", "2024-07-22", "CMSIS-NN: kernels check types in Prepare"),
    "cmsis_batch_matmul": Change(1525, "89f99a9e7", "2024-09-09", "CMSIS-NN: BATCH_MATMUL"),
    "cmsis_transpose_conv_reversed": Change(
        1557, "182c8c770", "2024-11-12", "CMSIS-NN: TRANSPOSE_CONV as a convolution with a reversed filter"
    ),
    "cmsis_for_size": Change(
        1548, "5a46ab0e1", "2024-11-01", "CMSIS-NN: FULLY_CONNECTED and SVDF can be optimized for size"
    ),
    "cmsis_constant_sums": Change(1685, "11a8f50d9", "2025-10-17", "CMSIS-NN: kernel sums of constants alone"),
    "cmsis_depthwise_batches": Change(
        1887, "cc99d0597", "2026-05-27", "CMSIS-NN: DEPTHWISE_CONV_2D of several batches"
    ),
    "space_to_batch_shape": Change(
        1375, "50433190c", "2023-11-28", "SPACE_TO_BATCH_ND computes its output's dims", until=1378
    ),
    "output_shapes": Change(
        1398,
        "bb54330fd",
        "2024-01-02",
        "CONV_2D, DEPTHWISE_CONV_2D, EXPAND_DIMS, RESHAPE, BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND compute outputs' dims",
        until=1409,
    ),
    "reshape_of_any_rank": Change(1403, "515cfd27e", "2024-01-08", "RESHAPE's shape may have any rank", until=1409),
    "type_uint32": Change(4, "a37043ff7", "2021-04-09", "tensors of UINT32, RESOURCE and VARIANT are known"),
    "tensorflow_uint8": Change(
        BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "SOFTMAX of uint8, QUANTIZE to uint8", until=4
    ),
    "dequantize_int32": Change(BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "DEQUANTIZE to int32", until=4),
    "cmsis_mul_once": Change(4, "a37043ff7", "2021-04-09", "CMSIS-NN: MUL asks for its tensors once"),
    "fc_filter_zero_point": Change(
        4, "a37043ff7", "2021-04-09", "FULLY_CONNECTED halts where its filter's zero point is not 0"
    ),
    "cmsis_fc_without_bias": Change(
        4, "a37043ff7", "2021-04-09", "CMSIS-NN: FULLY_CONNECTED without a bias is CMSIS-NN's too"
    ),
    "type_uint16": Change(512, "e6d85a150", "2022-02-11", "tensors of UINT16 are known"),
    "type_int4": Change(872, "bea093115", "2022-10-12", "tensors of INT4 are known"),
    "type_bfloat16": Change(1452, "98de88594", "2024-03-18", "tensors of BFLOAT16 are known"),
    "type_int2": Change(1681, "37fb41f37", "2025-10-16", "tensors of INT2 are known"),
    "type_uint4": Change(1723, "966bda66a", "2026-01-16", "tensors of UINT4 are known"),
    "type_float8": Change(1909, "e142972d4", "2026-07-02", "tensors of FLOAT8 are known"),
    "float8_has_size": Change(1981, "1881137", "2026-10-12", "tensors of FLOAT8 have a size"),
    "uint8_kernels": Change(BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "kernels of uint8", until=233),
    "kernels_8x16": Change(139, "c062c1b27", "2021-06-23", "CONCATENATION, TRANSPOSE_CONV ... of int16"),
    "quantize_int32": Change(350, "8b47571d2", "2021-11-09", "QUANTIZE of int32"),
    "zero_points_broadcast": Change(440, "f86f9faca", "2021-12-21", "one zero point goes for all channels"),
    "concatenation_5d": Change(634, "a2e4fe943", "2022-04-28", "CONCATENATION of five dimensions"),
    "dequantize_uint8": Change(658, "5f443a287", "2022-05-10", "DEQUANTIZE of uint8, anew"),
    "quantize_uint8": Change(657, "ad60ac482", "2022-05-10", "QUANTIZE of and to uint8"),
    "fc_hybrid": Change(665, "b0afe2890", "2022-05-11", "FULLY_CONNECTED does not look at its filter's type"),
    "abs_rsqrt_quantized": Change(714, "b34ced4f1", "2022-06-17", "ABS and RSQRT of int8 and int16, with OpData"),
    "concatenation_bool": Change(783, "399b83cbf", "2022-08-12", "CONCATENATION of bool"),
    "lstm_int8_five_buffers": Change(
        694, "0a38c8965", "2022-06-03", "UNIDIRECTIONAL_SEQUENCE_LSTM of int8 without a buffer of int32"
    ),
    "lstm_without_hybrid": Change(883, "58b44f4fa", "2022-10-18", "UNIDIRECTIONAL_SEQUENCE_LSTM without hybrid modes"),
    "lstm_redesigned": Change(1005, "0a1ccdfdd", "2023-02-02", "UNIDIRECTIONAL_SEQUENCE_LSTM redesigned"),
    "lstm_shared_files": Change(
        1061, "c373ad48b", "2023-03-02", "UNIDIRECTIONAL_SEQUENCE_LSTM: what libraries share is in files of its own"
    ),
    "lstm_prints": Change(
        1005,
        "0a1ccdfdd",
        "2023-02-02",
        "UNIDIRECTIONAL_SEQUENCE_LSTM of float32 prints that it is prepared",
        until=1008,
    ),
    "reduce_int16": Change(189, "5124fe335", "2021-07-23", "MEAN and SUM of int16 have an accumulator"),
    "fill_without_dims": Change(337, "21779d8e7", "2021-11-02", "FILL's dims need not be constant", until=1658),
    "expand_dims_prepares": Change(338, "86c8d5250", "2021-11-02", "EXPAND_DIMS checks its axis and dims in Prepare"),
    "graph_in_context": Change(463, "82f7e77f1", "2022-01-08", "the graph is part of MicroContext"),
    "select_broadcasts": Change(814, "3136969c1", "2022-08-29", "SELECT_V2 broadcasts"),
    "scales_as_double": Change(893, "d5d82e25f", "2022-10-27", "SVDF multiplies scales as double", until=1028),
    "transpose_conv_without_bias": Change(1479, "5e4e51bbe", "2024-05-09", "TRANSPOSE_CONV of int16 without a bias"),
    "transpose_conv_common": Change(1606, "099774d98", "2024-12-16", "TRANSPOSE_CONV's constants have own names"),
    "fc_per_channel_int16": Change(1620, "39209b412", "2025-03-17", "FULLY_CONNECTED of int16 per channel"),
    "constant_checks": Change(
        1652, "14638b63c", "2025-08-02", "PAD, RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR, SPLIT, SPLIT_V: one message"
    ),
    "gather_nd_dims": Change(1012, "1d810cac7", "2023-02-09", "GATHER_ND copies its output's dims"),
    "reshape_dims": Change(1037, "f09c70ade", "2023-02-20", "RESHAPE copies dims that it completes"),
    "vsnprintf": Change(1241, "ef0a7b025", "2023-07-06", "messages are formatted by vsnprintf, which cuts nothing"),
    "select_frees": Change(1184, "78b4040c8", "2023-06-01", "SELECT_V2 gives single elements back"),
    "fc_filter_types": Change(1053, "8f982cdc2", "2023-03-01", "FULLY_CONNECTED looks at its filter's type"),
    "fc_no_per_channel": Change(
        1495, "71fba59b5", "2024-05-29", "FULLY_CONNECTED refuses scales per channel", until=1538
    ),
    "fc_decompression": Change(
        1597, "a9c6e6a44", "2024-12-13", "compressed FULLY_CONNECTED; a space less in a message"
    ),
    "concatenation_checks": Change(1604, "50e7e5dbd", "2024-12-16", "CONCATENATION checks scales and keeps none"),
    "reduce_iterates": Change(1722, "0efdd51a3", "2026-01-16", "reduce keeps its iterator in a scratch buffer"),
    "circular_buffer_valid": Change(
        1963, "b57ba0d", "2026-09-23", "CIRCULAR_BUFFER counts its tensors, the second output says whether it is full"
    ),
    "classifier_2d": Change(1964, "714bdb7", "2026-09-25", "BasicClassifier's input may have two dimensions"),
    "decode_custom": Change(1969, "cd32a51", "2026-09-30", "DECODE of the types from 128 on can be registered"),
    "parse_reports_allocation": Change(
        1971, "1fae604", "2026-10-02", "a parser says that there is no room for its builtin data"
    ),
    "svdf_scales_as_double": Change(1982, "7b49bf8", "2026-10-13", "SVDF multiplies scales as double, anew"),
    "prepare_checks": Change(
        1983,
        "d4fd5bf",
        "2026-10-14",
        "ADD, DYNAMIC_UPDATE_SLICE, GATHER, RESHAPE, SPACE_TO_DEPTH, SQUEEZE check more; RESHAPE prepares once",
    ),
    "esp_nn_1_1_1": Change(157, "1171b51", "2025-09-01", "esp-tflite-micro 1.3.4 asks for ESP-NN 1.1.1", ESP),
    "esp_conv_int4": Change(
        120, "5be29f4", "2024-01-15", "ESP-NN: CONV_2D, DEPTHWISE_CONV_2D check and unpack as the reference does", ESP
    ),
    "esp_conv_short_node_data": Change(
        120, "5be29f4", "2024-01-15", "ESP-NN: CONV_2D's Init allocates less than its NodeData", ESP, until=151
    ),
    "esp_conv_filter_channels": Change(
        173, "5c2f290", "2026-06-02", "ESP-NN: CONV_2D says how many channels its filter has", ESP
    ),
    "esp_as_reference": Change(
        133, "0032f17", "2024-06-03", "ESP-NN: DEPTHWISE_CONV_2D, FULLY_CONNECTED in the order of the reference", ESP
    ),
}

_EDGE_IMPULSE: dict[str, Change] = {
    "edge_impulse_mean": Change(42, "0e0ecbd", "2021-06-29", "MEAN of int8, REDUCE_MAX", EDGE_IMPULSE),
    "edge_impulse_2021": Change(44, "be7b099", "2021-08-31", "TFLM of April 2021", EDGE_IMPULSE),
    "edge_impulse_2022": Change(
        49, "4c96547", "2022-09-16", "COMPLEX_ABS GATHER IMAG REAL RFFT2D SELECT SELECT_V2 SLICE SUM", EDGE_IMPULSE
    ),
    "edge_impulse_2023": Change(
        50, "85471be", "2023-03-17", "BATCH_MATMUL REDUCE_MIN SQUARED_DIFFERENCE TRANSPOSE", EDGE_IMPULSE
    ),
    "edge_impulse_trees": Change(52, "63d49e4", "2023-06-30", "LOG_SOFTMAX TreeEnsembleClassifier", EDGE_IMPULSE),
    "edge_impulse_esp_nn": Change(49, "4c96547", "2022-09-16", "ESP-NN on an ESP32", EDGE_IMPULSE),
    "float_conv_without_arrays": Change(
        54, "29ca890", "2023-11-15", "float CONV_2D and DEPTHWISE_CONV_2D without arrays per channel", EDGE_IMPULSE
    ),
    "edge_impulse_kernels": Change(
        54, "29ca890", "2023-11-15", "BATCH_MATMUL COMPLEX_ABS REDUCE_MIN RFFT2D SELECT", EDGE_IMPULSE
    ),
    "edge_impulse_scalar_cmsis_nn": Change(
        59,
        "e8a7b5d",
        "2024-08-12",
        "CMSIS-NN on cores without DSP and MVE, which had the reference kernels",
        EDGE_IMPULSE,
    ),
    "edge_impulse_reductions": Change(59, "e8a7b5d", "2024-08-12", "REDUCE_ALL REDUCE_ANY SCATTER_ND", EDGE_IMPULSE),
    "edge_impulse_tile": Change(61, "f58efea", "2024-09-05", "TILE TOPK_V2", EDGE_IMPULSE),
    "edge_impulse_tile_data": Change(64, "c4864e2", "2024-10-14", "TILE keeps its OpData in the arena", EDGE_IMPULSE),
    "edge_impulse_pads_once": Change(
        55, "380fe7a", "2024-03-14", "ESP-NN: CONV_2D's padded input counts once on the S3", EDGE_IMPULSE
    ),
    "edge_impulse_esp32p4": Change(66, "02cf3d3", "2024-11-22", "ESP-NN for the ESP32-P4", EDGE_IMPULSE),
    "eon_overflow_armv8": Change(
        73, "5363795", "2025-05-20", "EON: 50 buffers may lie on the heap on Armv8-M", EDGE_IMPULSE
    ),
}

REVERSED: dict[str, dict[str, range]] = {
    EDGE_IMPULSE: {
        "pad_5d": range(44, 54),  # be7b099, 2021-08-31: not taken, until 29ca890
        "fc_filter_zero_point": range(44, 54),  # likewise
        "abs_rsqrt_quantized": range(50, 54),  # 85471be, 2023-03-17: taken
        "expand_dims_prepares": range(50, 54),  # likewise
        "select_frees": range(58, NEVER),  # 3b2f7cd, 2024-06-24: taken
        "reduce_num_axis": range(59, NEVER),  # e8a7b5d, 2024-08-12: undone
    }
}
"""Changes of upstream that a library took, or undid, on its own: at which positions in its history."""

_ARRIVALS: tuple[tuple[int, str, str, dict[str, str]], ...] = (
    (
        BEFORE_UPSTREAM,
        "a37043ff7",
        "2021-04-09",
        {
            "activations": "RELU RELU6 PRELU HARD_SWISH LOGISTIC TANH",
            "binary_arithmetic": "ADD SUB MUL MAXIMUM MINIMUM EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL",
            "concatenation": "CONCATENATION SPLIT SPLIT_V PACK UNPACK",
            "conv": "CONV_2D DEPTHWISE_CONV_2D",
            "custom": "CIRCULAR_BUFFER TFLite_Detection_PostProcess",
            "elementwise": (
                "ABS RSQRT SIN COS LOG SQRT SQUARE LOGICAL_NOT CEIL ROUND NEG FLOOR LOGICAL_AND "
                "LOGICAL_OR QUANTIZE DEQUANTIZE L2_NORMALIZATION"
            ),
            "fully_connected": "FULLY_CONNECTED",
            "pad": "PAD PADV2",
            "pooling": "AVERAGE_POOL_2D MAX_POOL_2D",
            "reduce": "MEAN REDUCE_MAX ARG_MAX ARG_MIN",
            "reshape": "RESHAPE SHAPE",
            "resize": "RESIZE_NEAREST_NEIGHBOR",
            "slice": "STRIDED_SLICE",
            "softmax": "SOFTMAX",
            "svdf": "SVDF",
        },
    ),
    (
        4,
        "a37043ff7",
        "2021-04-09",
        {
            "activations": "ELU LEAKY_RELU",
            "axes": "BATCH_TO_SPACE_ND CUMSUM SPACE_TO_BATCH_ND",
            "binary_arithmetic": "ADD_N FLOOR_DIV FLOOR_MOD",
            "broadcast": "FILL ZEROS_LIKE",
            "conv": "TRANSPOSE_CONV",
            "elementwise": "CAST EXP",
            "pooling": "L2_POOL_2D",
            "reshape": "EXPAND_DIMS SQUEEZE",
        },
    ),
    (14, "5a65a54ce", "2021-04-21", {"axes": "DEPTH_TO_SPACE"}),
    (25, "27eff3c71", "2021-04-28", {"resize": "RESIZE_BILINEAR"}),
    (47, "15c609314", "2021-05-03", {"gather": "GATHER_ND"}),
    (61, "73c5fa4d2", "2021-05-18", {"control_flow": "IF"}),
    (69, "560fd3d1d", "2021-05-20", {"slice": "TRANSPOSE"}),
    (76, "dd3db3d81", "2021-05-24", {"gather": "GATHER"}),
    (134, "89817c30d", "2021-06-21", {"axes": "SPACE_TO_DEPTH"}),
    (
        245,
        "26944780f",
        "2021-09-07",
        {"control_flow": "CALL_ONCE", "variables": "ASSIGN_VARIABLE READ_VARIABLE VAR_HANDLE"},
    ),
    (324, "284df73c5", "2021-10-25", {"slice": "SLICE"}),
    (458, "873b98c42", "2022-01-03", {"pad": "MIRROR_PAD"}),
    (554, "afd41a759", "2022-03-16", {"broadcast": "BROADCAST_ARGS BROADCAST_TO"}),
    (556, "359c83a84", "2022-03-17", {"control_flow": "WHILE"}),
    (633, "ceac958de", "2022-04-28", {"lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM"}),
    (745, "32b0fe993", "2022-07-20", {"binary_arithmetic": "DIV", "reduce": "SUM"}),
    (774, "8b9d46929", "2022-08-05", {"binary_arithmetic": "SQUARED_DIFFERENCE"}),
    (800, "286aeb5ff", "2022-08-17", {"broadcast": "SELECT_V2"}),
    (875, "21ea0a6b3", "2022-10-12", {"softmax": "LOG_SOFTMAX"}),
    (1205, "925909cf6", "2023-06-14", {"signal_frames": "SignalWindow"}),
    (1226, "f22888af6", "2023-06-21", {"signal_fft": "SignalRfft"}),
    (1242, "29d8dbfd4", "2023-07-11", {"signal_frames": "SignalFramer"}),
    (1244, "597ccf786", "2023-07-11", {"signal_frames": "SignalOverlapAdd"}),
    (1246, "7781c4979", "2023-07-12", {"signal_frames": "SignalDelay"}),
    (1247, "296b81858", "2023-07-12", {"signal_frames": "SignalStacker"}),
    (1249, "8ee06dcba", "2023-07-13", {"signal_spectrum": "SignalEnergy"}),
    (
        1253,
        "2548022e0",
        "2023-07-14",
        {"signal_spectrum": "SignalFilterBank SignalFilterBankLog SignalFilterBankSquareRoot"},
    ),
    (1257, "70aed11c9", "2023-07-19", {"signal_fft": "SignalFftAutoScale"}),
    (1260, "55037d2d5", "2023-07-20", {"signal_fft": "SignalIrfft"}),
    (1263, "e2cdefd52", "2023-07-25", {"signal_spectrum": "SignalFilterBankSpectralSubtraction"}),
    (1265, "aa945a0fc", "2023-07-26", {"gather": "EMBEDDING_LOOKUP"}),
    (1287, "e01fdf05a", "2023-08-23", {"signal_spectrum": "SignalPCAN"}),
    (1305, "5d542d7ed", "2023-09-06", {"batch_matmul": "BATCH_MATMUL"}),
    (1643, "41a9c8a6c", "2025-07-10", {"axes": "REVERSE_V2"}),
    (1657, "3d4cdc19f", "2025-08-05", {"reduce": "REDUCE_MIN"}),
    (1682, "d96fe663d", "2025-10-17", {"decode": "TFLM_DECODE"}),
    (1695, "62cbc8e3e", "2025-11-10", {"gather": "DYNAMIC_UPDATE_SLICE"}),
    (1701, "ef382bdaa", "2026-01-08", {"reduce": "REDUCE_ALL"}),
    (1949, "e4e81fb", "2026-09-10", {"custom": "BasicClassifier"}),
)
"""The operators that have a reference kernel and that MicroMutableOpResolver knows, by the commit that brought them:
position, hash, day, and the operators of each module of ``ops/reference``, which models them."""

LAST_OPERATORS: dict[str, Change] = {
    op: Change(position, commit, date, f"the schema knows operators up to {op}")
    for position, commit, date, op in (
        (BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "RFFT2D"),
        (4, "a37043ff7", "2021-04-09", "REDUCE_ALL"),
        (89, "fcbc8d614", "2021-06-03", "CONV_3D_TRANSPOSE"),
        (141, "54a04cbed", "2021-06-23", "ASSIGN_VARIABLE"),
        (152, "a7f2a887b", "2021-07-06", "BROADCAST_ARGS"),
        (263, "0f40100fc", "2021-09-17", "RANDOM_STANDARD_NORMAL"),
        (317, "90ed783b4", "2021-10-20", "BUCKETIZE"),
        (320, "0d3627d1d", "2021-10-22", "RANDOM_UNIFORM"),
        (374, "04a6af47e", "2021-11-17", "MULTINOMIAL"),
        (414, "4a6ca505b", "2021-12-13", "GELU"),
        (512, "e6d85a150", "2022-02-11", "DYNAMIC_UPDATE_SLICE"),
        (647, "f76067002", "2022-05-05", "RELU_0_TO_1"),
        (673, "4b54460be", "2022-05-13", "UNSORTED_SEGMENT_PROD"),
        (751, "0c8c12342", "2022-07-21", "ATAN2"),
        (763, "38c0b01df", "2022-07-30", "UNSORTED_SEGMENT_MIN"),
        (767, "313630deb", "2022-08-03", "SIGN"),
        (1091, "857f46701", "2023-03-24", "BITCAST"),
        (1104, "e10c360b1", "2023-03-31", "RIGHT_SHIFT"),
        (1270, "aa61a9151", "2023-08-09", "STABLEHLO_LOGISTIC"),
        (1273, "3c1c19b46", "2023-08-10", "STABLEHLO_MAXIMUM"),
        (1283, "389d8f53d", "2023-08-18", "STABLEHLO_SLICE"),
        (1286, "b4060efe0", "2023-08-23", "STABLEHLO_REDUCE"),
        (1292, "c795f31e9", "2023-08-25", "STABLEHLO_TANH"),
        (1301, "a72c0554b", "2023-09-01", "STABLEHLO_TRANSPOSE"),
        (1310, "f800eb802", "2023-09-12", "DILATE"),
        (1317, "2f2c74467", "2023-09-15", "STABLEHLO_RNG_BIT_GENERATOR"),
        (1332, "4bbdef5f8", "2023-09-29", "REDUCE_WINDOW"),
        (1469, "fc498a804", "2024-04-24", "STABLEHLO_COMPOSITE"),
        (1529, "011a68423", "2024-09-24", "STABLEHLO_CBRT"),
        (1594, "39ba5a848", "2024-12-11", "STABLEHLO_CASE"),
    )
}
"""The last operator of the schema, BuiltinOperator_MAX, oldest first; a model's larger number is out of range."""

CMSIS_NN_PINS: dict[str, Change] = {
    pin: Change(position, commit, date, f"CMSIS-NN {pin}")
    for position, commit, date, pin in (
        (BEFORE_UPSTREAM, "a37043ff7", "2021-04-09", "0d7e4fa"),
        (25, "27eff3c71", "2021-04-28", "59d6249"),
        (235, "4e091a46e", "2021-08-24", "c43379b"),
        (344, "034fa3572", "2021-11-05", "bff2857"),
        (454, "f6c16a25a", "2021-12-30", "977abe9"),
        (575, "1a0c74232", "2022-03-29", "9dc018e"),
        (650, "500cf89de", "2022-05-09", "184ccfd"),
        (660, "04229912e", "2022-05-10", "6a18a74"),
        (894, "5448dcf07", "2022-10-27", "e98ee09"),
        (1061, "c373ad48b", "2023-03-02", "d071e9f"),
        (1207, "6f2828619", "2023-06-14", "dc64e48"),
        (1319, "3022d0960", "2023-09-19", "58f1770"),
        (1361, "c845961df", "2023-11-07", "ca47625"),
        (1366, "5beca7c52", "2023-11-14", "bfc54ed"),
        (1427, "0ec823ed2", "2024-02-09", "2a999a2"),
        (1438, "f5e498b68", "2024-02-23", "72e1ebf"),
        (1453, "178cfebaa", "2024-03-18", "6cc31fb"),
        (1468, "9741578df", "2024-04-23", "8492d82"),
        (1473, "e5e230552", "2024-04-29", "15dbe7c"),
        (1477, "6b766e357", "2024-05-07", "01dee38"),
        (1525, "89f99a9e7", "2024-09-09", "95f293d"),
        (1526, "6147f2044", "2024-09-17", "f2cb41c"),
        (1557, "182c8c770", "2024-11-12", "22080c6"),
        (1622, "392b78f2f", "2025-03-20", "e096196"),
        (1882, "d0890bb45", "2026-05-21", "6d9d61d"),
        (1899, "acc13e42e", "2026-06-24", "4ab83cc"),
    )
}
"""The commit of CMSIS-NN that upstream's makefile fetches, oldest first; those before e98ee09 are commits of CMSIS_5.

Source: tensorflow/lite/micro/tools/make/ext_libs/cmsis_download.sh, cmsis_nn_download.sh.
"""

CHANGES: dict[str, Change] = {
    **_DEVICE,
    **_STRUCTS,
    **_KERNELS,
    **_EDGE_IMPULSE,
    **{f"schema_{op}": change for op, change in LAST_OPERATORS.items()},
    **{f"cmsis_nn_{pin}": change for pin, change in CMSIS_NN_PINS.items()},
    **{
        f"ops_{commit}": Change(position, commit, date, f"{' '.join(families.values())} came")
        for position, commit, date, families in _ARRIVALS[1:]
    },
}

OPERATORS_SINCE: dict[str, str] = {
    op: f"ops_{commit}" for _, commit, _, families in _ARRIVALS[1:] for ops in families.values() for op in ops.split()
}
"""Operators that came later than the first rows, with the change that brought each."""

REFERENCE_FAMILIES: dict[str, str] = {
    module: " ".join(row[module] for *_, row in _ARRIVALS if module in row)
    for *_, families in _ARRIVALS
    for module in families
}
"""The operators of the newest version, by the module of ``ops/reference`` that models them."""
