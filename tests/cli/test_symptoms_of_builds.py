"""What linkers and build tools print, as public reports have it, and which arena would fit where its size is known."""

from __future__ import annotations

import pytest

from tflm_sim.cli import main

RAM = "the program does not fit the memory that the linker has"
CODE = "the program's code and constants do not fit"
IAR = (
    "Error[Lp011]: section placement failed\n"
    "            unable to allocate space for sections/blocks with a total estimated\n"
    "                      minimum size of 0x{size:x} bytes (max align 0x8) in\n"
    "                      <[0x{start:08x}-0x{end:08x}]> (total uncommitted space\n"
    "                      0x{space:x})."
)
IAR_RAM = IAR.format(size=0x19834, start=0x20000000, end=0x20017FFF, space=0x18000)
TI = (
    '"./lnk.cmd", line 48: error #10099-D: program will not fit into available\n'
    '    memory.  placement with alignment fails for section "{section}" size 0x2b12 .\n'
    "    Available memory ranges:\n"
    "    {region}        size: 0x1000       unused: 0xe56        max hole: 0xe56\n"
)
KEIL = "STM32H743.axf: Error: L6406E: No space in execution regions with .ANY selector matching"
LLD = "ld.lld: error: section '.data' will not fit in region 'RAM': overflowed by 116 bytes\n" + (
    "ld.lld: error: section '.bss' will not fit in region 'RAM': overflowed by 21964 bytes"
)

REPORTS = [
    # GNU ld and lld, as ESP-IDF, Zephyr, STM32CubeIDE and the Pico SDK call them.
    ("xtensa-esp32-elf/bin/ld: region `dram0_0_seg' overflowed by 41976 bytes", RAM, "dram0_0_seg is 41,976 bytes"),
    ("region `RAM' overflowed by 10296 bytes\ncollect2: error: ld returned 1 exit status", RAM, "RAM is 10,296 bytes"),
    ("app.elf section `noinit' will not fit in region `RAM'", RAM, "noinit is too large for RAM"),
    ("address 0x20041000 of app.elf section `.bss' is not within region `RAM'", RAM, ".bss is too large for RAM"),
    (LLD, RAM, "RAM is 21,964 bytes too much"),
    ("ld.lld: error: section '.text' will not fit in region 'FLASH': overflowed by 3384 bytes", CODE, "3,384 bytes"),
    ("ld.lld: error: linker.ld:97: unable to move location counter backward for: .heap", "too large for the linker",
     ".heap begins where static data"),
    # Arm's, IAR's, TI's and Microchip's linkers.
    (f"{KEIL} lto-llvm-84c471.o(.bss).", RAM, ".bss of lto-llvm-84c471.o found no place in RAM"),
    (f"{KEIL} model.o(.constdata).", CODE, ".constdata of model.o found no place"),
    ("Error: L6407E: Sections of aggregate size 0x8fc60 bytes could not fit into .ANY selector(s).", RAM,
     "588,896 bytes of sections"),
    ("Error: L6220E: Execution region RW_IRAM1 size (73736 bytes) exceeds limit (65536 bytes).", RAM, "8,200 bytes"),
    ("Error: L6220E: Load region LR_IROM1 size (69108 bytes) exceeds limit (65536 bytes).", CODE, "3,572 bytes"),
    (IAR_RAM, RAM, "[0x20000000-0x20017fff] is 6,196 bytes too much"),
    (IAR.format(size=0x263AC, start=0x1400, end=0x277FF, space=0x26338), CODE, "116 bytes too much"),
    ("Error[Lp011]: section placement failed", RAM, "the lines after it do"),
    (TI.format(section=".bss", region="SRAM"), RAM, "by the 7,356 bytes that are missing"),
    (TI.format(section=".text", region="FLASH"), CODE, ".text has 11,026 bytes, the largest piece of FLASH"),
    ("main.o: Link Error: Could not allocate section .bss, size = 32774 bytes, attributes = bss", RAM, "32,774 bytes"),
    ("Link Error: Could not allocate program memory", CODE, "quantize the model to int8"),
    # PlatformIO, arduino-cli, ESP-IDF.
    ("Error: The program size (1982192 bytes) is greater than maximum allowed (1835008 bytes)",
     "the program is 147,184 bytes larger than the flash", "huge_app.csv"),
    ("RAM:   [========Warning! The data size (7243 bytes) is greater than maximum allowed (2560 bytes)",
     "static data are 4,683 bytes larger than the RAM", "The arena is in there"),
    ("Global variables use 300000 bytes (114%) of dynamic memory, leaving -37856 bytes for local variables. Maximum is "
     "262144 bytes.", "static data are 37,856 bytes larger than the RAM: 114 %", "The arena is in there"),
    ("data section exceeds available space in board", "static data are larger than the RAM", "Global variables use"),
    ("Error: app partition is too small for binary app.bin size 0x135ae0:\n"
     "  - Part 'factory' 0/0 @ 0x10000 size 0x100000 (overflow 0x35ae0)", "the program is larger than its partition",
     "has 1,048,576 bytes, 219,872 too few"),
    ("Error: L6218E: Undefined symbol g_model (referred from main.o).", "something that no file defines",
     "g_model is in a source file that is not built"),
    ("Error: L6218E: Undefined symbol ethosu_init_v2 (referred from main.o).\nError: L6218E: Undefined symbol "
     "ETHOSU_PMU_Enable (referred from app.o).", "the driver of the Ethos-U is not linked", "ethosu_init_v2 is a "),
    ("exit.c:(.text.exit+0x16): undefined reference to `_exit'", "the system calls of newlib are missing",
     "--specs=nosys.specs"),
    ("undefined reference to `operator delete(void*, unsigned int)'\nundefined reference to `__cxa_pure_virtual'",
     "the C++ library is not linked", "operator delete(void*, unsigned int) is of the C++ library"),
    ("fatal error: algorithm: No such file or directory", "this board's compiler has no C++ library", "no AVR board"),
    ("Failed to resolve component 'esp-nn' required by component 'esp-tflite-micro': unknown name.",
     "ESP-IDF does not find the component esp-nn", "brings esp-nn"),
    ("ERROR: Because project depends on espressif/esp-tflite-micro (2.0.0) which doesn't match any versions, version "
     "solving failed.", "a component has no version that fits", "takes the newest"),
    ("cc1plus: out of memory allocating 65536 bytes after a total of 1073741824 bytes", "the computer's memory", "-j1"),
    ("model.cc:10: error: narrowing conversion of '200' from 'int' to 'signed char' [-Wnarrowing]",
     "the model's array has the wrong type", "uint8_t"),
    ("CMake Error at tools/cmake/component.cmake:468 (add_library):\n  Cannot find source file:\n\n    main/a.cc",
     "CMake does not find a source file", "one release of both"),
    ("UnknownPackageError: Could not find the package with 'a/TensorFlowLite_ESP32 @ ^2.0.0' requirements for your "
     "system 'linux_x86_64'", "PlatformIO finds no package a/TensorFlowLite_ESP32 @ ^2.0.0", "pio pkg search"),
    ("Error: 13 INTERNAL: Library 'Arduino_TensorFlowLite' not found", "the Library Manager has no Arduino_TensorFlow",
     "Chirale_TensorFlowLite"),
    ("UnknownBoard: Unknown board ID 'nano33ble2'", "PlatformIO does not know the board nano33ble2", "pio boards"),
    ("error: Aborting due to Kconfig warnings", "Zephyr refuses an option", "CONFIG_CPP=y"),
    ("make: *** No rule to make target 'generate_hello_world_esp_project'.  Stop.",
     "make does not know how to make generate_hello_world_esp_project", "create_tflm_tree.py"),
    ("arm_nn.c:1: fatal error: opening dependency file C:\\Temp\\arm_nn.c.d: No such file or directory",
     "too long for Windows", "LongPathsEnabled"),
    ('#error "No camera module configured, please configure in menuconfig"', "No camera module configured, please",
     "an option of menuconfig"),
    ("network.c:231:36: error: macro \"AI_TENSOR_OBJ_DECLARE\" passed 9 arguments, but takes just 5",
     "a call does not fit the header that it uses", "of two versions"),
    ("error: 'Register_RESIZE_NEAREST_NEIGHBOR' is not a member of 'tflite::ops::micro'",
     "written for another version of TFLM", "Since 2023"),
    ("undefined reference to `DebugLog'", "DebugLog() is not defined", "the port's printf"),
    ("conv.cc:120:15: error: 'arm_convolve_1_x_n_s8_get_buffer_size' was not declared in this scope\n"
     "make: *** [conv.o] Error 1", "does not know arm_convolve_1_x_n_s8_get_buffer_size", "belong together"),
    ("arm_nn.c:57:22: error: implicit declaration of function '__PKHTB' [-Werror=implicit-function-declaration]",
     "the compiler does not know __PKHTB", "CMSIS-NN"),
    ("main.cpp:72:31: error: ‘struct ei_impulse_result_t’ has no member named ‘classification’",
     "another kind of Edge Impulse model", "bounding_boxes"),
    ("error: 'class tflite::MicroMutableOpResolver<5>' has no member named 'AddUnidirectionalSequenceLSTM'",
     "this TFLM's resolver has no AddUnidirectionalSequenceLSTM()", "list ops"),
    ("error: 'MicroErrorReporter' is not a member of 'tflite'", "written for another version of TFLM", "Since 2023"),
    ("multiple definition of `g_model'; first defined here", "a function is defined in two files", "keep one"),
    ("ninja: build stopped: subcommand failed.", "the build failed", "why before this line"),
]  # fmt: skip


@pytest.mark.parametrize(("log", "cause", "remedy"), REPORTS, ids=[row[0][-60:] for row in REPORTS])
def test_a_build_that_was_refused_has_its_memory_and_its_bytes(
    log: str, cause: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", log]) == 1
    text = capsys.readouterr().out
    assert cause in text.splitlines()[0]
    assert remedy in text
    assert "is not known" not in text


@pytest.mark.parametrize(
    "log",
    [
        "Global variables use 20000 bytes (7%) of dynamic memory, leaving 242144 bytes for local variables. Maximum is "
        "262144 bytes.",
        "RAM:   [==        ]  23.6% (used 77488 bytes from 327680 bytes)",
        "Flash: [=======   ]  73.3% (used 4805705 bytes from 6553600 bytes)",
        "main.c:9: warning: implicit declaration of function 'x'",
        "-- Performing Test HAVE_FLAG_WNO_ERROR - Failed\n-- Could NOT find Doxygen (missing: DOXYGEN_EXECUTABLE)",
        "[Warning] error_reporter.h@18,0: unused parameter 'error' [-Wunused-parameter]",
        "Total SRAM used 18.31 KiB\nMemory mode internal-default",
        "app.bin binary size 0x2f3d0 bytes. Smallest app partition is 0x100000 bytes. 0xd0c30 bytes (82%) free.",
    ],
)
def test_a_build_that_fits_is_no_failure(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", log]) == 3
    assert capsys.readouterr().out.startswith("nothing of TensorFlow Lite Micro is in this log, and no failure")


@pytest.mark.parametrize(
    ("log", "arena", "fits"),
    [
        (LLD, 65_536, 43_568),
        (IAR_RAM, 65_536, 59_328),
        (TI.format(section=".bss", region="SRAM"), 9_000, 1_632),
        ("Error: L6220E: Execution region RW_IRAM1 size (73736 bytes) exceeds limit (65536 bytes).", 40_960, 32_752),
        ("The data size (335872 bytes) is greater than maximum allowed (327680 bytes)", 102_400, 94_208),
        ("Global variables use 300000 bytes (114%) of dynamic memory, leaving -37856 bytes for local variables. "
         "Maximum is 262144 bytes.", 102_400, 64_544),
    ],
)  # fmt: skip
def test_with_the_arena_s_size_the_one_that_fits_is_named_and_whether_the_model_does(
    log: str, arena: int, fits: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", log, "--arena-size", str(arena)]) == 1
    assert f"An arena of {fits:,} B would fit." in capsys.readouterr().out
    model = ("--model", "sample:keyword_spotter", "--library", "chirale")
    assert main(["explain", log, "--arena-size", str(arena), *model]) == 1
    answer = "yes, it works in that" if fits >= 24_172 else f"no, {24_172 - fits:,} B more have to be found"
    assert answer in " ".join(capsys.readouterr().out.split())
