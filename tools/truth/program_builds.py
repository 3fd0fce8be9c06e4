"""Builds the programs of ``python tools truth programs``, and runs them in QEMU."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

from truth.program_forms import ANY_ARENA, FORMS, HEADERS, source_of

KERNELS = (
    "conv", "depthwise_conv", "pooling", "reshape", "fully_connected", "softmax", "reduce", "quantize", "dequantize",
    "logistic", "mul", "add", "concatenation", "kernel_util", "decompress", "micro_tensor_utils", "hard_swish",
)  # fmt: skip
"""Sources of the reference kernels that the programs need, of which a kernel library replaces some."""
_MB = 1 << 20
_GCC = Path("/usr/lib/gcc")
_NEWLIB = Path("/usr/lib/arm-none-eabi")


class Core(NamedTuple):
    """A core: the compiler's flags for it, QEMU's machine, and where that one has its memory.

    Attributes:
        flags: Of the compiler.
        machine: The emulator and the machine.
        flash, ram: Addresses.
        flash_bytes, ram_bytes: Sizes.
        libraries: The folder of its libraries, of newlib's and gcc's, for clang; of picolibc's for RISC-V.
        tools: What the names of GNU's tools begin with.
    """

    flags: str
    machine: str
    flash: int = 0
    ram: int = 0x20000000
    flash_bytes: int = 4 * _MB
    ram_bytes: int = _MB
    libraries: str = ""
    tools: str = "arm-none-eabi"


_FPU4 = "-mfloat-abi=hard -mfpu=fpv4-sp-d16"
CORES = {
    "cortex-m0": Core("-mcpu=cortex-m0", "arm -M mps2-an385", libraries="thumb/v6-m/nofp"),
    "cortex-m0plus": Core("-mcpu=cortex-m0plus", "arm -M mps2-an385", libraries="thumb/v6-m/nofp"),
    "cortex-m3": Core("-mcpu=cortex-m3", "arm -M mps2-an385", libraries="thumb/v7-m/nofp"),
    "cortex-m4": Core("-mcpu=cortex-m4", "arm -M mps2-an386", libraries="thumb/v7e-m/nofp"),
    "cortex-m4f": Core(f"-mcpu=cortex-m4 {_FPU4}", "arm -M mps2-an386", libraries="thumb/v7e-m+fp/hard"),
    "cortex-m4-int-enums": Core("-mcpu=cortex-m4 -fno-short-enums", "arm -M mps2-an386"),
    "cortex-m7": Core(
        "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16", "arm -M mps2-an500", libraries="thumb/v7e-m+dp/hard"
    ),
    "cortex-m33": Core(
        "-mcpu=cortex-m33 -mfloat-abi=hard", "arm -M mps2-an505", 0x10000000, 0x38000000,
        libraries="thumb/v8-m.main+fp/hard",
    ),
    "cortex-m55": Core(
        "-mcpu=cortex-m55 -mfloat-abi=hard", "arm -M mps3-an547", 0x10000000, 0x30000000, _MB // 2, _MB // 2,
        libraries="thumb/v8.1-m.main+mve/hard",
    ),
    "riscv32": Core(
        "-march=rv32imac -mabi=ilp32", "riscv32 -M virt -bios none", 0x80000000, 0x80400000,
        libraries="rv32imac/ilp32", tools="riscv64-unknown-elf",
    ),
}  # fmt: skip
"""QEMU has no machine with a Cortex-M0 or M0+ and enough memory: a Cortex-M3 executes its instructions."""
LAYOUT = """ENTRY(Reset)
MEMORY { FLASH (rx): ORIGIN = FLASH_AT, LENGTH = FLASH_BYTES
 RAM (rwx): ORIGIN = RAM_AT, LENGTH = RAM_BYTES }
_estack = ORIGIN(RAM) + LENGTH(RAM);
linker_arena = ORIGIN(RAM) + LENGTH(RAM) / 2;
SECTIONS {
 .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); } >FLASH
 .init_array : { __preinit_array_start = .; __preinit_array_end = .; __init_array_start = .; KEEP(*(SORT(.init_array*)))
   __init_array_end = .; __fini_array_start = .; __fini_array_end = .; } >FLASH
 .ARM.extab : { *(.ARM.extab*) } >FLASH
 .ARM.exidx : { __exidx_start = .; *(.ARM.exidx*) __exidx_end = .; } >FLASH
 _sidata = LOADADDR(.data);
 .data : { . = ALIGN(8); _sdata = .; *(.data*) __global_pointer$ = . + 0x800; *(.sdata*) . = ALIGN(8); _edata = .;
   } >RAM AT>FLASH
 .bss (NOLOAD) : { . = ALIGN(16); _sbss = .; *(.sbss*) *(.bss*) *(COMMON) . = ALIGN(16); _ebss = .; } >RAM
 .arena (NOLOAD) : { . = ALIGN(16); KEEP(*(.arena.kept*)) *(.arena*) . = ALIGN(16); } >RAM
 end_of_data = .;
}
"""
DEFINES = ("-DTF_LITE_STATIC_MEMORY", "-DTF_LITE_DISABLE_X86_NEON", "-DTFLITE_SCHEMA_LEAN")
COMMON = ("-g", "-ffunction-sections", "-fdata-sections", "-funsigned-char", "-fno-delete-null-pointer-checks", "-w")
CXX = ("-std=c++17", "-fno-rtti", "-fno-exceptions", "-fno-threadsafe-statics")


class Library(NamedTuple):
    """What a library is built from.

    Attributes:
        tflm: A checkout of TFLM.
        includes: Folders of the headers of flatbuffers, gemmlowp and ruy.
        kernels: "reference", "cmsis_nn" or "esp_nn".
        kernels_from: A checkout of that kernel library, None for the reference kernels.
        picolibc: The folder of picolibc for RISC-V, whose compiler comes without a C library.
    """

    tflm: Path
    includes: tuple[Path, ...]
    kernels: str
    kernels_from: Path | None
    picolibc: Path | None = None


class Builder:
    """Builds programs for one core with one set of flags.

    Args:
        work: The folder where all is built.
        library: What the library is built from.
        core: The core's name.
        compiler: "gcc" or "clang".
        flags: Of the compiler, for the library and the program.
        model: The model's file.
    """

    def __init__(self, work: Path, library: Library, core: str, compiler: str, flags: str, model: Path) -> None:
        self.core = CORES[core]
        self.name = f"{core}{flags.replace(' ', '')}_{compiler}_{library.tflm.name}_{library.kernels}"
        self.folder = work / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self._gcc = compiler == "gcc"
        kernels = library.kernels_from
        includes = [
            library.tflm,
            *library.includes,
            *([kernels, kernels / "include", kernels / "Include"] if kernels else []),
        ]
        self._flags = [
            *shlex.split(self.core.flags), *COMMON, *shlex.split(flags), *DEFINES,
            *(["-mthumb"] if self.core.tools == "arm-none-eabi" else []),
            *(f"-I{place}" for place in includes),
            *([f"-D{library.kernels.upper()}", "-DCONFIG_NN_OPTIMIZED"] if kernels else []),
        ]  # fmt: skip
        newest = max((_NEWLIB / "include" / "c++").iterdir())
        libraries = _NEWLIB if self.core.tools == "arm-none-eabi" else library.picolibc
        if libraries is None:
            raise SystemExit(f"{core}: --picolibc is missing")
        self._libraries = libraries
        if not self._gcc:
            self._flags += [f"--target={self.core.tools.replace('riscv64', 'riscv32')}", "-nostdlibinc"]
        if self.core.tools != "arm-none-eabi":
            # C++'s headers are those of the other compiler: what the forms use of them is the same.
            other = newest / "arm-none-eabi" / CORES["cortex-m4"].libraries
            self._flags += [f"-isystem{place}" for place in (newest, other, libraries / "include")]
        elif not self._gcc:
            places = (newest, newest / "arm-none-eabi" / self.core.libraries, _NEWLIB / "include")
            self._flags += [f"-isystem{place}" for place in places]
        log = (library.tflm / "tensorflow/lite/micro/debug_log.h").read_text("utf-8")
        kernel = (library.tflm / "tensorflow/lite/micro/kernels/kernel_util.h").read_text("utf-8")
        is_own = "TFLMRegistration" in kernel
        self._program_flags = [
            f"-DREGISTRATION={'TFLM' if is_own else 'TfLite'}Registration",
            *([] if "va_list" in log else ["-DLOGS_WORDS"]),
        ]
        self._program_flags.append(f"-DMODEL_BYTES={model.stat().st_size}")
        self._program_flags.append(f'-DMODEL_FILE="{model.resolve()}"')
        self._program_flags.append(f"-DMIDDLE_OF_RAM={self.core.ram + self.core.ram_bytes // 2:#x}")
        self._program_flags.append(f"-DEND_OF_RAM={self.core.ram + self.core.ram_bytes:#x}")
        self._model = self.folder / f"{model.stem}.cc"
        data = ",".join(map(str, model.read_bytes()))
        self._model.write_text(
            'extern "C" { extern const unsigned char g_model[]; '
            f"alignas(16) const unsigned char g_model[] = {{{data}}}; }}\n"
        )
        layout = LAYOUT.replace("FLASH_AT", hex(self.core.flash)).replace("RAM_AT", hex(self.core.ram))
        layout = layout.replace("FLASH_BYTES", str(self.core.flash_bytes))
        (self.folder / "layout.ld").write_text(layout.replace("RAM_BYTES", str(self.core.ram_bytes)))
        self._compiled_model = self.folder / f"{model.stem}.o"
        self._all_headers = self.folder / "all.h"
        self._library = self.folder / "libtflm.a"
        if not self._all_headers.exists():
            self._build_headers()
        if not self._library.exists():
            self._build_library(library)
        if not self._compiled_model.exists():
            self._compile(self._model, self._compiled_model)

    def _compiler(self, source: Path, own: tuple[str, ...] = ()) -> list[str | Path]:
        is_c = source.suffix == ".c"
        program = f"{self.core.tools}-{'gcc' if is_c else 'g++'}" if self._gcc else "clang" if is_c else "clang++"
        # clang takes no headers that it compiled with another -O.
        is_other = not self._gcc and any(each.startswith("-O") for each in own)
        headers = () if is_c or is_other else ("-include", self._all_headers)
        return [program, *self._flags, *(() if is_c else CXX), *headers]

    def _compile(self, source: Path, built: Path) -> None:
        subprocess.run([*self._compiler(source), "-c", source, "-o", built], check=True)

    def _build_headers(self) -> None:
        """Compile once what the sources include: that is most of the time that each takes."""
        self._all_headers.write_text(HEADERS, "utf-8")
        compiled = self._all_headers.with_suffix(".h.gch" if self._gcc else ".h.pch")
        also = [] if self._gcc else ["-fpch-instantiate-templates"]
        headers = self._all_headers
        command = [*self._compiler(headers)[:-2], *also, "-x", "c++-header", headers, "-o", compiled]
        subprocess.run(command, check=True)

    def _build_library(self, library: Library) -> None:
        lite = library.tflm / "tensorflow" / "lite"
        own = lite / "micro" / "kernels" / library.kernels
        kernels = [lite / "micro" / "kernels" / f"{name}{part}.cc" for name in KERNELS for part in ("", "_common")]
        folders = [
            lite / "micro", lite / "micro" / "arena_allocator", lite / "micro" / "memory_planner",
            lite / "micro" / "tflite_bridge", lite / "core" / "c", lite / "core" / "api", lite / "kernels",
            lite / "kernels" / "internal", lite / "kernels" / "internal" / "reference", lite / "schema",
            library.tflm / "tensorflow" / "compiler" / "mlir" / "lite" / "core" / "api",
            library.tflm / "tensorflow" / "compiler" / "mlir" / "lite" / "schema",
        ]  # fmt: skip
        left_out = ("test", "debug_log", "micro_time", "system_setup", "fake_", "mock_", "hexdump", "schema_conversion")
        sources = [own / path.name if (own / path.name).exists() else path for path in kernels if path.exists()]
        sources += [
            path
            for folder in folders
            for path in sorted(folder.glob("*.cc"))
            if not any(one in path.name for one in left_out)
        ]
        if library.kernels_from:
            found = [*library.kernels_from.glob("Source/*/*.c"), *library.kernels_from.glob("src/*/*.c")]
            # Without the kernels for other chips, and those for floats, which want flags of their own.
            sources += [path for path in sorted(found) if not path.stem.endswith(("esp32s3", "esp32p4", "f16", "f32"))]
        objects = []
        for source in sources:
            built = self.folder / (source.as_posix().strip("/").replace("/", "_") + ".o")
            self._compile(source, built)
            objects.append(built)
        subprocess.run(
            [f"{self.core.tools}-gcc-ar" if self._gcc else "llvm-ar", "rcs", self._library, *objects], check=True
        )
        for built in objects:
            built.unlink()

    def program(self, name: str, arena: int, flags: str, *, is_truth: bool = False) -> Path:
        """Return a program; ``is_truth``: it takes the arena's size from the emulator's command line.

        Raises:
            subprocess.CalledProcessError: It does not compile or link.
        """
        stem = f"{name}{flags}_{'truth' if is_truth else arena}".replace(" ", "_").replace(",", "")
        source, built = self.folder / f"{stem}.cc", self.folder / f"{stem}.elf"
        source.write_text(source_of(FORMS[name]))
        defined = [f"-DARENA={arena}", *(["-DTRUTH"] if is_truth else []), *self._program_flags]
        own = tuple(shlex.split(flags))
        layout = ["-T", str(self.folder / "layout.ld")]
        gc = [] if "--no-gc-sections" in flags else ["--gc-sections"]
        compiler = [*self._compiler(source, own), *own, *defined]
        end = ["-lm"]
        if not self._gcc or self._libraries != _NEWLIB:
            newest = max((_GCC / self.core.tools).iterdir())
            folders = (f"-L{each / self.core.libraries}" for each in (self._libraries / "lib", newest))
            end = [*folders, *(["-lstdc++"] if self._libraries == _NEWLIB else []), "-lm", "-lc", "-lgcc"]
        if self._gcc:
            kind = "--specs=nosys.specs" if self._libraries == _NEWLIB else "-nostdlib"
            options = [*layout, "-nostartfiles", kind, *(f"-Wl,{each}" for each in gc)]
            commands = [[*compiler, *options, source, self._compiled_model, self._library, *end, "-o", built]]
        else:
            # Its driver does not link what link-time optimisation has left for later.
            compiled = built.with_suffix(".o")
            options = [*layout, *gc, *(["-s"] if "-s" in own else [])]
            objects = [compiled, self._compiled_model, self._library]
            commands = [[*compiler, "-c", source, "-o", compiled], ["ld.lld", *options, *objects, *end, "-o", built]]
        for command in commands:
            subprocess.run(command, check=True, stderr=subprocess.PIPE)
        return built

    def works(self, program: Path, size: int = 0) -> bool:
        """Return whether a program ends with success in QEMU.

        One that never ends is stopped by its CPU time: by the clock, a busy machine would say that it fails.
        """
        semihosting = f"enable=on,target=native,arg=x,arg={size}"
        command = shlex.split(f"qemu-system-{self.core.machine} -nographic -semihosting-config {semihosting} -kernel")
        ran = subprocess.run(
            ["prlimit", "--cpu=10", *command, program], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return ran.returncode == 0

    def smallest(self, program: Path) -> int | None:
        """Return the smallest arena in which a truth's program works, None where ANY_ARENA is too small."""
        low, high = 0, ANY_ARENA
        if not self.works(program, high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.works(program, middle) else (middle, high)
        return high
