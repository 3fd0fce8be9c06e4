"""What people bring to ``tflm-sim explain``: a line or a log, with the cause, the remedy and the number that is true.

A line is as public reports have it; the rest of a row is ours: exit code, what the first line of the answer says, and
words of the remedy.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

STACK = "a larger stack"
HEAP = "the heap has no such piece"
POINTER = "a null pointer was used"
STATIC_SHAPE = "batch_size=1"
FLASH = "quantize the model to int8"
BEFORE = "why before this line"
NPU_MODEL = "Compile the model with Vela"
NOT_KNOWN = "is not known"

LINES = [
    # The allocator.
    ("Failed to allocate tail memory. Requested: 61942520, available 19888, missing: 61922632", 1,
     "a persistent allocation does not fit: 61,942,520 B", "TF_LITE_STATIC_MEMORY"),
    ("Failed to resize buffer. Requested: 4294960256, available 19888, missing: 4294940368", 1,
     "the head (memory plan or scratch-request table) does not fit", "No model asks for so much"),
    ("Failed to resize buffer. Requested: 25344, available 6480, missing: 18864", 1,
     "does not fit: 25,344 B (24.8 KiB) asked for, 6,480 B free", "at least 18,864 B"),
    ("Arena size is too small for all buffers. Needed 212064 but only 191120 was avai.", 1,
     "the memory plan does not fit: 212,064 B (207.1 KiB) asked for, 191,120 B", "at least 20,944 B"),
    ("Needed 627488 but only 203072 was available.", 1,
     "the memory plan does not fit: 627,488 B", "at least 424,416 B"),
    ("b'Failed to resize buffer. Requested: 25344, available 6480, missing: 18864\\r'", 1,
     "does not fit: 25,344 B (24.8 KiB) asked for, 6,480 B free", "at least 18,864 B"),
    # Operators.
    ("Didn't find op for builtin opcode 'UNIDIRECTIONAL_SEQUENCE_LSTM' version '1'. An older version of this builtin "
     "might "
     "be supported. Are you using an old TFLite binary with a newer model?", 1,
     "the operator is not registered with the resolver", "Add UNIDIRECTIONAL_SEQUENCE_LSTM to the op resolver"),
    ("Failed to get registration from op code CUSTOM", 1,
     "a custom operator is not registered", "convert without SELECT_TF_OPS"),
    ("Failed to get registration from op code ADD", 1,
     "some operator is not registered with the resolver, often a custom one", "the line before it, or 'tflm-sim size"),
    ("ERROR: Didn't find custom op for name 'edgetpu-custom-op' with version 1", 1,
     "the custom operator edgetpu-custom-op is not registered", "without edgetpu_compiler"),
    ("Failed to get registration from op code edgetpu-custom-op", 1,
     "the operator is not registered with the resolver", "without edgetpu_compiler"),
    ("Encountered unresolved custom op: FlexTensorListReserve.", 1,
     "the custom operator FlexTensorListReserve", "unroll=True"),
    ("Only 1 subgraph is currently supported.", 1, "this old TFLM takes one subgraph only", "since 2021-05"),
    ("Node TFLite_Detection_PostProcess (number 63) failed to invoke with status 1", 1,
     "an operator failed while running", BEFORE),
    ("Node RESHAPE (number 4f) failed to prepare with status 1", 1, "an operator's Prepare failed", "RESHAPE, node 4"),
    ("tensorflow/lite/micro/kernels/strided_slice.cc:113 op_context.begin != nullptr was not true.", 1,
     "STRIDED_SLICE's begin is computed while the model runs", STATIC_SHAPE),
    ("tensorflow/lite/micro/kernels/reshape.cc:72 num_output_elements != num_input_elements (12 != 24)", 1,
     "RESHAPE would change the number of elements: 24 to 12", STATIC_SHAPE),
    ("Type FLOAT32 (1) not supported.", 1, "a kernel does not take this type", "full int8"),
    ("Hybrid models are not supported on TFLite Micro.", 1,
     "an operator's weights are int8 and its data float", "representative_dataset"),
    ("RuntimeError: tensorflow/lite/kernels/conv.cc:343 input->dims->data[3] != filter->dims->data[3] (3 != 1)Node "
     "number 0 "
     "(CONV_2D) failed to prepare.", 1, "a kernel's check of two numbers failed", "input->dims->data[3] was 3"),
    ("arm_convolve_wrapper_s8(&ctx, &conv_params, ...) != ARM_CMSIS_NN_SUCCESS (-1 != 0)", 1,
     "a function of CMSIS-NN refused its arguments", "of two versions"),
    ("xa_nn_conv2d_std_per_chan_sym8sxasym8s failed: kernel: unaligned pointer", 1,
     "a kernel of Cadence's library (HiFi) stopped", "reference kernels"),
    ("tensorflow/lite/micro/kernels/cmsis_nn/conv.cc:272 CheckedConv failed", 3, NOT_KNOWN, "give"),
    # Reports that were tried after the rows were written.
    ("b'Failed to get registration from op code CUSTOM'", 1, "a custom operator is not registered", "AddEthosU()"),
    ("Requested feature_data_ size 536907080 doesn't match 1960", 1,
     "micro_speech runs though its setup() failed: 536907080 is no size but an address", "setup() returned early"),
    ("Allocating Tensors ...", 1, "the program hung or was stopped in AllocateTensors()", "If this is the last line"),
    ("CONV_2D exception: xa_nnlib_hifi5/algo/kernels/cnn/hifi5/xa_nn_matXvec_sym8sxasym8s_asym8s_circ.c", 1,
     "a kernel of Cadence's library (HiFi) stopped", "OPTIMIZED_KERNEL_DIR=xtensa"),
    ("*** stack smashing detected ***: <unknown> terminated", 1, "a function wrote beyond its local variables",
     "array"),
    ("Segmentation fault: 11", 1, "the program used an address that is none", POINTER),
    ("MemoryError: Model buffer memory allocation failed", 1, "MicroPython's heap is used up", "gc.collect()"),
    ("ValueError: [MAIXPY]kpu: load_flash error:2006, ERR_NO_MEM: memory not enough.", 1,
     "MaixPy's KPU did not load the model", ".kmodel"),
    ("TensorFlow Lite Error: Node number 244 (Convolution2DTransposeBias) failed to prepare.", 1,
     "an operator's Prepare failed", "Convolution2DTransposeBias, node 244"),
    ("Node number 8 (FlexConv2D) failed to prepare.", 1, "an operator's Prepare failed", "without SELECT_TF_OPS"),
    ("fast_math_functions.h:196:1: error: '__STATIC_FORCEINLINE' does not name a type", 1,
     "the board package's CMSIS is older than the library's CMSIS-NN", "Update the board's package"),
    ("arm-none-eabi-g++: error: variants/ARDUINO_NANO33BLE/libs/libmbed.a: No such file or directory", 1,
     "the library is precompiled for another version of the board's package", "compiled with the sketch"),
    ("fatal error: tensorflow/lite/micro/micro_error_reporter.h: No such file or directory", 1,
     "the compiler does not find the file tensorflow/lite/micro/micro_error_reporter.h", "list libraries"),
    ("***ERROR*** A stack overflow in task mp_thread has been detected.", 1, "the stack of task mp_thread", STACK),
    ("All temp buffers must be freed before calling ResetTempAllocations()", 1, "a kernel kept a temporary tensor",
     "of two versions"),
    ("Invoke() called after initialization failed", 1, "Invoke after a failed AllocateTensors", "Check the status"),
    ("ISLAND TLB Miss Read occurred at address - 0xB07FF298, pc - 0xB00646CC", 1,
     "the program used an address that is not mapped", "low power island"),
    ("[08:12:51.083][E][micro_wake_word:252]: Encountered an error while performing an inference", 1,
     "ESPHome's micro_wake_word failed", "tensor_arena_size"),
    ("VAR_HANDLE requires resource variables. Please create ResourceVariables and pass it to the interpreter.", 1,
     "the interpreter was made without MicroResourceVariables", "MicroResourceVariables::Create"),
    ("Regular TensorFlow ops are not supported by this interpreter. Make sure you apply/link the Flex delegate", 1,
     "the model has operators of TensorFlow itself (Flex)", "unroll=True"),
    # The model, and what programs say.
    ("Model provided is schema version 1953785158 not equal to supported version 3.", 1,
     "there is no model where the firmware reads it", "the text 'Fett'"),
    ("Model provided is schema version 4 not equal to supported version 3.", 1,
     "the model's schema is not the one this TFLM reads", "schema version 4"),
    ("AllocateTensors failed with status 1", 1, "AllocateTensors failed", BEFORE),
    ("Error allocating tensors", 1, "AllocateTensors failed", BEFORE),
    ("Model schema version mismatch!", 1, "or there is no model", "model->version() is 3 in every file"),
    ("Couldn't register custom op 'foo', resolver size is too small (5).", 1,
     "the resolver's template argument is too small", ""),
    ("Could not allocate tensor_arena in PSRAM", 1, "could not allocate the arena from the heap", HEAP),
    ("Failed initializing model", 1, "the program could not set the model up", BEFORE),
    ("RuntimeError: TFLM failed to allocate tensors", 1, "AllocateTensors failed", BEFORE),
    ("error: TFLM: AllocateTensors() failed: model could not be allocated", 1, "AllocateTensors failed", BEFORE),
    ("AllocateTensors() failed! time step,y", 1, "AllocateTensors failed", BEFORE),
    ("Bad input tensor parameters in model", 1, "the model's input is not the one that the program expects",
        "input(0)"),
    ("Couldn't allocate memory of 2028784 bytes", 1, "no 2,028,784 bytes for the arena, from the heap", HEAP),
    # Linkers and arduino-cli.
    ("linker_script.ld:138 cannot move location counter backwards (from 200532b0 to 2003fc00)", 1,
     "static data are 79,536 bytes too large", "smaller by as much"),
    ("variants\\PORTENTA_H7_M7/linker_script.ld:106 cannot move location counter backwards (from 240835c8 to "
     "2407fc00)", 1,
     "static data are 14,792 bytes too large", "smaller by as much"),
    ("/usr/bin/arm-none-eabi-ld: region `FLASH' overflowed by 9656 bytes", 1,
     "the program's code and constants do not fit", FLASH),
    ("region `ROM' overflowed by 1234 bytes", 1, "the program's code and constants do not fit", FLASH),
    ("region `iram0_0_seg' overflowed by 1234 bytes", 1, "the program's code and constants do not fit", FLASH),
    ("section `.dram0.bss' will not fit in region `dram0_0_seg'", 1,
     "the program does not fit the memory that the linker has", "the linker's next line"),
    ("Sketch uses 1200000 bytes (122%) of program storage space. Maximum is 983040 bytes.", 1,
     "the sketch is 216,960 bytes larger than the flash: 122 %", FLASH),
    ("Sketch uses 200000 bytes (20%) of program storage space. Maximum is 983040 bytes.", 3,
     "nothing of TensorFlow Lite Micro is in this log", "give"),
    ("Not enough memory; see https://support.arduino.cc/hc/en-us/articles/360013825179 for tips on reducing your "
     "footprint.",
     1, "static data are larger than the RAM", "The arena is in there"),
    ("undefined reference to `tflite::tensor_utils::UnpackDenseInt4IntoInt8(signed char const*, int, signed char*)'", 1,
     "the program calls something that no file defines", "install one library, whole"),
    # ESP-IDF.
    ("Guru Meditation Error: Core  0 panic'ed (StoreProhibited). Exception was unhandled.", 1,
     "the program wrote to an address that is none", POINTER),
    ("Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.", 1,
     "the program read an address that is none", POINTER),
    ("Guru Meditation Error: Core  0 panic'ed (Load access fault). Exception was unhandled.", 1,
     "the program read an address that is none", POINTER),
    ("Guru Meditation Error: Core  0 panic'ed (Interrupt wdt timeout on CPU0).", 1, "interrupts were blocked",
        "vTaskDelay"),
    ("***ERROR*** A stack overflow in task main has been detected.", 1, "the stack of task main is too small", STACK),
    ("Guru Meditation Error: Core  1 panic'ed (Unhandled debug exception). Debug exception reason: Stack canary "
     "watchpoint "
     "triggered (loopTask)", 1, "the stack of task loopTask is too small", STACK),
    ("abort() was called at PC 0x40081f67 on core 0", 1, "the program stopped itself: abort() was called",
        "0x40081f67"),
    ("CORRUPT HEAP: Bad head at 0x3fce0f34. Expected 0xabba1234 got 0x00000000", 1,
     "the heap is damaged", "heap_caps_check_integrity_all"),
    ("E (1234) heap: failed to allocate 250000 bytes in DRAM, largest free block 113792", 1,
     "the heap has no piece of 250,000 bytes: the largest is 113,792", HEAP),
    ("E (1234) esp_image: image at 0x10000 has invalid magic byte", 1,
     "the flash has no program at 0x10000", "the model is not the cause"),
    ("Leftover boot: rst:0xc (RTC_SW_CPU_RST),boot:0x8 (SPI_FAST_FLASH_BOOT)", 1,
     "the device started because the program before had restarted it", "capture the log from the first start"),
    ("rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", 0, "the device restarted", ""),
    ("rst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", 1, "a watchdog restarted the device", "vTaskDelay"),
    ("assert failed: xQueueSemaphoreTake queue.c:1545 (( pxQueue ))", 1, "an assertion failed in xQueueSemaphoreTake",
     "queue.c:1545"),
    ("ESP_ERROR_CHECK failed: esp_err_t 0x101 (ESP_ERR_NO_MEM) at 0x400d3b1c", 1,
     "a call of ESP-IDF failed: ESP_ERR_NO_MEM", ""),
    # Other systems: ESP8266, NuttX, Zephyr on RISC-V and Xtensa, a Teensy, hosts.
    ("Fatal exception 28(LoadProhibitedCause):", 1, "the program read an address that is none", POINTER),
    ("Fatal exception (28): epc1=0x40220dfb, epc2=0x00000000, excvaddr=0x00000000", 1,
     "the program read an address that is none", "0x40220dfb"),
    ("riscv_exception: EXCEPTION: Load access fault. MCAUSE: 00000005, EPC: 42001234, MTVAL: 00000000", 1,
     "the program read an address that is none", "0x42001234"),
    ("[00:00:00.100,000] <err> os:  mcause: 7, Store/AMO access fault", 1, "the program wrote to an address", POINTER),
    ("[00:00:00.100,000] <err> os:  ** CPU 0 EXCCAUSE 28 (load prohibited)", 1, "the program read an address", POINTER),
    ("CrashReport: Code was executing from address 0x1234 CFSR: 82", 1, "the processor stopped at a fault", "DACCVIOL"),
    ("CFSR: 00000000", 3, "nothing of TensorFlow Lite Micro is in this log", "give"),
    ("Rebooting...\nets Jun  8 2016", 1, "the device restarted after a fault", "from the first start on"),
    ("Illegal instruction (core dumped)", 1, "an instruction that is none", "-march=native"),
    ("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011", 1,
     "memory that is not its own: heap-buffer-overflow", "input->bytes"),
    ("E (412) esp_image: Image length 1234567 doesn't fit in partition length 1048576", 1,
     "the program of 1,234,567 bytes is larger than its partition of 1,048,576", "int8 model"),
    ("A fatal error occurred: Failed to connect to ESP32: Timed out waiting for packet header", 1,
     "the program was not flashed", "The model is not the cause"),
    # Mbed OS.
    ("++ MbedOS Fault Handler ++", 1, "the processor stopped at a fault (Mbed OS)", "--firmware ELF"),
    ("FaultType: HardFault", 1, "the processor stopped at a HardFault (Mbed OS)", POINTER),
    ("++ MbedOS Error Info ++ Error Status: 0x80FF013D Code: 317 Module: 255 Error Message: Fault exception", 1,
     "the processor stopped at a HardFault (Mbed OS)", POINTER),
    ("Error Status: 0x8001011F Code: 287 Module: 1", 1, "the heap of Mbed OS is used up", "Make the arena static"),
    # Zephyr.
    ("E: >>> ZEPHYR FATAL ERROR 2: Stack overflow on CPU 0", 1, "a thread's stack is too small (Zephyr)",
     "CONFIG_MAIN_STACK_SIZE"),
    ("E: ***** USAGE FAULT *****", 1, "the processor met an instruction or an address that it cannot use",
        "alignas(16)"),
    ("E: ***** MPU FAULT *****", 1, "the program used an address that it may not", POINTER),
    ("FATAL ERROR: k_panic()", 1, "Zephyr stopped: k_panic() was called", "the lines before it say which"),
    # Reports of other programs around TFLM.
    ("RuntimeError: Failed to prepare for TPU. Failed precondition: Package requires runtime version (14), which is "
     "newer than this runtime version (13).Node number 1 (EdgeTpuDelegateForCustomOp) failed to prepare.", 1,
     "the model was compiled for a newer Edge TPU runtime than this one", "--min_runtime_version 13"),
    ("AttributeError: 'module' object has no attribute 'load'", 1,
     "the script is for an OpenMV firmware with another module for TFLM", "ml.Model"),
    ("ImportError: no module named 'tf'", 1,
     "the script is for an OpenMV firmware with another module for TFLM", "ml.Model"),
    ("E (1240) BLE_INIT: ble controller init failed: ESP_ERR_NO_MEM", 1, "the heap of ESP-IDF is used up",
     "before Wi-Fi, BLE"),
    ("[1]    9967 segmentation fault (core dumped)  bin/hello_world", 1, "the program used an address that is none",
     POINTER),
    # Ethos-U.
    ("[00:00:00.000,000] <err> ethos_u: Failed to initialize NPU with ethosu_init().", 1, "the Ethos-U was not "
                                                                                          "found", "FVP"),
    ("E: Failed to initialize Ethos-U device (ethosu_driver.c:418)", 1, "the Ethos-U was not found", "FVP"),
    ("W: No NPU driver handle available.", 1, "no Ethos-U is ready", "ethosu_init()"),
    ("E: NPU memory region addresses not aligned to 16 bytes", 1, "not a multiple of 16", "alignas(16)"),
    ("Custom operator data does not start with ARM", 1, "no output of Vela", NPU_MODEL),
    ("CO_TYPE != ETHOSU", 1, "no output of Vela", NPU_MODEL),
    ("ERROR: Failed to invoke ethos-u operator. Ethos-U invoke failed", 1, "the Ethos-U did not finish the model",
     "--accelerator-config"),
    # Edge Impulse.
    ("ERR: failed to allocate tensor arena", 1, "no room for the whole arena, from the heap",
        "EI_CLASSIFIER_ALLOCATION_"),
    ("Failed to allocate TFLite arena (error code 1)", 1, "no room for the whole arena or a tensor in it", "heap "
                                                                                                           "larger"),
    ("ERR: Failed to run DSP process (-1002)", 1, "the signal processing found no memory in the heap "
                                                  "(EIDSP_OUT_OF_MEM)",
     "heap larger"),
    ("ERR: Failed to run classifier (-3)", 1, "TFLM failed: AllocateTensors(), an operator, or Invoke()", "--model"),
    ("run_classifier returned: -6", 1, "EI_IMPULSE_TFLITE_ARENA_ALLOC_FAILED", "heap larger"),
    ("ERR: Failed to run classifier (-24)", 1, "the data have another size than the model's input",
        "DSP_INPUT_FRAME_SIZE"),
    ("run_classifier returned: 0", 3, "nothing of TensorFlow Lite Micro is in this log", "give"),
    ("error: EI_IMPULSE_ALLOC_FAILED", 1, "the heap is used up, or in pieces", "heap larger"),
    ("Left 11712 bytes after tensor_boundary", 0, "11,712 bytes of the arena of an EON compiled model lie free", ""),
    # ESPHome.
    ("[17:02:04][E][micro_wake_word:032]: Could not allocate the streaming model's tensor arena.", 1,
     "no room for the whole arena, from the heap", "in one piece"),
    ("[E][micro_wake_word:047]: Could not allocate the streaming model's variable tensor arena.", 1,
     "no room for the arena of a wake word's variables", "PSRAM"),
    ("[E][micro_wake_word:062]: Wake word model's streaming variable arena could not be allocated.", 1,
     "no room for the arena of a wake word's variables", "PSRAM"),
    ("[17:02:04][E][micro_wake_word:268]: Failed to initialize a wake word model.", 1, "a wake word's model was not "
                                                                                       "loaded",
     "tensor_arena_size"),
    ("[01:22:51][E][component:164]: Component micro_wake_word set Error flag: unspecified", 1,
     "ESPHome's micro_wake_word failed", "The line before it says why"),
    ("[E][micro_wake_word:072]: Streaming model tensor input dimensions is not 1x1x40", 1, "another shape than ESPHome",
     "micro-wake-word-models"),
    ("[E][micro_wake_word:088]: Streaming model tensor output is not uint8.", 1, "another shape or type than ESPHome",
     "micro-wake-word-models"),
    ("[W][micro_wake_word:116]: Streaming interpreter invoke failed", 1, "Invoke of a wake word's model failed",
     "TFLM's line before it"),
    # Coral, the mobile runtime, other engines.
    ("RuntimeError: Internal: :77 tf_lite_type != kTfLiteUInt8 (2 != 3)Node number 2 (EdgeTpuDelegateForCustomOp) "
     "failed to prepare.", 1, "the Edge TPU's operator met a type that this runtime does not know", "of one release"),
    ("RuntimeError: Internal: Unsupported data type in custom op handler: 0Node number 0 (edgetpu-custom-op) failed to "
     "prepare.", 1, "the Edge TPU's operator met a type that this runtime does not know", "of one release"),
    ("ValueError: Model provided has model identifier 'l><b', should be 'TFL3'", 1,
     "the file is no TensorFlow Lite model: l><b stands where TFL3 has to", "a web page was saved"),
    ("RuntimeError: Mmap of '/home/pi/object-detector/model' failed.", 1,
     "the model's file /home/pi/object-detector/model cannot be read", "is a folder"),
    ("Package does not have inference executable.", 1, "the model was not compiled for the Edge TPU",
     "edgetpu_compiler"),
    ("ERROR: Failed to load /models/face.tflite", 1, "did not load the file /models/face.tflite", "flash the data"),
    ("E (807) dl::module::concat: Shape mismatch at dim 3: 14 vs 7", 1, "ESP-DL refused the model: concat", ".espdl"),
    ("E801(HwIOError): Invalid firmware - COM4:115200", 1, "does not answer STM32Cube.AI's validation", "Automatic"),
    ("E103(CliRuntimeError): Error in cmake build", 1, "STM32Cube.AI's tool failed", "no arena of TFLM"),
    # The Ethos-U driver.
    ("E: Fast memory area too small. fast_memory_size=393216, base_addr_size=480000", 1,
     "fast memory has 393,216 bytes, the model needs 480,000", "--arena-cache-size 393216"),
    ("E: NPU config mismatch. npu.macs_per_cc=7, optimizer.macs_per_cc=8", 1,
     "compiled for an Ethos-U of another size", "ethos-u55-128, which this NPU is; it was compiled for 256"),
    ("E: Failed to initialize device. Driver has not been compiled for this product", 1,
     "the Ethos-U driver is compiled for another NPU", "CONFIG_ARM_ETHOS_U55_128"),
    ("E: Base addr 1: 0x20001008 not aligned to 32 bytes", 1, "not a multiple of 32", "alignas(32)"),
    ("E: NPU inference timed out.", 1, "the Ethos-U did not finish the model", "--accelerator-config"),
    ("E: Inference already running, or waiting to be cleared...", 1, "used in a wrong order", "a driver for each"),
    # The rest: MicroPython, AI-on-the-edge, OpenMV, the Pico SDK, Seeed, STM32Cube.AI, Arm's evaluation kit.
    ("MemoryError: memory allocation failed, allocating 300568 bytes", 1,
     "MicroPython's heap has no 300,568 bytes in one piece", "gc.collect()"),
    ("interpreter_make_new: model size = 2488, tensor area = 2064", 0, "its arena has 2,064 B", ""),
    ("[0d00h00m11s] 2023-03-26T16:23:14 <ERR> [TFLITE] CTfLiteClass::ReadFileToModel: Can't allocate enough memory: "
     "0", 1,
     "the model's file is not there, or is empty", "config.ini"),
    ("[0d00h00m11s] 2023-03-26T16:23:14 <ERR> [PSRAM] Failed to allocate 0 bytes in PSRAM for 'TFLITE->modelfile'!", 1,
     "the model's file is not there, or is empty", "config.ini"),
    ("[0d00h05m15s] 2025-03-17T14:31:59 <ERR> [TFLITE] AllocateTensors() failed", 1, "AllocateTensors failed", BEFORE),
    ("[0d00h05m15s] 2025-03-17T14:31:59 <INF> [TFLITE] Trying to load the model. If it crashes here, it ist most "
     "likely due "
     "to a corrupted model!", 1, "the program hung or crashed while it read the model", "copy it to the SD card anew"),
    ("ValueError: Failed to allocate tensors", 1, "AllocateTensors failed", BEFORE),
    ("Model initialization failed!", 1, "ArduTFLite's modelInit() did not load the model", "check SKETCH_FOLDER"),
    ("RunInference Failed!", 1, "ArduTFLite's modelRunInference() failed", "check SKETCH_FOLDER"),
    ("OSError: Failed to load network: yolo_lc_192.tflite", 1, "OpenMV did not load the model yolo_lc_192.tflite",
     "tflm-sim size"),
    ("*** PANIC *** Out of memory", 1, "the heap is used up (Pico SDK)", HEAP),
    ("panic: Out of memory", 1, "the heap is used up (Pico SDK)", HEAP),
    ('{"type": 1, "name": "INVOKE", "code": 5, "data": ""}', 1, "the device has no model that it can run (EL_EINVAL)",
     "AT+MODEL"),
    ('{"type": 1, "name": "INVOKE", "code": 0, "data": ""}', 3, "nothing of TensorFlow Lite Micro is in this log",
     "give"),
    ("E801(NotImplementedError): Unsupported layer types: UnidirectionalSequenceLSTM", 1,
     "STM32Cube.AI does not take the layer UnidirectionalSequenceLSTM", "no arena of TFLM"),
    ("TOOL ERROR: Error: type=0x13(INIT_FAILED), code=0x23(NETWORK_DATA)", 1, "STM32Cube.AI's tool failed",
     "ai_network_init()"),
    ("ai_error type AI_ERROR_ALLOCATION_FAILED code AI_ERROR_CODE_NETWORK_ACTIVATIONS", 1,
     "STM32Cube.AI's network failed: ALLOCATION_FAILED", "no arena of TFLM"),
    ("<inf> app_kws: Activation buffer (a.k.a tensor arena) size used: 69268", 0, "arena in use: 69,268 bytes", ""),
]  # fmt: skip


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["explain", *arguments])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(("line", "code", "cause", "remedy"), LINES, ids=[row[0][:60] for row in LINES])
def test_a_line_has_its_cause_its_remedy_and_its_exit_code(
    line: str, code: int, cause: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = explained(capsys, line)
    assert cause in text.splitlines()[0]
    assert remedy in text
    assert found == code
    assert ("no failure is in this log" in text) == (code == 0)


PANIC = """I (312) main_task: Calling app_main()
interpreter init success !!
Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.

Core  0 register dump:
PC      : 0x4200c6db  PS      : 0x00060730  A0      : 0x82001b90  A1      : 0x3fce4390
EXCVADDR: 0x00000000  LBEG    : 0x40056f5c  LEND    : 0x40056f72  LCOUNT  : 0x00000c7f
Backtrace: 0x4200c6d8:0x3fce4390 0x82001b90:0x3fce43b0
Rebooting...
"""


def test_a_panic_is_the_failure_of_a_log_with_its_address_and_the_way_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = explained(capsys, PANIC)
    lines = text.splitlines()
    assert code == 1
    assert lines[0] == "line 3: the program read an address that is none"
    assert lines[1:4] == ["  at        0x4200c6db", "  at        0x4200c6d8", "  at        0x42001b90"]
    assert "It used address 0x0, a null pointer." in text


def test_a_place_that_a_monitor_found_is_shown_with_its_function_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    place = "0x4200c6db: tflite::Prepare(TfLiteNode*) at /fw/kernels/strided_slice.cc:79"
    _, text = explained(capsys, PANIC + place)
    assert "at        0x4200c6db  tflite::Prepare(TfLiteNode*), /fw/kernels/strided_slice.cc:79" in text


def test_with_its_model_a_panic_is_what_the_simulation_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = ModelBuilder()
    x, begin = model.tensor((1, 4), TensorType.FLOAT32), model.tensor((2,), TensorType.INT32)
    end = model.tensor((2,), TensorType.INT32, data=[1, 4])
    strides = model.tensor((2,), TensorType.INT32, data=[1, 1])
    y = model.tensor((1, 4), TensorType.FLOAT32)
    model.operator("STRIDED_SLICE", [x, begin, end, strides], [y])
    (tmp_path / "m.tflite").write_bytes(model.build(inputs=[x, begin], outputs=[y]))
    options = ("--model", str(tmp_path / "m.tflite"), "--library", "esp-tflite-micro@1.3.1")
    code, text = explained(capsys, PANIC, *options)
    assert code == 1
    assert "begin is no constant, so its data are a null pointer, which is read (LoadProhibited on an ESP32)" in text
    code, text = explained(capsys, "I (312) main_task: Calling app_main()", *options)
    assert code == 3
    assert "smallest  no arena is enough" in text


@pytest.mark.parametrize(("log", "cause", "op"), [
    ("Didn't find op for builtin opcode 'CONCATENATION' version '1'\nFailed to get registration from op code ADD\n"
     "Failed starting model allocation.\nAllocateTensors() failed\nFailed initializing model",
     "the operator is not registered with the resolver", "operator  CONCATENATION"),
    ("Arena size is too small for all buffers. Needed 212064 but only 191120 was avai.\nAllocateTensors() failed\n"
     "MicroAllocator: Model allocation started before finishing previously allocated l\nInvoke failed. ",
     "the memory plan does not fit: 212,064 B (207.1 KiB) asked for, 191,120 B (186.6 KiB) free", "20,944 B"),
    ("E: ***** USAGE FAULT *****\nE:   Illegal use of the EPSR\nE: r0/a1:  0x00000000  r1/a2:  0x2000afe4\n"
     "E: Faulting instruction address (r15/pc): 0x00000000\nE: >>> ZEPHYR FATAL ERROR 0: CPU exception on CPU 0\n"
     "E: Current thread: 0x20000188 (main)\nE: Halting system",
     "the program jumped to an address that has no code", "at        0x00000000"),
    ("++ MbedOS Fault Handler ++\n\nFaultType: HardFault\n\nContext:\nR   0: 00000000\nPC  : 0001A2B4\nLR  : 00012345\n"
     "CFSR : 00008200\nBFAR : 00000004\n-- MbedOS Fault Handler --",
     "the processor stopped at a HardFault (Mbed OS)", "It used address 0x4, a null pointer."),
    ("++ MbedOS Fault Handler ++\nFaultType: HardFault\nLR   : 00010C2F\nPC   : 00000000\nHFSR : 40000000\n"
     "MMFSR: 00000000\nBFSR : 00000000\nUFSR : 00000002\n-- MbedOS Fault Handler --",
     "the processor stopped at a HardFault (Mbed OS)", "a jump to an even address"),
    ("FATAL ERROR:\nMemManage", "the processor stopped at a MemManage fault", POINTER),
    ("E (434939) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:\n"
     "E (434939) task_wdt:  - IDLE (CPU 0)\nE (434939) task_wdt: Tasks currently running:\n"
     "E (434939) task_wdt: CPU 0: tensorflow\nE (434939) task_wdt: CPU 1: IDLE\n"
     "E (434939) task_wdt: Print CPU 0 (current core) backtrace\n\nBacktrace: 0x400E614F:0x3FFB0D50",
     "a task kept the processor for longer than the watchdog waits", "Processor 0 ran the task tensorflow."),
    ("Core  0 register dump:\nPC      : 0x4205ae0b  PS      : 0x00060e30\nA14     : 0x00000000  SAR     : 0x00000003  "
     "EXCCAUSE: 0x0000001c\nEXCVADDR: 0x073f4bcc  LBEG    : 0x4200e92e", "the program read an address that is none",
     "It used address 0x73f4bcc."),
    ("W: IRQ received but qread (4) not at end of stream (3988).\nNode ethos-u (number 0) failed to invoke with status "
     "1\nInvoke failed", "the Ethos-U stopped at byte 4 of 3988 of its commands", "where the NPU cannot read"),
    ("E (1404) camera: Camera probe failed with error 0x105(ESP_ERR_NOT_FOUND)\nCamera init failed with error 0x105\n"
     "Failed to initialize Camera!", "the camera was not found", "no matter of the model"),
    ("quantize.cpp:58 input->type == kTfLiteFloat32 || input->type == kTfLiteInt16 || inp was not true",
     "a kernel's check failed", "(quantize.cpp:58)"),
    ("zsh: illegal hardware instruction  ./hello_world", "an instruction that is none", "a newer processor"),
    ("zsh: abort      ./hello_world", "abort() was called", "An assertion"),
    ("0/1 tests passed\n~~~SOME TESTS FAILED~~~", "a test of TFLM failed", "the values"),
    ("ERR: Failed to allocate snapshot buffer!", "no memory for the camera's image", HEAP),
    ("Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nImportError: no module named "
     "'microlite'", "this firmware has no module microlite", "tensorflow-micropython-examples"),
    ("EXCVADDR: 0x00000000\nDecoding stack results\n0x400e61d1: tflite::ops::micro::EvalFloat() at "
     "C:\\lib\\kernels\\fully_connected.cpp line 227", "the program was stopped at a fault", "fully_connected.cpp:227"),
    ("[0d00h00m05s] 2023-05-24T12:47:58 <WRN> [MAIN] Reset reason: Exception/panic\n[0d00h00m05s] 2023-05-24T12:47:58 "
     "<WRN> [MAIN] Device was rebooted due to a software exception! Log level is set to DEBUG until the next reboot.",
     "the program before had restarted it: a panic", "capture the log from the first start on"),
    ("Reset reason: Task watchdog", "a watchdog restarted the device", "Time one Invoke()"),
    ("Software start\nReset Reason: ESP_RST_BROWNOUT", "the supply voltage fell", "than the supply or the cable gives"),
    ("Model schema match!\nAllocation failed!", "the program could not set the model up", BEFORE),
    ("Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter. Make sure you "
     "apply/link the Flex delegate before inference.\nNode number 2 (FlexErf) failed to prepare.",
     "operators of TensorFlow itself (Flex)", "convert without SELECT_TF_OPS"),
    ("HardFault_Handler\nCFSR = 0x01000000", "the processor stopped at a HardFault", "alignas(16)"),
    ("AllocateTensors() failed\nGuru Meditation Error: Core  0 panic'ed (StoreProhibited). Exception was unhandled.",
     "AllocateTensors failed, and the device then used an address that is none", "return when the status"),
    ("Guru Meditation Error: Core  / panic'ed (Cache disabled but cached memory region accessed).\n"
     "Write back error occurred while dcache tries to write back to flash\nCore  0 register dump:\n"
     "PC      : 0x4205f3f8  PS      : 0x00060134\n"
     "0x4205f3f8: unsigned short flatbuffers::ReadScalar<unsigned short>(void const*) at E:/fw/flatbuffers/base.h:427",
     "the program wrote to memory that lies in flash", "flatbuffers::ReadScalar<unsigned short>(void const*), E:/fw/"),
    ("Core  0 register dump:\nPC      : 0x4205ae0b  PS      : 0x00060e30\nEXCVADDR: 0x073f4bcc  LBEG    : 0x4200e92e",
     "the program was stopped at a fault", "It used address 0x73f4bcc."),
    ("Bad input tensor parameters in model\n"
     "Guru Meditation Error: Core  1 panic'ed (LoadProhibited). Exception was unhandled.",
     "the model's input is not the one that the program expects, and the device then used an address that is none",
     "AllocateTensors() worked"),
    ("interpreter_make_new: model size = 18712, tensor area = 8208\n"
     "Guru Meditation Error: Core  1 panic'ed (InstructionFetchError). Exception was unhandled.\n"
     "Backtrace:0x3fce9efd:0x3fce48a0 |<-CORRUPTED", "the program jumped to an address that has no code", "0x3fce9efd"),
    ("Guru Meditation Error: Core  1 panic'ed (InstrFetchProhibited). Exception was unhandled.\n"
     "0x42001b2e: libtf_interpreter_invoke at ??:?", "the program jumped to an address that has no code",
     "0x42001b2e  libtf_interpreter_invoke"),
    ("Error in NN initialization: Cannot allocate tensors\nDidn't find op for builtin opcode 'SHAPE' version '1'\n\n\n"
     "Failed to get registration from op code  d", "the operator is not registered with the resolver", "Add SHAPE"),
    ("<err> os: ***** HARD FAULT *****\n<err> os:   Bus fault on vector table read\n"
     "<err> os: >>> ZEPHYR FATAL ERROR 0: CPU exception on CPU 0", "the processor could not read its vector table",
     "no matter of the model"),
    ("HardFault exception. The processor has escalated a configurable-priority exception to HardFault.\nAn instruction "
     "executed with an invalid EPSR.T or EPSR.IT field (CFSR.INVSTATE).\nException occurred at PC = 0x0, LR = "
     "0x105cc095", "the program jumped to an address that has no code", "at        0x00000000"),
    ("ERR: Failed to run DSP process (-1002)\nrun_classifier returned: -5",
     "the signal processing found no memory in the heap (EIDSP_OUT_OF_MEM)", "heap larger"),
])  # fmt: skip
def test_a_log_has_its_cause(log: str, cause: str, op: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = explained(capsys, log)
    assert code == 1
    assert cause in text.splitlines()[0]
    assert op in text


ZEPHYR_REPORTS = [
    # The stack overflowed, so data were used where that is not allowed: the overflow is the cause.
    ("Data Access Violation", "2: Stack overflow", "a thread's stack is too small (Zephyr)", "CONFIG_MAIN_STACK_SIZE"),
    ("Stacking error (context area might be not valid)", "0: CPU exception", "a thread's stack is too small (Zephyr)",
     "CONFIG_MAIN_STACK_SIZE"),
    ("Unaligned memory access", "31: Unknown error", "the program used an address that is not aligned", "alignas(16)"),
    ("Division by zero", "0: CPU exception", "the program divided by 0", "a scale that is 0"),
    ("Illegal use of the EPSR", "35: Unknown error", "the program jumped to an address that has no code",
     "a library built for another core"),
    ("Precise data bus error", "0: CPU exception", "the program used an address that it may not", POINTER),
]  # fmt: skip


@pytest.mark.parametrize(("detail", "reason", "cause", "remedy"), ZEPHYR_REPORTS)
def test_a_whole_report_of_zephyr_has_the_cause_that_its_lines_name(
    detail: str, reason: str, cause: str, remedy: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = (
        "***** MPU FAULT *****",
        f"  {detail}",
        "r0/a1:  0x20001234  r1/a2:  0x00000000  r2/a3:  0x00000000",
        " xpsr:  0x61000000",
        "Faulting instruction address (r15/pc): 0x0000a1b2",
        f">>> ZEPHYR FATAL ERROR {reason} on CPU 0",
        "Current thread: 0x20001f48 (main)",
        "Halting system",
    )
    log = tmp_path / "zephyr.log"
    log.write_text("".join(f"[00:00:00.301,000] <err> os: {line}\n" for line in lines))
    code, said = explained(capsys, str(log))
    assert code == 1
    assert cause in said.splitlines()[0]
    assert remedy in said
    assert "0x0000a1b2" in said
    assert "not known" not in said


def test_a_line_that_speaks_of_an_error_is_never_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = explained(capsys, "arena_used_bytes = 1200\nE (900) camera: Failed to get the frame on time!")
    assert code == 3
    assert "line 2 is not known: Failed to get the frame on time!" in text
    assert "no failure is in this log" not in text
    assert explained(capsys, "arena_used_bytes = 1200\ndone, 0 errors")[0] == 0


KIT = "INFO - Activation buffer (a.k.a tensor arena) size used: "


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (27_348, "27,348 B in use, as the simulation has"),
        (22_772, "22,772 B in use, the simulation 27,348 B; it comes with --kernels reference"),
        (112_896, "112,896 B in use, the simulation 27,348 B: another model, or a setting that was not tried"),
    ],
)
def test_a_figure_for_the_arena_in_use_is_compared_with_the_model_s(
    printed: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["explain", f"{KIT}{printed}", "--model", "sample:keyword_spotter", "--target", "cortex-m55"]
    assert main(given) == 0
    assert said in capsys.readouterr().out.replace("\n", " ")


def test_a_line_that_names_allocate_tensors_and_an_error_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "kTfLiteError returned by AllocateTensors"]) == 3
    assert "no failure" not in capsys.readouterr().out.replace("and no failure that is known", "")


def test_an_arena_that_the_heap_does_not_give_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "E (407) app: Tensor arena allocation failed"]) == 1
    assert "could not allocate the arena from the heap" in capsys.readouterr().out


BENIGN = [
    "ets Jun  8 2016 00:22:57\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\nconfigsip: 0, SPIWP:0xee\n"
    "I (343) heap_init: At 3FFAE6E0 len 00001920 (6 KiB): DRAM\nW (390) spi_flash: Detected size(4096k) larger than "
    "the size in the binary image header(2048k). Using the size in the binary image header.\ny_value: 0.1",
    "I (595) wifi:wifi driver task: 3ffc1e4c, prio:23, stack:6656, core=0\nI (1442) wifi:state: assoc -> run (10)",
    "I (1234) task_wdt: Task watchdog initialised, timeout 5 s",
    "E (5123) task_wdt: esp_task_wdt_reset(705): task not found",
    "W (1502) BT_APPL: gattc_conn_cb: if=3 st=0 id=3 rsn=0x13",
    "*** Booting Zephyr OS build v3.6.0 ***\n[00:00:00.251,342] <inf> main: Starting inference",
    "[12:15:33.442][D][micro_wake_word:378]: State changed from STARTING to DETECTING_WAKE_WORD\n"
    "[W][component:237]: Component voice_assistant took a long time for an operation (71 ms).",
    "[0d00h05m30s] 2023-09-14T12:46:53 <DBG> [TFLITE] Trying to load the model. If it crashes here, it ist most likely "
    "due to a corrupted model!\n[0d00h05m31s] 2023-09-14T12:46:54 <INF> [FLOWCTRL] Round #1 completed (25 seconds)",
    "Edge Impulse standalone inferencing (Arduino)\nrun_classifier returned: 0\nAnomaly prediction: -0.343",
    "I: Soft reset NPU\nI: New NPU driver registered (handle: 0x20000de0, NPU: 0x48102000)",
    "[ 98%] Building CXX object app.dir/error_reporter.cc.obj\n"
    "[ 99%] Building C object app.dir/arm_hardfault_handler.c.obj\n"
    "[12/14] Building C object CMakeFiles/app.dir/panic.c.obj\nCompiling .pio/build/esp32/lib/crash_report.cpp.o\n"
    "main.cpp:34:7: warning: unused variable 'error' [-Wunused-variable]",
    'Program Size: Code=93212 RO-data=301234\n"STM32H743.axf" - 0 Error(s), 12 Warning(s).',
    "Total number of errors: 0\nTotal number of warnings: 3",
]  # fmt: skip


@pytest.mark.parametrize("log", BENIGN, ids=[log[:40] for log in BENIGN])
def test_a_log_of_a_program_that_works_has_no_failure(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = explained(capsys, log)
    assert code in (0, 3)
    assert "is not known" not in text


def test_the_arena_of_ai_on_the_edge_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    log = "<DBG> [PSRAM] Allocating Tensor Arena (819200 bytes, use shared memory in PSRAM)...\n" + (
        "Failed to resize buffer. Requested: 900000, available 800000, missing: 100000"
    )
    assert "819,200 B (800.0 KiB) given, at least 919,200 B (897.7 KiB) needed" in explained(capsys, log)[1]
