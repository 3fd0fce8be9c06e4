"""What programs and libraries around TFLM print when something fails: Edge Impulse, ESPHome, AI-on-the-edge, OpenMV ...

Each row is a text, its cause, its remedy, its figures and its source; numbers of errors are tables beside them.
Sources: Edge Impulse inferencing-sdk-cpp dsp/returntypes.h and returntypes.hpp @ 02cf3d3; ESPHome
components/micro_wake_word @ 0185991; AI-on-the-edge-device code/components/jomjol_tfliteclass; Arm ethos-u-core-driver
src/ethosu_driver.c (24.05); Seeed SSCMA-Micro core/el_types.h @ 1e85ca4.
"""

from __future__ import annotations

from tflm_sim.logs.message_kinds import MessageKind, Role, Values, row

_F, _O, _I, _P, _M, _N, _S = (
    Role.FRAMEWORK, Role.OWNER, Role.NOTE, Role.APP, Role.MODEL, Role.NODE, Role.SEQUENCE
)  # fmt: skip

_HEAP = (
    "This is the heap, not TFLM's arena being too small: the heap has no such piece in one. Make the arena static or "
    "smaller (--model says how small it may be), allocate it before Wi-Fi, BLE and the camera, or take external RAM."
)
_EI_HEAP = (
    "Edge Impulse takes the arena and the DSP's buffers from the heap. Make the heap larger, or define "
    "EI_CLASSIFIER_ALLOCATION_STATIC for a static arena; 'tflm-sim size X_compiled.cpp' says how large it is."
)
_EI_BEFORE = "The line before it says which; with an EON compiled model give 'tflm-sim size X_compiled.cpp'."
_EI_ENGINE = "The project was exported for another engine: export it from the Studio for this board."
_EI_NULL = (
    "The SDK found no such tensor: the model's file and the generated model-parameters are of two exports. Copy the "
    "whole export anew."
)
_EI_DSP = (
    "The sizes of the signal and of the impulse differ: signal.total_length has to be "
    "EI_CLASSIFIER_DSP_INPUT_FRAME_SIZE."
)
_EI_EXPORT = "Export the project from the Studio anew, with the SDK of the same version."

_EI_CODES: dict[int, tuple[str, str, str]] = {
    -1: ("ERROR_SHAPES_DONT_MATCH", "the signal has another size than the impulse's input", _EI_DSP),
    -2: ("CANCELED", "the program stopped the impulse itself", "ei_run_impulse_check_canceled() said so; no error."),
    -3: (
        "TFLITE_ERROR",
        "TFLM failed: AllocateTensors(), an operator, or Invoke()",
        "The lines before it say which; with the model's file give --model.",
    ),
    -5: ("DSP_ERROR", "the signal processing before the model failed", "The line before it has the DSP's own number."),
    -6: ("TFLITE_ARENA_ALLOC_FAILED", "no room for the whole arena, from the heap", _EI_HEAP),
    -7: ("CUBEAI_ERROR", "STM32Cube.AI failed", "That engine is not TFLM."),
    -8: ("ALLOC_FAILED", "the heap is used up, or in pieces", _EI_HEAP),
    -9: ("ONLY_SUPPORTED_FOR_IMAGES", "the impulse has no image as its input", _EI_EXPORT),
    -10: ("UNSUPPORTED_INFERENCING_ENGINE", "the engine of the impulse is not built in", _EI_ENGINE),
    -11: ("OUT_OF_MEMORY", "the heap is used up, or in pieces", _EI_HEAP),
    -12: ("NOT_SUPPORTED_WITH_I16", "the impulse does not take int16", _EI_EXPORT),
    -13: ("INPUT_TENSOR_WAS_NULL", "the model has no input tensor", _EI_NULL),
    -14: ("OUTPUT_TENSOR_WAS_NULL", "the model has no output tensor", _EI_NULL),
    -15: ("SCORE_TENSOR_WAS_NULL", "the detector has no tensor of scores", _EI_NULL),
    -16: ("LABEL_TENSOR_WAS_NULL", "the detector has no tensor of labels", _EI_NULL),
    -17: ("TENSORRT_INIT_FAILED", "TensorRT failed", _EI_ENGINE),
    -18: ("DRPAI_INIT_FAILED", "the DRP-AI failed", _EI_ENGINE),
    -19: ("DRPAI_RUNTIME_FAILED", "the DRP-AI failed", _EI_ENGINE),
    -20: ("DEPRECATED_MODEL", "the model was exported for an older SDK", _EI_EXPORT),
    -21: ("LAST_LAYER_NOT_AVAILABLE", "the model has not the last layer that the block asks for", _EI_EXPORT),
    -22: ("INFERENCE_ERROR", "the engine failed while it ran the model", _EI_BEFORE),
    -23: ("AKIDA_ERROR", "Akida failed", _EI_ENGINE),
    -24: ("INVALID_SIZE", "the data have another size than the model's input", _EI_DSP),
    -25: ("ONNX_ERROR", "the ONNX engine failed", _EI_ENGINE),
    -26: ("MEMRYX_ERROR", "MemryX failed", _EI_ENGINE),
    -27: ("DEVICE_INIT_ERROR", "the accelerator could not be started", _EI_ENGINE),
    -28: ("LAST_LAYER_NOT_SUPPORTED", "the engine does not take the model's last layer", _EI_EXPORT),
    -29: ("POSTPROCESSING_ERROR", "the processing after the model failed", _EI_BEFORE),
}
"""Number -> name behind EI_IMPULSE_, cause, remedy."""
_EI_DSP_CODES: dict[int, tuple[str, str, str]] = {
    -1002: ("OUT_OF_MEM", "the signal processing found no memory in the heap", _EI_HEAP),
    -1003: ("SIGNAL_SIZE_MISMATCH", "the signal is shorter or longer than the impulse's window", _EI_DSP),
    -1004: ("MATRIX_SIZE_MISMATCH", "two matrices of the signal processing have different sizes", _EI_DSP),
    -1005: ("DCT_ERROR", "the cosine transform failed", _EI_EXPORT),
    -1006: ("INPUT_MATRIX_EMPTY", "the signal is empty", _EI_DSP),
    -1007: ("BUFFER_SIZE_MISMATCH", "a buffer of the signal processing has another size", _EI_DSP),
    -1008: ("PARAMETER_INVALID", "a parameter of the signal processing is invalid", _EI_EXPORT),
    -1009: ("UNEXPECTED_NEXT_OFFSET", "continuous classification got slices of the wrong size", _EI_DSP),
    -1010: ("OUT_OF_BOUNDS", "the signal processing would read beyond the signal", _EI_DSP),
    -1011: ("UNSUPPORTED_FILTER_CONFIG", "the filter is not supported", _EI_EXPORT),
    -1012: ("NARROWING", "a number does not fit its type", _EI_EXPORT),
    -1013: ("BLOCK_VERSION_INCORRECT", "the processing block is of another version", _EI_EXPORT),
    -1014: ("NOT_SUPPORTED", "the build lacks what this processing block needs", _EI_EXPORT),
    -1015: ("REQUIRES_CMSIS_DSP", "the processing block needs CMSIS-DSP", "Define EIDSP_USE_CMSIS_DSP=1."),
    -1016: (
        "FFT_TABLE_NOT_LOADED",
        "the FFT's table for this length is not built in",
        "Define EI_CLASSIFIER_LOAD_ALL_FFTS=1 (or the one of this length).",
    ),
    -1017: ("INFERENCE_ERROR", "a model within the signal processing failed", _EI_BEFORE),
    -1018: ("NO_HW_ACCEL", "the hardware has no accelerated FFT of this length", _EI_EXPORT),
    -1019: ("FFT_SIZE_NOT_SUPPORTED", "the FFT does not support this length", _EI_EXPORT),
}
"""Number -> name behind EIDSP_, cause, remedy. -1002 is the first: -1001 does not exist."""


def _numbers(prefix: str, table: dict[int, tuple[str, str, str]]) -> dict[int | str, tuple[str, str]]:
    """Return a table by number, the name with the cause."""
    return {number: (f"{cause} ({prefix}{name})", remedy) for number, (name, cause, remedy) in table.items()}


def _names(table: dict[int, tuple[str, str, str]]) -> dict[int | str, tuple[str, str]]:
    return {name: (cause, remedy) for name, cause, remedy in table.values()}


_EI = _numbers("EI_IMPULSE_", _EI_CODES) | _numbers("EIDSP_", _EI_DSP_CODES)
_SSCMA: dict[int | str, tuple[str, str]] = {
    1: ("the device is not ready (EL_AGAIN)", "Ask again."),
    2: ("a step was called in the wrong order (EL_ELOG)", "Choose a model and a sensor first (AT+MODEL, AT+SENSOR)."),
    3: ("the sensor or the model took too long (EL_ETIMOUT)", "Check the camera's cable; ask again."),
    4: ("reading or writing failed (EL_EIO)", "Check the camera's cable; flash the model again."),
    5: (
        "the device has no model that it can run (EL_EINVAL)",
        "Flash a model of this board at the address that the firmware reads, compiled by Vela for its NPU, and "
        "choose it "
        "with AT+MODEL; 'tflm-sim size MODEL' says whether TFLM runs it at all.",
    ),
    6: (
        "memory is used up (EL_ENOMEM)",
        "The arena of the firmware is too small for this model: 'tflm-sim size MODEL' says how large it must be.",
    ),
    7: ("the device is busy (EL_EBUSY)", "End the running inference first (AT+BREAK)."),
    8: ("the firmware cannot do that (EL_ENOTSUP)", "Flash a firmware that knows the model's kind."),
    9: ("that is not permitted now (EL_EPERM)", "End the running inference first (AT+BREAK)."),
    10: ("it failed (EL_FAILED)", "The lines of TFLM before it say why."),
}


def _failed(values: Values) -> Values | None:
    return values if values.get("code") not in (0, "OK") else None


def _some(values: Values) -> Values | None:
    return values if values.get("bytes") else None


def _none(values: Values) -> Values | None:
    return None if values.get("bytes") else values


def _macs(values: Values) -> Values:
    """Return the multiplications a cycle; the driver prints their logarithms."""
    return {**values, "npu": 1 << int(values["has"]), "model": 1 << int(values["wanted"])}


_AIOTE_FILE = (
    "0 bytes were asked for, the size of a file that is not there: check the model's name in config.ini, and that the "
    "file lies in /config of the SD card."
)
_HUNG = (
    "If this is the last line: the stack is too small, a check of TFLM stopped the device without a word, or the line "
    "that says so did not leave the port. --model with --library and --arena-size says what fails; 'tflm-sim firmware "
    "ELF --run' executes the program, prints its messages and measures the stack."
)
_DRIVER = "ethos-u-core-driver ethosu_driver.c @ 0356707"
_NPU = (
    "The model and the firmware disagree about the NPU. Compile with Vela for exactly this one (--accelerator-config "
    "ethos-u55-128 and the like), with a version of Vela as old as the driver."
)
_WAKE_WORD = (
    "The line before it says why. The memory of a wake word is tensor_arena_size of its manifest (JSON); 'tflm-sim "
    "size "
    "MODEL --target esp32-s3-esphome' says what it must be."
)
_WRONG_MODEL = (
    "This is no streaming model of microWakeWord for this version of ESPHome: take one of the models of "
    "micro-wake-word-"
    "models, v2 for ESPHome since 2024.7, or train it with that format."
)
_CUBE = (
    "This is STM32Cube.AI, whose memory is no arena of TFLM: 'tflm-sim' does not compute it. Its own report (stedgeai "
    "analyze) has the sizes; with the TFLM runtime of X-CUBE-AI, 'tflm-sim size MODEL --target cortex-m4' has them."
)

_OPENMV_FILE = (
    "The file is not there, is no .tflite file, or does not fit: tf.load(..., load_to_fb=True) or a model "
    "built into the firmware takes other memory; 'tflm-sim size MODEL' says what the arena takes."
)

# fmt: off
FRAMEWORK_MESSAGES: tuple[MessageKind, ...] = (
    # Edge Impulse.
    row("ei_no_arena", _O, "create", "the whole arena, from the heap",
        "Edge Impulse EON compiled models (tflite-model/*_compiled.cpp)", "failed to allocate tensor arena",
        "Failed to allocate tensor arena", note=_EI_HEAP),
    row("ei_dsp", _F, "", "the signal processing before the model failed with {code}", "Edge Impulse ei_run_dsp.h",
        "Failed to run DSP process (%d)", fields="code", codes=_EI, note=_EI_EXPORT),
    row("ei_failed", _P, "", "the Edge Impulse SDK gave up with {code}", "Edge Impulse examples",
        "run_classifier returned: %d", "Failed to run classifier (%d)", "Failed to run impulse (%d)",
        "Failed to initialize the model (error code %d)", "run_classifier() failed: %d", "run_classifier failed: %d",
        "ERR: Failed to run classifier (%d)", "Failed to classify (%d)",
        fields="code", codes=_EI, reads=_failed, note=_EI_BEFORE),
    row("ei_name", _F, "", "the Edge Impulse SDK gave up: EI_IMPULSE_{code}", "Edge Impulse returntypes.h",
        "EI_IMPULSE_%s", fields="code", codes=_names(_EI_CODES), reads=_failed,
        note=_EI_BEFORE),
    row("ei_dsp_name", _F, "", "the signal processing gave up: EIDSP_{code}", "Edge Impulse returntypes.hpp",
        "EIDSP_%s", fields="code", codes=_names(_EI_DSP_CODES), reads=_failed,
        note=_EI_EXPORT),
    row("ei_left", _I, "create", "free bytes of EON's arena", "Edge Impulse EON compiled models",
        "Left %d bytes after tensor_boundary", fields="bytes",
        note="{bytes:,} bytes of the arena of an EON compiled model lie free between its tensors and what its kernels "
             "keep: kTensorArenaSize is larger than needed by about as much ('tflm-sim size X_compiled.cpp')."),
    row("ardutflite_init", _P, "create", "ArduTFLite's modelInit() did not load the model", "examples of ArduTFLite",
        "Model initialization failed!",
        note="The line before it says why, where the library's own reach the port. An arena that is too small is the "
             "usual cause: 'tflm-sim check SKETCH_FOLDER' reads its size and the model in the sketch."),
    row("ardutflite_run", _P, "invoke", "ArduTFLite's modelRunInference() failed", "examples of ArduTFLite",
        "RunInference Failed!", note="The line before it says why; so does 'tflm-sim check SKETCH_FOLDER'."),
    # ESPHome.
    row("wake_word_variables", _O, "create", "the arena of a wake word's variables, from the heap",
        "ESPHome micro_wake_word/streaming_model.cpp",
        "Could not allocate the streaming model's variable tensor arena.",
        "Wake word model's streaming variable arena could not be allocated.",
        note="The heap cannot give it in one piece: this is not TFLM's arena being too small. Take a board with PSRAM "
             "(psram: in the YAML), fewer wake words, or no Bluetooth proxy."),
    row("wake_word_failed", _P, "", "a wake word's model was not loaded", "ESPHome micro_wake_word",
        "Failed to initialize a wake word model.", "Failed to initialize VAD model.",
        "Failed to load the wake word model(s) or allocate buffers", note=_WAKE_WORD),
    row("wake_word_flag", _P, "", "ESPHome's micro_wake_word failed", "ESPHome core/component.cpp",
        "Component micro_wake_word set Error flag", "Component micro_wake_word is marked FAILED",
        "Wake word component has an error. Please check logs", "Encountered an error while performing an inference",
        "Wake word component is marked as failed.",
        note=_WAKE_WORD),
    row("wake_word_shape", _F, "", "the wake word's model has another shape than ESPHome expects",
        "ESPHome micro_wake_word/streaming_model.cpp", "Streaming model tensor input dimensions is not 1x1x%s",
        fields="features", note=_WRONG_MODEL),
    row("wake_word_type", _F, "", "the wake word's model has another shape or type than ESPHome expects",
        "ESPHome micro_wake_word/streaming_model.cpp", "Streaming model tensor input is not int8.",
        "Streaming model tensor output is not uint8.", "Streaming model tensor output dimension is not 1x1.",
        "Streaming model's schema is not supported", note=_WRONG_MODEL),
    row("wake_word_invoke", _P, "invoke", "Invoke of a wake word's model failed",
        "ESPHome micro_wake_word/streaming_model.cpp", "Streaming interpreter invoke failed",
        "Streaming Interpreter Invoke failed", "Failed to preprocess audio for local wake word.",
        note="An operator refused while it ran: TFLM's line before it says which. A model without VAR_HANDLE's first "
             "subgraph, or of another version, does so."),
    row("arena_not_had", _F, "create", "the program could not allocate the arena from the heap", "programs of users",
        "Tensor arena allocation failed", "tensor arena allocation failed", "Failed to allocate arena",
        "Failed to allocate memory for tensor arena", "arena allocation failed", "Could not allocate tensor_arena",
        "Could not allocate tensor arena", "memory for tensor arena", note=_HEAP),
    row("wake_word_buffer", _F, "create", "a buffer of micro_wake_word, from the heap", "ESPHome micro_wake_word.cpp",
        "Could not allocate input buffer", "Could not allocate the audio preprocessor's buffer.",
        "Could not allocate ring buffer",
        "Could not allocate the audio preprocessor model's tensor arena.", note=_HEAP),
    row("wake_word_behind", _F, "invoke", "inference is slower than the microphone", "ESPHome micro_wake_word.cpp",
        "Not enough free bytes in ring buffer to store incoming audio data",
        note="The models take longer than the audio lasts: 240 MHz, fewer or smaller wake words, no VAD model."),
    # AI-on-the-edge-device.
    row("aiote_memory", _F, "create", "no memory for the model's file of {bytes:,} bytes", "AI-on-the-edge "
                                                                                           "CTfLiteClass.cpp",
        "Can't allocate enough memory: %d", fields="bytes", reads=_some,
        note="The PSRAM is used up, or in pieces: a smaller image or model, or restart."),
    row("aiote_psram", _F, "create", "no {bytes:,} bytes of PSRAM for {what}", "AI-on-the-edge psram.cpp",
        "Failed to allocate %d bytes in PSRAM for '%s'!", fields="bytes what", reads=_some,
        note="The PSRAM is used up, or in pieces: a smaller image or model, or restart."),
    row("aiote_no_file", _F, "create", "the model's file is not there, or is empty", "AI-on-the-edge CTfLiteClass.cpp",
        "Can't allocate enough memory: %d", fields="bytes", reads=_none, note=_AIOTE_FILE),
    row("aiote_empty", _F, "create", "the model's file is not there, or is empty", "AI-on-the-edge psram.cpp",
        "Failed to allocate %d bytes in PSRAM for '%s'!", fields="bytes what", reads=_none, note=_AIOTE_FILE),
    row("aiote_missing", _F, "create", "the model's file is not there, or is empty", "AI-on-the-edge CTfLiteClass.cpp",
        "Model does not exist", "File not existing or zero size", note=_AIOTE_FILE),
    row("aiote_loading", Role.HANG, "create", "the program hung or crashed while it read the model", "AI-on-the-edge "
                                                                                                     "CTfLiteClass.cpp",
        "Trying to load the model. If it crashes here",
        note="If this is the last line, the model's file is damaged, or of an operator that this firmware lacks: "
             "copy it "
             "to the SD card anew; 'tflm-sim size MODEL' reads it and says what TFLM makes of it."),
    # OpenMV and other Pythons.
    row("maix", _F, "", "MaixPy's KPU did not load the model", "MaixPy, CanMV", "[MAIXPY]kpu:",
        note="The K210 runs .kmodel files on its KPU, not TFLM: 'tflm-sim' does not compute its memory."),
    row("traceback", Role.NOTE, "", "a Python program stopped", "Python", "Traceback (most recent call last):"),
    row("openmv_old", _F, "", "the script is for an OpenMV firmware with another module for TFLM",
        "openmv/openmv pull request 2239", "no module named 'tf'", "'module' object has no attribute 'load'",
        "'module' object has no attribute 'classify'",
        note="The module tf, with tf.load() and tf.classify(), became ml in 2024: net = ml.Model(...), "
             "net.predict(...). Or flash the firmware that the script was written for."),
    row("python_module", _F, "", "this firmware has no module {name}", "MicroPython",
        "no module named '%s'", fields="name",
        note="Flash a firmware that was built with it: microlite is in those of tensorflow-micropython-examples, ml in "
             "those of OpenMV."),
    row("openmv_load", _P, "create", "OpenMV did not load the model {file}", "OpenMV py_tf.c, py_ml.c",
        "Failed to load network: %s", fields="file", note=_OPENMV_FILE),
    row("openmv_network", _P, "create", "OpenMV did not load the model", "OpenMV py_ml.c", "Failed to load network",
        note=_OPENMV_FILE),
    row("edgetpu_version", _F, "", "the model was compiled for a newer Edge TPU runtime than this one",
        "google-coral/pycoral issue 50; coral.ai/docs/edgetpu/compiler",
        "Package requires runtime version (%d), which is newer than this runtime version (%d)", fields="needed present",
        note="It needs version {needed}, this is {present}: install that libedgetpu, or compile the model with "
             "'edgetpu_compiler --min_runtime_version {present}'."),
    # Arm's Ethos-U driver, and what stands on it.
    row("npu_init", _F, "create", "the Ethos-U was not found", _DRIVER,
        "Failed to initialize Ethos-U device", "Failed to initialize NPU with ethosu_init()",
        "Failed to switch security state and privilege level", "Failed to reset Ethos-U", "Soft reset timed out",
        "Failed to soft-reset NPU", "Failed to request power",
        note="There is no NPU at that address: QEMU has none (take the FVP), the clock or power of it is off, or base "
             "address and security (secure_enable) are not this board's."),
    row("npu_product", _F, "create", "the Ethos-U driver is compiled for another NPU", _DRIVER,
        "Driver has not been compiled for this product",
        note="Build it for the one on this board: CONFIG_ARM_ETHOS_U55_128 and the like in Zephyr, "
             "ETHOSU_TARGET_NPU_CONFIG in CMake; and compile the model with Vela for the same."),
    row("npu_none", _F, "invoke", "no Ethos-U is ready: none was initialised, or all are in use", _DRIVER,
        "No NPU driver handle available", "No NPU driver handle registered",
        note="Call ethosu_init() before the first Invoke(), and look why it failed; with several threads, as many "
             "NPUs."),
    row("npu_busy", _F, "invoke", "the Ethos-U is used in a wrong order", _DRIVER,
        "Inference already running, or waiting to be cleared", "Inference job not running", "Unexpected job state",
        note="Two threads use one driver handle, or ethosu_wait() was not called: reserve a driver for each."),
    row("npu_heap", _F, "create", "no memory for the Ethos-U driver's semaphore or mutex", _DRIVER,
        "Failed to create driver semaphore", "Failed to create global driver mutex",
        "Failed to create global driver semaphore", note="It comes from the heap of the system, not from the arena."),
    row("npu_fast", _F, "invoke", "the Ethos-U's fast memory has {given:,} bytes, the model needs {needed:,}",
        _DRIVER, "Fast memory area too small. fast_memory_size=%d, base_addr_size=%d", fields="given needed",
        note="Give ethosu_init() a fast memory of {needed:,} bytes, or compile the model with Vela for a smaller one "
             "(--arena-cache-size {given}) or without (--memory-mode Shared_Sram)."),
    row("npu_aligned", _F, "invoke", "an address given to the Ethos-U is not a multiple of 16", _DRIVER,
        "NPU memory region addresses not aligned to 16 bytes", "not aligned to 16 bytes",
        note="Declare the model's array and the arena alignas(16): const alignas(16) unsigned char model[]; a model in "
             "a file has to be loaded to such an address."),
    row("npu_aligned_32", _F, "invoke", "an address given to the Ethos-U is not a multiple of 32", _DRIVER,
        "not aligned to 32 bytes", note="Declare the model's array and the arena alignas(32)."),
    row("npu_payload", _F, "invoke", "the model's Ethos-U operator is no output of Vela", _DRIVER,
        "Custom operator data does not start with ARM", "Custom Operator Payload:", "CO_TYPE != ETHOSU",
        "UNSUPPORTED driver_action_command", "custom_data_size=0x",
        note="Compile the model with Vela (vela --accelerator-config ...) and flash that file, whole."),
    row("npu_mismatch", _F, "invoke", "the model was compiled for another Ethos-U", "ethosu_device_u55_u65.c",
        "NPU config mismatch", "NPU arch mismatch", "config mismatch", note=_NPU),
    row("npu_stopped", _F, "invoke", "the Ethos-U stopped at byte {read} of {bytes} of its commands",
        "ethos-u-core-driver ethosu_driver.c (2021)", "IRQ received but qread (%d) not at end of stream (%d)",
        fields="read bytes",
        note="It met a fault: the commands and weights (the model), the arena or its fast memory lie where the NPU "
             "cannot read, or the loader did not write them there."),
    row("npu_macs", _F, "invoke", "the model was compiled for an Ethos-U of another size", "ethosu_device_u55_u65.c",
        "NPU config mismatch. npu.macs_per_cc=%d, optimizer.macs_per_cc=%d", fields="has wanted", reads=_macs,
        note="Compile it with --accelerator-config ethos-u55-{npu}, which this NPU is; it was compiled for {model} "
             "multiplications a cycle."),
    row("npu_invoke", _F, "invoke", "the Ethos-U did not finish the model", "ethosu.cc; ethosu_driver.c",
        "Failed to invoke ethos-u operator", "Ethos-U invoke failed", "ethosu_invoke failed", "NPU timed out",
        "Failed to invoke inference", "NPU error(s) occured during inference", "NPU inference timed out",
        "NPU status=0x", note=_NPU),
    row("cmsis_nn", _F, "", "a function of CMSIS-NN refused its arguments", "CMSIS-NN", "ARM_CMSIS_NN_SUCCESS",
        "ARM_CMSIS_NN_ARG_ERROR", "ARM_MATH_ARGUMENT_ERROR",
        note="Its scratch buffer is too small or missing, or the layer's options are none of those that it computes: "
             "TFLM "
             "and CMSIS-NN are of two versions. Build both from one library; --model with --library says what fails."),
    row("hifi", _F, "", "a kernel of Cadence's library (HiFi) stopped", "Cadence nnlib-hifi4, nnlib-hifi5", "xa_nnlib_",
        "xa_nn_",
        note="It refuses a shape, or an address that is not aligned: alignas(16) for the arena and the model's array; "
             "build with the reference kernels (without OPTIMIZED_KERNEL_DIR=xtensa) to see whether the model is "
             "right."),
    # Coral Micro, and custom operators.
    row("coral_package", _F, "op_init", "the model was not compiled for the Edge TPU, or not whole",
        "coralmicro libs/tpu/edgetpu_manager.cc", "Package verification failed", "No executables to register",
        "MultiExecutable verification failed", "Executable verification failed",
        "Package does not have inference executable",
        note="Compile it with edgetpu_compiler anew, and copy the whole file to the board."),
    row("coral_device", _F, "create", "the Edge TPU was not found", "coralmicro examples",
        "Failed to get EdgeTpu context", "Failed to load delegate from libedgetpu",
        note="It has no power, or another program uses it: reset the board, call EdgeTpuManager::OpenDevice() once."),
    row("coral_file", _P, "create", "the program did not load the file {file}", "coralmicro examples",
        "ERROR: Failed to load %s", fields="file",
        note="It is not in the board's file system: name it in the target's DATA, and flash the data too."),
    row("edgetpu_runtime", _F, "op_prepare", "the Edge TPU's operator met a type that this runtime does not know",
        "google-coral/examples-camera issue 34, edgetpu issue 401", "tf_lite_type != kTfLiteUInt8 (%d != 3)",
        "Unsupported data type in custom op handler: %d", fields="type",
        note="The model is newer than the runtime: install the tflite_runtime, pycoral and libedgetpu of one release."),
    row("model_identifier", _M, "create", "the file is no TensorFlow Lite model: {found} stands where TFL3 has to",
        "TensorFlow Lite model_builder.cc", "Model provided has model identifier '%s', should be 'TFL3'",
        fields="found",
        note="Often a web page was saved ('<htm', 'OCTY', 'l><b'), or the pointer of Git LFS ('ion '): load the file "
             "itself, and look at its size."),
    row("model_identifier", _M, "create", "the file is no TensorFlow Lite model", "TensorFlow Lite model_builder.cc",
        "should be 'TFL3'"),
    row("model_file", _F, "create", "the model's file {file} cannot be read", "TensorFlow Lite allocation.cc",
        "Mmap of '%s' failed", "Could not open '%s'", fields="file",
        note="It is not there, is a folder, or is empty: give the path of the .tflite file."),
    row("custom_missing", _M, "op_parse", "the custom operator {op} is not registered with the resolver",
        "coralmicro, TensorFlow Lite", "Didn't find custom op for name '%s' with version %d",
        fields="op version"),
    row("custom_unresolved", _M, "op_parse", "the custom operator {op} is not registered with the resolver",
        "TensorFlow Lite", "Encountered unresolved custom op: %s.", "Encountered unresolved custom op: %s",
        fields="op"),
    # Seeed SSCMA.
    row("sscma", _F, "", "the device answered {name} with code {code}", "Seeed SSCMA-Micro",
        '"type": 1, "name": "%s", "code": %d', '"type":1,"name":"%s","code":%d',
        fields="name code", codes=_SSCMA, reads=_failed),
    # STM32Cube.AI.
    row("cube_layers", _F, "", "STM32Cube.AI does not take the layer {layers}", "STM32Cube.AI (stedgeai)",
        "Unsupported layer types: %s", "E801(NotImplementedError): Unsupported layer types: %s", fields="layers",
        note=_CUBE + " There, replace the layer; TFLM has kernels (UNIDIRECTIONAL_SEQUENCE_LSTM) that it lacks."),
    row("cube_board", _F, "", "the board does not answer STM32Cube.AI's validation", "community.st.com 687720, 122225",
        "(HwIOError)", "Unable to bind the STM AI runtime",
        note="It does not run the validation program of this network, or stopped at a fault: let X-CUBE-AI compile and "
             "flash it ('Automatic compilation'), reset the board, close other terminals, and raise stack and heap "
             "in the linker script. It is no matter of an arena of TFLM."),
    row("cube_tool", _F, "", "STM32Cube.AI's tool failed", "STM32Cube.AI (stedgeai)", "TOOL ERROR:",
        "E801(NotImplementedError)", "E010(InvalidModelError)", "NOT IMPLEMENTED:", "(CliRuntimeError)",
        "(CliArgumentError)", "(ToolRuntimeError)", "(CodeGenerationError)", "INTERNAL ERROR:",
        note=_CUBE),
    row("cube_runtime", _F, "", "STM32Cube.AI's network failed: {code}", "STM32Cube.AI ai_platform.h",
        "AI_ERROR_%s", fields="code", note=_CUBE),
    row("cube_init", _F, "create", "STM32Cube.AI's network was not initialised", "STM32Cube.AI (stedgeai)",
        "type=0x%x(INIT_FAILED), code=0x%x(%s)", fields="type number code",
        note="Weights (network_data) and activations are given to ai_network_init(): their addresses and "
                     "sizes "
                     "are those of this export?"),
    # Other engines.
    row("esp_dl", _F, "", "ESP-DL refused the model: {what}", "espressif/esp-dl", "dl::module::%s", fields="what",
        note="ESP-DL is another library, which runs .espdl files: its memory is no arena of TFLM."),
    # What programs say of their own.
    row("program_arena", _F, "create", "no {bytes:,} bytes for the arena, from the heap", "examples of "
                                                                                          "esp-tflite-micro",
        "Couldn't allocate memory of %d bytes", fields="bytes", note=_HEAP),
    row("tests_failed", _F, "", "a test of TFLM failed", "micro/testing/micro_test.h", "~~~SOME TESTS FAILED~~~",
        note="The lines before it name the check, its file and the values."),
    row("program_camera", _F, "", "the camera was not found", "espressif/esp32-camera; Edge Impulse's examples",
        "Camera probe failed", "Camera init failed", "Failed to initialize Camera!",
        note="It is no matter of the model: the pins of this board (CAMERA_MODEL_...), the cable and the PSRAM."),
    row("program_image", _F, "", "no memory for the camera's image, from the heap", "Edge Impulse's examples",
        "Failed to allocate snapshot buffer",
        note="The image before it is resized, width * height * 3 bytes. " + _HEAP),
    row("program_input", _P, "", "the model's input is not the one that the program expects",
        "micro/examples/*/main_functions.cc", "Bad input tensor parameters in model",
        "Bad output tensor parameters in model",
        note="AllocateTensors() worked. The program compares input(0)->dims and ->type with its own constants: "
             "'tflm-sim "
             "size MODEL --json' or 'tflm-sim report MODEL' shows the model's shape and type; change the program's."),
    row("feature_data", _F, "", "micro_speech runs though its setup() failed: {given} is no size but an address",
        "micro/examples/micro_speech/feature_provider.cc", "Requested feature_data_ size %d doesn't match %d",
        fields="given wanted",
        note="setup() returned early, so input(0) or the feature provider is not there: the line before that says why "
             "(an operator that the resolver lacks, an arena that is too small: a model of a newer notebook needs "
             "both)."),
    row("hang_allocate", Role.HANG, "", "the program hung or was stopped in AllocateTensors()", "any program",
        "Allocating Tensors", "Allocating tensors", "allocating tensors", "Calling AllocateTensors",
        note=_HUNG),
    row("hang_invoke", Role.HANG, "", "the program hung or was stopped in Invoke()", "any program",
        "Invoking...", "Running inference...", "Calling Invoke", note=_HUNG),
    row("program_model", _P, "", "the program could not set the model up", "NXP eIQ; any program",
        "Failed initializing model", "Failed to initialize model", "Failed to initialise model", "Failed to init model",
        "Model init failed", "Model initialization failed", "Can't load tflite model", "Allocation failed!",
        note="TFLM prints why before this line."),
)
# fmt: on
