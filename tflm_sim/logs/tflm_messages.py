"""Every failure line that we know, old and new: its format, what it means, and in which phase it can come.

``Role`` says what a line adds to a diagnosis. ALLOCATOR lines carry the numbers; the others say who asked.
Sources are files under tensorflow/lite/micro (or tensorflow/lite) at 90b983c, with the years for formats that are gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tflm_sim.logs.build_messages import BUILD_MESSAGES
from tflm_sim.logs.framework_messages import FRAMEWORK_MESSAGES
from tflm_sim.logs.message_kinds import MessageKind, Role, Values
from tflm_sim.logs.message_kinds import row as _row
from tflm_sim.logs.platform_messages import PLATFORM_MESSAGES
from tflm_sim.logs.templates import Template

_TRIPLE = "requested available missing"
_A, _O, _N, _K, _M, _S, _I, _P = (
    Role.ALLOCATOR,
    Role.OWNER,
    Role.NODE,
    Role.KERNEL,
    Role.MODEL,
    Role.SEQUENCE,
    Role.NOTE,
    Role.APP,
)
_LINE_BEFORE = (
    "A kernel prints why before this line. Where nothing is there, give --model with --library or --target: the "
    "simulation "
    "says what the operator refuses."
)
_STATIC = (
    "Give the model a fixed shape: tf.keras.Input(shape, batch_size=1), or convert a concrete function with fixed "
    "shapes; "
    "then SHAPE, STRIDED_SLICE and PACK are gone."
)
_TYPE = (
    "The type is {type}, which this kernel does not compute: convert the model to full int8 (or to float32 "
    "throughout), "
    "inputs and outputs too; --model with --library names the operator."
)
_CUSTOM = (
    "The operator is CUSTOM, and the log does not name it: 'tflm-sim size MODEL' does, and what to do. Flex...: "
    "convert "
    "without SELECT_TF_OPS. ethos-u: add AddEthosU(), with a TFLM library as old as the driver's kernel. "
    "TFLite_Detection_PostProcess: AddDetectionPostprocess(). Any other: AddCustom() with a kernel of your own."
)
_SOME = "some operator is not registered with the resolver, often a custom one"
_ITS_CODE = (
    "TFLM of 2020 and 2021 prints here a field of the file that is 0 (ADD) unless the operator is an old one: the line "
    "before it, or 'tflm-sim size MODEL', names the operator."
)
_UNNAMED: dict[int | str, tuple[str, str]] = {
    "CUSTOM": ("a custom operator is not registered with the resolver", _CUSTOM),
    "d": (_SOME, _ITS_CODE),
    "ADD": (_SOME, _ITS_CODE),
}
"""What a line that names the operator by its code says where the code names none."""
_ALLOCATOR_CC = "micro/micro_allocator.cc"
_SINGLE_CC = "micro/arena_allocator/single_arena_buffer_allocator.cc"


def _schema(values: Values) -> Values | None:
    """Return the fields where a schema version is one that there may be."""
    return values if int(values.get("given", 0)) <= _MAX_SCHEMA else None


def _no_schema(values: Values) -> Values | None:
    given = int(values.get("given", 0))
    if given <= _MAX_SCHEMA:
        return None
    bytes_there = (given % 2**32).to_bytes(4, "little")
    is_text = all(0x20 <= byte < 0x7F for byte in bytes_there)
    return {**values, "text": f" (the text '{bytes_there.decode()}')" if is_text else ""}


_MAX_SCHEMA = 99

# fmt: off
_TFLM: tuple[MessageKind, ...] = (
    # The arena refuses.
    _row("head", _A, "", "the head (memory plan or scratch-request table) does not fit", _SINGLE_CC + "; since 2022-03",
         "Failed to resize buffer. Requested: %u, available %u, missing: %u", fields=_TRIPLE),
    _row("head", _A, "", "the head (memory plan or scratch-request table) does not fit",
         "micro/simple_memory_allocator.cc, 2021-04 to 2022-03",
         "Failed to set head size. Requested: %u, available %u, missing: %u", fields=_TRIPLE),
    _row("tail", _A, "", "a persistent allocation does not fit", _SINGLE_CC,
         "Failed to allocate tail memory. Requested: %u, available %u, missing: %u", fields=_TRIPLE),
    _row("temp", _A, "", "a temporary allocation does not fit", _SINGLE_CC,
         "Failed to allocate temp memory. Requested: %u, available %u, missing: %u", fields=_TRIPLE),
    _row("memory", _A, "", "an allocation does not fit", "micro/simple_memory_allocator.cc, until 2020",
         "Failed to allocate memory. Requested: %d, available %d, missing: %d", fields=_TRIPLE),
    _row("plan_too_big", _A, "plan", "the memory plan does not fit", _ALLOCATOR_CC + ", until 2022-03",
         "Arena size is too small for all buffers. Needed %u but only %u was available.",
         fields="requested available"),
    _row("plan_too_big", _A, "plan", "the memory plan does not fit", "micro_allocator.cc in tensorflow, until 2020",
         "Arena size is too small for activation buffers. Needed %d but only %d was available.",
         fields="requested available"),
    _row("persistent_buffer", _A, "", "a kernel's persistent buffer does not fit",
         "micro_allocator.cc in tensorflow, 2020",
         "Failed to allocate persistent buffer of size %d", fields="requested"),
    _row("ei_overflow", _O, "op_prepare", "a kernel's buffer beside the arena (EON compiled model)",
         "Edge Impulse EON compiled models (tflite-model/*_compiled.cpp)",
         "Failed to allocate persistent buffer of size %d, does not fit in tensor arena and reached "
         "EI_MAX_OVERFLOW_BUFFER_COUNT",
         "Failed to allocate scratch buffer of size %d, reached EI_MAX_OVERFLOW_BUFFER_COUNT", fields="bytes",
         note="Memory is not short: EON's arena is full, further buffers come from the heap, and the table of those is "
              "full too. Raise EI_MAX_OVERFLOW_BUFFER_COUNT in edge-impulse-sdk/porting/ei_classifier_porting.h (each "
              "entry is one pointer), or kTensorArenaSize in the compiled model: 'tflm-sim size X_compiled.cpp' says "
              "how many buffers there are, and the kTensorArenaSize without any."),
    _row("ei_scratch", _O, "op_prepare", "a kernel's scratch buffer, for which the table is full (EON compiled model)",
         "Edge Impulse EON compiled models (tflite-model/*_compiled.cpp)",
         "Failed to allocate scratch buffer of size %d, reached EI_MAX_SCRATCH_BUFFER_COUNT", fields="bytes",
         note="Memory is not short: the compiled model has room for so many scratch buffers of all operators together. "
              "Other kernels ask for more of them than those that it was compiled for; define a larger "
              "EI_MAX_SCRATCH_BUFFER_COUNT. 'tflm-sim size X_compiled.cpp --target T' says how many there are."),
    _row("too_many_buffers", _A, "plan", "the planner's own tables do not fit beside the buffers",
         "micro/memory_planner/*.cc", "Too many buffers (max is %d)", fields="max_buffers",
         note="Beside the buffers there was room to plan {max_buffers} of them: the planner works inside "
              "the arena, so it needs more than the plan itself."),
    _row("unaligned", _I, "create", "the arena's start is not 16-byte aligned, bytes are lost",
         "micro_allocator.cc in tensorflow, until 2020",
         "%d bytes lost due to alignment. To avoid this loss, please make sure the tensor_arena is 16 bytes aligned.",
         fields="lost",
         note="{lost} bytes of the arena are lost to its alignment: declare it alignas(16)."),
    # Who asked.
    _row("metadata", _O, "subgraph_allocations", "the list of subgraph allocations", _ALLOCATOR_CC,
         "Failed to allocate memory for model metadata."),
    _row("eval_tensors", _O, "eval_tensors", "the TfLiteEvalTensor array", _ALLOCATOR_CC,
         "Failed to allocate memory for context->eval_tensors, %d bytes required", fields="bytes"),
    _row("nodes", _O, "node_regs", "the NodeAndRegistration array", _ALLOCATOR_CC,
         "Failed to allocate memory for node_and_registrations."),
    _row("builtin_data", _O, "op_parse", "an operator's options", "micro/flatbuffer_conversions.cc, since October 2026",
         "Failed to allocate memory for builtin_data"),
    _row("tensor_info", _O, "plan", "the planner's list of tensors", "micro_allocator.cc in tensorflow, 2020",
         "Failed to allocate memory for tensor_info, %d bytes required", fields="bytes"),
    _row("allocation_info", _O, "plan", "the planner's list of buffers", _ALLOCATOR_CC + ", 2021",
         "Failed to allocate memory for allocation_info, %d bytes required", fields="bytes"),
    _row("planning", _O, "plan", "the planner's list of buffers", "micro/micro_allocation_info.cc",
         "Failed to allocate memory for memory planning, %d bytes required", fields="bytes"),
    _row("array_copy", _O, "", "a copy of an array of the model", _ALLOCATOR_CC + ", 2021",
         "Failed to allocate %d bytes of memory to copy an array.", fields="bytes"),
    _row("input_tensors", _O, "input_tensors", "the list of input tensors", "micro/micro_interpreter.cc",
         "Failed to allocate memory for context->input_tensors_, %d bytes required", fields="bytes"),
    _row("output_tensors", _O, "output_tensors", "the list of output tensors", "micro/micro_interpreter.cc",
         "Failed to allocate memory for context->output_tensors_, %d bytes required", fields="bytes"),
    _row("input_tensor", _O, "input_tensors", "an input tensor", "micro/micro_interpreter.cc",
         "Failed to initialize input tensor %d", fields="tensor"),
    _row("output_tensor", _O, "output_tensors", "an output tensor", "micro/micro_interpreter.cc",
         "Failed to initialize output tensor %d", fields="tensor"),
    _row("eval_tensor", _O, "eval_tensors", "a tensor's description", _ALLOCATOR_CC,
         "Failed to initialize tensor %d", fields="tensor"),
    _row("persistent_tensor", _O, "", "a persistent TfLiteTensor", _ALLOCATOR_CC,
         "Failed to allocate memory for persistent TfLiteTensor"),
    _row("temp_tensor", _O, "op_prepare", "a temporary TfLiteTensor", _ALLOCATOR_CC,
         "Failed to allocate temp. memory for tensor %d, subgraph %d", fields="tensor subgraph"),
    _row("persistent_fill", _O, "", "a persistent TfLiteTensor's details", _ALLOCATOR_CC,
         "Failed to populate a persistent TfLiteTensor struct from flatbuffer data!"),
    _row("temp_fill", _O, "op_prepare", "a temporary TfLiteTensor's details", _ALLOCATOR_CC,
         "Failed to populate a temp TfLiteTensor struct from flatbuffer data!"),
    _row("quantization", _O, "", "a tensor's quantization parameters", _ALLOCATOR_CC,
         "Unable to allocate TfLiteAffineQuantization."),
    _row("zero_points", _O, "", "a tensor's zero points", _ALLOCATOR_CC,
         "Unable to allocate quantization->zero_point."),
    _row("variable", _O, "variables", "a variable tensor", _ALLOCATOR_CC,
         "Failed to allocate variable tensor of size %d", fields="bytes"),
    _row("resource_count", _O, "resource_variables", "more resource variables than were created for",
         "micro/micro_resource_variable.cc",
         "Failed to allocate resource variable. Maximum resource variable count (%d) reached.", fields="max_count",
         note="MicroResourceVariables::Create was called with {max_count}; the model has more."),
    _row("resource_buffer", _O, "op_prepare", "a resource variable's buffer", "micro/micro_resource_variable.cc",
         "Failed to allocate resource buffer."),
    _row("compression_data", _O, "subgraph_allocations", "compression data", _ALLOCATOR_CC,
         "Compressions: failed to allocate memory for CompressionTensorData, %d bytes required",
         "Compressions: failed to allocate memory for LookupTableData, %d bytes required",
         "Compression: failed to allocate memory for compression tensor list, %d bytes required", fields="bytes"),
    _row("decode_tensor", _O, "op_prepare", "a tensor of DECODE", "micro/kernels/decode.cc",
         "failed to allocate input tensor %u", "failed to allocate ancillary tensor %u",
         "failed to allocate output tensor %u", "failed to allocate DecodeState[%u]", fields="index"),
    _row("decode_zero_points", _O, "op_prepare", "DECODE's zero points", "micro/kernels/decode_state_prune.cc",
         "unable to allocate zero_points_"),
    _row("ei_arena", _O, "create", "the whole arena, from the heap", "Edge Impulse inferencing_engines/tflite_micro.h",
         "Failed to allocate TFLite arena (%zu bytes)", fields="bytes",
         note="The heap cannot give {bytes} bytes in one piece: this is not TFLM's arena being too small."),
    _row("ei_eon", _O, "create", "the whole arena or a tensor in it (EON compiled model)",
         "Edge Impulse inferencing_engines/tflite_eon.h",
         "Failed to allocate TFLite arena (error code %d)", fields="status",
         note="Status {status}: for an EON compiled model this covers the heap and every tensor. Make the heap "
              "larger, or "
              "define EI_CLASSIFIER_ALLOCATION_STATIC; 'tflm-sim size X_compiled.cpp' says how large the arena is."),
    # Scratch buffers.
    _row("scratch_limit", _S, "op_prepare", "one operator asked for more scratch buffers than TFLM allows",
         _ALLOCATOR_CC, "Scratch buffer request exceeds limit per operator (%d)",
         "Scratch buffer request exeeds limit per operator (%d)", fields="limit",
         note="The limit is {limit} per operator."),
    # Which operator.
    _row("node_prepare", _N, "op_prepare", "an operator's Prepare failed", "micro/micro_interpreter_graph.cc",
         "Node %s (number %u) failed to prepare with status %d", fields="op node status",
         note=_LINE_BEFORE),
    _row("node_prepare", _N, "op_prepare", "an operator's Prepare failed", "micro/micro_interpreter.cc, 2021",
         "Node %s (number %df) failed to prepare with status %d", fields="op node status"),
    _row("node_invoke", _N, "invoke", "an operator failed while running", "micro/micro_interpreter_graph.cc",
         "Node %s (number %u) failed to invoke with status %d", fields="op node status",
         note=_LINE_BEFORE),
    _row("node_prepare", _N, "op_prepare", "an operator's Prepare failed", "lite/core/subgraph.cc",
         "Node number %d (%s) failed to prepare", fields="node op", note=_LINE_BEFORE),
    _row("node_invoke", _N, "invoke", "an operator failed while running", "lite/core/subgraph.cc",
         "Node number %d (%s) failed to invoke", fields="node op", note=_LINE_BEFORE),
    _row("flex_missing", _M, "op_parse", "the model has operators of TensorFlow itself (Flex)", "lite/core/subgraph.cc",
         "Regular TensorFlow ops are not supported by this interpreter",
         "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter",
         note="No microcontroller runs those: convert without SELECT_TF_OPS, with a fixed batch size and unroll=True."),
    _row("dynamic_tensor", _N, "op_prepare", "an operator's output has no fixed size",
         "micro/micro_interpreter_graph.cc",
         "Op#%u (%s) of subgraph %u has dynamic tensor #%d", fields="node op subgraph tensor",
         note="Tensor {tensor} of subgraph {subgraph} has no size before the model runs."),
    _row("dynamic_tensors", _I, "op_prepare", "TFLM needs every size before it runs",
         "micro/micro_interpreter_graph.cc", "Dynamic tensors are not supported"),
    # What a kernel refused.
    _row("hybrid", _K, "op_prepare", "an operator's weights are int8 and its data float", "micro/kernels/*.cc",
         "Hybrid models are not supported on TFLite Micro.", "Hybrid models are not supported",
         note="The file was converted with dynamic range quantization. Convert it with full integer quantization: "
              "optimizations = [tf.lite.Optimize.DEFAULT], a representative_dataset, and "
              "target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]; or without quantization."),
    _row("dynamic_begin", _K, "op_prepare", "STRIDED_SLICE's begin is computed while the model runs",
         "micro/kernels/strided_slice.cc", "op_context.begin != nullptr was not true", note=_STATIC),
    _row("reshape_elements", _K, "op_prepare", "RESHAPE would change the number of elements: {given} to {wanted}",
         "micro/kernels/reshape.cc", "num_output_elements != num_input_elements (%d != %d)", fields="wanted given",
         note="The shape in the file is not the one of the data: usually a batch size that the converter left open. "
              + _STATIC),
    _row("kernel_text", _K, "", "a kernel or a parser refuses the model", "kernel_texts.txt, for what is not below",
         note="It says: {said} ({file})"),
    _row("ensure_numbers", _K, "", "a kernel's check of two numbers failed", "core/c/common.h",
         "%s:%d %s != %s (%d != %d)", fields="file source_line left right left_value right_value",
         note="{left} was {left_value}, {right} was {right_value} ({file}:{source_line})."),
    _row("ensure_types", _K, "", "a kernel's check of two types failed", "core/c/common.h",
         "%s:%d %s != %s (%s != %s)", fields="file source_line left right left_value right_value",
         note="{left} was {left_value}, {right} was {right_value} ({file}:{source_line})."),
    _row("ensure_near", _K, "", "a kernel's check of two reals failed", "core/c/common.h",
         "%s:%d %s not near %s (%f != %f)", fields="file source_line left right left_value right_value"),
    _row("ensure_true", _K, "", "a kernel's check failed", "core/c/common.h",
         "%s:%d %s was not true", fields="file source_line condition",
         note="{condition} was not true ({file}:{source_line})."),
    _row("needs_resources", _K, "op_prepare", "the interpreter was made without MicroResourceVariables",
         "micro/kernels/{var_handle,assign_variable,read_variable}.cc",
         "%s requires resource variables. Please create ResourceVariables and pass it to the interpreter.",
         fields="op",
         note="Pass MicroResourceVariables::Create(allocator, count) to the interpreter."),
    _row("kernel_type", _K, "", "a kernel does not take this type", "micro/kernels/*.cc",
         "ype %s (%d) not supported.", "ype %s (%d) is not supported", fields="type type_code", note=_TYPE),
    _row("kernel_type", _K, "", "a kernel does not take this type", "micro/kernels/*.cc",
         "ype %s not currently supported", "ype %s currently not supported", "ype %s is currently not supported",
         "currently, got %s", "ype '%s' is not supported", fields="type", note=_TYPE),
    # The model and the registered operators.
    _row("op_missing", _M, "op_parse", "the operator is not registered with the resolver", "micro/micro_op_resolver.cc",
         "Didn't find op for builtin opcode '%s'", fields="op",
         note="Add {op} to the op resolver (Add... of MicroMutableOpResolver), if the library has it: "
              "'tflm-sim list ops --library NAME' shows what it has."),
    _row("op_registration", _M, "op_parse", "the operator is not registered with the resolver",
         "micro/micro_interpreter.cc", "Failed to get registration from op code %s", fields="op", codes=_UNNAMED),
    _row("op_code_missing", _M, "op_parse", "the model names an operator code that it does not define",
         "micro/micro_interpreter.cc", "Missing registration for opcode_index %d",
         "Skipping op for opcode_index %d", fields="index"),
    _row("op_range", _M, "op_parse", "the operator is newer than this TFLM", "micro/micro_op_resolver.cc",
         "Op builtin_code out of range: %d.", fields="code"),
    _row("op_parser", _M, "op_parse", "the operator's parser is not registered", "micro/micro_interpreter.cc",
         "Did not find a parser for %s", fields="op"),
    _row("op_custom_code", _M, "op_parse", "a custom operator has no name",
         "micro/micro_op_resolver.cc", "Operator with CUSTOM builtin_code has no custom_code."),
    _row("op_custom_options", _M, "op_parse", "a builtin operator carries custom options", "micro/micro_interpreter.cc",
         "Unsupported behavior: found builtin operator %s with custom options.", fields="op"),
    _row("resolver_full", _M, "create", "the resolver's template argument is too small",
         "micro/micro_mutable_op_resolver.h",
         "Couldn't register builtin op #%d, resolver size is too small (%d).", fields="op limit",
         note="Raise the template argument of MicroMutableOpResolver."),
    _row("resolver_full", _M, "create", "the resolver's template argument is too small",
         "micro/micro_mutable_op_resolver.h, in two lines",
         "Couldn't register builtin op #%d, resolver size", fields="op"),
    _row("resolver_limit", _I, "create", "the resolver's capacity", "micro/micro_mutable_op_resolver.h, second line",
         "is too small (%d).", fields="limit",
         note="It has room for {limit} operators."),
    _row("resolver_full", _M, "create", "the resolver's template argument is too small",
         "micro/micro_mutable_op_resolver.h",
         "Couldn't register custom op '%s', resolver size is toosmall (%d)",
         "Couldn't register custom op '%s', resolver size is too small (%d)", fields="op limit"),
    _row("op_twice", _M, "create", "an operator was registered twice", "micro/micro_mutable_op_resolver.h",
         "Calling AddBuiltin with the same op more than", "Calling AddCustom for the same op more than once"),
    _row("schema_version", _M, "create", "the model's schema is not the one this TFLM reads",
         "micro/examples/*/main_functions.cc",
         "Model provided is schema version %d not equal to supported version %d.",
         "Model provided is schema version %d not equal to supported version %d", fields="given supported",
         reads=_schema, note="The model has schema version {given}, the firmware reads {supported}."),
    _row("schema_differs", _M, "create", "the model's schema is not the one this TFLM reads, or there is no model",
         "programs of users", "Model version does not match Schema", "Model schema mismatch", "schema version mismatch",
         "Model schema version mismatch",
         note="model->version() is 3 in every file: another number is no model at that address. Print it; check the "
              "array's length, and that it is alignas(16)."),
    _row("no_model", _M, "create", "there is no model where the firmware reads it",
    "micro/examples/*/main_functions.cc",
         "Model provided is schema version %d not equal to supported version %d.",
         "Model provided is schema version %d not equal to supported version %d", fields="given supported",
         reads=_no_schema,
         note="{given} is no schema version but other bytes{text}: the array is empty, was cut or overwritten, or the "
              "pointer is wrong. Make it anew from the .tflite file (xxd -i), and check its length and "
              "its name in the firmware."),
    _row("offline_count", _M, "plan", "the offline plan in the metadata has another number of tensors",
         "micro/micro_allocation_info.cc",
         "Nbr of offline buffer offsets (%d) in metadata not equal nbr tensors (%d)", fields="given tensors"),
    _row("intermediate", _M, "plan", "an intermediate tensor has a size", "micro/micro_allocation_info.cc",
         "Does not support intermediate tensor with non-zero size: %d", fields="bytes"),
    _row("lifetime", _M, "plan", "a tensor's lifetime makes no sense", _ALLOCATOR_CC + ", 2021",
         "Logic error in memory planner, tensor %d has an invalid lifetime: first_created: %d, last_used: %d",
         fields="tensor first last"),
    _row("one_subgraph", _M, "create", "this old TFLM takes one subgraph only", "micro/micro_interpreter.cc, 2021",
         "Only 1 subgraph is currently supported.",
         note="The model has several: control flow (IF, WHILE), an LSTM that is not unrolled, or CALL_ONCE with "
              "variables. "
              "Take a library with TFLM since 2021-05 ('tflm-sim list libraries'), or convert without those."),
    _row("overlap", _M, "plan", "two planned buffers overlap", "micro/memory_planner/greedy_memory_planner.cc",
         "Overlap: %d (%d=>%d, %d->%d) vs %d (%d=>%d, %d->%d)",
         fields="a a_first a_last a_start a_end b b_first b_last b_start b_end"),
    _row("buffer_index", _S, "plan", "a buffer that the planner does not know", "micro/memory_planner/*.cc",
         "buffer index %d is outside range 0 to %d", fields="index count"),
    _row("buffer_plan", _M, "plan", "the given buffer plan is for another model",
         "micro/memory_planner/non_persistent_buffer_planner_shim.cc",
         "Attempting to add buffer %d, but only %d buffers in given buffer plan.", fields="index count"),
    # Wrong order of calls.
    _row("started_twice", _S, "create", "two models share an allocator at the same time", _ALLOCATOR_CC,
         "MicroAllocator: Model allocation started before finishing previously allocated model"),
    _row("finished_first", _S, "plan", "the model was finished before it was started", _ALLOCATOR_CC,
         "MicroAllocator: Model allocation finished before starting allocating model"),
    _row("temps_out", _S, "op_prepare", "a kernel kept a temporary tensor", _SINGLE_CC,
         "All temp buffers must be freed before calling ResetTempAllocations()",
         note="TFLM and its kernels are of two versions, or a kernel of your own does not give its temporary tensors "
              "back "
              "(DeallocateTempTfLiteTensor): take one library, whole, and update it."),
    _row("temps_count", _I, "op_prepare", "temporaries that were not given back", _SINGLE_CC,
         "Number of allocated temp buffers: %d. Checksum passing status: %d", fields="count checksum_ok",
         note="{count} temporary buffers were still out."),
    _row("resize_order", _S, "op_prepare", "the head was resized while temporaries were in use", _SINGLE_CC,
         "Internal error: either buffer is not resizable or ResetTempAllocations() is not called before "
         "ResizeBuffer().", "ResetTempAllocations() is not called before ResizeBuffer().",
         "Internal error: SetHeadBufferSize() needs to be called after ResetTempAllocations()."),
    _row("resizable_twice", _S, "", "two resizable buffers at once",
         "micro/arena_allocator/non_persistent_arena_buffer_allocator.cc",
         "Cannot allocate a new resizable buffer when one is already allocated"),
    _row("not_initialised", _S, "invoke", "Invoke after a failed AllocateTensors", "micro/micro_interpreter.cc",
         "Invoke() called after initialization failed",
         note="AllocateTensors() failed, and the program went on: its lines at the start say why. Check the status."),
    _row("external_context", _S, "create", "SetMicroExternalContext was called twice",
         "micro/micro_interpreter_context.cc",
         "Attempting to set external context to %x but it was %x already", fields="new old"),
    _row("profiler_full", _S, "invoke", "MicroProfiler has no room for more events", "micro/micro_profiler.cc",
         "MicroProfiler errored out because total number of events exceeded the maximum of %d.", fields="limit"),
    # What the program made of it.
    _row("heap_arena", _O, "create", "the whole arena, from the heap", "ESPHome micro_wake_word/streaming_model.cpp",
         "Could not allocate the streaming model's tensor arena.",
         note="The heap cannot give the arena in one piece: this is not TFLM's arena being too small."),
    _row("esphome_probe", _I, "create", "ESPHome's search for the arena's size found none",
         "ESPHome micro_wake_word/streaming_model.cpp",
         "Arena size probe failed, using manifest size: %zu bytes", fields="bytes",
         note="ESPHome takes the size of the model's manifest, {bytes} bytes."),
    _row("allocate_called", _I, "", "the program speaks of AllocateTensors", "any program", "AllocateTensors"),
    _row("panic", _P, "", "the device then used an address that is none", "a fault handler's report after these lines",
         note="Where AllocateTensors() failed, input(0), output(0) and typed_input_tensor() are null pointers, and a "
              "program that goes on uses one: return when the status is not kTfLiteOk."),
    _row("starting_failed", _P, "", "AllocateTensors gave up before the first operator", "micro/micro_interpreter.cc",
         "Failed starting model allocation."),
    _row("allocate_failed", _P, "", "AllocateTensors failed",
         "micro/examples/*, tools/benchmarking; ESPHome streaming_model.cpp; EloquentTinyML",
         "AllocateTensors() failed", "MicroInterpreter::AllocateTensors failed",
         "Failed to allocate tensors for the streaming model", "Cannot allocate tensors",
         "TFLM failed to allocate tensors", "Failed to allocate tensors", "Tensor allocation failed",
         "tensor allocation failed", "AllocateTensors failed", "Allocate tensors failed", "Error allocating tensors",
         "AllocateTensors() returned kTfLiteError", "tensor allocation error",
         note="TFLM prints why before this line. Where nothing is there, the build strips it (define no "
              "TF_LITE_STRIP_ERROR_STRINGS, connect DebugLog); or give --model, --target and --arena-size, and the "
              "simulation says which allocation fails."),
    _row("invoke_failed", _P, "invoke", "Invoke failed", "micro/examples/*, tools/benchmarking", "Invoke failed",
         "Inference failed", "inference failed", "Failed to invoke", "Failed to run inference",
         "Error during inference"),
    _row("invoke_failed", _P, "invoke", "Invoke failed", "tools/benchmarking/generic_model_benchmark.cc",
         "Model interpreter invocation failed: %d", fields="status"),
    _row("halted", _P, "", "a check of the debug build stopped the device", "micro/system_setup and debug_log ports",
         "HALTED"),
)
# fmt: on

MESSAGES: tuple[MessageKind, ...] = (*_TFLM, *PLATFORM_MESSAGES, *BUILD_MESSAGES, *FRAMEWORK_MESSAGES)
"""TFLM's own lines, those of the systems that it runs on, of build tools, and of the programs around it."""

BY_KIND: dict[str, MessageKind] = {row.kind: row for row in reversed(MESSAGES)}


def _grouped(key: Callable[[Template], str]) -> dict[str, tuple[tuple[int, MessageKind, Template], ...]]:
    """Group the templates by a text of theirs, each with its place in ``MESSAGES``; those without one are left out."""
    groups: defaultdict[str, list[tuple[int, MessageKind, Template]]] = defaultdict(list)
    for place, row in enumerate(MESSAGES):
        for template in row.templates:
            if text := key(template):
                groups[text].append((place, row, template))
    return {text: tuple(rows) for text, rows in groups.items()}


BY_HEAD = _grouped(lambda template: template.head)
"""The candidates for a cut line, by the text that it begins with."""
BY_ANCHOR = _grouped(lambda template: template.anchor)
"""The candidates for a whole line, by a text that it contains."""
