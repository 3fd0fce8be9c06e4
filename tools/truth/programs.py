r"""Build programs with real TFLM in many forms, run them in QEMU, and ask each verb about them.

    python tools truth programs --tflm CHECKOUT --flatbuffers DIR --gemmlowp DIR --ruy DIR --model MODEL.tflite \
        --work DIR [--core cortex-m4] [--flags=-Os,-O2] [--program-flags=-g,-O0,-gsplit-dwarf,-s] [--form NAME]

It is given all sources and fetches nothing. Each program is a row of {form x core x flags x flags of the program}: the
library is built once for each core and flags. The smallest arena is found by bisection in QEMU, then the program is
built with that arena, and with 16 bytes less, and asked about; a form that works in no arena is asked about with a
large one. An answer is wrong where it says yes (exit code 0) of what fails, or no (1) of what works, or where the
executed size is another one. What hangs on a condition and what is refused (both 3) are counted. The last table has
them by verb, with the mean seconds. The model's operators must be among RESOLVER's, and SOFTMAX one of them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MACHINES = {"cortex-m4": "mps2-an386", "cortex-m3": "mps2-an385", "cortex-m7": "mps2-an500", "cortex-m33": "mps2-an505"}
"""Which machine of QEMU has a core. The last one's memory lies elsewhere: see ORIGINS."""
ORIGINS = {"cortex-m33": (0x10000000, 0x38000000)}
_DEFAULT_ORIGINS = (0, 0x20000000)
RAM = 1 << 20
RESOLVER = (
    "AddConv2D", "AddDepthwiseConv2D", "AddAveragePool2D", "AddReshape", "AddFullyConnected", "AddSoftmax", "AddMean",
    "AddQuantize", "AddDequantize", "AddLogistic", "AddMul", "AddAdd", "AddConcatenation",
)  # fmt: skip
KERNELS = (
    "conv", "depthwise_conv", "pooling", "reshape", "fully_connected", "softmax", "reduce", "quantize", "dequantize",
    "logistic", "mul", "add", "concatenation", "kernel_util", "decompress", "micro_tensor_utils",
)  # fmt: skip
_ARENA = "alignas(16) static uint8_t arena[ARENA]; "
_ON_ARENA = "static tflite::MicroInterpreter i(M, r, arena, SIZE); "
FORMS = {
    "static": f"{_ARENA}{_ON_ARENA}RUN(i)",
    "unaligned": "static uint8_t arena[ARENA + 1]; static tflite::MicroInterpreter i(M, r, arena + 1, SIZE); RUN(i)",
    "on the stack": f"{_ARENA}tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
    "on the heap": "auto *arena = (uint8_t *)malloc(ARENA); tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
    "new": f"{_ARENA}auto *i = new tflite::MicroInterpreter(M, r, arena, SIZE); RUN(*i)",
    "in a struct": "static struct { alignas(16) uint8_t arena[ARENA]; int after; } s; "
    "static tflite::MicroInterpreter i(M, r, s.arena, SIZE); RUN(i)",
    "own allocator": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
    "static tflite::MicroInterpreter i(M, r, a); RUN(i)",
    "takes memory": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
    "a->AllocatePersistentBuffer(1000); static tflite::MicroInterpreter i(M, r, a); RUN(i)",
    "twice": f"{_ARENA}{_ON_ARENA}if (i.AllocateTensors() != kTfLiteOk) end(1); RUN(i)",
    "three times": f"{_ARENA}{_ON_ARENA}for (int n = 0; n < 2; n++) if (i.AllocateTensors() != kTfLiteOk) end(1); "
    "RUN(i)",
    "made again": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
    "{ tflite::MicroInterpreter i(M, r, a); if (i.AllocateTensors() != kTfLiteOk) end(1); } "
    "tflite::MicroInterpreter i(M, r, a); RUN(i)",
    "variables": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
    "auto *v = tflite::MicroResourceVariables::Create(a, 7); static tflite::MicroInterpreter i(M, r, a, v); RUN(i)",
    "variables counted": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); volatile int seven = 7; "
    "auto *v = tflite::MicroResourceVariables::Create(a, seven); static tflite::MicroInterpreter i(M, r, a, v); RUN(i)",
    "linear planner": f"{_ARENA}static tflite::LinearMemoryPlanner p; "
    "auto *a = tflite::MicroAllocator::Create(arena, SIZE, &p); static tflite::MicroInterpreter i(M, r, a); RUN(i)",
    "preserves tensors": f"{_ARENA}static tflite::MicroInterpreter i(M, r, arena, SIZE, nullptr, nullptr, true); "
    "RUN(i)",
    "recording": f"{_ARENA}static tflite::RecordingMicroInterpreter i(M, r, arena, SIZE); RUN(i)",
    "optional": f"{_ARENA}static std::optional<tflite::MicroInterpreter> i; i.emplace(M, r, arena, SIZE); RUN(*i)",
    "a vector": "static std::vector<uint8_t> arena(ARENA); "
    "static tflite::MicroInterpreter i(M, r, arena.data(), SIZE); RUN(i)",
    "alloca": "auto *arena = (uint8_t *)__builtin_alloca_with_align(ARENA, 128); "
    "tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
    "a table": f"{_ARENA}static const struct {{ const void *model; uint8_t *arena; }} rows[] = {{{{g_model, arena}}}}; "
    "for (auto &row : rows) { tflite::MicroInterpreter i(tflite::GetModel(row.model), r, row.arena, SIZE); RUN(i) }",
    "virtual getter": "struct Base { virtual uint8_t *arena() = 0; }; "
    "struct Own : Base { uint8_t *arena() override { alignas(16) static uint8_t a[ARENA]; return a; } }; "
    "static Own own; Base *volatile base = &own; static tflite::MicroInterpreter i(M, r, base->arena(), SIZE); RUN(i)",
    "two on one": f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
    "static tflite::MicroInterpreter one(M, r, a); if (one.AllocateTensors() != kTfLiteOk) end(1); "
    "static tflite::MicroInterpreter i(M, r, a); RUN(i)",
    "patched softmax": f"{_ARENA}{_ON_ARENA}RUN(i)",
    "own resolver": f"static Own r; ADD_ALL(r) {_ARENA}{_ON_ARENA}RUN(i)",
    "own softmax": "static Resolver r; ADD_OTHERS(r) "
    f"r.AddSoftmax(tflite::micro::RegisterOp(own_init, own_prepare, own_invoke)); {_ARENA}{_ON_ARENA}RUN(i)",
    "softmax is missing": f"static Resolver r; ADD_OTHERS(r) {_ARENA}{_ON_ARENA}RUN(i)",
    "spoils its arena": f"{_ARENA}{_ON_ARENA}if (i.AllocateTensors() != kTfLiteOk) end(1); "
    "memset(arena + SIZE - 4000, 0xff, 4000); end(i.Invoke() != kTfLiteOk);",
    "waits for a port": f"{_ARENA}volatile bool port = false; while (!port) {{}} {_ON_ARENA}RUN(i)",
}
"""What main() does: SIZE is the arena's size, of ARENA bytes of memory, M the model and r the resolver."""
_OWN_SOFTMAX = """
static void *own_init(TfLiteContext *context, const char *, size_t) {
  return context->AllocatePersistentBuffer(context, sizeof(tflite::SoftmaxParams));
}
static TfLiteStatus own_prepare(TfLiteContext *context, TfLiteNode *node) {
  context->AllocatePersistentBuffer(context, 5000);
  return tflite::SoftmaxPrepare(context, node);
}
static TfLiteStatus own_invoke(TfLiteContext *, TfLiteNode *) { return kTfLiteOk; }
"""
BEFORE = {
    "own softmax": _OWN_SOFTMAX,
    "patched softmax": _OWN_SOFTMAX + "namespace tflite { TFLMRegistration Register_SOFTMAX() { "
    "return micro::RegisterOp(own_init, own_prepare, own_invoke); } }",
    "own resolver": "struct Own : tflite::MicroMutableOpResolver<OPERATORS> { "
    "const TFLMRegistration *FindOp(tflite::BuiltinOperator op) const override { "
    "return tflite::MicroMutableOpResolver<OPERATORS>::FindOp(op); } };",
}
"""What stands before main() in some forms."""
ANY_ARENA = 1 << 17
"""Bytes of the arena of a form that works in none."""
SOURCE = r"""
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <vector>
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/kernels/softmax.h"
#include "tensorflow/lite/micro/memory_planner/linear_memory_planner.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"
extern "C" {
extern const unsigned char g_model[];
extern uint32_t _sidata, _sdata, _edata, _sbss, _ebss, _estack;
extern char end_of_data[];
int main();
void __libc_init_array();
void _init() {}
void _fini() {}
void *__dso_handle;
static int debugger(int what, const void *with) {
  register int r0 __asm("r0") = what;
  register const void *r1 __asm("r1") = with;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
[[noreturn]] void end(int status) { for (;;) debugger(0x18, (void *)(status ? 0x20023 : 0x20026)); }
void Fault() { end(1); }
void Reset() {
#ifdef __ARM_FP
  *(volatile uint32_t *)0xE000ED88 |= 0xF << 20;
#endif
  for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) *to++ = *from++;
  for (uint32_t *to = &_sbss; to < &_ebss;) *to++ = 0;
  __libc_init_array();
  main();
  end(0);
}
__attribute__((section(".vectors"), used)) void *const vectors[] = {
    &_estack, (void *)Reset, (void *)Fault, (void *)Fault, (void *)Fault, (void *)Fault, (void *)Fault};
void *_sbrk(int size) { static char *at = end_of_data; char *was = at; at += size; return was; }
void _exit(int status) { end(status); }
int _write(int, const char *, int size) { return size; }
int _read(int, char *, int) { return 0; }
int _close(int) { return -1; }
int _lseek(int, int, int) { return 0; }
int _fstat(int, void *) { return 0; }
int _isatty(int) { return 1; }
int _kill(int, int) { return -1; }
int _getpid() { return 1; }
void DebugLog(const char *format, va_list values) {
  char text[200];
  vsnprintf(text, sizeof text, format, values);
  debugger(4, text);
}
int DebugVsnprintf(char *to, size_t size, const char *format, va_list values) {
  return vsnprintf(to, size, format, values);
}
}
void *operator new(size_t size) { return malloc(size); }
void operator delete(void *at) noexcept { free(at); }
void operator delete(void *at, size_t) noexcept { free(at); }
namespace tflite {
void InitializeTarget() {}
uint32_t ticks_per_second() { return 0; }
uint32_t GetCurrentTimeTicks() { return 0; }
}
#ifdef TRUTH
static size_t asked() {
  static char line[80];
  struct { char *at; int size; } room = {line, 79};
  debugger(0x15, &room);
  char *last = strrchr(line, ' ');
  return atoi(last ? last + 1 : line);
}
#define SIZE asked()
#define RUN(i) end((i).AllocateTensors() != kTfLiteOk);
#else
#define SIZE ARENA
#define RUN(i) end((i).AllocateTensors() != kTfLiteOk || (i).Invoke() != kTfLiteOk);
#endif
#define M tflite::GetModel(g_model)
using Resolver = tflite::MicroMutableOpResolver<OPERATORS>;
#define ADD_OTHERS(r) ADDS
#define ADD_ALL(r) ADD_OTHERS(r) r.AddSoftmax();
BEFORE
int main() {
  FORM
}
"""
LAYOUT = """ENTRY(Reset)
MEMORY { FLASH (rx): ORIGIN = FLASH_AT, LENGTH = 4M
 RAM (rwx): ORIGIN = RAM_AT, LENGTH = RAM_SIZE }
_estack = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS {
 .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); } >FLASH
 .init_array : { __preinit_array_start = .; __preinit_array_end = .; __init_array_start = .; KEEP(*(SORT(.init_array*)))
   __init_array_end = .; __fini_array_start = .; __fini_array_end = .; } >FLASH
 .ARM.exidx : { __exidx_start = .; *(.ARM.exidx* .ARM.extab*) __exidx_end = .; } >FLASH
 _sidata = LOADADDR(.data);
 .data : { . = ALIGN(8); _sdata = .; *(.data*) . = ALIGN(8); _edata = .; } >RAM AT>FLASH
 .bss (NOLOAD) : { . = ALIGN(16); _sbss = .; *(.bss*) *(COMMON) . = ALIGN(16); _ebss = .; } >RAM
 end_of_data = .;
}
"""
DEFINES = ("-DTF_LITE_STATIC_MEMORY", "-DTF_LITE_DISABLE_X86_NEON", "-DTFLITE_SCHEMA_LEAN")
COMMON = (
    "-std=c++17", "-mthumb", "-g", "-fno-rtti", "-fno-exceptions", "-fno-threadsafe-statics", "-ffunction-sections",
    "-fdata-sections", "-funsigned-char", "-fno-delete-null-pointer-checks", "-w",
)  # fmt: skip


class Builder:
    """Builds programs for one core with one set of flags.

    Args:
        given: What the command was told.
        core: The core.
        flags: Of the compiler, for the library and the program.
    """

    def __init__(self, given: argparse.Namespace, core: str, flags: str) -> None:
        self.core = core
        self.folder: Path = given.work / f"{core}{flags.replace(' ', '')}"
        self.folder.mkdir(parents=True, exist_ok=True)
        places = (given.tflm, given.flatbuffers / "include", given.gemmlowp, given.ruy)
        includes = (f"-I{place}" for place in places)
        self.compiler = ["arm-none-eabi-g++", f"-mcpu={core}", *shlex.split(flags), *COMMON, *DEFINES, *includes]
        self.model = self.folder / "model.cc"
        data = ",".join(map(str, given.model.read_bytes()))
        self.model.write_text(
            'extern "C" { extern const unsigned char g_model[]; '
            f"alignas(16) const unsigned char g_model[] = {{{data}}}; }}\n"
        )
        flash, ram = ORIGINS.get(core, _DEFAULT_ORIGINS)
        layout = LAYOUT.replace("FLASH_AT", hex(flash)).replace("RAM_AT", hex(ram)).replace("RAM_SIZE", str(RAM))
        (self.folder / "layout.ld").write_text(layout)
        self.library = self.folder / "libtflm.a"
        if not self.library.exists():
            self._build_library(given.tflm)

    def _build_library(self, tflm: Path) -> None:
        lite = tflm / "tensorflow" / "lite"
        kernels = [lite / "micro" / "kernels" / f"{name}{part}.cc" for name in KERNELS for part in ("", "_common")]
        folders = [
            lite / "micro", lite / "micro" / "arena_allocator", lite / "micro" / "memory_planner",
            lite / "micro" / "tflite_bridge", lite / "core" / "c", lite / "core" / "api", lite / "kernels",
            lite / "kernels" / "internal", lite / "kernels" / "internal" / "reference",
            tflm / "tensorflow" / "compiler" / "mlir" / "lite" / "core" / "api",
            tflm / "tensorflow" / "compiler" / "mlir" / "lite" / "schema",
        ]  # fmt: skip
        left_out = ("test", "debug_log", "micro_time", "system_setup", "fake_", "mock_", "hexdump")
        sources = [path for path in kernels if path.exists()]
        sources += [
            path
            for folder in folders
            for path in sorted(folder.glob("*.cc"))
            if not any(one in path.name for one in left_out)
        ]
        objects = []
        for source in sources:
            built = self.folder / (source.relative_to(tflm).as_posix().replace("/", "_") + ".o")
            subprocess.run([*self.compiler, "-c", source, "-o", built], check=True)
            objects.append(built)
        subprocess.run(["arm-none-eabi-gcc-ar", "rcs", self.library, *objects], check=True)

    def program(self, form: str, arena: int, flags: str, *, is_truth: bool = False) -> Path:
        """Return a program; ``is_truth``: it takes the arena's size from the emulator's command line."""
        name = f"{form}{flags}_{'truth' if is_truth else arena}".replace(" ", "_")
        source, built = self.folder / f"{name}.cc", self.folder / f"{name}.elf"
        adds = " ".join(f"r.{add}();" for add in RESOLVER if add != "AddSoftmax")
        does = FORMS[form] if " r;" in FORMS[form] else f"static Resolver r; ADD_ALL(r) {FORMS[form]}"
        text = SOURCE.replace("\nBEFORE\n", f"\n{BEFORE.get(form, '')}\n").replace("OPERATORS", str(len(RESOLVER)))
        source.write_text(text.replace(" ADDS\n", f" {adds}\n").replace("  FORM\n", f"  {does}\n"))
        defined = [f"-DARENA={arena}", *(["-DTRUTH"] if is_truth else [])]
        link = ["-T", self.folder / "layout.ld", "-nostartfiles", "--specs=nosys.specs", "-Wl,--gc-sections"]
        sources = [source, self.model, self.library]
        command = [*self.compiler, *shlex.split(flags), *defined, *link, *sources, "-lm", "-o", built]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return built

    def works(self, program: Path, size: int = 0) -> bool:
        """Return whether a program ends with success in QEMU."""
        semihosting = f"enable=on,target=native,arg=x,arg={size}"
        command = ["qemu-system-arm", "-M", MACHINES[self.core], "-nographic", "-semihosting-config", semihosting]
        try:
            ran = subprocess.run(
                [*command, "-kernel", program], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0

    def smallest(self, form: str, flags: str) -> int | None:
        """Return the smallest arena in which AllocateTensors() works in QEMU, None where 512 KiB are too small."""
        low, high = 0, 1 << 19
        program = self.program(form, high, flags, is_truth=True)
        if not self.works(program, high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.works(program, middle) else (middle, high)
        return high


class Answered(NamedTuple):
    """What a verb says: its exit code, the words before the first colon, the smallest arena measured, and how long."""

    verb: str
    code: int
    words: str
    size: int | None
    seconds: float


def asked(program: Path, model: Path, arena: int) -> Iterator[Answered]:
    """Yield what each verb says of a program with an arena."""
    verbs = {
        "firmware": ["firmware", program, "--json"],
        "firmware --run": ["firmware", program, "--run", "--json"],
        "check --firmware": ["check", model, "--limit", str(arena), "--firmware", program],
        "check --executed": ["check", model, "--limit", str(arena), "--firmware", program, "--executed"],
    }
    for verb, words in verbs.items():
        command = [sys.executable, "-m", "tflm_sim", *map(str, words)]
        begun = time.monotonic()
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        seconds, size, said = time.monotonic() - begun, None, ran.stdout.partition(":")[0]
        if ran.stdout.startswith("{"):
            document = json.loads(ran.stdout)
            said = document.get("answer", "")
            arenas = document.get("arenas", []) if verb == "firmware --run" else []
            size = arenas[0]["smallest_arena"] if len(arenas) == 1 else None
        yield Answered(verb, ran.returncode, said, size, seconds)


def kind_of(answered: Answered, does_work: bool, smallest: int | None) -> str:
    """Return whether an answer is exact, hangs on a condition, is refused, or is wrong."""
    if answered.code == (1 if does_work else 0) or answered.code not in (0, 1, 3):
        return "wrong"
    if answered.size not in (None, smallest) and smallest is not None:
        return "other size"
    if answered.code == 3:
        return "condition" if "if" in answered.words.replace(",", " ").split() else "refused"
    return "exact"


def main() -> int:
    """Build, run and ask; return 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tflm", "flatbuffers", "gemmlowp", "ruy", "model", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--core", action="append", choices=MACHINES)
    parser.add_argument("--flags", default="-Os,-O2", help="one library for each, separated by commas")
    parser.add_argument("--program-flags", default="-g", help="one program for each, with each library")
    parser.add_argument("--form", action="append", choices=FORMS)
    given = parser.parse_args()
    counted: Counter[tuple[str, str]] = Counter()
    seconds: Counter[str] = Counter()
    for core, flags in itertools.product(given.core or ["cortex-m4"], given.flags.split(",")):
        builder = Builder(given, core, flags)
        for own, form in itertools.product(given.program_flags.split(","), given.form or FORMS):
            smallest = builder.smallest(form, own)
            for arena in [ANY_ARENA] if smallest is None else [smallest, smallest - 16]:
                program = builder.program(form, arena, own)
                does_work = builder.works(program)
                for answered in asked(program, given.model, arena):
                    # malloc() aligns to 8 bytes: a heap's arena lies elsewhere where the program is another one.
                    known = None if "heap" in form or "vector" in form else smallest
                    kind = kind_of(answered, does_work, known)
                    counted[answered.verb, kind] += 1
                    seconds[answered.verb] += answered.seconds
                    if kind != "exact":
                        said = f"exit code {answered.code}, {answered.words!r}, {answered.size} B"
                        truth = f"{'works' if does_work else 'fails'}, {smallest} B"
                        print(f"{kind}: {program}: {answered.verb}: {said}; in QEMU: {truth}", flush=True)
    for (verb, kind), count in sorted(counted.items()):
        print(f"{verb:<18}{kind:<12}{count:>6}")
    for verb, spent in seconds.items():
        print(f"{verb:<18}{'seconds':<12}{spent / sum(n for (each, _), n in counted.items() if each == verb):>6.1f}")
    return 1 if any(kind in ("wrong", "other size") for _, kind in counted) else 0


if __name__ == "__main__":
    sys.exit(main())
