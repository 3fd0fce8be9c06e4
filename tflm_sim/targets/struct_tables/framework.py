"""What TFLM itself keeps: allocators, planners, tensors, nodes, resource variables."""

from __future__ import annotations

STRUCTS = """
// tensorflow/compiler/mlir/lite/core/c/tflite_types.h
struct TfLiteQuantizationParams { float scale; int32_t zero_point; };  // :79

// tensorflow/lite/core/api/flatbuffer_conversions.h
struct BuiltinDataAllocator { void *vtable; };  // :34

// tensorflow/lite/core/c/common.h
struct TfLiteQuantization { int type; void *params; };  // :364
struct TfLiteAffineQuantization { void *scale, *zero_point; int32_t quantized_dimension; };  // :380
struct [[static_memory]] TfLiteTensor {  // :678
  TfLiteQuantization quantization; TfLiteQuantizationParams params; void *data, *dims; size_t bytes;
  enum type, allocation_type; bool is_variable;
};
struct [[!static_memory]] TfLiteTensor {  // :473
  enum type; void *data, *dims; TfLiteQuantizationParams params; enum allocation_type; size_t bytes;
  void *allocation, *name, *delegate; int buffer_handle; bool data_is_stale, is_variable;
  TfLiteQuantization quantization; void *sparsity, *dims_signature;
};
struct TfLiteNode {  // :723
  void *inputs, *outputs; [[node_intermediates]] void *intermediates; [[!static_memory]] void *temporaries;
  void *user_data, *builtin_data, *custom_initial_data; int custom_initial_data_size;
  [[!static_memory]] void *delegate; [[!static_memory]] bool might_have_side_effect;
};
struct TfLiteEvalTensor { void *data, *dims; enum type; };  // :753

// tensorflow/lite/micro/arena_allocator/ibuffer_allocator.h
struct IPersistentBufferAllocator { void *vtable; };  // :32
struct INonPersistentBufferAllocator { void *vtable; };  // :47

// tensorflow/lite/micro/arena_allocator/non_persistent_arena_buffer_allocator.h
struct NonPersistentArenaBufferAllocator : INonPersistentBufferAllocator {  // :29
  void *buffer_head_, *buffer_tail_, *head_temp_, *next_temp_; intptr_t temp_buffer_ptr_check_sum_;
  int temp_buffer_count_; bool resizable_buffer_allocated_;
};

// tensorflow/lite/micro/arena_allocator/persistent_arena_buffer_allocator.h
struct PersistentArenaBufferAllocator : IPersistentBufferAllocator {  // :30
  void *buffer_head_, *buffer_tail_, *tail_temp_;
};

// tensorflow/lite/micro/arena_allocator/recording_single_arena_buffer_allocator.h
struct RecordingSingleArenaBufferAllocator : SingleArenaBufferAllocator {  // :27
  size_t requested_head_bytes_, requested_tail_bytes_, used_bytes_, alloc_count_;
};

// tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h
struct SingleArenaBufferAllocator {  // :31
  [[allocator_interfaces]] INonPersistentBufferAllocator base;
  [[allocator_interfaces]] IPersistentBufferAllocator base2;
  [[!allocator_interfaces]] void *vtable; [[!no_error_reporter]] void *error_reporter_;
  void *buffer_head_, *buffer_tail_, *head_, *tail_, *temp_; [[temps_counted]] intptr_t temp_buffer_ptr_check_sum_;
  [[temps_counted]] int temp_buffer_count_;
};

// tensorflow/lite/micro/compression.h
struct LookupTableData { void *value_table; uint8_t value_table_channel_stride, bit_fields; };  // :36
struct CompressionTensorData { uint8_t scheme; void *data; };  // :53

// tensorflow/lite/micro/memory_planner/greedy_memory_planner.h
struct GreedyMemoryPlanner : MicroMemoryPlanner {  // :46
  int max_buffer_count_, buffer_count_;
  void *requirements_, *buffer_sizes_sorted_, *buffer_ids_sorted_, *buffers_sorted_by_offset_;
  int next_free_entry_, first_entry_index_; void *buffer_offsets_; bool need_to_calculate_offsets_;
};
struct GreedyMemoryPlanner::ListEntry { int offset, requirements_index, next_entry_index; };  // :93
struct GreedyMemoryPlanner::BufferRequirements {  // :137
  int size, offline_offset, first_time_used, last_time_used;
};

// tensorflow/lite/micro/memory_planner/linear_memory_planner.h
struct LinearMemoryPlanner : MicroMemoryPlanner {  // :26
  size_t buffer_offsets_[1024]; int current_buffer_count_; size_t next_free_offset_;
};

// tensorflow/lite/micro/memory_planner/micro_memory_planner.h
struct MicroMemoryPlanner { void *vtable; };  // :45

// tensorflow/lite/micro/memory_planner/non_persistent_buffer_planner_shim.h
struct NonPersistentMemoryPlannerShim : MicroMemoryPlanner {  // :103
  void *buffer_plan_; int buffer_request_count_;
};

// tensorflow/lite/micro/micro_allocation_info.h
struct AllocationInfo {  // :27
  size_t bytes; void *output_ptr; int first_created, last_used; int32_t offline_offset; bool needs_allocating;
};

// tensorflow/lite/micro/micro_allocator.cc
struct micro_allocator.MicroBuiltinDataAllocator : BuiltinDataAllocator { void *persistent_allocator_; };  // :62

// tensorflow/lite/micro/micro_allocator.h
struct internal::ScratchBufferRequest {  // :62
  size_t bytes; int node_idx; [[plan_across_subgraphs]] int subgraph_idx;
};
struct NodeAndRegistration { TfLiteNode node; void *registration; };  // :82
struct ScratchBufferHandle { void *data; };  // :90
struct SubgraphAllocations { void *node_and_registrations, *tensors; [[compression]] void *compressed; };  // :97
struct MicroAllocator {  // :128
  void *vtable; [[!allocator_interfaces]] void *memory_allocator_;
  [[allocator_interfaces]] void *non_persistent_buffer_allocator_, *persistent_buffer_allocator_;
  [[several_subgraphs]] void *builtin_data_allocator_; [[planner_in_arena]] void *memory_planner_;
  [[!no_error_reporter]] void *error_reporter_; bool model_is_allocating_; size_t scratch_buffer_request_count_;
  [[resizable_buffer]] void *scratch_buffer_head_; size_t max_head_buffer_usage_;
};

// tensorflow/lite/micro/micro_resource_variable.h
struct MicroResourceVariables {  // :26
  void *resource_variables_; int max_variable_count_, num_resource_variables_;
};
struct MicroResourceVariables::MicroResourceVariable {  // :66
  void *container, *shared_name, *resource_buffer; size_t bytes; [[variable_defaults]] int8_t default_value;
};

// tensorflow/lite/micro/recording_micro_allocator.h
struct RecordedAllocation { size_t requested_bytes, used_bytes, count; };  // :47
struct RecordingMicroAllocator : MicroAllocator {  // :60
  void *recording_memory_allocator_;
  RecordedAllocation recorded_tflite_eval_tensor_data_, recorded_persistent_tflite_tensor_data_,
  recorded_persistent_tflite_tensor_quantization_data_, recorded_persistent_buffer_data_,
  recorded_tflite_tensor_variable_buffer_data_, recorded_node_and_registration_array_data_;
  [[compression]] RecordedAllocation recorded_compression_data_; RecordedAllocation recorded_op_data_;
};
"""
