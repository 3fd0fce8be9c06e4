"""Allocators, planners, tensors, nodes and resource variables. Source: snapshot 90b983c."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_C = "tensorflow/lite/core/c/common.h"
_MICRO = "tensorflow/lite/micro/"
_TYPES = "tensorflow/lite/kernels/internal/types.h"

STRUCTS: tuple[CStruct, ...] = (
    declare("TfLiteAffineQuantization", _C + ":380", "ptr scale; ptr zero_point; int32 quantized_dimension"),
    declare("TfLiteEvalTensor", _C + ":753", "ptr data; ptr dims; enum type"),
    declare(
        "TfLiteNode",
        _C + ":723",
        "ptr inputs; ptr outputs; ptr intermediates; ptr user_data; ptr builtin_data; ptr custom_initial_data; "
        "int custom_initial_data_size",
    ),
    declare("TfLiteQuantization", _C + ":364", "int type; ptr params"),
    declare(
        "TfLiteQuantizationParams",
        "tensorflow/compiler/mlir/lite/core/c/tflite_types.h:79",
        "float scale; int32 zero_point",
    ),
    declare(
        "TfLiteTensor",
        _C + ":678",
        "TfLiteQuantization quantization; TfLiteQuantizationParams params; ptr data; ptr dims; size_t bytes; "
        "enum type; enum allocation_type; bool is_variable",
    ),
    declare(
        "micro_allocator.MicroBuiltinDataAllocator",
        _MICRO + "micro_allocator.cc:62",
        "BuiltinDataAllocator base; ptr persistent_allocator_",
    ),
    declare(
        "AllocationInfo",
        _MICRO + "micro_allocation_info.h:27",
        "size_t bytes; ptr output_ptr; int first_created; int last_used; int32 offline_offset; bool needs_allocating",
    ),
    declare("BuiltinDataAllocator", "tensorflow/lite/core/api/flatbuffer_conversions.h:34", "ptr vtable"),
    declare(
        "GreedyMemoryPlanner",
        _MICRO + "memory_planner/greedy_memory_planner.h:46",
        "MicroMemoryPlanner base; int max_buffer_count_; int buffer_count_; ptr requirements_; "
        "ptr buffer_sizes_sorted_; ptr buffer_ids_sorted_; ptr buffers_sorted_by_offset_; int next_free_entry_; "
        "int first_entry_index_; ptr buffer_offsets_; bool need_to_calculate_offsets_",
    ),
    declare(
        "GreedyMemoryPlanner::BufferRequirements",
        _MICRO + "memory_planner/greedy_memory_planner.h:137",
        "int size; int offline_offset; int first_time_used; int last_time_used",
    ),
    declare(
        "GreedyMemoryPlanner::ListEntry",
        _MICRO + "memory_planner/greedy_memory_planner.h:93",
        "int offset; int requirements_index; int next_entry_index",
    ),
    declare("INonPersistentBufferAllocator", _MICRO + "arena_allocator/ibuffer_allocator.h:47", "ptr vtable"),
    declare("IPersistentBufferAllocator", _MICRO + "arena_allocator/ibuffer_allocator.h:32", "ptr vtable"),
    declare(
        "LinearMemoryPlanner",
        _MICRO + "memory_planner/linear_memory_planner.h:26",
        "MicroMemoryPlanner base; size_t[1024] buffer_offsets_; int current_buffer_count_; size_t next_free_offset_",
    ),
    declare(
        "MicroAllocator",
        _MICRO + "micro_allocator.h:128",
        "ptr vtable; ptr non_persistent_buffer_allocator_; ptr persistent_buffer_allocator_; "
        "ptr builtin_data_allocator_; ptr memory_planner_; bool model_is_allocating_; "
        "size_t scratch_buffer_request_count_; ptr scratch_buffer_head_; size_t max_head_buffer_usage_",
    ),
    declare("MicroMemoryPlanner", _MICRO + "memory_planner/micro_memory_planner.h:45", "ptr vtable"),
    declare(
        "MicroResourceVariables",
        _MICRO + "micro_resource_variable.h:26",
        "ptr resource_variables_; int max_variable_count_; int num_resource_variables_",
    ),
    declare(
        "MicroResourceVariables::MicroResourceVariable",
        _MICRO + "micro_resource_variable.h:66",
        "ptr container; ptr shared_name; ptr resource_buffer; size_t bytes; int8 default_value",
    ),
    declare("NodeAndRegistration", _MICRO + "micro_allocator.h:82", "TfLiteNode node; ptr registration"),
    declare(
        "NonPersistentArenaBufferAllocator",
        _MICRO + "arena_allocator/non_persistent_arena_buffer_allocator.h:29",
        "INonPersistentBufferAllocator base; ptr buffer_head_; ptr buffer_tail_; ptr head_temp_; ptr next_temp_; "
        "intptr temp_buffer_ptr_check_sum_; int temp_buffer_count_; bool resizable_buffer_allocated_",
    ),
    declare(
        "NonPersistentMemoryPlannerShim",
        _MICRO + "memory_planner/non_persistent_buffer_planner_shim.h:103",
        "MicroMemoryPlanner base; ptr buffer_plan_; int buffer_request_count_",
    ),
    declare(
        "PersistentArenaBufferAllocator",
        _MICRO + "arena_allocator/persistent_arena_buffer_allocator.h:30",
        "IPersistentBufferAllocator base; ptr buffer_head_; ptr buffer_tail_; ptr tail_temp_",
    ),
    declare(
        "RecordedAllocation",
        _MICRO + "recording_micro_allocator.h:47",
        "size_t requested_bytes; size_t used_bytes; size_t count",
    ),
    declare(
        "RecordingMicroAllocator",
        _MICRO + "recording_micro_allocator.h:60",
        "MicroAllocator base; ptr recording_memory_allocator_; "
        "RecordedAllocation recorded_tflite_eval_tensor_data_; "
        "RecordedAllocation recorded_persistent_tflite_tensor_data_; "
        "RecordedAllocation recorded_persistent_tflite_tensor_quantization_data_; "
        "RecordedAllocation recorded_persistent_buffer_data_; "
        "RecordedAllocation recorded_tflite_tensor_variable_buffer_data_; "
        "RecordedAllocation recorded_node_and_registration_array_data_; "
        "?compression RecordedAllocation recorded_compression_data_; RecordedAllocation recorded_op_data_",
    ),
    declare(
        "RecordingSingleArenaBufferAllocator",
        _MICRO + "arena_allocator/recording_single_arena_buffer_allocator.h:27",
        "SingleArenaBufferAllocator base; size_t requested_head_bytes_; size_t requested_tail_bytes_; "
        "size_t used_bytes_; size_t alloc_count_",
    ),
    declare("ScratchBufferHandle", _MICRO + "micro_allocator.h:90", "ptr data"),
    declare(
        "SingleArenaBufferAllocator",
        _MICRO + "arena_allocator/single_arena_buffer_allocator.h:31",
        "INonPersistentBufferAllocator base; IPersistentBufferAllocator base2; ptr buffer_head_; "
        "ptr buffer_tail_; ptr head_; ptr tail_; ptr temp_; intptr temp_buffer_ptr_check_sum_; "
        "int temp_buffer_count_",
    ),
    declare(
        "SubgraphAllocations",
        _MICRO + "micro_allocator.h:97",
        "ptr node_and_registrations; ptr tensors; ?compression ptr compressed",
    ),
    declare(
        "internal::ScratchBufferRequest",
        _MICRO + "micro_allocator.h:62",
        "size_t bytes; int node_idx; int subgraph_idx",
    ),
    declare("CompressionTensorData", _MICRO + "compression.h:53", "uint8 scheme; ptr data"),
    declare(
        "LookupTableData",
        _MICRO + "compression.h:36",
        "ptr value_table; uint8 value_table_channel_stride; uint8 bit_fields",
    ),
)
