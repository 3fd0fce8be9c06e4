"""What compilers, linkers and build tools print when they refuse a program, before anything ran.

A BUILD row is about RAM, where a static arena lies, a FLASH row about code and constants. The field ``bytes`` is how
much is too much: with the arena's size, it says which arena would fit.
Sources: GNU ld ldlang.c; LLVM lld ELF/LinkerScript.cpp; Arm Compiler Errors and Warnings Reference Guide; IAR's linker
as in ARMmbed/mbed-os#5859; TI's linker as in processors.wiki.ti.com, 10099; Microchip's fork of GNU ld; arduino-cli;
PlatformIO builder/tools/piosize.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tflm_sim.logs.message_kinds import MessageKind, Role, Values, row

_A, _B, _L = Role.NOTE, Role.BUILD, Role.FLASH
_Reads = Callable[[Values], Values | None]

_CODE = re.compile(
    r"flash|rom|text|code|(?<!RW_)iram|itcm|xip|program|const|rodata|cinit|init_array|vector", re.IGNORECASE
)
_RANGE = re.compile(r"\[0x([0-9a-f]+)", re.IGNORECASE)
_FIRST_RAM = 0x1FF00000
"""The lowest address at which Cortex-M parts have SRAM: below it the architecture has code."""
_LINKED = (
    "Nothing ran yet: what the program puts into {region} is {bytes:,} bytes too much. If a static arena is in there, "
    "make it smaller ('tflm-sim size MODEL' says how small it may be), or move it or other data elsewhere."
)
_INT8 = (
    "the model's array and the operators are: quantize the model to int8, name its operators (MicroMutableOpResolver, "
    "not AllOpsResolver), build with -Os, or place the array elsewhere."
)
_CODE_LINKED = (
    "Nothing ran yet: code and constants are {bytes:,} bytes too much for {region}. The arena is not in there; " + _INT8
)
_FLASH_OVER = (
    "Nothing ran yet. The flash holds the model's array and the code of the operators, not the arena: quantize the "
    "model to int8, name the operators (MicroMutableOpResolver, not AllOpsResolver), or take a larger partition "
    "(ESP32: 'Huge APP', huge_app.csv)."
)
_RAM_OVER = (
    "Nothing ran yet. The arena is in there: make it smaller ('tflm-sim size MODEL' says how small it may be), or move "
    "it to another bank of RAM."
)
_WHY = "The compiler or the linker says why before this line."
_NO_BYTES = "Nothing ran yet. Of how many bytes it is too much this line does not say"


def _over(used: str, limit: str) -> _Reads:
    """Return a reader of what two fields differ by; a line in which nothing is too much is no failure."""

    def read(values: Values) -> Values | None:
        over = int(values[used]) - int(values[limit])
        return {**values, "bytes": over} if over > 0 else None

    return read


def _same(values: Values) -> Values:
    return values


def _is_of_code(values: Values) -> bool:
    region = str(values["region"])
    found = _RANGE.search(region)
    return int(found[1], 16) < _FIRST_RAM if found else _CODE.search(region) is not None


def _either(
    kind: str,
    source: str,
    *formats: str,
    fields: str,
    reads: _Reads = _same,
    ram: str = _LINKED,
    code: str = _CODE_LINKED,
) -> tuple[MessageKind, MessageKind]:
    """Return the rows of a line about memory that may be RAM or hold code, as its field ``region`` says."""

    def of(is_code: bool) -> _Reads:
        return lambda values: reads(values) if _is_of_code(values) is is_code else None

    says = ("the program does not fit the memory that the linker has", "the program's code and constants do not fit")
    return (
        row(kind, _B, "", says[0], source, *formats, fields=fields, reads=of(False), note=ram),
        row(f"code_{kind}", _L, "", says[1], source, *formats, fields=fields, reads=of(True), note=code),
    )


def _quoted(*formats: str) -> tuple[str, ...]:
    """Return each text with its <names> in the quotes of several versions and languages of a linker."""
    quotes = (("`", "'"), ("'", "'"), ("", ""))
    return tuple(text.replace("<", left).replace(">", right) for text in formats for left, right in quotes)


_UNDEFINED_SOURCE = "GNU ld; armlink L6218E; IAR Li005"
_UNDEFINED = (
    *_quoted("undefined reference to <%s>"),
    "undefined symbol: %s",
    "Undefined symbol %s (referred from",
    'Error[Li005]: no definition for "%s"',
)
_CXX = re.compile(r"__cxa_.*|__gxx_.*|__dso_handle|operator (new|delete).*|std::.*|vtable for __cxxabiv1.*")
_SYSTEM = re.compile(r"_(exit|sbrk|write|read|close|lseek|fstat|isatty|kill|getpid)(_r)?")


def _named(symbols: re.Pattern[str]) -> _Reads:
    """Return a reader of the lines about one of these symbols."""
    return lambda values: values if symbols.fullmatch(str(values["symbol"])) else None


# fmt: off
BUILD_MESSAGES: tuple[MessageKind, ...] = (
    # GNU ld, lld.
    *_either("region_overflow", "GNU ld", *_quoted("region <%s> overflowed by %d bytes"), fields="region bytes"),
    *_either("segment_overflow", "GNU ld, for an ESP32", "%s_seg overflowed by %d bytes", fields="region bytes",
             ram=_LINKED.replace("{region}", "{region}_seg"), code=_CODE_LINKED.replace("{region}", "{region}_seg")),
    *_either("section_over", "lld",
             *_quoted("section <%s> will not fit in region <%s>: overflowed by %d bytes"),
             fields="section region bytes"),
    *_either("section_overflow", "GNU ld",
             *_quoted("section <%s> will not fit in region <%s>", "section <%s> is not within region <%s>"),
             fields="section region",
             ram="Nothing ran yet: {section} is too large for {region}; the linker's next line says by how many bytes.",
             code="Nothing ran yet: {section} is too large for {region}; the linker's next line says by how many "
                  "bytes. The arena is not in there; " + _INT8),
    row("location_counter", _B, "", "static data are {bytes:,} bytes too large", "GNU ld",
        "cannot move location counter backwards (from %x to %x)",
        "cannot move location counter backwards (from 0x%x to 0x%x)", fields="from to", reads=_over("from", "to"),
        note="Nothing ran yet: static data reach {bytes:,} bytes beyond the place where the linker script begins "
             "with what follows (heap, stack). If a static arena is in there, make it smaller by as much: 'tflm-sim "
             "size MODEL' says how small it may be."),
    row("location_back", _B, "", "static data are too large for the linker script", "lld",
        "unable to move location counter backward for: %s", fields="section",
        note=_NO_BYTES + ": {section} begins where static data, the arena with them, reach beyond."),
    row("esp_segment", _B, "", "the program does not fit the memory that the linker has", "ESP-IDF sections.ld.in",
        "DRAM segment data does not fit", note="Nothing ran yet: the static data, the arena with it, are too large."),
    row("esp_code_segment", _L, "", "the program's code does not fit its memory", "ESP-IDF sections.ld.in",
        "IRAM0 segment data does not fit",
        note="Nothing ran yet: code in IRAM is too large, which the arena is no part of: CONFIG_COMPILER_OPTIMIZATION_"
             "SIZE, fewer components with IRAM options."),
    row("esp_partition", _L, "", "the program is larger than its partition", "ESP-IDF partition_table/check_sizes.py",
        "app partition is too small for binary", "app partitions are too small for binary", note=_FLASH_OVER),
    row("esp_partition_over", _A, "", "a partition that is too small", "ESP-IDF partition_table/check_sizes.py",
        "- Part '%s' %s @ 0x%x size 0x%x (overflow 0x%x)", fields="part type place size bytes",
        note="The partition {part} has {size:,} bytes, {bytes:,} too few."),
    # IAR, TI: wrapped.py joins their lines.
    *_either("iar_space", "IAR ILINK",
             "unable to allocate space for sections/blocks with a total estimated minimum size of 0x%x bytes "
             "(max align 0x%x) in <%s> (total uncommitted space 0x%x)",
             fields="size align region space", reads=_over("size", "space")),
    *_either("iar_place", "IAR ILINK",
             "unable to place sections/blocks with a total estimated minimum size of 0x%x bytes (%s) in: <%s>",
             fields="size smallest region",
             ram=_NO_BYTES + ": sections of {size:,} bytes found no place in {region}. If a static arena is in there, "
                             "make it smaller.",
             code=_NO_BYTES + ": sections of {size:,} bytes found no place in {region}. The arena is not in there; "
                  + _INT8),
    row("iar", _B, "", "the program does not fit the memory that the linker has", "IAR ILINK",
        "Error[Lp011]: section placement failed",
        note=_NO_BYTES + ", nor in which memory; the lines after it do."),
    *_either("ti_space", "TI linker, 10099",
             "fails for section \"%s\" size 0x%x%sAvailable memory ranges: %s size: 0x%x unused: 0x%x max hole: 0x%x",
             fields="section size page region all unused hole", reads=_over("size", "hole"),
             ram="Nothing ran yet: {section} has {size:,} bytes, the largest piece of {region} that is free {hole:,}. "
                 "If a static arena is in there, make it smaller by the {bytes:,} bytes that are missing.",
             code="Nothing ran yet: {section} has {size:,} bytes, the largest piece of {region} that is free "
                  "{hole:,}. The arena is not in there; " + _INT8),
    row("ti", _B, "", "the program does not fit the memory that the linker has", "TI linker, 10099",
        "program will not fit into available memory",
        note=_NO_BYTES + "; the section that it names does not fit, or has a hole in which its alignment does not."),
    row("wrapped", _A, "", "a line of the linker's report", "wrapped.py joins it with the one before"),
    # Arm's linker (Keil, Arm Compiler, Mbed).
    *_either("arm_limit", "armlink L6220E", "Execution region %s size (%d bytes) exceeds limit (%d bytes)",
             "Load region %s size (%d bytes) exceeds limit (%d bytes)", fields="region size limit",
             reads=_over("size", "limit")),
    *_either("arm_any", "armlink L6406E, L6224E",
             "No space in execution regions with .ANY selector matching %s(%s)",
             "No space in execution region with .ANY selector matching Section %s(%s)",
             "Could not place %s(%s) in any Execution region", fields="file region",
             ram=_NO_BYTES + ": {region} of {file} found no place in RAM. If a static arena is in there, make it "
                             "smaller, or add a region of RAM to the scatter file.",
             code=_NO_BYTES + ": {region} of {file} found no place. The arena is not in there; " + _INT8),
    row("arm_aggregate", _B, "", "the program does not fit the memory that the linker has", "armlink L6407E",
        "Sections of aggregate size 0x%x bytes could not fit into .ANY selector", fields="size",
        note="Nothing ran yet: {size:,} bytes of sections found no place; the lines before it name them. The largest "
             "piece of memory that is free is smaller than one of them, often the arena (.bss)."),
    # Microchip's linkers.
    *_either("microchip", "Microchip XC32, XC16 linker",
             "Link Error: Could not allocate section %s, size = %d bytes, attributes = %s",
             fields="section size region",
             ram=_NO_BYTES + ": {section} has {size:,} bytes, and there is no such piece of RAM. If a static arena is "
                             "in there, make it smaller.",
             code=_NO_BYTES + ": {section} has {size:,} bytes, and there is no such piece of flash. The arena is "
                              "not in there; " + _INT8),
    row("microchip_data", _B, "", "the program does not fit the memory that the linker has", "Microchip linkers",
        "Link Error: Could not allocate data memory", note=_RAM_OVER),
    row("microchip_code", _L, "", "the program's code and constants do not fit", "Microchip linkers",
        "Link Error: Could not allocate program memory", note=_FLASH_OVER),
    # arduino-cli, PlatformIO.
    row("sketch_flash", _L, "", "the sketch is {bytes:,} bytes larger than the flash: {percent} %", "arduino-cli",
        "Sketch uses %d bytes (%d%%) of program storage space. Maximum is %d bytes.", fields="used percent limit",
        reads=_over("used", "limit"), note=_FLASH_OVER),
    row("sketch_ram", _B, "", "static data are {bytes:,} bytes larger than the RAM: {percent} %", "arduino-cli",
        "Global variables use %d bytes (%d%%) of dynamic memory, leaving %d bytes for local variables. Maximum is %d "
        "bytes.", fields="used percent left limit", reads=_over("used", "limit"), note=_RAM_OVER),
    row("sketch_too_big", _L, "", "the sketch is larger than the flash", "arduino-cli", "Sketch too big",
        "text section exceeds available space in board", note=_FLASH_OVER),
    row("sketch_memory", _B, "", "static data are larger than the RAM", "arduino-cli", "Not enough memory; see",
        "data section exceeds available space in board",
        note=_RAM_OVER + " The line 'Global variables use ...' before it has the bytes."),
    row("program_size", _L, "", "the program is {bytes:,} bytes larger than the flash", "PlatformIO piosize.py",
        "The program size (%d bytes) is greater than maximum allowed (%d bytes)", fields="used limit",
        reads=_over("used", "limit"), note=_FLASH_OVER),
    row("data_size", _B, "", "static data are {bytes:,} bytes larger than the RAM", "PlatformIO piosize.py",
        "The data size (%d bytes) is greater than maximum allowed (%d bytes)", fields="used limit",
        reads=_over("used", "limit"), note=_RAM_OVER),
    row("build_failed", Role.APP, "", "the build failed", "GCC, make, ninja, PlatformIO, armlink",
        "ld returned 1 exit status", "ninja: build stopped: subcommand failed", "Target not created",
        "Not enough information to list image symbols", "Not enough information to list load addresses",
        "[checkprogsize] Explicit exit",
        "Compilation error: exit status 1", "ERROR: command exited with status", note=_WHY),
    row("build_failed", Role.APP, "", "the build failed", "CMake; Arduino", "CMake Error at",
        "Configuring incomplete, errors occurred!", "cmake failed with exit code", "Error compiling for board",
        "Build did NOT complete successfully", "Error during build: exit status", note=_WHY),
    row("build_failed", Role.APP, "", "the build failed", "GNU make", "make: *** [%s] Error %d", fields="target status",
        note=_WHY),
    row("build_errors", Role.APP, "", "the build failed", "armlink, Keil; IAR", "warning and %d error messages.",
        "%d Error(s), ", "Total number of errors: %d", fields="errors",
        reads=lambda values: values if values.get("errors") else None, note=_WHY),
    # Compilers, and what the linker does not find.
    row("old_cmsis", _L, "", "the board package's CMSIS is older than the library's CMSIS-NN", "GCC",
        "'__STATIC_FORCEINLINE' does not name a type",
        note="Nothing ran yet. Update the board's package; where none is newer (SAMD boards, as the Nano 33 IoT), take "
             "an older release of the library, or one with reference kernels."),
    row("precompiled", _L, "", "the library is precompiled for another version of the board's package", "GCC",
        "libmbed.a: No such file or directory", "libcc_310_core.a: No such file or directory",
        note="Nothing ran yet. Install the version of the board's package that the library was made for, or a library "
             "that is compiled with the sketch."),
    row("no_cxx", _L, "", "this board's compiler has no C++ library", "GCC for AVR",
        "fatal error: algorithm: No such file or directory", "fatal error: cstdint: No such file or directory",
        "fatal error: cstddef: No such file or directory", "fatal error: type_traits: No such file or directory",
        "fatal error: cmath: No such file or directory", "fatal error: limits: No such file or directory",
        note="Nothing ran yet. TFLM needs C++17 and 32 bits: no AVR board (Uno, Nano, Mega) runs it."),
    row("no_component", _L, "", "ESP-IDF does not find the component {name}", "ESP-IDF tools/cmake/build.cmake",
        "Failed to resolve component '%s'", fields="name",
        note="Nothing ran yet. Add it ('idf.py add-dependency \"espressif/esp-tflite-micro\"' brings esp-nn), clone "
             "with submodules, or name its folder in EXTRA_COMPONENT_DIRS."),
    row("no_package", _L, "", "PlatformIO finds no package {name}", "PlatformIO package/manager",
        "Could not find the package with '%s' requirements", fields="name",
        note="Nothing ran yet. lib_deps names an owner, a library and a version that its registry has ('pio pkg search "
             "tensorflow'), or the address of a repository."),
    row("no_library", _L, "", "the Library Manager has no {name}", "arduino-cli",
        "Library '%s' not found", fields="name",
        note="Nothing ran yet. Arduino_TensorFlowLite left it in 2021: clone tflite-micro-arduino-examples into the "
             "libraries folder, or take Chirale_TensorFlowLite."),
    row("no_board", _L, "", "PlatformIO does not know the board {name}", "PlatformIO platform/exception.py",
        "Unknown board ID '%s'", fields="name", note="Nothing ran yet. 'pio boards' lists those that are known."),
    row("kconfig", _L, "", "Zephyr refuses an option", "Zephyr scripts/kconfig/kconfig.py",
        "Aborting due to Kconfig warnings",
        note="Nothing ran yet. The warning before it names what the option depends on: TENSORFLOW_LITE_MICRO takes "
             "CONFIG_CPP=y and the module (west config manifest.project-filter -- +tflite-micro; west update)."),
    row("no_source", _L, "", "CMake does not find a source file", "CMake", "Cannot find source file:",
        note="Nothing ran yet. The list of files is of another version than the files: generate it anew, or take one "
             "release of both."),
    row("no_target", _L, "", "make does not know how to make {target}", "GNU make",
        "No rule to make target '%s'", "No rule to make target `%s'", fields="target",
        note="Nothing ran yet. Since 2021 TFLM has no generate_..._project: create_tflm_tree.py writes a tree of "
             "sources, and each platform has a repository of its own (esp-tflite-micro, pico-tflmicro)."),
    row("long_path", _L, "", "the path of a file is too long for Windows", "GCC for Windows",
        "fatal error: opening dependency file %s: No such file or directory", fields="file",
        note="Nothing ran yet. Move the sketchbook to a short path (C:\\A) and clear the build folder, or allow long "
             "paths (LongPathsEnabled)."),
    row("refused_source", _L, "", "a source file refuses this configuration: {text}", "GCC", '#error "%s"',
        fields="text", note="Nothing ran yet. The board, a macro or an option of menuconfig is not what it asks for."),
    row("not_compiled", _L, "", "a call does not fit the header that it uses", "GCC, Clang",
        "error: cannot convert '", "error: invalid conversion from '", "error: invalid initializer",
        "arguments, but takes just", "error: too few arguments to function",
        "error: too many arguments to function", "error: no matching function for call to '",
        note="Nothing ran yet. The header and what uses it are of two versions: install one release of the library, "
             "whole, and the one that the example or the generated code was made for."),
    row("no_version", _L, "", "a component has no version that fits", "ESP-IDF component manager",
        "version solving failed",
        note="Nothing ran yet. idf_component.yml asks for a version that does not exist or not for this ESP-IDF and "
             "chip: 'idf.py add-dependency \"espressif/esp-tflite-micro\"' takes the newest."),
    row("compiler_memory", _L, "", "the computer's memory is used up", "GCC", "cc1plus: out of memory", "Killed "
        "signal terminated program cc1plus",
        note="It is no matter of the model: build with fewer jobs (-j1)."),
    row("narrowing", _L, "", "the model's array has the wrong type", "GCC",
        "narrowing conversion of '%s' from 'int' to 'signed char'", "narrowing conversion of '%s' from 'int' to 'char'",
        fields="value", note="Nothing ran yet. Bytes reach 255: const unsigned char, or uint8_t, as xxd -i writes."),
    row("no_header", _L, "", "the compiler does not find the file {file}", "GCC",
        "fatal error: %s: No such file or directory", fields="file",
        note="Nothing ran yet. No installed library has {file}: 'tflm-sim list libraries' lists those that are "
             "known; newer ones have no micro_error_reporter.h and no all_ops_resolver.h, as old examples do."),
    row("api_operator", _L, "", "this TFLM's resolver has no Add{op}()", "GCC", "has no member named 'Add%s'",
        fields="op",
        note="Nothing ran yet. The operator came in a newer TFLM, or its method has another name: 'tflm-sim list ops "
             "--library NAME' says what a library has."),
    row("api_changed", _L, "", "the program is written for another version of TFLM", "GCC",
        "is not a member of 'tflite'", "is not a member of 'tflite::",
        "no matching function for call to 'tflite::",
        note="Nothing ran yet. Since 2023 there is no MicroErrorReporter and no AllOpsResolver, and MicroInterpreter "
             "takes no error reporter; a resolver of a number of operators is MicroMutableOpResolver<N>. Change the "
             "program, or install the library's version that its example is of."),
    row("not_declared", _L, "", "the compiler does not know {name}", "GCC, Clang",
        "error: '%s' was not declared in this scope", "error: '%s' has not been declared",
        "error: '%s' does not name a type", "error: unknown type name '%s'",
        "error: implicit declaration of function '%s'", "error: use of undeclared identifier '%s'",
        "has no member named '%s'", "error: no member named '%s' in",
        fields="name",
        note="Nothing ran yet. {name} is in headers of another version: TFLM, CMSIS (with CMSIS-NN), the board's "
             "package and the program have to be of versions that belong together."),
    row("api_result", _L, "", "the program is for another kind of Edge Impulse model", "GCC",
        "'struct ei_impulse_result_t' has no member named '%s'",
        "'ei_impulse_result_t' has no member named '%s'", fields="name",
        note="Nothing ran yet. A model that finds objects gives bounding_boxes, one that classifies classification, "
             "and an SDK has only those of its model: take the example that came with this deployment."),
    row("ld_segment", _A, "", "a warning of the linker", "GNU ld elf.c", "can't be allocated in segment %d",
        fields="segment"),
    row("defined_twice", _L, "", "a function is defined in two files", "GNU ld",
        *_quoted("multiple definition of <%s>"), fields="symbol",
        note="Nothing ran yet. {symbol} is in two libraries, often two copies of TFLM, or the model's array is in a "
             "header that two files include: keep one."),
    row("undefined_system", _L, "", "the system calls of newlib are missing", _UNDEFINED_SOURCE, *_UNDEFINED,
        fields="symbol", reads=_named(_SYSTEM),
        note="Nothing ran yet. {symbol}() is what newlib calls for files and memory: link with --specs=nosys.specs, "
             "or define it (syscalls.c of STM32CubeMX). It is no matter of the model."),
    row("undefined_cxx", _L, "", "the C++ library is not linked", _UNDEFINED_SOURCE, *_UNDEFINED, fields="symbol",
        reads=_named(_CXX),
        note="Nothing ran yet. {symbol} is of the C++ library: link with g++ instead of gcc or ld, or add -lstdc++ "
             "-lsupc++. TFLM is built with -fno-rtti -fno-exceptions -fno-threadsafe-statics, and so is what uses it."),
    row("undefined_ethosu", _L, "", "the driver of the Ethos-U is not linked, or is another version",
        _UNDEFINED_SOURCE, *_UNDEFINED, fields="symbol", reads=_named(re.compile("ethosu.*", re.IGNORECASE)),
        note="Nothing ran yet. {symbol} is a function of ethos-u-core-driver: build it with the program, in the "
             "version that this TFLM's kernel ethosu.cc was written for (ethosu_invoke_v2, _v3 and ethosu_reserve_"
             "driver are of different ones)."),
    row("undefined_debug", _L, "", "DebugLog() is not defined", _UNDEFINED_SOURCE, *_UNDEFINED, fields="symbol",
        reads=_named(re.compile(r"DebugLog|DebugVsnprintf")),
        note="Nothing ran yet. {symbol}() is the program's own: add TFLM's debug_log.cc of this platform, or write it "
             "with the port's printf."),
    row("undefined", _L, "", "the program calls something that no file defines", _UNDEFINED_SOURCE, *_UNDEFINED,
        fields="symbol",
        note="Nothing ran yet. {symbol} is in a source file that is not built, or the library's files are of two "
             "versions: install one library, whole, and build anew."),
)
# fmt: on
