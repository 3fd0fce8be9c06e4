"""What changed in TFLM's history that moves a byte or a message: one row a change, and when operators came.

A position counts the first-parent commits of a repository up to one (``git rev-list --first-parent --count COMMIT``),
so that positions of one repository compare as times do.
"""

from __future__ import annotations

from dataclasses import dataclass

UPSTREAM = "tensorflow/tflite-micro"
ESP = "espressif/esp-tflite-micro"
NEWEST = 1_000_000
"""The position of a build that is newer than all rows."""


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
    until: int = NEWEST + 1


_DEVICE: dict[str, Change] = {
    "several_subgraphs": Change(
        55, "d7ac83e6d", "2021-05-13", "SubgraphAllocations; builtin-data allocator in the arena"
    ),
    "partial_lifetimes": Change(70, "f537895fe", "2021-05-21", "a tensor that is only written or only read is planned"),
    "resource_variables": Change(245, "26944780f", "2021-09-07", "MicroResourceVariables"),
    "planner_in_arena": Change(250, "a1f4b8804", "2021-09-09", "the GreedyMemoryPlanner is an object in the arena"),
    "no_inputs": Change(
        368, "4de0ea176", "2021-11-16", "a subgraph or an operator may have no inputs or outputs vector"
    ),
    "prepare_status": Change(377, "c0cf25d24", "2021-11-18", "AllocateTensors() stops where a Prepare fails"),
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
    "concatenation_int32_axis": Change(1909, "e142972d4", "2026-07-02", "ConcatenationParams: int32 axis and count"),
    "transpose_conv_bias": Change(146, "95ae9340e", "2021-06-26", "TRANSPOSE_CONV converts its bias in scratch"),
}

_KERNELS: dict[str, Change] = {
    "compression": Change(1592, "112d7a65a", "2024-12-10", "compressed tensors"),
    "cmsis_nn_4ab83cc": Change(1899, "acc13e42e", "2026-06-24", "CMSIS-NN 4ab83cc, with the kernels that call it"),
    "reduce_iterates": Change(1722, "0efdd51a3", "2026-01-16", "reduce keeps its iterator in a scratch buffer"),
    "esp_conv_keeps_node_data": Change(
        151, "a91b807", "2025-02-17", "CONV_2D's Init allocates its NodeData whole", ESP
    ),
}

_OPERATORS: dict[str, Change] = {
    "REVERSE_V2": Change(1643, "41a9c8a6c", "2025-07-10", "REVERSE_V2"),
    "REDUCE_MIN": Change(1657, "3d4cdc19f", "2025-08-05", "REDUCE_MIN"),
    "TFLM_DECODE": Change(1682, "d96fe663d", "2025-10-17", "TFLM_DECODE"),
    "DYNAMIC_UPDATE_SLICE": Change(1695, "62cbc8e3e", "2025-11-10", "DYNAMIC_UPDATE_SLICE"),
    "REDUCE_ALL": Change(1701, "ef382bdaa", "2026-01-08", "REDUCE_ALL"),
}

CHANGES: dict[str, Change] = {**_DEVICE, **_STRUCTS, **_KERNELS, **_OPERATORS}

OPERATORS_SINCE: dict[str, str] = {op: op for op in _OPERATORS}
"""Operators that came later than the first rows, with the change that brought each."""
